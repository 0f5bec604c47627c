"""`safepip guard on`: `pip uninstall` is guarded whatever calls it, and nothing else is disturbed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.pips import interpreter
from support.sandbox import Environment, Run, run
from support.wheels import make_wheel

REFUSED, BROKE = 10, 13
UNGUARDED = 10
ALL = bool(os.environ.get("SAFEPIP_TEST_ALL"))
WAYS = [
    "pip uninstall -y cudnn-cu13",
    "pip3 uninstall cudnn-cu13 -y",
    "pip3.{minor} -q uninstall -y cudnn-cu13",
    "python -m pip uninstall -y cudnn-cu13",
    "python -mpip uninstall -y cudnn-cu13",
    "python -I -m pip uninstall -y cudnn-cu13",
    "python -Im pip uninstall -y cudnn-cu13",
    "python -W ignore -X utf8 -m pip --no-input uninstall -y cudnn-cu13",
    "python {prefix}/bin/pip uninstall -y cudnn-cu13",
    "python {prefix}/lib/python3.{minor}/site-packages/pip uninstall -y cudnn-cu13",
    "cd {prefix}/bin && ./pip uninstall -y cudnn-cu13",
    "env -i {prefix}/bin/python -m pip uninstall -y cudnn-cu13",
    "echo cudnn-cu13 | xargs pip uninstall -y",
    "bash -c 'pip uninstall -y cudnn-cu13'",
    "make -s -f {prefix}/Makefile clean",
    'python -c \'import subprocess, sys; sys.exit(subprocess.call([sys.executable, "-m", "pip", "uninstall", "-y", "cudnn-cu13"]))\'',
]
SHELLS = {
    "sh": ["sh", "-c"],
    "bash": ["bash", "--norc", "-c"],
    "bash, login": ["bash", "-lc"],
    "zsh": ["zsh", "-f", "-c"],
    "fish": ["fish", "--no-config", "-c"],
}


def own_scripts(environment: Environment) -> Environment:
    """With pip's launchers of its own: in the copy they still start the template's Python."""
    for script in environment.prefix.glob("bin/pip*"):
        body = script.read_text().split("\n", 1)[1]
        script.unlink()
        script.write_text(f"#!{environment.python}\n{body}")
        script.chmod(0o755)
    return environment


def guard(environment: Environment, *words: str) -> Run:
    return run([sys.executable, "-m", "safepip", "guard", *words, "--python", str(environment.python)])


@pytest.fixture
def guarded(story: Environment) -> Environment:
    done = guard(own_scripts(story), "on")
    assert (done.code, done.err) == (0, "")
    (story.prefix / "Makefile").write_text("clean:\n\tpip uninstall -y cudnn-cu13\n")
    return story


def shell(words: Sequence[str], line: str, environment: Environment) -> Run:
    minor = str(sys.version_info.minor)
    line = line.replace("{prefix}", str(environment.prefix)).replace("{minor}", minor)
    path = f"{environment.prefix / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    # a login shell sets the PATH anew, so the line sets it as well
    setting = f"set -gx PATH {path.replace(':', ' ')};" if words[0] == "fish" else f"export PATH={path};"
    return run([*words, f"{setting} {line}"], env={"PATH": path})


@pytest.mark.parametrize("name", SHELLS)
def test_each_way_of_calling_pip_is_refused_and_nothing_is_touched(name: str, guarded: Environment) -> None:
    words = SHELLS[name]
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} on this machine")
    before = guarded.tree()
    answers = {
        way: shell(words, way, guarded) for way in (WAYS if name == "bash" else WAYS[:: 1 if ALL else 5])
    }
    wrong = {
        way: answer
        for way, answer in answers.items()
        if answer.code not in (REFUSED, 123, 2) or "safepip: REFUSED" not in answer.err
    }
    assert wrong == {}
    assert guarded.tree() == before


def test_what_harms_nobody_goes_and_pip_does_it(guarded: Environment) -> None:
    answer = run([str(guarded.prefix / "bin/pip"), "uninstall", "-y", "leaf"])
    assert answer.code == 0
    assert "Successfully uninstalled leaf-1.0" in answer.out
    assert not (guarded.site / "leaf.py").exists()


def test_another_environments_pip_pointed_at_this_one_is_guarded_and_this_ones_pip_judges_another(
    guarded: Environment,
) -> None:
    words = ["uninstall", "-y", "cudnn-cu13"]
    foreign = run([sys.executable, "-m", "pip", "--python", str(guarded.python), *words])
    assert (foreign.code, foreign.err.splitlines()[0][:16]) == (REFUSED, "safepip: REFUSED")
    away = run([str(guarded.python), "-m", "pip", "--python", sys.executable, "uninstall", "-y", "nosuch"])
    assert (away.code, "Skipping nosuch" in away.err) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "pip", "list"],
        ["-m", "pip", "show", "leaf"],
        ["-m", "pip", "show", "uninstall"],
        ["-c", "import sys; print(sys.argv)", "pip", "uninstall", "-y", "leaf"],
        ["-c", "print(1)"],
        ["-m", "this", "uninstall"],
        ["-S", "-c", "import sys; print('_safepip_guard' in sys.modules)", "uninstall"],
    ],
)
def test_what_is_no_removal_is_as_before(words: list[str], guarded: Environment) -> None:
    answer = run([str(guarded.python), *words])
    guard(guarded, "off")
    assert answer == run([str(guarded.python), *words])


@pytest.mark.parametrize("way", ["pip install", "python -m pip install", "bash -c 'pip install \"$@\"' bash"])
def test_an_install_is_judged_when_it_is_done(way: str, guarded: Environment, tmp_path: Path) -> None:
    guarded.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    guarded.add("base", {"base.py": ""})
    wheel = make_wheel(tmp_path, "base", {"base.py": ""}, version="2.0")
    done = shell(["sh", "-c"], f"{way} -q --no-index --no-deps {wheel}", guarded)
    assert (done.code, "UNMET NOW: requirements of user, by base 2.0" in done.err) == (BROKE, True)
    assert run([sys.executable, "-m", "safepip", "--python", str(guarded.python), "undo"]).code == 0
    assert (guarded.site / "base-1.0.dist-info").exists()


def test_what_a_build_installs_is_part_of_the_install_that_it_is_for(
    guarded: Environment, tmp_path: Path
) -> None:
    """Not a second one, which would wait for the first to end."""
    inner = make_wheel(tmp_path, "inner", {"inner.py": ""})
    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    outer = make_wheel(tmp_path, "outer", {"outer.py": ""})
    (source / "backend.py").write_text(
        "import shutil, subprocess, sys\n"
        "def build_wheel(folder, *_):\n"
        f"    subprocess.run([{str(guarded.python)!r}, '-m', 'pip', 'install', '--no-index', {str(inner)!r}], check=True)\n"
        f"    shutil.copy({str(outer)!r}, folder)\n"
        f"    return {outer.name!r}\n"
    )
    before = set(guarded.tree())
    done = shell(["sh", "-c"], f"pip install -q --no-index --no-build-isolation {source}", guarded)
    assert done.code == 0, done.err
    came = {path.rpartition("/")[2] for path in set(guarded.tree()) - before}
    assert {"inner.py", "outer.py"} <= came


def test_a_program_of_another_name_with_that_word_is_left_alone(guarded: Environment, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tool.pyz", "w") as bundle:
        bundle.writestr("__main__.py", "import sys; print('tool', sys.argv[1:])")
    (tmp_path / "pipeline.py").write_text("import sys; print('pipeline', sys.argv[1:])")
    tool = run([str(guarded.python), str(tmp_path / "tool.pyz"), "uninstall", "x"])
    pipeline = run([str(guarded.python), str(tmp_path / "pipeline.py"), "uninstall", "x"])
    assert (tool.out, tool.err) == ("tool ['uninstall', 'x']\n", "")
    assert (pipeline.out, pipeline.err) == ("pipeline ['uninstall', 'x']\n", "")


def test_environments_made_from_a_guarded_one_are_not_guarded(guarded: Environment, tmp_path: Path) -> None:
    subprocess.run([guarded.python, "-m", "venv", "--system-site-packages", tmp_path / "new"], check=True)
    child = Environment(tmp_path / "new")
    child.add("leaf", {"leaf.py": ""})
    subprocess.run([child.python, "-m", "ensurepip", "-q"], check=False, capture_output=True)
    answer = run([str(child.python), "-m", "pip", "uninstall", "-y", "leaf"])
    assert (answer.code, "Successfully uninstalled leaf-1.0" in answer.out) == (0, True)
    assert "safepip" not in answer.err


def test_building_a_package_in_isolation_is_not_disturbed(guarded: Environment, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (project / "backend.py").write_text(BACKEND)
    answer = run([str(guarded.python), "-m", "pip", "install", "--no-index", str(project)])
    assert (answer.code, (guarded.site / "built.py").exists()) == (0, True)


BACKEND = """
import subprocess, sys, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    subprocess.run([sys.executable, "-c", "import sys", "uninstall"], check=True)
    name = "built-1.0-py3-none-any.whl"
    info = "built-1.0.dist-info"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as bundle:
        bundle.writestr("built.py", "x = 1")
        bundle.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n")
        bundle.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        bundle.writestr(f"{info}/RECORD", f"built.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
    return name
"""


def test_the_guard_outlives_a_new_pip(guarded: Environment) -> None:
    import ensurepip

    bundled = Path(ensurepip.__file__).parent / "_bundled"
    wheel = next(bundled.glob("pip-*.whl"), None)
    if wheel is None:
        pytest.skip("this Python brings no wheel of pip")
    new = run([str(guarded.python), "-m", "pip", "install", "--force-reinstall", "--no-index", str(wheel)])
    assert (new.code, new.err) == (0, "")
    assert run([str(guarded.python), "-m", "pip", "uninstall", "-y", "cudnn-cu13"]).code == REFUSED


def test_where_safepip_is_gone_pip_goes_on_with_one_line(guarded: Environment) -> None:
    hook = guarded.site / "_safepip_guard.py"
    hook.write_text(hook.read_text().replace("SAFEPIP_FOLDER = '/", "SAFEPIP_FOLDER = '/nowhere/"))
    answer = run([str(guarded.python), "-m", "pip", "uninstall", "-y", "leaf"])
    assert answer.code == 0
    assert "Successfully uninstalled leaf-1.0" in answer.out
    assert answer.err.startswith("safepip: guard: safepip is gone from /nowhere/")
    assert len(answer.err.splitlines()) == 1


def test_off_leaves_the_tree_as_it_was(story: Environment) -> None:
    def everything() -> list[str]:
        return sorted(str(path) for path in story.prefix.rglob("*"))

    before, paths = story.tree(), everything()
    guard(story, "on")
    run(
        [str(story.python), "-m", "pip", "uninstall", "-y", "cudnn-cu13"], env={"PYTHONDONTWRITEBYTECODE": ""}
    )
    assert guard(story, "off").out.startswith("safepip: guard off: ")
    added = [path for path in everything() if path not in paths and "/pip/" not in path]
    assert (story.tree(), added) == (before, [])
    assert guard(story, "off").code == 0


def test_status_calls_each_way_and_tells_what_is_not_guarded(guarded: Environment) -> None:
    answer = guard(guarded, "status", "--json")
    assert answer.code == 0
    assert (answer.report["schema"], answer.report["guard"]) == (1, "on")
    calls = [entry["command"] for entry in answer.report["entries"] if entry["guarded"]]
    assert len(calls) == len(answer.report["entries"])
    assert [str(guarded.python), "-I", "-m", "pip"] in calls
    assert [str(guarded.prefix / "bin/pip")] in calls
    (guarded.site / "_safepip_guard.pth").unlink()
    damaged = guard(guarded, "status", "--json")
    assert (damaged.code, damaged.report["guard"]) == (UNGUARDED, "stale")
    assert not any(entry["guarded"] for entry in damaged.report["entries"])
    guard(guarded, "off")
    assert guard(guarded, "status").code == UNGUARDED


def test_an_environment_without_its_site_packages_is_not_called_guarded(environment: Environment) -> None:
    (environment.site / "AAA.pth").write_text("import os; os._exit(0)\n")
    answer = guard(environment, "on", "--json")
    assert (answer.code, answer.report["error"]["reference"]) == (12, "guard-does-not-act")
    assert sorted(environment.site.glob("_safepip*")) == []


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.13"])
def test_other_pythons_are_guarded_as_well(version: str, template: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    environment = Environment(tmp_path / "env")
    site = next(environment.prefix.glob("lib/python3*/site-packages"))
    for folder in next(template.glob("lib/python3*/site-packages")).glob("pip*"):
        shutil.copytree(folder, site / folder.name, copy_function=os.link)
    assert guard(environment, "on").code == 0
    wanted = ["uninstall", "-y", "pip"]
    for words in (["-m", "pip"], ["-Im", "pip"], [str(site / "pip")]):
        answer = run([str(environment.python), *words, *wanted])
        assert (answer.code, answer.err[:16]) == (REFUSED, "safepip: REFUSED"), words
    assert run([str(environment.python), "-m", "pip", "--version"]).code == 0


def test_the_start_file_does_the_same_where_import_lines_are_ignored(guarded: Environment) -> None:
    """As PEP 829 has it: each line of the file is resolved by pkgutil.resolve_name and called."""
    (guarded.site / "_safepip_guard.pth").unlink()
    started = f"open({str(guarded.site / '_safepip_guard.start')!r}, encoding='utf-8-sig')"
    line = f"import pkgutil; [__import__('pkgutil').resolve_name(entry.strip())() for entry in {started}]\n"
    (guarded.site / "as_a_later_python.pth").write_text(line)
    assert run([str(guarded.python), "-m", "pip", "uninstall", "-y", "cudnn-cu13"]).code == REFUSED
    assert run([str(guarded.python), "-c", "print(1)"]) == Run(0, "1\n", "")


def test_guard_wants_to_know_what(environment: Environment) -> None:
    answer = guard(environment)
    assert (answer.code, "on, off, status" in answer.err) == (2, True)
