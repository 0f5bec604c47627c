"""The command lines of what makes safepip stand where others are called: guard, init and uv."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from safepip.cli import json_wanted, streams
from safepip.errors import VALUE_MISSING, UsageError
from safepip.model.guard import GuardState
from safepip.model.request import Ask

UNGUARDED = 10

_HELP = {
    "guard": """\
Usage: safepip [--python PATH] guard on|off|status [--python PATH] [--json]

Guards one environment whatever calls its pip: pip, pip3, python -m pip, a script, a notebook, `bash -c` over ssh.
A start-up hook in its site-packages looks at the command line of each Python and acts on `pip uninstall` and
`pip install` alone.

  on       lay the hook down, and see that it acts
  off      take it away; the environment is as it was
  status   call each way of calling pip with a removal that removes nothing; ends with 10 where one is not guarded

Not reached: python -S, `import pip` inside a program, uv, conda and other installers.
""",
    "init": """\
Usage: safepip init bash|zsh|fish

Prints shell code by which pip, pip3, `python -m pip`, `uv pip uninstall` and `uv pip install` mean safepip in that
shell, with pip's completion and safepip's. To have it in every shell of yours:

  bash   echo 'eval "$(safepip init bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(safepip init zsh)"' >> ~/.zshrc
  fish   echo 'safepip init fish | source' >> ~/.config/fish/config.fish

Not reached: scripts, cron, ssh, `sudo pip`, `xargs pip`, a pip called by its path. `safepip guard on` reaches those.
""",
}


def answer(request: Ask) -> int:
    """Carry out `request`; the result is the exit code."""
    words = list(request.arguments)
    if request.command == "uv":
        return _uv(words, request.python)
    if "-h" in words or "--help" in words:
        streams.write(_HELP[request.command])
        return 0
    if request.command == "init":
        return _init(words)
    as_json = _take(words, "--json")
    python = _value(words, "--python") or request.python
    return _guard(words, python, as_json=as_json)


def complete() -> int:
    """Answer the completion of a shell that `init` has taught: pip's words, and safepip's."""
    from safepip.commands import completing
    from safepip.model.report import FindingKind
    from safepip.render import completion

    asked = completion.asked(os.environ.get("COMP_WORDS", ""), os.environ.get("COMP_CWORD", ""))
    own = completion.own_words(asked, [kind.value for kind in FindingKind])
    pips = completing.pips_words(os.environ, sys.argv[0]) if completion.is_pips(asked) else []
    streams.write("".join(f"{word}\n" for word in dict.fromkeys([*own, *pips])))
    return 0


def _guard(words: Sequence[str], python: str | None, *, as_json: bool) -> int:
    from safepip.commands import guard, target
    from safepip.render import guard as render

    acts = {"on": guard.on, "off": guard.off, "status": guard.status}
    if len(words) != 1 or words[0] not in acts:
        raise UsageError(
            "wrong-arguments", "guard wants one of: on, off, status", "See `safepip guard --help`."
        )
    done = acts[words[0]](target.find(python).target)
    streams.write(f"{render.dump(done)}\n" if as_json else render.show(done))
    whole = done.state is GuardState.ON and all(entry.guarded for entry in done.entries)
    return 0 if whole or words[0] == "off" else UNGUARDED


def _uv(words: Sequence[str], python: str | None) -> int:
    """`uv pip uninstall` and `uv pip install` behind the guard; everything else is uv's."""
    from safepip.acting import uv
    from safepip.cli import installing, uninstalling
    from safepip.commands import beside
    from safepip.grammar import uv_grammar

    install = uv_grammar.install(words)
    if install is not None:
        code = installing.answer_uv(install, python)
        if code is not None:
            return code
        words = list(install.words)
    if not uv_grammar.is_removal(words) or "--help" in words or "-h" in words:
        program, bare = beside.uv(os.environ), uv_grammar.unguarded(words)
        if bare:
            streams.say(
                f"safepip: `{bare}` changes the environment and is not guarded; `safepip doctor` tells afterwards what broke\n"
            )
        uv.become(program, words)
    request = uv_grammar.parse(words)
    as_json = request.json or json_wanted.is_wanted((), os.environ)
    named = request.python or python or beside.environment_of_uv(os.getcwd(), os.environ)
    return uninstalling.answer(replace(request, python=named, json=as_json))


def _init(words: Sequence[str]) -> int:
    from safepip.render import completion

    if len(words) != 1 or words[0] not in completion.SHELLS:
        shells = ", ".join(completion.SHELLS)
        raise UsageError("wrong-arguments", f"init wants one of: {shells}", "See `safepip init --help`.")
    beside = os.path.join(os.path.dirname(sys.executable), "safepip")
    called = os.path.abspath(sys.argv[0])
    program = called if os.path.basename(called) == "safepip" and os.access(called, os.X_OK) else beside
    if not os.access(program, os.X_OK):
        raise UsageError(
            "no-program", f"there is no safepip program beside {sys.executable}", "Install safepip."
        )
    streams.write(completion.shell_code(words[0], program))
    return 0


def _take(words: list[str], flag: str) -> bool:
    found = flag in words
    words[:] = [word for word in words if word != flag]
    return found


def _value(words: list[str], option: str) -> str | None:
    """The last of `option VALUE` or `option=VALUE`, taken out of `words`."""
    value = None
    for index in reversed(range(len(words))):
        name, equals, text = words[index].partition("=")
        if name == option:
            if not equals and index + 1 == len(words):
                raise UsageError(VALUE_MISSING, f"{option} option requires 1 argument")
            found = text if equals else words[index + 1]
            value = found if value is None else value
            del words[index : index + (1 if equals else 2)]
    return value
