"""pip's general options, of every pip since 22.3: those that may stand before any command; then uninstall's and safepip's own.

Plain tables in a module of their own, as pass-through reads them where each millisecond counts.
"""

from __future__ import annotations

FLAGS = {
    "-h": "help", "--help": "help",
    "--debug": "debug",
    "--isolated": "isolated",
    "--require-virtualenv": "require_venv", "--require-venv": "require_venv",
    "-v": "verbose", "--verbose": "verbose",
    "-V": "version", "--version": "version",
    "-q": "quiet", "--quiet": "quiet",
    "--no-input": "no_input", "--no-proxy-env": "no_proxy_env", "--no-cache-dir": "no_cache_dir",
    "--disable-pip-version-check": "disable_pip_version_check",
    "--no-color": "no_color", "--no-python-version-warning": "no_python_version_warning",
}  # fmt: skip
VALUES = {
    "--python": "python",
    "--log": "log", "--log-file": "log", "--local-log": "log",
    "--keyring-provider": "keyring_provider",
    "--proxy": "proxy", "--retries": "retries", "--resume-retries": "resume_retries",
    "--timeout": "timeout", "--default-timeout": "timeout",
    "--exists-action": "exists_action",
    "--trusted-host": "trusted_host", "--cert": "cert", "--client-cert": "client_cert",
    "--cache-dir": "cache_dir",
    "--use-feature": "use_feature", "--use-deprecated": "use_deprecated",
}  # fmt: skip
COMMANDS = frozenset(
    {
        "cache",
        "check",
        "completion",
        "config",
        "debug",
        "download",
        "freeze",
        "hash",
        "help",
        "index",
        "inspect",
        "install",
        "list",
        "lock",
        "search",
        "show",
        "uninstall",
        "wheel",
    }
)  # pip's
OWN_COMMANDS = frozenset(
    {"audit", "doctor", "explain", "guard", "history", "hook", "init", "undo", "uv", "why"}
)
UNINSTALL_FLAGS = {"-y": "yes", "--yes": "yes", "--break-system-packages": "break_system_packages"}
UNINSTALL_VALUES = {
    "-r": "requirement",
    "--requirement": "requirement",
    "--root-user-action": "root_user_action",
}
OWN_FLAGS = {
    "--dry-run": "dry_run", "--json": "json", "--force": "force", "--files": "files",
    "--safe": "safe", "--no-keep": "no_keep",
}  # fmt: skip
FORMATS = ("terminal", "json", "sarif", "markdown")  # the last two with --dry-run only
OPTIONAL = frozenset({"--safe"})  # flags that may have a value
OWN_VALUES = {
    "--fail-on": "fail_on",
    "--format": "format",
    "--code": "code",
    "--root": "root",
    "--baseline": "baseline",
}
LOOKING = frozenset({"why", "audit", "doctor", "uninstall"})  # what --root is for
OWN = frozenset({*OWN_FLAGS.values(), *OWN_VALUES.values()})
