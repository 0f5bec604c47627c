"""examples/fleet, run by the real Ansible with local environments as its hosts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.sandbox import Environment, Run, run

FLEET = Path(__file__).resolve().parents[2] / "examples/fleet"
SAFEPIP = Path(sys.executable).parent / "safepip"
FAILED = 2  # ansible-playbook's own, where a task failed


@pytest.fixture(scope="module")
def ansible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ansible from the index, in a folder of its own."""
    folder = tmp_path_factory.mktemp("ansible")
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), "ansible-core"]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("ansible-core cannot be had from the index")
    return folder


def clean_up(
    hosts: dict[str, list[str]], removals: list[str], *, folder: Path, ansible: Path
) -> tuple[Run, list[str]]:
    """What cleanup.yml does on `hosts` (name to environments), and the rows of the table it leaves."""
    fleet = folder / "fleet"
    shutil.copytree(FLEET, fleet)
    lines = [
        f"{host} ansible_connection=local environments='{json.dumps(environments)}'"
        for host, environments in hosts.items()
    ]
    (fleet / "hosts.ini").write_text("\n".join(lines) + "\n")
    said = json.dumps(
        {
            "removals": removals,
            "safepip": str(SAFEPIP),
            "ansible_python_interpreter": sys.executable,
        }
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    env = {"PATH": path, "PYTHONPATH": str(ansible), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    playbook = [
        sys.executable,
        str(ansible / "bin/ansible-playbook"),
        "-i",
        "hosts.ini",
        "cleanup.yml",
        "-e",
        said,
    ]
    done = run(playbook, env=env, cwd=fleet)
    table = fleet / "reports/table.md"
    return done, table.read_text().splitlines()[2:] if table.exists() else []


def second(environment: Environment, folder: Path) -> Environment:
    """A copy of links in which the survivor does not stand: there the removal harms nobody."""
    shutil.copytree(environment.prefix, folder, symlinks=True, copy_function=os.link)
    copy = Environment(folder)
    shutil.rmtree(copy.site / "torch")
    shutil.rmtree(copy.site / "torch-2.9.1.dist-info")
    shutil.rmtree(copy.site / "cudnn_cu12-9.10.dist-info")
    return copy


def test_one_environment_that_would_break_or_cannot_be_judged_stops_the_roll_out_everywhere(
    story: Environment, ansible: Path, tmp_path: Path
) -> None:
    free = second(story, tmp_path / "free")
    nowhere = tmp_path / "nowhere"
    hosts = {"one": [str(free.prefix)], "two": [str(story.prefix), str(nowhere)]}
    before = free.tree(), story.tree()
    done, table = clean_up(hosts, ["cudnn-cu13"], folder=tmp_path, ansible=ansible)
    assert done.code == FAILED
    assert f"two {story.prefix}: refuse" in done.out
    assert f"two {nowhere}: cannot tell" in done.out
    assert [line.split(" | ")[:4] for line in table] == [
        ["| one", str(free.prefix), "allow", ""],
        ["| two", str(story.prefix), "refuse", "cudnn-cu12, torch"],
        ["| two", str(nowhere), "cannot tell", f"there is no interpreter {nowhere}"],
    ]
    assert (free.tree(), story.tree()) == before


def test_a_cleanup_that_harms_no_host_is_made_on_all(
    story: Environment, ansible: Path, tmp_path: Path
) -> None:
    free = second(story, tmp_path / "free")
    hosts = {"one": [str(free.prefix), str(story.prefix)]}
    done, table = clean_up(hosts, ["leaf"], folder=tmp_path, ansible=ansible)
    assert (done.code, [line.split(" | ")[2] for line in table]) == (0, ["allow", "allow"])
    assert not (free.site / "leaf.py").exists()
    assert not (story.site / "leaf.py").exists()
