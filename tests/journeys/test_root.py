"""An image under --root: everything is the image's, nothing of this machine counts, and nothing runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.elves import write
from support.fake_world import lib, program
from support.images import AARCH64, I386, S390X, Image, make_image, needs_tool, put_loader
from support.sandbox import library, run
from support.wheels import install

REFUSED, CANNOT = 10, 12


@pytest.fixture
def image(tmp_path: Path) -> Image:
    return make_image(tmp_path / "image")


def story(image: Image) -> None:
    """An app whose module needs a library that another distribution brings."""
    image.add(
        "provider",
        {"provider/__init__.py": "", "provider/libstory.so.1": write(lib("libstory.so.1", abi=image.abi))},
    )
    image.add(
        "app",
        {
            "app/__init__.py": "",
            f"app/_core{image.suffix}": image.module("libstory.so.1", runpath="$ORIGIN/../provider"),
        },
    )


def test_a_removal_in_an_image_is_judged_by_the_image_and_told_by_its_paths(image: Image) -> None:
    story(image)
    answer = image.safepip("uninstall", "--dry-run", "--json", "provider")
    report = answer.report
    assert answer.code == REFUSED
    assert report["environment"] == {
        "python": "/usr/local/bin/python3",
        "version": "3.12.7",
        "prefix": "/usr/local",
        "root": str(image.root),
    }
    lost = next(item for item in report["findings"] if item["kind"] == "library-lost")
    assert lost["provider"]["path"] == "/usr/local/lib/python3.12/site-packages/provider/libstory.so.1"
    told_apart: dict[str, object] = {"environment": {}, "remedies": [], "findings": []}
    findings = [{**item, "proof": []} for item in report["findings"]]
    assert str(image.root) not in json.dumps([{**report, **told_apart}, findings])


def test_what_is_to_be_given_for_an_image_is_given_inside_it_and_what_proves_looks_at_its_files(
    image: Image,
) -> None:
    """The same command without it would act on this machine, which may have a Python of that name, too."""
    story(image)
    report = image.safepip("uninstall", "--dry-run", "--json", "provider").report
    inside = ["chroot", str(image.root), "safepip", "--python", "/usr/local/bin/python3"]
    commands = [command for item in report["remedies"] for command in item["commands"]]
    assert commands == [
        [*inside, "uninstall", "provider", "app"],
        [*inside, "install", "--no-deps", "--force-reinstall", "provider==1.0"],
    ]
    proof = report["findings"][0]["proof"]
    assert proof[:2] == ["readelf", "-d"]
    assert proof[2] == f"{image.site}/app/_core{image.suffix}"
    said = image.safepip("uninstall", "--dry-run", "provider").out
    assert f"environment: /usr/local/bin/python3 of the image {image.root}\n" in said
    (image.site / "provider/libstory.so.1").unlink()
    cures = [item["commands"] for item in image.safepip("doctor", "--json").report["remedies"]]
    reinstall = [*inside, "install", "--no-deps", "--force-reinstall", "provider==1.0"]
    assert cures == [[reinstall]]
    brought = image.safepip("why", "--json", "libstory.so.1").report["brought_by"]
    assert [item["command"] for item in brought] == [reinstall]
    audited = image.safepip("audit", "--json", "--remove", "provider", "--remove", "app").report
    assert audited["commands"] == [[*inside, "uninstall", "provider", "app"]]


def test_the_report_for_people_names_the_image(image: Image) -> None:
    story(image)
    answer = image.safepip("uninstall", "--dry-run", "-v", "provider")
    assert f"/usr/local of the image {image.root}" in " ".join(answer.out.split())
    assert str(image.root) in image.safepip("doctor").out.replace("\n", "")
    assert str(image.root) in image.safepip("audit").out.replace("\n", "")


def test_a_library_of_this_machine_is_not_found_for_an_image(image: Image, tmp_path: Path) -> None:
    canary = tmp_path / "canary" / "libcanary.so.1"
    canary.parent.mkdir()
    canary.write_bytes(library("libcanary.so.1"))
    image.add(
        "app",
        {"app/__init__.py": "", f"app/_core{image.suffix}": image.module("libcanary.so.1", "libz.so.1")},
    )
    leaks = {"LD_LIBRARY_PATH": str(canary.parent), "LD_PRELOAD": str(canary), "PYTHONPATH": str(tmp_path)}
    broken = image.safepip("doctor", "--json", env=leaks).report["broken"]
    assert {item["soname"] for item in broken} == {"libcanary.so.1", "libz.so.1"}


def test_what_this_machine_sets_for_pip_and_python_does_not_reach_an_image(
    image: Image, tmp_path: Path
) -> None:
    story(image)
    (tmp_path / "pip.conf").write_text("[uninstall]\nyes = maybe\n")
    config = tmp_path / "config/safepip/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('protected = ["app"]\n')
    leaks = {
        "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "PIP_PYTHON": "/nowhere", "PIP_REQUIRE_VIRTUALENV": "1",
        "PYTHONHOME": "", "PYTHONPATH": str(image.site), "XDG_CONFIG_HOME": str(config.parent.parent),
        "VIRTUAL_ENV": str(tmp_path),
    }  # fmt: skip
    answer = image.safepip("uninstall", "--dry-run", "--json", "app", env=leaks)
    assert (answer.code, answer.report["findings"]) == (0, [])


def test_the_image_s_own_settings_count(image: Image) -> None:
    story(image)
    config = image.root / "etc/safepip/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('protected = ["app"]\n')
    kinds = [
        item["kind"] for item in image.safepip("uninstall", "--dry-run", "--json", "app").report["findings"]
    ]
    assert kinds == ["protected"]


def test_the_images_own_settings_of_pip_count(image: Image) -> None:
    (image.root / "etc").mkdir()
    (image.root / "etc/pip.conf").write_text("[uninstall]\nyes = maybe\n")
    answer = image.safepip("uninstall", "--dry-run", "--json", "app")
    assert answer.report["error"]["message"] == "maybe is not a valid value for pip's yes option"


def test_a_requirement_file_of_an_image_does_not_see_this_machines_variables(image: Image) -> None:
    story(image)
    (image.root / "names.txt").write_text("${WHO}\n")
    answer = image.safepip("uninstall", "--dry-run", "--json", "-r", "/names.txt", env={"WHO": "app"})
    assert "app" not in str(answer.report.get("removing"))
    assert "${WHO}" in answer.out


def test_default_folders_and_absolute_links_are_those_of_the_image(image: Image) -> None:
    image.library("/usr/lib/x86_64-linux-gnu/libstory.so.1.2", "libstory.so.1")
    (image.root / "usr/lib/x86_64-linux-gnu/libstory.so.1").symlink_to("/etc/alternatives/libstory.so.1")
    (image.root / "etc/alternatives").mkdir(parents=True)
    (image.root / "etc/alternatives/libstory.so.1").symlink_to("/usr/lib/x86_64-linux-gnu/libstory.so.1.2")
    image.add("app", {"app/__init__.py": "", f"app/_core{image.suffix}": image.module("libstory.so.1")})
    answer = image.safepip("why", "--json", "libstory.so.1")
    assert [match["path"] for match in answer.report["matches"]] == [
        "/usr/lib/x86_64-linux-gnu/libstory.so.1.2"
    ]


@pytest.mark.parametrize("climbs", [False, True], ids=["absolute", "climbing"])
def test_no_link_leads_out_of_an_image(image: Image, tmp_path: Path, *, climbs: bool) -> None:
    outside = tmp_path / "outside/libstory.so.1"
    outside.parent.mkdir()
    outside.write_bytes(library("libstory.so.1"))
    folder = image.root / "usr/lib/x86_64-linux-gnu"
    folder.mkdir(parents=True)
    (folder / "libstory.so.1").symlink_to("../" * 20 + str(outside).lstrip("/") if climbs else outside)
    image.add("app", {"app/__init__.py": "", f"app/_core{image.suffix}": image.module("libstory.so.1")})
    broken = image.safepip("doctor", "--json").report["broken"]
    assert [item["soname"] for item in broken] == ["libstory.so.1"]


def test_a_site_folder_that_leads_out_of_an_image_is_empty(image: Image, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    image.add("leaf", {"leaf.py": ""})
    for path in image.site.iterdir():
        path.rename(outside / path.name)
    image.site.rmdir()
    image.site.symlink_to(outside)
    assert image.safepip("audit", "--json").report["distributions"] == []


def test_nothing_of_an_image_runs(image: Image) -> None:
    story(image)
    watch = (
        "import os, sys\n"
        "def hook(event, args):\n"
        "    if event in ('subprocess.Popen', 'os.system', 'os.exec', 'os.fork', 'os.posix_spawn', 'ctypes.dlopen'):\n"
        "        os._exit(99)\n"
        "sys.addaudithook(hook)\n"
        "from safepip.cli.main import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    for words in (["uninstall", "--dry-run", "provider"], ["audit"], ["doctor"], ["why", "provider"]):
        answer = run([sys.executable, "-c", watch, "--root", str(image.root), *words])
        assert answer.code in {0, REFUSED}, answer


def test_a_layout_that_files_do_not_settle_is_said_not_run(image: Image) -> None:
    for data in image.site.parent.glob("_sysconfigdata*"):
        data.unlink()
    answer = image.safepip("doctor", "--json")
    assert (answer.code, answer.report["error"]["reference"]) == (CANNOT, "unsettled-layout")


@pytest.mark.parametrize(
    "words",
    [["uninstall", "-y", "app"], ["undo"], ["install", "app"], ["history"], ["guard", "on"], ["list"]],
)
def test_an_image_is_only_looked_at(image: Image, words: list[str]) -> None:
    answer = image.safepip(*words, env={"SAFEPIP_JSON": "1"})
    assert (answer.code, "only looked at" in answer.out + answer.err) == (2, True)
    assert image.safepip("doctor", "--fix", "-y").code == 2


def test_several_pythons_are_listed_and_none_is_said(image: Image, tmp_path: Path) -> None:
    make_image(image.root, prefix="/opt/other")
    answer = image.safepip("doctor", "--json")
    assert answer.report["error"]["message"] == (
        "the image has several Pythons: /usr/local/bin/python3, /opt/other/bin/python3"
    )
    assert image.safepip("--python", "/opt/other/bin/python3", "doctor").code == 0
    (tmp_path / "empty").mkdir()
    empty = run([sys.executable, "-m", "safepip", "audit", "--root", str(tmp_path / "empty"), "--json"])
    assert (empty.code, empty.report["error"]["reference"]) == (CANNOT, "no-environment")
    missing = run([sys.executable, "-m", "safepip", "audit", "--root", str(tmp_path / "none")])
    assert missing.code == 2


@pytest.mark.parametrize("abi", [AARCH64, S390X], ids=["aarch64", "s390x"])
def test_an_image_of_another_machine_is_judged_by_its_own_loader(tmp_path: Path, abi: object) -> None:
    image = make_image(tmp_path, abi)  # type: ignore[arg-type]
    story(image)
    answer = image.safepip("uninstall", "--dry-run", "--json", "provider")
    assert [item["kind"] for item in answer.report["findings"]] == ["library-lost"]


def test_an_object_of_another_machine_is_resolved_by_the_loader_of_that_machine(image: Image) -> None:
    put_loader(image.root, I386)
    tool = write(lib("libtool.so.1", needs=["libold.so.1"], runpath="$ORIGIN", abi=I386))
    image.add("old", {"old/libold.so.1": write(lib("libold.so.1", abi=I386))})
    image.add("wide", {"wide/libold.so.1": write(lib("libold.so.1"))})
    image.add("tool", {"old/libtool.so.1": tool})
    answer = image.safepip("uninstall", "--dry-run", "--json", "old")
    assert [(item["kind"], item["distribution"]) for item in answer.report["findings"]] == [
        ("library-lost", "tool")
    ]
    assert image.safepip("uninstall", "--dry-run", "--json", "wide").report["findings"] == []


def test_an_object_of_a_machine_whose_loader_is_not_there_is_unjudged(image: Image) -> None:
    tool = write(lib("libtool.so.1", needs=["libold.so.1"], abi=I386))
    image.add("old", {"old/libold.so.1": write(lib("libold.so.1", abi=I386))})
    image.add("tool", {"tool/libtool.so.1": tool})
    answer = image.safepip("uninstall", "--dry-run", "--json", "old")
    assert [item["kind"] for item in answer.report["findings"]] == ["cannot-tell"]
    unjudged = image.safepip("doctor", "--json").report["unjudged"]
    assert [item["reason"] for item in unjudged] == [
        "it is for 32-bit little-endian ELF machine 3, whose loader is not there, and 1 more like it"
    ]


def test_what_goes_from_below_an_environment_of_the_image_is_missed_there(image: Image) -> None:
    image.add("below", {"below.py": ""})
    venv = image.root / "opt/venv"
    install(venv / "lib/python3.12/site-packages", "user", {"user.py": "import below\n"})
    (venv / "pyvenv.cfg").write_text("home = /usr/local/bin\ninclude-system-site-packages = true\n")
    (venv / "bin").mkdir()
    (venv / "bin/python").symlink_to("/usr/local/bin/python3")
    answer = image.safepip("--python", "/usr/local/bin/python3", "uninstall", "--dry-run", "--json", "below")
    assert [finding["message"] for finding in answer.report["findings"]] == [
        "in /opt/venv: user would fail: user.py:1 imports below, of below"
    ]


def test_pure_modules_in_lib_beside_compiled_ones_in_lib64_are_one_environment(tmp_path: Path) -> None:
    """Fedora's layout: the standard library lies in lib64, and so do only its own compiled packages."""
    image = make_image(tmp_path / "image", prefix="/usr")
    lib64 = image.root / "usr/lib64"
    lib64.mkdir()
    image.site.parent.rename(lib64 / "python3.12")
    apart = image._replace(site=lib64 / "python3.12/site-packages")
    story(apart)
    install(image.site, "pure", {"pure.py": "import app\n"})
    answer = image.safepip("uninstall", "--dry-run", "--json", "provider")
    assert [(item["kind"], item["distribution"]) for item in answer.report["findings"]] == [
        ("library-lost", "app")
    ]
    answer = image.safepip("uninstall", "--dry-run", "--json", "app")
    assert [(item["kind"], item["distribution"]) for item in answer.report["findings"]] == [
        ("import-lost", "pure")
    ]
    assert image.safepip("doctor", "--json").report["broken"] == []
    assert "lib64" not in image.safepip("doctor").out


def test_a_program_loses_the_library_that_only_it_needs(image: Image) -> None:
    main = write(program(needs=["libstory.so.1"], runpath="$ORIGIN/../provider"))
    image.add("provider", {"provider/libstory.so.1": library("libstory.so.1")})
    image.add("tool", {"bin/tool": main})
    answer = image.safepip("uninstall", "--dry-run", "--json", "provider")
    assert [(item["kind"], item["distribution"]) for item in answer.report["findings"]] == [
        ("library-lost", "tool")
    ]


def test_the_loader_s_cache_is_that_of_the_image(image: Image) -> None:
    ldconfig = needs_tool("ldconfig")
    image.library("/opt/story/lib/libstory.so.1", "libstory.so.1")
    (image.root / "etc").mkdir(exist_ok=True)
    (image.root / "etc/ld.so.conf").write_text("/opt/story/lib\n")
    subprocess.run([ldconfig, "-r", str(image.root)], check=True, capture_output=True)
    assert os.path.exists(image.root / "etc/ld.so.cache")
    image.add("app", {"app/__init__.py": "", f"app/_core{image.suffix}": image.module("libstory.so.1")})
    assert image.safepip("doctor", "--json").report["broken"] == []


def test_very_long_paths_and_names_in_no_encoding_are_found_in_an_image(image: Image) -> None:
    odd = os.fsdecode(b"caf\xe9")
    folder = "/".join(["n" * 200] * 18)  # with the site folder near PATH_MAX inside, beyond it outside
    name = f"lib{'x' * 245}.so.1"
    assert len(name) == 253
    descend = os.open(image.site, os.O_RDONLY)
    for part in (*folder.split("/"), odd):
        os.mkdir(part, dir_fd=descend)
        inner = os.open(part, os.O_RDONLY, dir_fd=descend)
        os.close(descend)
        descend = inner
    handle = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=descend)
    os.write(handle, write(lib(name)))
    os.close(handle)
    os.close(descend)
    runpath = f"$ORIGIN/../{folder}/{odd}"
    image.add("app", {"app/__init__.py": "", f"app/_core{image.suffix}": image.module(name, runpath=runpath)})
    assert image.safepip("doctor", "--json").report["broken"] == []


def test_of_what_dpkg_keeps_its_lists_and_not_records_tell_what_is_missing(tmp_path: Path) -> None:
    image = make_image(tmp_path / "image", prefix="/usr")
    info = image.add("tool", {"tool/__init__.py": "", "tool/gone.py": "", "../scripts/tool": "#!python"})
    lists = image.root / "var/lib/dpkg/info"
    lists.mkdir(parents=True)
    kept = (info, *info.iterdir(), image.site / "tool/__init__.py", image.site / "tool/gone.py")
    names = [f"/{path.relative_to(image.root)}\n" for path in kept]
    (lists / "python3-tool.list").write_text("".join(["/.\n", *names]))
    (image.site / "../scripts/tool").unlink()
    (image.site / "tool/__init__.py").write_text("built = 'anew'\n")
    assert image.safepip("doctor", "--json").report["broken"] == []

    (image.site / "tool/gone.py").unlink()
    [item] = image.safepip("doctor", "--json").report["broken"]
    assert (item["check"], item["paths"]) == (
        "missing-file",
        ["/usr/lib/python3.12/site-packages/tool/gone.py"],
    )
