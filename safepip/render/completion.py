"""Shell code that makes `pip`, `uv pip uninstall` and `uv pip install` mean safepip, and what completes a command line of safepip's.

Each text can be evaluated any number of times. A function that finds its safepip gone calls pip itself. The program
is called by its path, so the functions work in whatever environment is active; which pip they stand for is told in
a variable, and is looked up on the PATH at each call.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")
COMMANDS = (
    "uninstall",
    "undo",
    "history",
    "why",
    "audit",
    "doctor",
    "explain",
    "guard",
    "init",
    "hook",
    "help",
)
_REPORT = ("--json", "--format", "--baseline", "--fail-on", "--root")
OPTIONS = {
    "install": ("--json", "--rollback"),
    "uninstall": (*_REPORT, "--dry-run", "--files", "--force", "--safe", "--no-keep", "--code"),
    "undo": ("--json",),
    "history": ("--json", "--drop"),
    "why": ("--json", "--format", "--verbose", "--root"),
    "audit": (*_REPORT, "--remove", "--plan", "--code", "--html"),
    "doctor": (*_REPORT, "--list", "--only", "--skip", "--fix", "--yes", "--verbose"),
    "explain": ("--json",),
    "guard": ("--json", "--python"),
}
WORDS = {"guard": ("on", "off", "status"), "init": SHELLS}

_NAMES = ("pip", "pip3")
_PYTHONS = ("python", "python3")


class Asked(NamedTuple):
    """A command line up to the word that is being completed."""

    before: tuple[str, ...]  # without the program
    current: str

    @property
    def command(self) -> str | None:
        return next((word for word in self.before if not word.startswith("-")), None)


def asked(words: str, number: str) -> Asked:
    """From what a shell says, as pip reads it: words by blanks, and the number of the current one."""
    split = words.split()[1:]
    place = max(int(number) - 1, 0) if number.isdecimal() else len(split)
    return Asked(tuple(split[:place]), split[place] if place < len(split) else "")


def is_pips(line: Asked) -> bool:
    """Whether pip has something to say about it, too."""
    return line.command not in COMMANDS or line.command in {"uninstall", "help"}


def own_words(line: Asked, kinds: Sequence[str]) -> list[str]:
    """What safepip adds."""
    if line.command is None or line.command == "help":
        candidates: Sequence[str] = () if line.current.startswith("-") else COMMANDS
    elif line.current.startswith("-"):
        candidates = OPTIONS.get(line.command, ())
    else:
        candidates = kinds if line.command == "explain" else WORDS.get(line.command, ())
    return [word for word in candidates if word.startswith(line.current)]


def shell_code(shell: str, program: str) -> str:
    """Code for `shell` in which pip, pip3 and `python -m pip` call the safepip at `program`."""
    path = shlex.quote(program)
    if shell == "fish":
        quoted = "'" + program.replace("\\", "\\\\").replace("'", "\\'") + "'"
        functions = [_FISH_PIP.format(name=name, path=quoted) for name in _NAMES]
        functions += [_FISH_PYTHON.format(name=name, path=quoted) for name in _PYTHONS]
        functions.append(_FISH_UV.format(path=quoted))
        return "".join([*functions, _FISH_COMPLETION.format(path=quoted)])
    functions = [_PIP.format(name=name, path=path) for name in _NAMES]
    functions += [_PYTHON.format(name=name, path=path) for name in _PYTHONS]
    functions.append(_UV.format(path=path))
    return "".join([*functions, (_BASH if shell == "bash" else _ZSH).format(path=path)])


# `function` keeps an alias of the same name from being expanded where the function is defined.
_PIP = """\
function {name} {{
  if [ -x {path} ]; then SAFEPIP_STANDS_FOR={name} {path} "$@"; else command {name} "$@"; fi
}}
"""
_PYTHON = """\
function {name} {{
  if [ "${{1-}}" = -m ] && [ "${{2-}}" = pip ] && [ -x {path} ]; then
    shift 2
    SAFEPIP_STANDS_FOR={name} {path} "$@"
  else
    command {name} "$@"
  fi
}}
"""
_UV = """\
function uv {{
  if [ "${{1-}}" = pip ] && {{ [ "${{2-}}" = uninstall ] || [ "${{2-}}" = install ]; }} && [ -x {path} ]; then
    {path} uv "$@"
  else
    command uv "$@"
  fi
}}
"""
_BASH = """\
function _safepip_complete {{
  COMPREPLY=( $( COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD=$COMP_CWORD SAFEPIP_COMPLETES=1 \\
    SAFEPIP_STANDS_FOR="$( case "$1" in (pip*) printf %s "$1";; (*) printf pip;; esac )" {path} 2>/dev/null ) )
}}
complete -o default -F _safepip_complete safepip pip pip3
"""
_ZSH = """\
function _safepip_words {{
  local name=${{1:t}}
  COMP_WORDS="$2" COMP_CWORD=$3 SAFEPIP_COMPLETES=1 SAFEPIP_STANDS_FOR=${{${{(M)name:#pip*}}:-pip}} {path} 2>/dev/null
}}
function _safepip_complete {{
  compadd -- $(_safepip_words "$words[1]" "$words[*]" $((CURRENT - 1))) || _files
}}
function _safepip_complete_plainly {{
  local words cword
  read -Ac words
  read -cn cword
  reply=( $(_safepip_words "$words[1]" "$words[*]" $((cword - 1))) )
}}
if (( $+functions[compdef] )); then
  compdef _safepip_complete safepip pip pip3
else
  compctl -K _safepip_complete_plainly + -f safepip pip pip3
fi
"""
_FISH_PIP = """\
function {name}
  if test -x {path}
    env SAFEPIP_STANDS_FOR={name} {path} $argv
  else
    command {name} $argv
  end
end
"""
_FISH_PYTHON = """\
function {name}
  if test (count $argv) -ge 2; and test "$argv[1]" = -m; and test "$argv[2]" = pip; and test -x {path}
    env SAFEPIP_STANDS_FOR={name} {path} $argv[3..-1]
  else
    command {name} $argv
  end
end
"""
_FISH_UV = """\
function uv
  if test (count $argv) -ge 2; and test "$argv[1]" = pip; and contains -- "$argv[2]" uninstall install; and test -x {path}
    {path} uv $argv
  else
    command uv $argv
  end
end
"""
_FISH_COMPLETION = """\
function __safepip_complete
  set -l words (commandline --current-process --tokenize --cut-at-cursor)
  set -l current (commandline --current-token --cut-at-cursor)
  env COMP_WORDS="$words $current" COMP_CWORD=(count $words) SAFEPIP_COMPLETES=1 {path} 2>/dev/null
end
complete --command safepip --arguments '(__safepip_complete)'
complete --command pip --arguments '(__safepip_complete)'
complete --command pip3 --arguments '(__safepip_complete)'
"""
