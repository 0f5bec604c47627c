"""Debian's own Python: what its pip, and a pip of one's own over it, really delete of what dpkg keeps.

Done in a mount namespace with a layer over /usr: nothing of the machine changes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PYTHON = "/usr/bin/python3"
PACKAGES = Path("/usr/lib/python3/dist-packages")

DEED = """
import json, os, subprocess, sys
from pathlib import Path
from safepip.reading.disk import Disk
from safepip.reading.pythons.targets import read_target
from safepip.reading.sites.metadata import canonical
from safepip.reading.sites.site import take_inventory
from safepip.reasoning.changes.removal import plan

layer, own_pip, *names = sys.argv[1:]

def lay():
    subprocess.run(["mount", "-t", "tmpfs", "none", layer], check=True)
    for name in ("up", "work"):
        os.mkdir(f"{layer}/{name}")
    options = f"lowerdir=/usr,upperdir={layer}/up,workdir={layer}/work"
    subprocess.run(["mount", "-t", "overlay", "-o", options, "none", "/usr"], check=True)
    if own_pip:
        subprocess.run(["cp", "-r", own_pip, "/usr/local/lib/python3.11/dist-packages/pip"], check=True)

def listing():
    return {f"{at}/{name}" for top in ("/usr/lib/python3", "/usr/bin", "/usr/local") for at, folders, files in os.walk(top) for name in (*folders, *files) if ".dpkg-" not in name}

for name in names:
    lay()
    target = read_target("/usr/bin/python3", {"PATH": "/usr/bin", "HOME": "/nonexistent"})
    removal = plan([canonical(name)], take_inventory(target), Disk())
    before = listing()
    done = subprocess.run(["/usr/bin/python3", "-m", "pip", "uninstall", "-y", "--break-system-packages", name],
        capture_output=True, text=True, env={"PATH": "/usr/bin", "HOME": "/nonexistent", "PIP_NO_INDEX": "1", "PYTHONDONTWRITEBYTECODE": "1"}, cwd="/")
    gone = before - listing()
    below = tuple(f"{folder}/" for folder in removal.folders)
    planned = {path for path in before if below and path.startswith(below)} | set(removal.files) | set(removal.folders)
    print(json.dumps({"name": name, "gone": len(gone), "wrong": sorted(gone ^ planned)[:6], "code": done.returncode,
        "planned code": removal.halt.exit_code if removal.halt else 0, "said": done.stdout[-300:] + done.stderr[-300:]}), flush=True)
    subprocess.run(["umount", "-l", "/usr"], check=True)
    subprocess.run(["umount", "-l", layer], check=True)
"""


def deeds(tmp_path: Path, own_pip: str, *names: str) -> list[dict[str, Any]]:
    if not PACKAGES.is_dir() or sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs Debian's Python, and root for a mount namespace")
    layer = tmp_path / "layer"
    layer.mkdir()
    source = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", DEED, str(layer), own_pip, *names],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(source)},
    )  # fmt: skip
    if done.returncode and "mount" in done.stderr:
        pytest.skip(f"no layer over /usr can be made here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def installed(*wanted: str) -> list[str]:
    """Those of Debian's packages that are here."""
    names = {entry.name.partition("-")[0].lower(): entry.name for entry in PACKAGES.glob("*-info")}
    return [name for name in wanted if name.lower() in names]


def test_debians_pip_takes_nothing_that_dpkg_keeps(tmp_path: Path) -> None:
    if not (PACKAGES / "pip").is_dir():
        pytest.skip("Debian's pip is not installed")
    names = installed("numpy", "six", "cryptography", "PyYAML")[:2]
    found = deeds(tmp_path, "", *names)
    assert [(item["gone"], item["wrong"]) for item in found] == [(0, [])] * len(names)


def test_a_pip_of_ones_own_takes_what_dpkg_keeps_as_planned(tmp_path: Path) -> None:
    import pip

    names = installed("numpy", "six", "cryptography", "PyYAML", "Pillow", "lxml", "scipy", "certifi")
    found = deeds(tmp_path, str(Path(str(pip.__file__)).parent), *names)
    assert [(item["name"], item["wrong"], item["code"] == item["planned code"]) for item in found] == [
        (name, [], True) for name in names
    ]
    assert not names or any(item["gone"] for item in found)
