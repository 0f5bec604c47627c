"""pip's command line, as far as a guard must understand it.

The tables hold the options of `pip uninstall` and the general ones of every pip since 22.3, and safepip's own.
Arguments are read as pip reads them, twice over (cli/main_parser.py:parse_command): up to the command word
for the general options, then all without that word for the command's. The rules within are optparse's
(OptionParser._process_args). optparse itself is not used: it costs more than half of a pass-through's
budget to import, and it forgets where a value stood, which is wanted to hand a copy of a stream to pip.

What is no uninstall goes to pip unread. What may be one and is not understood ends the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from safepip.errors import VALUE_MISSING, UsageError
from safepip.grammar import choices
from safepip.grammar.options import (
    COMMANDS,
    FLAGS,
    LOOKING,
    OPTIONAL,
    OWN,
    OWN_COMMANDS,
    OWN_FLAGS,
    OWN_VALUES,
    UNINSTALL_FLAGS,
    UNINSTALL_VALUES,
    VALUES,
)
from safepip.model.request import (
    Ask,
    History,
    PassThrough,
    Request,
    ShowHelp,
    ShowVersion,
    Undo,
    Uninstall,
    ValuePlace,
)


class Option(NamedTuple):
    """One option found: which, its value, and the arguments `first` to `last` that it is made of."""

    name: str
    value: str
    first: int
    last: int
    offset: int  # of the value in argument `last`


class Operand(NamedTuple):
    argument: int


class Options(NamedTuple):
    """What may stand in one part of a command line. Each maps an option as written to its name."""

    flags: Mapping[str, str]
    values: Mapping[str, str]
    pips: tuple[str, ...]

    def find(self, written: str) -> str:
        """The long option that `written` means; what pip lets one cut short means what it means to pip."""
        if written in self.flags or written in self.values:
            return written
        for names in (self.pips, (*OWN_FLAGS, *OWN_VALUES)):
            fits = sorted(name for name in names if name.startswith(written))
            if len(fits) > 1:
                raise UsageError("ambiguous-option", f"ambiguous option: {written} ({', '.join(fits)}?)")
            if fits:
                return fits[0]
        raise UsageError("no-such-option", f"no such option: {written}")


def _options(flags: Mapping[str, str], values: Mapping[str, str]) -> Options:
    return Options({**flags, **OWN_FLAGS}, {**values, **OWN_VALUES}, (*flags, *values))


GLOBAL = _options(FLAGS, VALUES)
UNINSTALL = _options({**FLAGS, **UNINSTALL_FLAGS}, {**VALUES, **UNINSTALL_VALUES})


def parse(arguments: Sequence[str]) -> Request:
    """What `arguments` ask for. UsageError: pip would not take them either, or they cannot be told from an uninstall."""
    try:
        options, command = _global_part(arguments)
    except UsageError as error:
        if "uninstall" in arguments or error.reference == VALUE_MISSING:
            raise
        return PassThrough(tuple(arguments))  # perhaps an option of a newer pip: pip itself objects
    names = {option.name for option in options}
    if "help" in names:
        return ShowHelp()
    if "version" in names:
        return ShowVersion(_pass_through(arguments, options))
    root = _last(options, "root")
    if root is not None and not LOOKING.intersection(arguments[command : command + 1]):
        raise choices.only_looked_at()
    match list(arguments[command:]):
        case [] | ["help"]:
            return ShowHelp()
        case ["help", "uninstall", *_]:
            return ShowHelp("uninstall")
        case ["uninstall", *_]:
            return _uninstall(arguments, command)
        case ["undo" | "history" as name, *rest]:
            return _way_back(name, rest, options)
        case ["why" | "audit" | "doctor" | "explain" | "guard" | "init" | "uv" as name, *rest]:
            return Ask(name, tuple(rest), _last(options, "python"), root)
        case _:
            return _pass_through(arguments, options)


def unknown(arguments: Sequence[str]) -> str:
    """The command word, where it is none of pip's commands that are known here and none of safepip's; else ""."""
    try:
        word = next(iter(arguments[_global_part(arguments)[1] :]), "")
    except UsageError:
        return ""
    return "" if word in COMMANDS | OWN_COMMANDS else word


def _global_part(arguments: Sequence[str]) -> tuple[list[Option], int]:
    """The options before the command, and where the command stands. Nothing after a `-h` is looked at."""
    options: list[Option] = []
    for item in _scan(arguments, GLOBAL):
        if isinstance(item, Operand):
            return options, item.argument
        options.append(item)
        if item.name == "help":
            break
    return options, len(arguments)


def _pass_through(arguments: Sequence[str], options: Sequence[Option]) -> PassThrough:
    pythons = [option for option in options if option.name == "python"]
    dropped = _arguments_of(pythons)
    return PassThrough(
        tuple(argument for index, argument in enumerate(arguments) if index not in dropped),
        pythons[-1].value if pythons else None,
    )


def _last(options: Sequence[Option], name: str) -> str | None:
    return next((option.value for option in reversed(options) if option.name == name), None)


def _way_back(name: str, rest: Sequence[str], before: Sequence[Option]) -> Undo | History | ShowHelp:
    flags = {word for word in rest if word.startswith("-")}
    words = [word for word in rest if word not in flags]
    python = _last(before, "python")
    if flags & {"-h", "--help"}:
        return ShowHelp(name)
    taken = {"--json", *words[:1]} if name == "undo" else {"--json", "--drop"}
    odd = [word for word in rest if word not in taken]
    odd += [word for word in words if not word.isdecimal() and word not in odd]
    if odd or len(words) > (name == "undo"):
        hint = "--python stands before the command." if "--python" in flags else ""
        raise UsageError("wrong-arguments", f"{name} does not take {' '.join(odd or words)}", hint)
    if name == "undo":
        return Undo(int(words[0]) if words else None, python, json="--json" in flags)
    return History(python, json="--json" in flags, drop="--drop" in flags)


def _uninstall(arguments: Sequence[str], command: int) -> Uninstall | ShowHelp:
    if list(arguments).index("uninstall") != command:  # pip would take out the first, an option's value
        raise UsageError("command-as-value", "the word uninstall stands for an option's value as well")
    rest = [*arguments[:command], *arguments[command + 1 :]]
    options: list[Option] = []
    operands: list[int] = []
    for item in _scan(rest, UNINSTALL):
        if isinstance(item, Operand):
            operands.append(item.argument)
        elif item.name == "help":
            return ShowHelp("uninstall")
        else:
            options.append(item)
    late = [option for option in options if option.name == "python" and option.first >= command]
    if late:
        raise UsageError(
            "python-after-command",
            "The --python option must be placed before the pip subcommand name",
            f"safepip --python {late[-1].value} uninstall …",
        )
    return _read(rest, options, operands, command)


def _read(rest: Sequence[str], options: Sequence[Option], operands: Sequence[int], command: int) -> Uninstall:
    """`rest` is the command line without its command word, which stood at `command`."""
    values: dict[str, list[str]] = {}
    for option in options:
        values.setdefault(option.name, []).append(option.value)
    choices.check(values)
    kind = choices.format_of(values)
    dropped = _arguments_of([option for option in options if option.name in {*OWN, "python"}])
    kept = [index for index in range(len(rest)) if index not in dropped]
    before = sum(index < command for index in kept)
    moved = {index: place + (index >= command) for place, index in enumerate(kept)}
    return Uninstall(
        pip_arguments=(*(rest[i] for i in kept[:before]), "uninstall", *(rest[i] for i in kept[before:])),
        names=tuple(rest[index] for index in operands),
        requirement_files=tuple(values.get("requirement", ())),
        requirement_places=tuple(
            ValuePlace(moved[option.last], option.offset)
            for option in options
            if option.name == "requirement"
        ),
        python=values.get("python", [None])[-1],
        isolated="--isolated" in rest,  # cli/main.py looks for this very text, wherever it stands
        yes="yes" in values,
        verbose=len(values.get("verbose", ())),
        quiet=len(values.get("quiet", ())),
        no_input="no_input" in values,
        require_venv="require_venv" in values,
        break_system_packages="break_system_packages" in values,
        dry_run="dry_run" in values,
        json="json" in values or kind == "json",
        format=kind,
        force="force" in values,
        fail_on_warn="fail_on" in values,
        files="files" in values,
        safe=choices.safe_of(values.get("safe", ["off"])[-1]),
        keep="no_keep" not in values,
        code=tuple(values.get("code", ())),
        root=values.get("root", [None])[-1],
        baseline=values.get("baseline", [None])[-1],
    )


def _arguments_of(options: Sequence[Option]) -> frozenset[int]:
    return frozenset(index for option in options for index in range(option.first, option.last + 1))


def _scan(arguments: Sequence[str], options: Options) -> Iterator[Option | Operand]:
    """The options and operands in order (optparse's _process_args)."""
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            yield from (Operand(rest) for rest in range(index + 1, len(arguments)))
            return
        if argument.startswith("--"):
            option = _long(arguments, index, options)
            yield option
            index = option.last
        elif argument.startswith("-") and len(argument) > 1:
            for option in _cluster(arguments, index, options):
                yield option
                index = option.last
        else:
            yield Operand(index)
        index += 1


def _long(arguments: Sequence[str], index: int, options: Options) -> Option:
    written, equals, value = arguments[index].partition("=")
    name = options.find(written)
    if name in options.flags:
        if equals and name not in OPTIONAL:
            raise UsageError("value-not-wanted", f"{name} option does not take a value")
        return Option(options.flags[name], value, index, index, 0)
    if equals:
        return Option(options.values[name], value, index, index, len(written) + 1)
    return _with_next(arguments, index, name, options)


def _cluster(arguments: Sequence[str], index: int, options: Options) -> Iterator[Option]:
    """`-yvr FILE` and `-yvrFILE`: letters up to the first that takes a value, which takes what is left."""
    cluster = arguments[index]
    for place, letter in enumerate(cluster[1:], 1):
        name = f"-{letter}"
        if name in options.flags:
            yield Option(options.flags[name], "", index, index, 0)
        elif name not in options.values:
            raise UsageError("no-such-option", f"no such option: {name}")
        elif place + 1 < len(cluster):
            yield Option(options.values[name], cluster[place + 1 :], index, index, place + 1)
            return
        else:
            yield _with_next(arguments, index, name, options)


def _with_next(arguments: Sequence[str], index: int, name: str, options: Options) -> Option:
    if index + 1 == len(arguments):
        raise UsageError(VALUE_MISSING, f"{name} option requires 1 argument")
    return Option(options.values[name], arguments[index + 1], index, index + 1, 0)
