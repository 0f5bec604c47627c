"""`safepip uninstall --dry-run` in every kind of environment: nothing that breaks is overlooked for its kind."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.model.paths import DistKey
from safepip.model.policy import Policy
from safepip.reading.pythons.targets import read_target
from safepip.reasoning.verdict.judge import judge
from support.boxes import Box
from support.pips import NEWEST, RUNNING, Pip
from support.sandbox import TAG, Environment, Run, library, module, run
from support.wheels import install, make_wheel


def found(answer: Run) -> list[tuple[str, str, str]]:
    return sorted(
        (item["kind"], item["severity"], item["distribution"]) for item in answer.report["findings"]
    )


@pytest.fixture
def users(environment: Environment) -> Environment:
    """`need` has a library and `plain` a module that `user` cannot do without."""
    environment.add("need", {"need/libneed.so.1": library("libneed.so.1")})
    environment.add("plain", {"plain.py": ""})
    environment.add(
        "user",
        {
            "user/__init__.py": "import plain\nfrom user import _c\n",
            f"user/_c.{TAG}.so": module("libneed.so.1", runpath="$ORIGIN/../need"),
        },
    )
    return environment


LIBRARY_LOST = [("library-lost", "refuse", "user")]
IMPORT_LOST = [("import-lost", "refuse", "user")]


def test_an_environment_reached_through_a_link_is_judged_as_by_its_own_name(users: Environment) -> None:
    link = users.prefix.parent / "link"
    link.symlink_to("env")
    for python in (users.python, link / "bin/python"):
        command = [
            sys.executable,
            "-m",
            "safepip",
            "--python",
            str(python),
            "uninstall",
            "--dry-run",
            "--json",
        ]
        answers = [run([*command, name]) for name in ("need", "plain")]
        assert [found(answer) for answer in answers] == [LIBRARY_LOST, IMPORT_LOST]
        consumer = answers[0].report["findings"][0]["consumers"][0]
        assert consumer["chain"] == ["import user", f"user/_c.{TAG}.so", "libneed.so.1"]


PROJECT = {
    "proj/__init__.py": "import plain\nfrom proj import _c\n",
    "setup.py": "import plain\n",
    "tests/test_proj.py": "import plain\n",
}


def pth(env: Environment, source: Path) -> None:
    """hatchling, flit, setuptools for a src layout, maturin: a line with the folder."""
    env.add("proj", {"__editable__.proj-1.0.pth": f"{source}\n"})


def finder(env: Environment, source: Path) -> None:
    """setuptools for other layouts."""
    env.add(
        "proj",
        {
            "__editable__.proj-1.0.pth": "import __editable___proj_1_0_finder; __editable___proj_1_0_finder.install()",
            "__editable___proj_1_0_finder.py": f"MAPPING: dict[str, str] = {{'proj': '{source}/proj'}}\n"
            "NAMESPACES: dict[str, list[str]] = {}\n",
        },
    )


def develop(env: Environment, source: Path) -> None:
    """`setup.py develop`: an egg-link, a line in easy-install.pth, metadata beside the source."""
    (source / "proj.egg-info").mkdir()
    (source / "proj.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: proj\nVersion: 1.0\n")
    (source / "proj.egg-info/top_level.txt").write_text("proj\n")
    (env.site / "proj.egg-link").write_text(f"{source}\n.")
    (env.site / "easy-install.pth").write_text(f"{source}\n")


def by_hand(env: Environment, source: Path) -> None:
    """`make install` of a build without metadata (OpenCV, RDKit)."""
    shutil.copytree(source / "proj", env.site / "proj")


def by_hand_and_linked(env: Environment, source: Path) -> None:
    (env.site / "proj").symlink_to(source / "proj")


def path_file_by_hand(env: Environment, source: Path) -> None:
    """What `conda develop` leaves."""
    (env.site / "mine.pth").write_text(f"{source}\n")


def listless(env: Environment, source: Path) -> None:
    """Debian's form: an egg-info folder that lists nothing but the top-level names."""
    by_hand(env, source)
    info = env.site / "proj-1.0.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: proj\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("proj\n")


KINDS = (pth, finder, develop, by_hand, by_hand_and_linked, path_file_by_hand, listless)


@pytest.mark.parametrize("lay", KINDS, ids=lambda lay: lay.__name__)
def test_what_no_record_lists_breaks_all_the_same(
    lay: Callable[[Environment, Path], None], environment: Environment, tmp_path: Path
) -> None:
    """A removal takes none of it, so it stays; and what stays can be broken."""
    environment.add("need", {"need/libneed.so.1": library("libneed.so.1")})
    environment.add("plain", {"plain.py": ""})
    for name, text in PROJECT.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(text)
    compiled = module("libneed.so.1", runpath=str(environment.site / "need"))
    (tmp_path / f"source/proj/_c.{TAG}.so").write_bytes(compiled)
    lay(environment, tmp_path / "source")
    answers = [environment.safepip("uninstall", "--dry-run", "--json", name) for name in ("need", "plain")]
    expected = [("library-lost", "refuse", "proj")], [("import-lost", "refuse", "proj")]
    assert ([found(answer) for answer in answers], answers[0].report["unjudged"]) == ([*expected], [])


def test_an_object_compiled_into_a_recorded_folder_later_on_is_broken_as_well(
    environment: Environment,
) -> None:
    environment.add("need", {"need/libneed.so.1": library("libneed.so.1")})
    environment.add("other", {"other/__init__.py": ""})
    compiled = module("libneed.so.1", runpath="$ORIGIN/../need")
    (environment.site / f"other/_jit.{TAG}.so").write_bytes(compiled)
    answer = environment.safepip("uninstall", "--dry-run", "--json", "need")
    assert found(answer) == [("library-lost", "refuse", "other")]
    assert found(environment.safepip("uninstall", "--dry-run", "--json", "need", "other")) == []


def test_an_import_hook_that_is_not_understood_is_named(environment: Environment) -> None:
    environment.add("plain", {"plain.py": ""})
    environment.add(
        "proj", {"proj.pth": "import _proj_editable", "_proj_editable.py": "import sys\nsys.meta_path\n"}
    )
    report = environment.safepip("uninstall", "--dry-run", "--json", "plain").report
    assert report["unjudged"] == [
        {
            "subject": str(environment.site / "_proj_editable.py"),
            "reason": "the import hook of an editable install is not understood",
        }
    ]


def test_an_editable_project_that_leaves_takes_its_names_with_it(
    environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "source/proj").mkdir(parents=True)
    (tmp_path / "source/proj/__init__.py").write_text("")
    finder(environment, tmp_path / "source")
    environment.add("user", {"user.py": "import proj\n"})
    answer = environment.safepip("uninstall", "--dry-run", "--json", "proj")
    assert found(answer) == [("import-lost", "refuse", "user")]


def test_what_conda_keeps_is_condas_to_remove(environment: Environment) -> None:
    """A package of conda's that pip removes stays installed in conda's eyes, and is missing when something needs it."""
    environment.add("six", {"six.py": ""})
    environment.add("mine", {"mine.py": ""})
    inside = environment.site.relative_to(environment.prefix)
    meta = environment.prefix / "conda-meta"
    meta.mkdir()
    record = {
        "name": "six",
        "version": "1.0",
        "files": [f"{inside}/six.py", f"{inside}/six-1.0.dist-info/RECORD"],
    }
    (meta / "six-1.0-py_0.json").write_text(json.dumps(record))
    answer = environment.safepip("uninstall", "--dry-run", "--json", "six")
    assert (answer.code, found(answer)) == (10, [("reach-beyond", "refuse", "six=1.0")])
    assert answer.report["findings"][0]["message"] == (
        "pip would delete six-1.0.dist-info/RECORD and 1 more, which conda keeps (six=1.0)"
    )
    assert answer.report["remedies"][0] == {
        "title": "Remove it with conda, which keeps it",
        "commands": [["conda", "remove", "--prefix", str(environment.prefix), "six"]],
    }
    assert environment.safepip("uninstall", "--dry-run", "mine").code == 0
    said = environment.safepip("uninstall", "--dry-run", "six").out
    assert said.startswith("safepip: REFUSED: removing six 1.0 would break conda's six=1.0: pip would")


def test_what_pip_laid_over_another_version_of_conda_is_said_to_be_kept_by_conda(
    environment: Environment,
) -> None:
    environment.add("num", {"num/__init__.py": "", "num/libnum.so.1": library("libnum.so.1")}, version="2.0")
    inside = environment.site.relative_to(environment.prefix)
    meta = environment.prefix / "conda-meta"
    meta.mkdir()
    record = {
        "name": "num",
        "version": "1.26",
        "files": [f"{inside}/num/libnum.so.1", f"{inside}/num/old.py"],
    }
    (meta / "num-1.26-py312_0.json").write_text(json.dumps(record))
    (match,) = environment.safepip("why", "--json", "libnum.so.1").report["matches"]
    assert (match["owners"], match["package"]) == (["num"], "num=1.26")
    said = environment.safepip("why", "libnum.so.1").out
    assert "owned by num, kept by conda (num=1.26)" in said
    assert environment.safepip("why", "--json", "num").report["matches"] == [match]
    answer = environment.safepip("uninstall", "--dry-run", "--json", "num")
    assert (answer.code, found(answer)) == (10, [("reach-beyond", "refuse", "num=1.26")])


def test_what_is_missing_of_what_conda_keeps_comes_back_by_conda(environment: Environment) -> None:
    """Its account tells what was laid down: conda leaves out some rows of a RECORD and writes its own prefix into files."""
    inside = environment.site.relative_to(environment.prefix)
    environment.add("six", {"six.py": "x = '/old/prefix'\n", "six_extra.py": "", "six_more.py": ""})
    files = ["six.py", "six_extra.py", "six-1.0.dist-info/METADATA", "six-1.0.dist-info/RECORD"]
    record = {"name": "six", "version": "1.0", "files": [f"{inside}/{file}" for file in files]}
    meta = environment.prefix / "conda-meta"
    meta.mkdir()
    (meta / "six-1.0-py_0.json").write_text(json.dumps(record))
    (environment.site / "six.py").write_text(f"x = '{environment.prefix}'\n")
    (environment.site / "six_more.py").unlink()
    assert environment.safepip("doctor", "--json").report["broken"] == []
    (environment.site / "six_extra.py").unlink()
    report = environment.safepip("doctor", "--json").report
    assert [item["commands"] for item in report["remedies"]] == [
        [["conda", "install", "--force-reinstall", "--prefix", str(environment.prefix), "six=1.0"]]
    ]


@pytest.fixture
def parent(tmp_path: Path) -> Box:
    """An interpreter of its own, with a virtual environment on top that sees its packages."""
    box = Box(tmp_path / "box", Pip(NEWEST, RUNNING), site=True)
    install(box.system_site, "need", {"need/libneed.so.1": library("libneed.so.1")})
    install(box.system_site, "plain", {"plain.py": ""})
    return box


def safepip(box: Box, prefix: Path, *words: str) -> Run:
    command = [sys.executable, "-m", "safepip", "--python", str(prefix / "bin/python")]
    environ = {"HOME": str(box.home), "VIRTUAL_ENV": str(box.v), "XDG_CACHE_HOME": str(box.tmp)}
    return run([*command, *words], env=environ, cwd=box.out)


def dry_run(box: Box, prefix: Path, *names: str) -> Run:
    return safepip(box, prefix, "uninstall", "--dry-run", "--json", *names)


def test_what_goes_from_below_an_environment_that_sees_it_is_missed_there(parent: Box) -> None:
    code = "import plain\nfrom user import _c\n"
    compiled = module("libneed.so.1", runpath=str(parent.system_site / "need"))
    install(parent.sp, "user", {"user/__init__.py": code, f"user/_c.{TAG}.so": compiled})
    answers = [dry_run(parent, parent.sys, name) for name in ("need", "plain")]
    assert [found(answer) for answer in answers] == [LIBRARY_LOST, IMPORT_LOST]
    assert answers[1].report["findings"][0]["message"] == (
        f"in {parent.v}: user would fail: user/__init__.py:1 imports plain, of plain"
    )
    assert answers[0].report["unjudged"] == [
        {
            "subject": f"environments on top of {parent.sys}",
            "reason": "those that see its packages were looked for in the usual places only",
        }
    ]


def test_an_environment_that_does_not_look_below_misses_nothing(parent: Box) -> None:
    config = parent.v / "pyvenv.cfg"
    config.write_text(config.read_text().replace("True", "false"))
    install(parent.sp, "user", {"user.py": "import plain\n"})
    assert found(dry_run(parent, parent.sys, "plain")) == []


def test_a_version_that_is_laid_in_front_of_the_one_below_takes_its_place(
    parent: Box, tmp_path: Path
) -> None:
    install(parent.system_site, "base", {"base/__init__.py": "kept = old = 1\n", "base/gone.py": ""})
    install(parent.sp, "asks", {"asks.py": ""}, requires=["base<2"])
    install(parent.sp, "takes", {"takes.py": "from base import old\n"})
    install(parent.sp, "imports", {"imports.py": "import base.gone\n"})
    install(parent.sp, "keeps", {"keeps.py": "from base import kept\n"}, requires=["base"])
    wheel = make_wheel(tmp_path, "base", {"base/__init__.py": "kept = 1\n"}, version="2.0")
    words = ("install", "--dry-run", "--json", "--no-index", "--no-deps", str(wheel))
    answer = safepip(parent, parent.v, *words)
    assert sorted(found(answer)) == [
        ("import-lost", "refuse", "imports"),
        ("import-lost", "refuse", "takes"),
        ("requirement-lost", "refuse", "asks"),
    ]
    assert answer.report["installing"] == [{"name": "base", "version": "2.0", "was": "1.0"}]


def test_what_lies_below_serves_and_is_served_and_pip_leaves_it_alone(parent: Box) -> None:
    install(parent.sp, "own", {"own.py": ""})
    install(parent.system_site, "below", {"below.py": "import own\n"})
    assert found(dry_run(parent, parent.v, "own")) == [("import-lost", "refuse", "below")]
    answer = dry_run(parent, parent.v, "plain")
    [skip] = answer.report["skipped"]
    assert (answer.code, answer.report["removing"], skip["name"]) == (0, [], "plain")
    assert skip["reason"].endswith(f"outside environment {parent.v}")
    below = safepip(parent, parent.v, "audit").out.partition("What pip leaves alone")[2]
    assert [name for name in ("below", "need", "plain", "own") if name in below] == ["below", "need", "plain"]


@pytest.mark.parametrize("lay", [finder, by_hand], ids=lambda lay: lay.__name__)
def test_an_install_breaks_what_no_record_lists_as_well(
    lay: Callable[[Environment, Path], None], environment: Environment, tmp_path: Path
) -> None:
    environment.add("need", {"need/libneed.so.1": library("libneed.so.1"), "plain.py": ""})
    (tmp_path / "source/proj").mkdir(parents=True)
    (tmp_path / "source/proj/__init__.py").write_text("import plain\n")
    compiled = module("libneed.so.1", runpath=str(environment.site / "need"))
    (tmp_path / f"source/proj/_c.{TAG}.so").write_bytes(compiled)
    lay(environment, tmp_path / "source")
    wheel = make_wheel(tmp_path, "need", {"need/libneed.so.2": library("libneed.so.2")}, version="2.0")
    words = ["install", "--no-index", "--no-deps", "--json", str(wheel)]
    expected = [("import-lost", "refuse", "proj"), ("library-lost", "refuse", "proj")]
    assert found(environment.safepip(*words, "--dry-run")) == expected
    done = environment.safepip(*words)
    assert (done.code, found(done)) == (13, expected)


def egg(env: Environment) -> Path:
    """setuptools' `easy_install`: a folder of its own, with a line in easy-install.pth."""
    folder = env.site / "user-1.0-py3.egg"
    (folder / "EGG-INFO").mkdir(parents=True)
    (folder / "EGG-INFO/PKG-INFO").write_text("Metadata-Version: 2.1\nName: user\nVersion: 1.0\n")
    (folder / "EGG-INFO/top_level.txt").write_text("user\n")
    (folder / "user.py").write_text("import plain\n")
    (env.site / "easy-install.pth").write_text("./user-1.0-py3.egg\n")
    return folder


def test_an_egg_folder_uses_what_it_imports(environment: Environment) -> None:
    environment.add("plain", {"plain.py": ""})
    egg(environment)
    assert found(environment.safepip("uninstall", "--dry-run", "--json", "plain")) == IMPORT_LOST


def test_a_zip_file_on_the_path_is_unjudged(environment: Environment) -> None:
    environment.add("plain", {"plain.py": ""})
    folder = egg(environment)
    packed = shutil.make_archive(str(environment.prefix / "packed"), "zip", folder)
    shutil.rmtree(folder)
    Path(packed).rename(folder)
    answer = environment.safepip("uninstall", "--dry-run", "--json", "plain")
    assert (found(answer), answer.report["unjudged"]) == (
        [],
        [{"subject": str(folder), "reason": "what is packed in it and who imports it is not looked into"}],
    )


def test_of_two_versions_in_one_folder_pip_takes_one_and_what_both_list_is_lost(
    environment: Environment,
) -> None:
    files = {"two.py": "x = 1\n"}
    environment.add("two", files)
    environment.add("two", files, version="2.0")
    answer = environment.safepip("uninstall", "--dry-run", "--json", "two")
    assert answer.code == 10
    assert {item["kind"] for item in answer.report["findings"]} >= {"file-lost"}


def test_where_the_interpreter_is_no_elf_program_libraries_are_unjudged_in_one_line(
    users: Environment,
) -> None:
    """macOS: what an import does is the same there, and how its loader searches is not."""
    target = replace(read_target(str(users.python), os.environ), libc=None)
    scene = Scene(target, {**os.environ, "XDG_CACHE_HOME": str(users.prefix.parent)})
    verdicts = [judge(examine([DistKey(name)], scene).evidence, Policy()) for name in ("need", "plain")]
    kinds = [[(item.kind.value, item.distribution) for item in verdict.findings] for verdict in verdicts]
    assert kinds == [[], [("import-lost", "user")]]
    assert [[item.subject for item in verdict.unjudged] for verdict in verdicts] == [["shared libraries"]] * 2


def test_a_package_folder_that_is_a_link_is_its_recorders(users: Environment) -> None:
    (users.site / "user").rename(users.prefix.parent / "elsewhere")
    (users.site / "user").symlink_to(users.prefix.parent / "elsewhere")
    assert found(users.safepip("uninstall", "--dry-run", "--json", "plain")) == IMPORT_LOST


# What a Python on Windows, and in part on macOS, lacks.
ELSEWHERE = """
import os, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("geteuid", "getuid", "getegid", "getgid", "getgroups", "uname", "fchown"):
    delattr(os, name)
sys.platform = "darwin"
from safepip.__main__ import main
sys.exit(main())
"""


def test_looking_needs_no_module_or_call_that_linux_alone_has(users: Environment) -> None:
    python = ["--python", str(users.python)]
    for words in (
        ["uninstall", "--dry-run", "--json", "plain"],
        ["doctor", "--json"],
        ["why", "--json", "plain"],
    ):
        here = run([sys.executable, "-m", "safepip", *python, *words])
        elsewhere = run([sys.executable, "-c", ELSEWHERE, *python, *words])
        assert (elsewhere.code, elsewhere.out, elsewhere.err) == (here.code, here.out, "")
    assert (
        found(run([sys.executable, "-c", ELSEWHERE, *python, "uninstall", "--dry-run", "--json", "plain"]))
        == IMPORT_LOST
    )
