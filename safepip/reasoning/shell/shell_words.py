"""A line of shell, as POSIX shells and bash read it, into the simple commands that it may run.

Control structure is flattened: whatever could run is listed, whether or not it would. What a shell would first have
to expand is marked, as nobody can know it before. Written without `re` and `typing`, which would cost a caller in a
hurry more than the whole answer.
"""

from __future__ import annotations

_BLANK = " \t\r"
_ENDS = ";&|()\n"
_EXPANDED = "*?"
DEEPEST = 20


class UnclearError(Exception):
    """A line that cannot be read: a quote that does not end, nesting without end."""


class Word:
    """One word. `dynamic`: only the shell knows what it becomes."""

    __slots__ = ("dynamic", "quoted", "text")

    def __init__(self, text: str, *, dynamic: bool = False, quoted: bool = False) -> None:
        self.text = text
        self.dynamic = dynamic
        self.quoted = quoted

    def __repr__(self) -> str:
        return f"{'$' if self.dynamic else ''}{self.text!r}"


class Command:
    """A simple command: its words, and what it is fed by a here-document or here-string."""

    __slots__ = ("fed", "piped", "words")

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.fed: list[Word] = []
        self.piped = False  # reads what another command writes


def split(line: str, depth: int = 0) -> list[Command]:
    """The simple commands of `line` in order, those of substitutions before the one they stand in."""
    if depth > DEEPEST:
        raise UnclearError("too deeply nested")
    return _Reader(line, depth).read()


class _Reader:
    def __init__(self, line: str, depth: int) -> None:
        self.line = line
        self.place = 0
        self.depth = depth
        self.skips = False  # looks for the end of a substitution, whose commands are told afterwards
        self.commands: list[Command] = []
        self.command = Command()
        self.awaited: list[
            tuple[str, bool, Command]
        ] = []  # here-documents: delimiter, whether to expand, reader

    def read(self) -> list[Command]:
        while self.place < len(self.line):
            letter = self.line[self.place]
            if letter in _BLANK or self.line.startswith("\\\n", self.place):
                self.place += 1 + (letter == "\\")
            elif letter == "#":
                end = self.line.find("\n", self.place)
                self.place = len(self.line) if end < 0 else end
            elif letter in "<>" or self.line.startswith("&>", self.place):
                self.redirection()
            elif letter in _ENDS:
                self.operator(letter)
            else:
                self.argument()
        self.end_command()
        return self.commands

    def operator(self, letter: str) -> None:
        doubled = letter in "&|" and self.line.startswith(letter * 2, self.place)
        with_errors = self.line.startswith("|&", self.place)
        self.end_command()
        self.command.piped = letter == "|" and not doubled
        self.place += 1 + (doubled or with_errors)
        if letter == "\n":
            self.here_documents()

    def end_command(self) -> None:
        if self.command.words or self.command.fed:
            self.commands.append(self.command)
        self.command = Command()

    def argument(self) -> None:
        word = self.word()
        redirected = self.place < len(self.line) and self.line[self.place] in "<>"
        if not (redirected and word.text.isdecimal() and not word.quoted):  # `2>`: a descriptor's number
            self.command.words.append(word)

    def redirection(self) -> None:
        if self.line[self.place : self.place + 2] in ("<(", ">("):
            self.command.words.append(self.word())
            return
        start = self.place
        while self.place < len(self.line) and self.line[self.place] in "<>&|-" and self.place - start < 3:
            self.place += 1
        sign = self.line[start : self.place]
        while self.place < len(self.line) and self.line[self.place] in _BLANK:
            self.place += 1
        if self.place == len(self.line) or self.line[self.place] in _ENDS:
            return
        target = self.word()
        if sign in ("<<", "<<-"):
            self.awaited.append((target.text, not target.quoted, self.command))
        elif sign == "<<<":
            self.command.fed.append(target)

    def here_documents(self) -> None:
        for delimiter, expanded, command in self.awaited:
            lines: list[str] = []
            while self.place < len(self.line):
                end = self.line.find("\n", self.place)
                end = len(self.line) if end < 0 else end
                text = self.line[self.place : end]
                self.place = end + 1
                if text.lstrip("\t") == delimiter:
                    break
                lines.append(text)
            body = "\n".join(lines)
            if expanded:
                self.substitutions(body)
            command.fed.append(Word(body))
        self.awaited = []

    def substitutions(self, body: str) -> None:
        """What a here-document that is expanded runs."""
        inner = _Reader(body, self.depth + 1)
        while inner.place < len(body):
            if body[inner.place] in "$`":
                inner.dollar_or_backtick()
            else:
                inner.place += 1 + (body[inner.place] == "\\")
        self.commands += inner.commands

    def word(self) -> Word:
        text, dynamic, quoted = "", False, False
        while self.place < len(self.line):
            letter = self.line[self.place]
            if (
                letter in _BLANK
                or letter in _ENDS
                or (letter in "<>" and self.line[self.place + 1 : self.place + 2] != "(")
            ):
                break
            if letter == "\\":
                follows = self.line[self.place + 1 : self.place + 2]
                text += "" if follows == "\n" else follows
                quoted = True
                self.place += 2
            elif letter == "'":
                text += self.until("'")
                quoted = True
            elif letter == '"':
                part, runs = self.double_quoted()
                text, dynamic, quoted = text + part, dynamic or runs, True
            elif self.line.startswith('$"', self.place):  # to be translated
                self.place += 1
            elif self.line.startswith("$'", self.place):
                part = self.escaped()
                text, dynamic, quoted = text + part, dynamic or "\\" in part, True
            elif letter in "$`<>":
                part, runs = self.dollar_or_backtick()
                text, dynamic = text + part, dynamic or runs
            else:
                dynamic = dynamic or letter in _EXPANDED or (letter == "{" and self.is_brace_list())
                text += letter
                self.place += 1
        return Word(text, dynamic=dynamic, quoted=quoted)

    def until(self, quote: str) -> str:
        end = self.line.find(quote, self.place + 1)
        if end < 0:
            raise UnclearError(f"a {quote} that does not end")
        text = self.line[self.place + 1 : end]
        self.place = end + 1
        return text

    def escaped(self) -> str:
        """`$'…'`, in which a backslash keeps a quote from ending it, and stands for what is not told here."""
        start = self.place + 2
        self.place = start
        while self.line[self.place : self.place + 1] not in {"'", ""}:
            self.place += 1 + (self.line[self.place] == "\\")
        if self.place >= len(self.line):
            raise UnclearError("a $' that does not end")
        self.place += 1
        return self.line[start : self.place - 1]

    def is_brace_list(self) -> bool:
        end = self.line.find("}", self.place)
        inside = self.line[self.place : max(end, self.place)]
        return ("," in inside or ".." in inside) and not any(blank in inside for blank in " \t\n")

    def double_quoted(self) -> tuple[str, bool]:
        self.place += 1
        text, dynamic = "", False
        while self.place < len(self.line):
            letter = self.line[self.place]
            if letter == '"':
                self.place += 1
                return text, dynamic
            if letter == "\\":
                follows = self.line[self.place + 1 : self.place + 2]
                text += follows if follows in '$`"\\' else "" if follows == "\n" else f"\\{follows}"
                self.place += 2
            elif letter in "$`":
                part, runs = self.dollar_or_backtick(quoted=True)
                text, dynamic = text + part, dynamic or runs
            else:
                text += letter
                self.place += 1
        raise UnclearError('a " that does not end')

    def dollar_or_backtick(self, *, quoted: bool = False) -> tuple[str, bool]:
        """What stands for itself, and whether the shell puts something else there."""
        line, place = self.line, self.place
        if line[place] == "`":
            self.substitute(self.until("`"))
        elif line[place + 1 : place + 2] == "(":
            self.nested()
        elif line.startswith("${", place):
            self.place += 2
            self.braced(quoted=quoted)
        else:
            self.place += 1
            while self.place < len(line) and (line[self.place].isalnum() or line[self.place] == "_"):
                self.place += 1
            if self.place == place + 1:
                special = line[self.place : self.place + 1] in tuple("@*#?$!-")
                self.place += special
                return ("", True) if special else ("$", False)
        return "", True

    def braced(self, *, quoted: bool) -> None:
        """`${…}`, up to its brace. A `'` means nothing there within double quotes."""
        while self.place < len(self.line) and self.line[self.place] != "}":
            letter = self.line[self.place]
            if letter in "$`":
                self.dollar_or_backtick(quoted=quoted)
            elif letter == '"':
                self.double_quoted()
            elif letter == "'" and not quoted:
                self.until("'")
            else:
                self.place += 1 + (letter == "\\")
        self.place += 1

    def nested(self) -> None:
        """`$(…)`, `<(…)`: up to the bracket that closes it, quotes heeded."""
        self.place += 2
        start, open_, skips = self.place, 1, self.skips
        self.skips = True
        while open_:
            letter = self.line[self.place : self.place + 1]
            if letter == "'":
                self.until("'")
            elif letter == '"':
                self.double_quoted()
            elif letter:
                open_ += (letter == "(") - (letter == ")")
                self.place += 1 + (letter == "\\")
            else:
                raise UnclearError("a ( that does not end")
        self.skips = skips
        self.substitute(self.line[start : self.place - 1])

    def substitute(self, text: str) -> None:
        if not self.skips:
            self.commands += split(text, self.depth + 1)
