"""Which removals and installs a line of shell would do: pip's and uv's, in whatever spelling and however wrapped.

What is found is told with what decides which environment is meant. A command that may be one and cannot be followed
(names that the shell computes, code for another interpreter, another machine) is unclear, and nobody may take it for
harmless.
"""

from __future__ import annotations

from safepip.reasoning.shell import shell_programs, shell_words
from safepip.reasoning.shell.shell_programs import code_hides_change, hides_change, is_pip, is_python
from safepip.reasoning.shell.shell_words import Command, UnclearError, Word

TELLTALE = ("uninstall", "pip", "uv")  # a line without any of these changes nothing that could be found here
_DECIDES = frozenset({"PATH", "VIRTUAL_ENV", "PIP_PYTHON", "PYTHONPATH", "PYTHONHOME", "PIP_REQUIREMENT"})
_LONGEST = 1 << 19  # characters; the kernel takes a quarter of it for `bash -c`


class Call:
    """One removal or install in a line; relative paths are seen from `folder`, where that is known."""

    __slots__ = (
        "activated", "bare", "computed", "folder", "made", "program", "removes", "tool", "variables", "words",
    )  # fmt: skip

    def __init__(self, tool: str, program: str, words: list[Word], state: State, *, bare: bool) -> None:
        self.tool = tool  # pip, python (with `-m pip`) or uv
        self.program = program  # as it was called: pip, .venv/bin/pip, python3
        self.words = [word.text for word in words]  # what pip, or `uv pip`, is told
        self.removes = "uninstall" in self.words  # else it installs
        self.computed = any(word.dynamic for word in words)  # only the shell knows some of them
        self.bare = bare  # python -S, which reads no start-up hook
        self.folder = state.folder  # of the `cd`s before it, "" for none
        self.activated = state.activated  # an environment's folder
        self.variables = dict(state.variables)
        self.made = tuple(state.made)

    def __repr__(self) -> str:
        return f"{self.tool} {self.program} {' '.join(self.words)}"


class State:
    """What the commands before it have changed for a command."""

    __slots__ = ("activated", "folder", "lost", "made", "unknown", "variables")

    def __init__(self) -> None:
        self.activated = self.folder = self.unknown = ""  # unknown: why the environment is
        self.lost = False  # the folder is computed
        self.made: list[str] = []  # environments, by their folders
        self.variables: dict[str, str] = {}


class _Search:
    """One line, its state as it goes on, and what was found."""

    def __init__(self, line: str) -> None:
        self.uninstalls = "uninstall" in _without_quotes(line)
        self.state = State()
        self.depth = 0  # of code in words
        self.written = ""
        self.found: list[Call] = []

    def code(self, text: str) -> None:
        written = ""  # what the commands of a pipe before this one may write
        for command in shell_words.split(text):
            written = written if command.piped else ""
            self.command(command, written)
            written += "".join(f" {word.text}" for word in (*command.words, *command.fed))

    def command(self, command: Command, written: str) -> None:
        words = list(command.words)
        while words and not words[0].quoted and words[0].text in shell_programs.KEYWORDS:
            del words[0]
        if not words or (words[0].text in shell_programs.DECLARE and not words[0].quoted):
            return
        self.written = written
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
        if word.dynamic and name in _DECIDES:
            self.state.unknown = f"{name} is computed"
        self.state.variables[name] = value

    def program(self, program: Word, rest: list[Word], command: Command) -> None:
        name = program.text.rpartition("/")[2]
        if program.dynamic:
            changes = self.uninstalls or any(word.text == "install" for word in rest)
            self.unclear_if(changes, "the program is computed")
        elif name in shell_programs.STARTERS:
            self.started(name, rest, command)
        elif name in shell_programs.SHELLS:
            self.shell(rest, command)
        elif name == "eval":
            self.given(Word(" ".join(word.text for word in rest), dynamic=any(word.dynamic for word in rest)))
        elif name in {"cd", "pushd", ".", "source", "export"} or name in shell_programs.SWITCH:
            self.change(name, rest)
        elif is_pip(name):
            self.pip("pip", program.text, rest)
        elif is_python(name):
            self.python(program.text, rest, command)
        elif name == "uv":
            self.uv(program.text, rest)
        elif name == "virtualenv":
            self.make(rest)
        elif name not in shell_programs.ONLY_READ:
            self.unclear_if(hides_change(name, rest), f"{name} may run it where safepip cannot look")

    def started(self, name: str, rest: list[Word], command: Command) -> None:
        values = shell_programs.STARTERS[name]
        while rest and rest[0].text.startswith("-"):
            option = rest.pop(0).text
            if option in {"-S", "--split-string"} and name == "env" and rest:
                self.given(rest.pop(0))
            if option in values and rest:
                del rest[0]
        if name == "timeout":
            rest = rest[1:]
        if name == "xargs":
            rest = [*rest, Word("", dynamic=True)]
        if rest:
            self.words(rest, command)

    def shell(self, rest: list[Word], command: Command) -> None:
        """Options may be written together, and each `o` among them takes a word (bash's `parse_shell_options`)."""
        is_code = False
        while rest and rest[0].text[:1] in {"-", "+"}:
            option = rest.pop(0).text
            if option in {"-", "--"}:
                break
            letters = "" if option.startswith("--") else option[1:]
            is_code = is_code or "c" in letters
            del rest[: letters.count("o") + letters.count("O")]
        if is_code and rest:
            self.given(rest[0])
            return
        if rest:
            return  # a script: what it does is not on the line
        for text in command.fed:
            self.given(text)
        changes = self.uninstalls or shell_programs.speaks_of_install(self.written)
        self.unclear_if(command.piped and changes, "a shell reads what another command writes")

    def given(self, code: Word) -> None:
        """Code for a shell, as a word."""
        telling = _without_quotes(code.text)
        hidden = code.dynamic and (self.uninstalls or any(word in telling for word in TELLTALE))
        self.unclear_if(hidden, "a part of the code is computed")
        self.unclear_if(self.depth == shell_words.DEEPEST, "too deeply nested")
        self.depth += 1
        self.code(code.text)
        self.depth -= 1

    def change(self, name: str, rest: list[Word]) -> None:
        where = rest[0] if rest else Word("~")
        if name in {"cd", "pushd"}:
            path = "" if where.dynamic or where.text == "-" else where.text
            self.state.folder = self.from_here(path)
            self.state.lost = not path or (self.state.lost and not path.startswith(("/", "~")))
        elif name == "export":
            for word in filter(_assignment, rest):
                self.assign(word)
        elif name in {".", "source"}:
            place, _, script = where.text.rpartition("/")
            if script.partition(".")[0] == "activate":
                self.activate(place, computed=where.dynamic)
        else:
            acts = name in {"workon", "deactivate"} or any(
                word.text in {"activate", "shell", "load", "use"} for word in rest
            )
            self.state.unknown = f"{name} has changed the environment" if acts else self.state.unknown
            self.unclear_if(hides_change(name, rest), f"{name} may run it in another environment")

    def activate(self, place: str, *, computed: bool) -> None:
        """By the script in the folder `place`; of one without a folder PATH decides."""
        home, _, last = self.from_here(place).removesuffix("/.").rpartition("/")
        self.state.activated = home or "."
        lost = computed or (self.state.lost and not place.startswith(("/", "~")))
        self.state.unknown = "" if last == "bin" else "nobody can tell what is activated"
        if lost:
            self.state.unknown = "the environment's folder is computed"

    def from_here(self, path: str) -> str:
        stands = path.startswith(("/", "~")) or not self.state.folder
        return path if stands else f"{self.state.folder}/{path}"

    def pip(self, tool: str, program: str, rest: list[Word], *, bare: bool = False) -> None:
        operand = next((word for word in rest if word.dynamic or not word.text.startswith("-")), None)
        self.unclear_if(operand is not None and operand.dynamic, "pip's command is computed")
        call = Call(tool, program, rest, self.state, bare=bare)
        if not (call.removes or "install" in call.words):
            return
        self.unclear_if(call.computed and call.removes, "what is to go is computed")
        self.unclear_if(call.computed and "--python" in call.words, "the environment may be computed")
        self.unclear_if(bool(self.state.unknown) and "/" not in program, self.state.unknown)
        bound = call.removes or tool == "uv" or ("/" in program and not program.startswith(("/", "~")))
        self.unclear_if(self.state.lost and bound, "the folder is computed")
        self.found.append(call)

    def make(self, rest: list[Word]) -> None:
        """An environment, in one of the folders named."""
        folders = [word.text for word in rest if not word.dynamic and not word.text.startswith("-")]
        self.state.made += [self.from_here(folder) for folder in folders]

    def python(self, program: str, rest: list[Word], command: Command) -> None:
        bare = False
        while rest and rest[0].text.startswith("-") and rest[0].text != "-":
            option = rest.pop(0).text
            letters = option[1:] if not option.startswith("--") else ""
            ends = next((place for place, letter in enumerate(letters) if letter in "cmWX"), None)
            value = "" if ends is None else letters[ends + 1 :]
            bare = bare or "S" in letters[:ends]
            if ends is None:
                continue
            given = Word(value) if value else rest.pop(0) if rest else Word("")
            if letters[ends] == "m":
                if given.text in {"pip", "pip.__main__"}:
                    self.pip("python", program, rest, bare=bare)
                elif given.text in {"venv", "virtualenv"}:
                    self.make(rest)
                return
            if letters[ends] == "c":
                self.unclear_if(code_hides_change([given]), "code of Python's may call pip")
                return
        if rest and is_pip(rest[0].text.rpartition("/")[2]):
            self.pip("python", program, rest[1:], bare=bare)
        self.unclear_if(code_hides_change(command.fed), "code of Python's may call pip")

    def uv(self, program: str, rest: list[Word]) -> None:
        words = [word.text for word in rest]
        if "pip" in words and "run" not in words[: words.index("pip")]:
            self.pip("uv", program, rest[words.index("pip") + 1 :])
        elif words[:1] == ["venv"]:
            self.make([word for word in rest[1:] if not word.text.startswith("-")] or [Word(".venv")])
        else:
            hidden = "run" in words and hides_change("uv", rest)
            self.unclear_if(hidden, "uv run may choose another environment")

    def unclear_if(self, hidden: bool, why: str) -> None:  # noqa: FBT001
        if hidden:
            raise UnclearError(why)


def calls(line: str) -> list[Call]:
    """In order. UnclearError: something in `line` may remove or install, and cannot be followed."""
    telling = _without_quotes(line).lower()
    if not any(word in telling for word in TELLTALE):
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
