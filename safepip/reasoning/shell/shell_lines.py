"""Which removals a line of shell would do: pip's and uv's, in whatever spelling and however wrapped.

What is found is told with what decides which environment is meant. A command that may be a removal and cannot be
followed (names that the shell computes, code for another interpreter, another machine) is unclear, and nobody may
take it for harmless.
"""

from __future__ import annotations

from safepip.reasoning.shell import shell_words
from safepip.reasoning.shell.shell_words import Command, UnclearError, Word

_TELLTALE = ("uninstall", "pip", "uv")  # a line without any of these removes nothing that could be found here
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "coproc"})
_DECLARE = frozenset({"for", "case", "select", "function", "fi", "done", "esac"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"})
_SWITCH = frozenset(
    {"conda", "mamba", "micromamba", "pyenv", "workon", "deactivate", "module", "asdf", "mise"}
)
_ONLY_READ = frozenset(
    {
        "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "man", "which", "type", "whereis", "git", "gh", "cat", "tldr",
        "ls", "head", "tail", "less", "history", "jq", "sed", "awk", "test", "[", "[[", "wc", "sort", "diff", "tee", "safepip",
    }
)  # fmt: skip
# What only starts another program, and its options that take the next word.
_STARTERS = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-T", "-R", "-D", "--user", "--group", "--chdir", "--host", "--prompt"),
    "doas": ("-u", "-C"), "env": ("-u", "-C", "--unset", "--chdir"), "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "-p"), "timeout": ("-k", "-s", "--kill-after", "--signal"), "stdbuf": ("-i", "-o", "-e"),
    "nohup": (), "setsid": (), "exec": ("-a",), "command": (), "builtin": (), "time": ("-f", "-o"), "strace": ("-e", "-o"),
    "xargs": ("-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--delimiter", "--max-args", "--max-procs", "--arg-file"),
}  # fmt: skip


_LONGEST = 1 << 19  # characters; the kernel takes a quarter of it for `bash -c`


class Removal:
    """One removal in a line; relative paths are seen from `folder`, where that is known."""

    __slots__ = ("activated", "folder", "program", "tool", "variables", "words")

    def __init__(self, tool: str, program: str, words: list[str], state: State) -> None:
        self.tool = tool  # pip, python (with `-m pip`) or uv
        self.program = program  # as it was called: pip, .venv/bin/pip, python3
        self.words = words  # what pip, or `uv pip`, is told
        self.folder = state.folder  # of the `cd`s before it, "" for none
        self.activated = state.activated  # an environment's folder
        self.variables = dict(state.variables)

    def __repr__(self) -> str:
        return f"{self.tool} {self.program} {' '.join(self.words)}"


class State:
    """What the commands before it have changed for a command."""

    __slots__ = ("activated", "folder", "unknown", "variables")

    def __init__(self) -> None:
        self.activated = self.folder = self.unknown = ""  # unknown: why the environment is
        self.variables: dict[str, str] = {}


class _Search:
    """One line, its state as it goes on, and what was found."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.uninstalls = "uninstall" in _without_quotes(line)
        self.state = State()
        self.found: list[Removal] = []

    def code(self, text: str) -> None:
        for command in shell_words.split(text):
            self.command(command)

    def command(self, command: Command) -> None:
        words = list(command.words)
        while words and not words[0].quoted and words[0].text in _KEYWORDS:
            del words[0]
        if not words or (words[0].text in _DECLARE and not words[0].quoted):
            return
        self.words(words, command)

    def words(self, words: list[Word], command: Command) -> None:
        before = dict(self.state.variables)
        while words and _assignment(words[0]):
            self.assign(words.pop(0))
        if not words:
            return
        self.program(words[0], words[1:], command)
        if words[0].text != "export":
            self.state.variables = before

    def assign(self, word: Word) -> None:
        name, _, value = word.text.partition("=")
        if word.dynamic and name in {
            "PATH",
            "VIRTUAL_ENV",
            "PIP_PYTHON",
            "PYTHONPATH",
            "PYTHONHOME",
            "PIP_REQUIREMENT",
        }:
            self.state.unknown = f"{name} is computed"
        self.state.variables[name] = value

    def program(self, program: Word, rest: list[Word], command: Command) -> None:
        name = program.text.rpartition("/")[2]
        if program.dynamic:
            self.unclear_if(self.uninstalls, "the program is computed")
        elif name in _STARTERS:
            self.started(name, rest, command)
        elif name in _SHELLS:
            self.shell(rest, command)
        elif name == "eval":
            self.given(Word(" ".join(word.text for word in rest), dynamic=any(word.dynamic for word in rest)))
        elif name in {"cd", "pushd", ".", "source", "export"} or name in _SWITCH:
            self.change(name, rest)
        elif _is_pip(name):
            self.pip("pip", program.text, rest)
        elif _is_python(name):
            self.python(program.text, rest, command)
        elif name == "uv":
            self.uv(program.text, rest)
        elif name not in _ONLY_READ:
            self.unclear_if(_speaks_of_removal(rest), f"{name} may run it where safepip cannot look")

    def started(self, name: str, rest: list[Word], command: Command) -> None:
        values = _STARTERS[name]
        while rest and (rest[0].text.startswith("-") or (name == "env" and _assignment(rest[0]))):
            option = rest.pop(0)
            if option.text in {"-S", "--split-string"} and name == "env" and rest:
                self.given(rest.pop(0))
            if not option.text.startswith("-"):
                self.assign(option)
            elif option.text in values and rest:
                del rest[0]
        if name == "timeout":
            rest = rest[1:]
        if name == "xargs":
            rest = [*rest, Word("", dynamic=True)]
        if rest:
            self.words(rest, command)

    def shell(self, rest: list[Word], command: Command) -> None:
        while rest and rest[0].text[:1] in {"-", "+"}:
            option = rest.pop(0).text
            if not option.startswith("--") and "c" in option and rest:
                self.given(rest[0])
                return
            if option[1:] in {"o", "O"} and rest:
                del rest[0]
        if rest and rest[0].text != "-":
            return  # a script: what it does is not on the line
        for text in command.fed:
            self.given(text)
        self.unclear_if(command.piped and self.uninstalls, "a shell reads what another command writes")

    def given(self, code: Word) -> None:
        """Code for a shell, as a word."""
        telling = _without_quotes(code.text)
        hidden = code.dynamic and (self.uninstalls or any(word in telling for word in _TELLTALE))
        self.unclear_if(hidden, "a part of the code is computed")
        self.code(code.text)

    def change(self, name: str, rest: list[Word]) -> None:
        where = rest[0] if rest else Word("~")
        if name in {"cd", "pushd"}:
            path = "" if where.dynamic or where.text == "-" else where.text
            self.state.folder = self.from_here(path)
            if not path:
                self.state.unknown = "the folder is computed"
        elif name == "export":
            for word in filter(_assignment, rest):
                self.assign(word)
        elif name in {".", "source"}:
            folder, _, script = where.text.rpartition("/bin/")
            if script.startswith("activate"):
                self.state.activated = self.from_here(folder or ".")
                self.state.unknown = "the environment's folder is computed" if where.dynamic else ""
        else:
            acts = name in {"workon", "deactivate"} or any(
                word.text in {"activate", "shell", "load", "use"} for word in rest
            )
            self.state.unknown = f"{name} has changed the environment" if acts else self.state.unknown
            self.unclear_if(_speaks_of_removal(rest), f"{name} may run it in another environment")

    def from_here(self, path: str) -> str:
        stands = path.startswith(("/", "~")) or not self.state.folder
        return path if stands else f"{self.state.folder}/{path}"

    def pip(self, tool: str, program: str, rest: list[Word]) -> None:
        operand = next((word for word in rest if word.dynamic or not word.text.startswith("-")), None)
        if not any(word.text == "uninstall" for word in rest):
            self.unclear_if(operand is not None and operand.dynamic, "pip's command is computed")
            return
        self.unclear_if(any(word.dynamic for word in rest), "what is to go is computed")
        self.unclear_if(bool(self.state.unknown) and "/" not in program, self.state.unknown)
        self.found.append(Removal(tool, program, [word.text for word in rest], self.state))

    def python(self, program: str, rest: list[Word], command: Command) -> None:
        while rest and rest[0].text.startswith("-") and rest[0].text != "-":
            option = rest.pop(0).text
            letters = option[1:] if not option.startswith("--") else ""
            ends = next((place for place, letter in enumerate(letters) if letter in "cmWX"), None)
            value = "" if ends is None else letters[ends + 1 :]
            if ends is None:
                continue
            given = Word(value) if value else rest.pop(0) if rest else Word("")
            if letters[ends] == "m":
                if given.text in {"pip", "pip.__main__"}:
                    self.pip("python", program, rest)
                return
            if letters[ends] == "c":
                self.unclear_if(_speaks_of_removal([given]), "code of Python's may call pip")
                return
        if rest and _is_pip(rest[0].text.rpartition("/")[2]):
            self.pip("python", program, rest[1:])
        self.unclear_if(_speaks_of_removal(command.fed), "code of Python's may call pip")

    def uv(self, program: str, rest: list[Word]) -> None:
        words = [word.text for word in rest]
        if "pip" in words and "run" not in words[: words.index("pip")]:
            self.pip("uv", program, rest[words.index("pip") + 1 :])
        else:
            self.unclear_if(
                "run" in words and _speaks_of_removal(rest), "uv run may choose another environment"
            )

    def unclear_if(self, hidden: bool, why: str) -> None:  # noqa: FBT001
        if hidden:
            raise UnclearError(why)


def removals(line: str) -> list[Removal]:
    """In order. UnclearError: something in `line` may remove, and cannot be followed."""
    telling = _without_quotes(line)
    if not any(word in telling for word in _TELLTALE):
        return []
    if len(line) > _LONGEST:
        raise UnclearError(f"it is longer than {_LONGEST >> 10} KiB")
    search = _Search(line)
    try:
        search.code(line)
    except RecursionError:
        raise UnclearError("nesting without end") from None
    return search.found


def _without_quotes(text: str) -> str:
    return text.replace("\\\n", "").replace("'", "").replace('"', "").replace("\\", "")


def _assignment(word: Word) -> bool:
    name, equals, _ = word.text.partition("=")
    return bool(equals) and name.isidentifier()


def _is_pip(name: str) -> bool:
    stem = name.removesuffix(".pyz").removesuffix(".exe")
    return stem.startswith("pip") and not stem[3:].strip("-.0123456789t")


def _is_python(name: str) -> bool:
    stem = name.removesuffix(".exe")
    return any(
        stem.startswith(kind) and not stem[len(kind) :].strip("-.0123456789t") for kind in ("python", "pypy")
    )


def _speaks_of_removal(words: list[Word]) -> bool:
    """Both in one word of code, or a pip of some kind and `uninstall` among several."""
    texts = [word.text for word in words]
    together = any("uninstall" in text and "pip" in text for text in texts)
    names = [text.rpartition("/")[2] for text in texts]
    return together or ("uninstall" in texts and any(_is_pip(name) for name in names))
