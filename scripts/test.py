"""Run everything that CI runs: format, lint, types, tests, coverage of the reasoning. Arguments go to pytest.

    python3 scripts/test.py                 everything
    python3 scripts/test.py -k removal      format, lint and types, then some tests

Makes a development environment in .dev/ (ignored by git) on its first run; needs Python 3.11 or newer and
the package index, nothing else.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEV = ROOT / ".dev"
PYTHON = DEV / "bin" / "python"
VALUES = ("tests/reasoning", "tests/rules/test_loader_rules.py::test_the_rule_holds_on_values")


def main(arguments: list[str]) -> int:
    if "--help" in arguments:
        print(__doc__)
        return 0
    if sys.version_info < (3, 11):
        print("safepip needs Python 3.11 or newer; this is", sys.version.split()[0], file=sys.stderr)
        return 2
    make_environment()
    checks = [
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        ["mypy"],
        ["pytest", *(arguments or ["-n", "2", "-q"])],
    ]
    if not arguments:  # every branch of what decides is reached by a test of values
        checks += [["coverage", "run", "-m", "pytest", "-q", *VALUES], ["coverage", "report"]]
    failed = [check[0] for check in checks if run(check)]
    print("all passed" if not failed else f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def make_environment() -> None:
    """A venv with safepip and its development extras, made again when pyproject.toml changes."""
    stamp = DEV / "made-from"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    print("making the development environment in .dev/ …", flush=True)
    venv.create(DEV, with_pip=True, clear=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-e", f"{ROOT}[dev]"], check=True)
    stamp.write_text(wanted)


def run(check: list[str]) -> int:
    print("$", *check, flush=True)
    return subprocess.run([PYTHON, "-m", *check], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
