"""What is read from files, held against what the interpreter itself says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from safepip.errors import TargetError
from safepip.model.environment import Libc, PipInUse, Target
from safepip.model.paths import TargetPath
from safepip.reading.pythons import interpreter
from safepip.reading.pythons.targets import read_target
from support.pips import interpreter as base_python
from support.uvs import uv

ASK = """
import json, os, platform, site, sys, sysconfig
sys.path[:1] = []  # the folder of the program, which pip drops as well
user = site.ENABLE_USER_SITE and site.getusersitepackages()
print(json.dumps({
    "executable": sys.executable, "interpreter": os.path.realpath(sys.executable),
    "version": platform.python_version(), "prefix": sys.prefix, "base_prefix": sys.base_prefix,
    "stdlib": os.path.dirname(os.__file__), "scripts": sysconfig.get_path("scripts"), "path": sys.path,
    "cache_tag": sys.implementation.cache_tag, "soabi": sysconfig.get_config_var("SOABI"),
    "user_site": user if user in sys.path else None,
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": ".".join(map(str, sys.implementation.version[:3])),
        "os_name": os.name, "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(), "platform_system": platform.system(),
        "platform_version": platform.version(), "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]), "sys_platform": sys.platform}}))
"""
RELEASES = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def asked(python: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    told = subprocess.run([python, "-c", ASK], env=environ, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def as_told(target: Target) -> dict[str, Any]:
    names = (
        "executable",
        "interpreter",
        "version",
        "prefix",
        "base_prefix",
        "stdlib",
        "scripts",
        "cache_tag",
        "soabi",
    )
    return {
        **{name: getattr(target, name) for name in names},
        "path": list(target.path), "user_site": target.user_site, "markers": dict(target.markers),
    }  # fmt: skip


def clean(**more: str) -> dict[str, str]:
    return {**{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}, **more}


@pytest.fixture
def may_ask() -> None:
    """The test is about an interpreter that has to be asked."""


@pytest.fixture(autouse=True)
def nothing_is_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files settle an ordinary interpreter: asking it fails the test, where the test does not allow it."""
    if "may_ask" not in request.fixturenames:
        monkeypatch.setattr(interpreter, "ask", None)


def make(base: Path, folder: Path, *options: str) -> Path:
    subprocess.run([base, "-m", "venv", "--without-pip", *options, folder], check=True, capture_output=True)
    return folder / "bin/python"


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_is_read_as_it_describes_itself(release: str, tmp_path: Path) -> None:
    base = base_python(release)
    pythons = [
        base,
        make(base, tmp_path / "plain"),
        make(base, tmp_path / "copied", "--copies"),
        make(base, tmp_path / "sees-system", "--system-site-packages"),
    ]
    for python in pythons:
        assert as_told(read_target(str(python), clean())) == asked(python, clean())


@pytest.mark.parametrize("release", ["3.8", "3.12", "3.13"])
def test_path_files_are_followed_and_their_code_is_left_alone(release: str, tmp_path: Path) -> None:
    python = make(base_python(release), tmp_path / "venv")
    [site] = (tmp_path / "venv/lib").glob("python*/site-packages")
    for folder in ("one", "two", "hidden", "marked"):
        (tmp_path / folder).mkdir()
    (site / "inside").mkdir()
    (site / "b.pth").write_text(f"# words\n\n{tmp_path}/one\nimport sys\n../nothing\n{tmp_path}/two  \n")
    (site / "a.pth").write_text("inside")
    (site / ".hidden.pth").write_text(f"{tmp_path}/hidden\n")
    (site / "c.pth").write_bytes(b"\xef\xbb\xbf" + bytes(tmp_path / "marked") + b"\r\n")
    (site / "d.pth").symlink_to("nowhere")
    target = read_target(str(python), clean())
    assert list(target.path) == asked(python, clean())["path"]
    assert set(target.sites) >= {str(site), f"{site}/inside", f"{tmp_path}/one", f"{tmp_path}/two"}


def test_a_search_path_of_the_caller_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    environ = clean(PYTHONPATH=f"mine:/nowhere::{tmp_path}/mine/")
    target = read_target(str(python), environ)
    assert list(target.path) == asked(python, environ)["path"]
    assert target.sites[:2] == (f"{tmp_path}/mine", str(tmp_path))


@pytest.mark.parametrize("more", [{}, {"PYTHONNOUSERSITE": "1"}])
def test_a_users_site_lies_between_an_environment_and_the_system(
    more: dict[str, str], tmp_path: Path
) -> None:
    base = base_python("3.12")
    (tmp_path / "user/lib/python3.12/site-packages").mkdir(parents=True)
    environ = clean(PYTHONUSERBASE=f"{tmp_path}/user", **more)
    pythons = [base, make(base, tmp_path / "plain"), make(base, tmp_path / "sees", "--system-site-packages")]
    for python in pythons:
        assert as_told(read_target(str(python), environ)) == asked(python, environ)
    scripts = None if more else f"{tmp_path}/user/bin"
    assert read_target(str(pythons[2]), environ).user_scripts == scripts


def test_links_on_the_way_to_an_interpreter_show_as_it_shows_them(tmp_path: Path) -> None:
    base = base_python("3.12")
    plain = make(base, tmp_path / "plain")
    (tmp_path / "linked").symlink_to("plain")
    (tmp_path / "base").symlink_to(base.parent.parent)
    (tmp_path / "python").symlink_to(base)
    through = make(tmp_path / "base/bin" / base.name, tmp_path / "through")
    nested = make(plain, tmp_path / "nested")
    for python in (
        tmp_path / "linked/bin/python", tmp_path / "base/bin" / base.name, tmp_path / "python", through, nested
    ):  # fmt: skip
        assert as_told(read_target(str(python), clean())) == asked(python, clean())


def test_an_environment_that_was_moved_is_read_where_it_lies(tmp_path: Path) -> None:
    make(base_python("3.12"), tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")
    python = tmp_path / "after/bin/python"
    assert as_told(read_target(str(python), clean())) == asked(python, clean())


def test_an_environment_whose_base_was_upgraded_within_its_release_is_what_now_runs(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    config = tmp_path / "venv/pyvenv.cfg"
    lines = config.read_text().splitlines()
    config.write_text("".join("version = 3.12.0\n" if x.startswith("version") else f"{x}\n" for x in lines))
    told = read_target(str(python), clean())
    assert as_told(told) == asked(python, clean())
    assert told.version != "3.12.0"


def test_virtualenvs_own_form_is_read(tmp_path: Path) -> None:
    pytest.importorskip("virtualenv")
    subprocess.run([sys.executable, "-m", "virtualenv", "-q", tmp_path / "made"], check=True)
    python = tmp_path / "made/bin/python"
    target = read_target(str(python), clean())
    assert as_told(target) == asked(python, clean())
    assert target.pip.location == target.sites[0]


def test_uvs_own_form_is_read(tmp_path: Path) -> None:
    subprocess.run(
        [uv(), "-q", "venv", "--offline", "--python", base_python("3.12"), tmp_path / "made"], check=True
    )
    python = tmp_path / "made/bin/python"
    target = read_target(str(python), clean())
    assert as_told(target) == asked(python, clean())
    assert target.pip.location is None


@pytest.mark.usefixtures("may_ask")
def test_debians_python_is_read_with_its_own_folders(tmp_path: Path) -> None:
    python = Path("/usr/bin/python3")
    if not Path("/usr/lib/python3/dist-packages").is_dir() or not python.exists():
        pytest.skip("this is no Debian with a Python")
    target = read_target(str(python), clean())
    assert as_told(target) == asked(python, clean())
    assert (target.sites, target.externally_managed) == (
        tuple(folder for folder in target.path if folder.endswith("dist-packages")),
        Path(target.stdlib, "EXTERNALLY-MANAGED").exists(),
    )
    for options in ((), ("--system-site-packages",)):
        inside = make(python, tmp_path / f"venv{len(options)}", *options)
        on_top = read_target(str(inside), clean())
        assert as_told(on_top) == asked(inside, clean())
        assert not on_top.externally_managed


def test_a_conda_environment_is_an_interpreter_of_its_own(tmp_path: Path) -> None:
    base = base_python("3.12")
    home = base.parent.parent
    env = tmp_path / "env"
    (env / "bin").mkdir(parents=True)
    (env / "conda-meta").mkdir()
    shutil.copy2(base, env / "bin/python3.12")
    (env / "bin/python").symlink_to("python3.12")
    shutil.copytree(
        home / "lib/python3.12", env / "lib/python3.12", ignore=shutil.ignore_patterns("site-packages", "test", "*.pyc")
    )  # fmt: skip
    (env / "lib/python3.12/site-packages").mkdir()
    shutil.copytree(home / "include", env / "include")
    for library in (home / "lib").glob("libpython3*.so*"):
        (env / "lib" / library.name).symlink_to(library)
    data = next((env / "lib/python3.12").glob("_sysconfigdata_*.py"))
    (data.parent / "_sysconfigdata_x86_64_conda_linux_gnu.py").write_text("build_time_vars = {'SOABI': 'no'}")
    assert as_told(read_target(str(env / "bin/python"), clean())) == asked(env / "bin/python", clean())


def test_the_c_library_is_read_from_the_program(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    assert read_target(str(python), clean()).libc is Libc.GLIBC


def test_the_targets_own_pip_is_found_by_what_it_holds(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    site = tmp_path / "venv/lib/python3.12/site-packages"
    own = read_target(str(python), clean()).pip
    assert own.location is None
    (site / "pip").mkdir()
    (site / "pip/__init__.py").write_text('from x import y\n\n__version__ = "21.0.dev3"\n')
    assert read_target(str(python), clean()).pip == own  # hollow: nothing that could be run
    (site / "pip/__main__.py").touch()
    assert read_target(str(python), clean()).pip == PipInUse("21.0.dev3", TargetPath(str(site)), "importlib")


@pytest.mark.parametrize(
    ("release", "more", "expected"),
    [
        ("3.10", {}, PipInUse("", None, "pkg_resources")),
        ("3.12", {"_PIP_USE_IMPORTLIB_METADATA": "0"}, PipInUse("", None, "pkg_resources")),
        ("3.10", {"_PIP_USE_IMPORTLIB_METADATA": "1"}, PipInUse("", None, "importlib")),
        ("3.12", {"PYTHONOPTIMIZE": "2"}, PipInUse("", None, "importlib", "2")),
        ("3.12", {"PYTHONOPTIMIZE": "yes"}, PipInUse("", None, "importlib", "1")),
        ("3.12", {"PYTHONOPTIMIZE": "0", "PYTHONPYCACHEPREFIX": "/x/y/"}, PipInUse("", None, "importlib", "", TargetPath("/x/y"))),
    ],
)  # fmt: skip
def test_variables_decide_which_byte_code_and_metadata_pip_looks_for(
    release: str, more: dict[str, str], expected: PipInUse, tmp_path: Path
) -> None:
    python = make(base_python(release), tmp_path / "venv")
    assert read_target(str(python), clean(**more)).pip._replace(version="") == expected


@pytest.mark.usefixtures("may_ask")
def test_a_script_around_an_interpreter_is_asked_for_it(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    shim = tmp_path / "python"
    shim.write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    shim.chmod(0o755)
    assert read_target(str(shim), clean()) == read_target(str(python), clean())


@pytest.mark.usefixtures("may_ask")
def test_an_interpreter_whose_files_are_silent_is_asked(tmp_path: Path) -> None:
    base = base_python("3.12")
    make(base, tmp_path / "venv")
    config = tmp_path / "venv/pyvenv.cfg"
    config.write_text(f"home = {base.parent}\n")  # no version: nothing but the link's name tells it
    odd = tmp_path / "venv/bin/pythonic"
    shutil.copy2(base, odd)
    assert as_told(read_target(str(odd), clean())) == asked(odd, clean())


def broken(tmp_path: Path, what: str) -> tuple[str, str]:
    """Something that is no interpreter, and what is said of it."""
    path = tmp_path / "python"
    match what:
        case "missing":
            return str(path), f"{path} cannot be read: No such file or directory"
        case "folder":
            path.mkdir()
            return str(path), f"{path} cannot be read: Is a directory"
        case "dangling":
            path.symlink_to(tmp_path / "gone")
            return str(path), f"{path} leads to {tmp_path}/gone, which is not there"
        case "text":
            path.write_text("words\n")
            return str(path), f"{path} is no Python 3 that can be run: Permission denied"
        case "script":
            path.write_text("#!/bin/sh\necho no >&2; exit 3\n")
            path.chmod(0o755)
            return str(path), f"{path} is no Python 3 that can be run: no"
        case "foreign-program":
            shutil.copy2("/bin/ls", tmp_path / "ls")
            return str(
                tmp_path / "ls"
            ), f"{tmp_path}/ls is no Python 3 that can be run: a program of that name is not run"
        case _:
            shutil.copy2("/bin/ls", path)
            return str(path), f"{path} is no Python 3 that can be run: "


@pytest.mark.usefixtures("may_ask")
@pytest.mark.parametrize(
    "what", ["missing", "folder", "dangling", "text", "script", "foreign-program", "program"]
)
def test_what_is_no_interpreter_is_named_with_a_way_out(what: str, tmp_path: Path) -> None:
    path, message = broken(tmp_path, what)
    with pytest.raises(TargetError) as caught:
        read_target(path, clean())
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_an_environment_whose_python_was_replaced_is_not_taken_for_empty(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    (tmp_path / "venv/bin/python").unlink()
    python.symlink_to(base_python("3.13"))
    with pytest.raises(TargetError, match=r"venv was made for Python 3\.12, and its interpreter is 3\.13"):
        read_target(str(python), clean())


@pytest.mark.parametrize("what", ["folder", "fifo"])
def test_an_environment_that_cannot_be_read_is_not_taken_for_none(what: str, tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    config = tmp_path / "venv/pyvenv.cfg"
    config.unlink()
    (config.mkdir if what == "folder" else lambda: os.mkfifo(config))()
    with pytest.raises(TargetError, match=r"venv/pyvenv\.cfg cannot be read: (Is a directory|not a regular)"):
        read_target(str(python), clean())


def test_a_fifo_among_the_path_files_holds_nobody_up(tmp_path: Path) -> None:
    python = make(base_python("3.12"), tmp_path / "venv")
    [site] = (tmp_path / "venv/lib").glob("python*/site-packages")
    before = read_target(str(python), clean())
    os.mkfifo(site / "a.pth")
    assert read_target(str(python), clean()) == before


def test_an_environment_variable_that_misleads_every_interpreter_is_refused() -> None:
    with pytest.raises(TargetError, match="PYTHONHOME is set"):
        read_target(sys.executable, clean(PYTHONHOME="/usr"))


@pytest.mark.usefixtures("may_ask")
def test_root_runs_no_interpreter_that_another_user_can_exchange(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root could be led on")
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\ntouch ran\n")
    script.chmod(0o755)
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(TargetError, match=f"root does not run {script}: another user can write {tmp_path}"):
        read_target(str(script), clean())
    os.chown(tmp_path, 0, -1)
    script.chmod(0o757)
    with pytest.raises(TargetError, match=f"another user can write {script}"):
        read_target(str(script), clean())
    assert list(tmp_path.iterdir()) == [script]
