"""What a program in a line of shell does with the words after it, by its name."""

from __future__ import annotations

TYPE_CHECKING = False  # known to type checkers
if TYPE_CHECKING:
    from safepip.reasoning.shell.shell_words import Word

KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "coproc"})
DECLARE = frozenset({"for", "case", "select", "function", "fi", "done", "esac"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"})
SWITCH = frozenset(
    {"conda", "mamba", "micromamba", "pyenv", "workon", "deactivate", "module", "asdf", "mise"}
)
ONLY_READ = frozenset(
    {
        "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "man", "which", "type", "whereis", "git", "gh", "cat", "tldr",
        "ls", "head", "tail", "less", "history", "jq", "sed", "awk", "test", "[", "[[", "wc", "sort", "diff", "tee", "safepip",
    }
)  # fmt: skip
# What only starts another program, and its options that take the next word.
STARTERS = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-T", "-R", "-D", "--user", "--group", "--chdir", "--host", "--prompt"),
    "doas": ("-u", "-C"), "env": ("-u", "-C", "--unset", "--chdir"), "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "-p"), "timeout": ("-k", "-s", "--kill-after", "--signal"), "stdbuf": ("-i", "-o", "-e"),
    "nohup": (), "setsid": (), "exec": ("-a",), "command": (), "builtin": (), "time": ("-f", "-o"), "strace": ("-e", "-o"),
    "xargs": ("-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--delimiter", "--max-args", "--max-procs", "--arg-file"),
}  # fmt: skip
# Who runs what a single word says, here or elsewhere.
_RUN_TEXT = frozenset(
    {
        "ssh", "su", "runuser", "docker", "podman", "kubectl", "lxc", "vagrant", "tmux", "screen", "parallel", "watch",
        "script", "chroot", "flock", "nix-shell",
    }
)  # fmt: skip
# Code of Python's that only mentions an install has none of these.
_STARTS_PROCESSES = (
    "subprocess",
    "system(",
    "popen",
    "spawn",
    "execv",
    "runpy",
    "_internal",
    "pip.main",
    "pip import",
)
_APART = str.maketrans("[]()'\",;", " " * 8)


def is_pip(name: str) -> bool:
    stem = name.removesuffix(".pyz").removesuffix(".exe")
    return stem.startswith("pip") and not stem[3:].strip("-.0123456789t")


def is_python(name: str) -> bool:
    stem = name.removesuffix(".exe")
    return any(
        stem.startswith(kind) and not stem[len(kind) :].strip("-.0123456789t") for kind in ("python", "pypy")
    )


def hides_change(name: str, words: list[Word]) -> bool:
    """Whether the program `name`, unknown here, may call pip to remove or to install."""
    texts = [word.text for word in words]
    return _speaks_of_removal(texts) or speaks_of_install(
        " ".join(text for text in texts if name in _RUN_TEXT or not any(map(str.isspace, text)))
    )


def code_hides_change(words: list[Word]) -> bool:
    """The same of code for Python."""
    texts = [word.text for word in words]
    return _speaks_of_removal(texts) or any(
        speaks_of_install(text) or ("pip" in text and ("'install'" in text or '"install"' in text))
        for text in texts
        if any(way in text for way in _STARTS_PROCESSES)
    )


def speaks_of_install(text: str) -> bool:
    """A pip, and `install` for its command, as in a shell or in a list of Python's."""
    called = False
    for word in text.translate(_APART).split():
        if called and word == "install":
            return True
        called = is_pip(word.rpartition("/")[2]) or (called and word.startswith("-"))
    return False


def _speaks_of_removal(texts: list[str]) -> bool:
    """Both in one word of code, or a pip of some kind and `uninstall` among several."""
    together = any("uninstall" in text and "pip" in text for text in texts)
    names = [text.rpartition("/")[2] for text in texts]
    return together or ("uninstall" in texts and any(is_pip(name) for name in names))
