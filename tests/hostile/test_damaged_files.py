"""Rules that spoilt input has taught, each on the smallest input that broke it."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.acting import arriving
from safepip.errors import SafepipError
from safepip.model.arrival import Announced
from safepip.model.change import Removal
from safepip.model.elf import Abi, Flaw
from safepip.model.environment import Claim, Fault, Unjudged
from safepip.model.imports import Condition, Import, Source, Unread
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Decision, FindingKind, Severity, Verdict
from safepip.model.request import Refused
from safepip.model.survey import Hidden
from safepip.reading.elf_files import elf, elf_hints, loader_cache
from safepip.reading.pythons import layout
from safepip.reading.settings import configuration, pip_settings
from safepip.reading.sites import metadata, pip_report, receipts, record, requested, shares, unrecorded, wheel
from safepip.reading.sources.modules import Modules
from safepip.reading.sources.source import read_module
from safepip.reasoning import requirements
from safepip.reasoning.shell import shell_lines
from safepip.reasoning.shell.shell_words import UnclearError
from support import environments
from support.elves import write
from support.fake_world import lib
from support.fuzzing.place import Place, real_objects
from support.fuzzing.verdicts import Scenery
from support.small import small
from support.wheels import make_wheel

PKG = Announced(
    DistKey("pkg"), "pkg", "1.0", "file:///x.whl", "", requested=True, requires=(), requires_python=False
)


def test_a_size_in_a_record_of_more_digits_than_a_file_can_have_is_no_promise() -> None:
    assert record.claim(["odd.py", "sha256=a", "9" * 5000]) == Claim("sha256=a", None)


@pytest.mark.parametrize("line", [f"timeout = {'9' * 5000}", f"{'a.' * 10_000}b = 1"])
def test_a_line_without_end_in_a_configuration_is_not_parsed(tmp_path: Path, line: str) -> None:
    (tmp_path / ".safepip").mkdir()
    (tmp_path / ".safepip/config.toml").write_text(f"{line}\n")
    with pytest.raises(SafepipError, match="a line of more than 4096 bytes"):
        configuration.load({"XDG_CONFIG_HOME": "/nonexistent"}, str(tmp_path))


def test_an_entry_of_the_loader_cache_whose_text_does_not_end_takes_no_memory(tmp_path: Path) -> None:
    entries = [(3 | 0x0300, 0, 0, 0, 0)] * 4
    strings = 48 + 24 * len(entries)
    text = b"libx.so.1\0" + b"/" * 10_000
    rows = b"".join(
        struct.pack("<iIIIQ", flags, strings, strings + 10, *rest)
        for flags, *_ in entries
        for rest in [(0, 0)]
    )
    head = b"glibc-ld.so.cache1.1" + struct.pack("<IIB3xI", len(entries), len(text), 2, 0) + bytes(12)
    (tmp_path / "cache").write_bytes(head + rows + text)
    read = loader_cache.read(str(tmp_path / "cache"), Abi(64, little_endian=True, machine=62), ())
    assert set(read.values()) == {""}


def test_section_names_said_to_lie_beyond_the_file_are_no_names(tmp_path: Path) -> None:
    data = bytearray(real_objects()[0])
    table, names = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 62)[0]
    struct.pack_into("<Q", data, table + 64 * names + 24, 1 << 63)
    (tmp_path / "odd.so").write_bytes(data)
    assert isinstance(elf_hints.read(str(tmp_path / "odd.so")), frozenset)


def test_an_argument_that_is_no_text_where_pip_makes_a_url_of_it_ends_as_in_pip(tmp_path: Path) -> None:
    (tmp_path / "\udcff.whl").touch()
    asked = requested.requested(["./\udcff.whl"], [], "26.3", str(tmp_path))
    assert isinstance(asked.refused, Refused)
    assert asked.refused.exit_code == 2


def test_a_requirement_of_thousands_of_characters_is_not_parsed(tmp_path: Path) -> None:
    with pytest.raises(SafepipError, match="more than 8192 characters"):
        requested.requested([f"p==1.{'A' * 10_000} x"], [], "26.3", str(tmp_path))


def test_json_that_is_nested_too_deep_is_said_to_be_no_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("[" * 100_000)
    with pytest.raises(SafepipError, match="pip's report cannot be understood"):
        pip_report.read(str(path))


def test_a_shell_line_that_is_nested_too_deep_is_unclear() -> None:
    with pytest.raises(UnclearError):
        shell_lines.calls("pip uninstall x" + "${A$" * 20_000)


def test_a_home_with_two_slashes_at_its_start_is_searched_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.12").write_bytes(b"\x7fELF")
    venv = layout.VenvConfig(str(tmp_path), "//nowhere/bin", system_site=False, version="3.12.1")
    with pytest.raises(SafepipError):
        layout.read_layout(str(tmp_path / "bin/python3.12"), venv, os.environ)


@pytest.mark.parametrize("end", ["METADATA", "RECORD"])
def test_a_member_of_a_wheel_that_unpacks_without_end_is_not_read(tmp_path: Path, end: str) -> None:
    path = make_wheel(tmp_path, "pkg", {"pkg.py": ""})
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data + b"a" * (20 << 20) if name.endswith(end) else data)
    with pytest.raises(wheel.WheelError, match=f"{end} is larger than 16 MiB"):
        wheel.open_wheel(str(path), PKG, environments.target(), TargetPath("/site"))


def test_a_wheel_whose_members_are_damaged_cannot_be_unpacked(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, "pkg", {"pkg/x.so": "object"})
    path.write_bytes(path.read_bytes().replace(b"object", b"objekt", 1))
    opened = wheel.open_wheel(str(path), PKG, environments.target(), TargetPath("/site"))
    with pytest.raises(SafepipError, match="cannot be unpacked"):
        arriving.unpack(str(path), opened.members, str(tmp_path))


@pytest.mark.parametrize(
    "fields",
    [
        {"time": float("inf")},
        {"time": float("nan")},
        {"items": [["file", 5, 0o644, 0]]},
        {"items": [["file", "a", 0o644, 1 << 70]]},
        {"items": [["file", "\ud800", 0o644, 0]]},
        {"items": [["file", "a\0b", 0o644, 0]]},
        {"items": [["link", "a", 0o644, 0, 0, -1, -1, "b\0"]]},
        {"items": [["link", "a", 0o644, 0, 0, -1, -1, 7]]},
    ],
)
def test_a_manifest_with_a_field_that_no_system_takes_is_believed_in_nothing(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    folder = tmp_path / ".safepip/vault/1"
    folder.mkdir(parents=True)
    for made in (tmp_path / ".safepip", folder.parent, folder):
        made.chmod(0o700)
    whole = {"format": receipts.FORMAT, "time": 0, "command": [], "leaving": [], "items": [], "leftovers": [],
             "unkept": [], "unmet": []}  # fmt: skip
    (folder / "manifest").write_text(json.dumps({**whole, **fields}))
    (folder / "manifest").chmod(0o600)
    with pytest.raises(receipts.DistrustedError):
        receipts.load(TargetPath(str(tmp_path)), 1)


def test_a_dynamic_section_without_an_end_is_damaged_whoever_reads_on_behind_it(tmp_path: Path) -> None:
    data = bytearray(write(lib("libx.so.1")))
    at = data.index(struct.pack("<qQ", 4, 0)[:8])  # DT_HASH, the last entry before DT_NULL
    struct.pack_into("<q", data, at + 16, 0x39393939)
    (tmp_path / "libx.so.1").write_bytes(data)
    assert elf.read(str(tmp_path / "libx.so.1")) is Flaw.DAMAGED


def test_a_requirement_with_a_version_of_thousands_of_digits_is_unjudged() -> None:
    survivor = environments.dist("survivor", requires=[f"lost>={'9' * 5000}"])
    found = requirements.weigh(
        survivor, environments.dist("lost"), survivor.requires[0], environments.MARKERS
    )
    assert isinstance(found, Unjudged)


def test_a_digest_by_an_algorithm_that_nobody_can_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "odd").touch()
    assert record.digest(TargetPath(str(tmp_path / "odd")), "sha\0256=abc") == ""


def judged(tmp_path: Path, change: Callable[[Path], object]) -> Verdict:
    """The removal of a provider that owns a file together with a survivor, whose RECORD is changed before."""
    there = Place(tmp_path.resolve())
    there.make()
    scenery = Scenery("shared", "")
    scenery.lay(there)
    change(scenery.environment(there).site / "survivor-1.0.dist-info/RECORD")
    return scenery.verdict(there, {"PATH": "/usr/bin"})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda record: record.write_text('"' + record.read_text()), Fault.RECORD_SWALLOWS),
        (
            lambda record: record.write_text(record.read_text().replace("common", '"common') + "x.py,,\n"),
            Fault.RECORD_SWALLOWS,
        ),
        (lambda record: record.write_text("survivor.py,,\ncommon/other.py,,\n"), Fault.RECORD_CUT_OFF),
        (
            lambda record: record.write_text("survivor-1.0.dist-info/RECORD,,\ncommon/other.p"),
            Fault.RECORD_ENDS_EARLY,
        ),
        (lambda record: record.write_bytes(record.read_bytes() + b"\xff,,\n"), Fault.RECORD_UNDECODABLE),
        (lambda record: record.write_text(record.read_text() + "\n\n"), Fault.RECORD_BROKEN),
        (lambda record: record.unlink() or record.mkdir(), Fault.RECORD_UNREADABLE),
    ],
)
def test_a_survivors_record_that_is_damaged_and_may_list_what_goes_refuses(
    tmp_path: Path, change: Callable[[Path], object], fault: Fault
) -> None:
    (found,) = judged(tmp_path, change).findings
    assert (found.kind, found.severity, found.distribution) == (
        FindingKind.CANNOT_TELL,
        Severity.REFUSE,
        "survivor",
    )
    assert fault.value in found.message


def test_a_damaged_record_that_names_nothing_of_what_goes_is_only_unjudged(tmp_path: Path) -> None:
    verdict = judged(tmp_path, lambda path: path.write_text("survivor.py,,\n"))
    assert verdict.decision is Decision.ALLOW
    assert [item.reason for item in verdict.unjudged] == [Fault.RECORD_CUT_OFF.value]


def test_byte_code_and_a_part_of_a_name_are_no_sign_that_a_damaged_record_lists_what_goes(
    tmp_path: Path,
) -> None:
    survivor = replace(
        environments.dist("survivor"),
        info=TargetPath(str(tmp_path)),
        faults=(Fault.RECORD_CUT_OFF,),
        damage="cut off",
    )
    leaver = environments.dist("leaver", ["hat/__init__.py", "__pycache__/plain.cpython-312.pyc"])
    removal = Removal(leaving=(leaver,), files=tuple(leaver.files or ()))
    rows = "__pycache__/other.cpython-312.pyc,,\nthat/x.py,,\n"
    found = []
    for text in (rows, f"{rows}hat/y.py,,\n"):
        (tmp_path / "RECORD").write_text(text)
        found.append(shares.hidden(removal, environments.inventory(leaver, survivor)))
    assert found == [(), (Hidden(survivor, "hat"),)]


def test_a_row_deeper_than_any_path_is_followed_to_nothing_and_one_that_comes_back_to_its_file(
    tmp_path: Path,
) -> None:
    there = small(tmp_path.resolve())
    (there.site / "x").mkdir()
    info = there.add("odd", {"odd.py": ""})
    with (info / "RECORD").open("a") as stream:
        stream.write(f"{'a/' * 10_000}z.py,,\n{'x/../' * 1000}odd2.py,,\n")
    (there.site / "odd2.py").touch()
    assert f"{there.site}/odd2.py" in there.plan("odd").files


def test_lines_end_where_the_tokenizer_ends_them() -> None:
    found = read_module(b"def f():\r    pass\rimport a\r\nimport b\n", "m", is_package=False)
    assert isinstance(found, Source)
    assert [(item.module, item.line) for item in found.imports] == [("a", 3), ("b", 4)]


def test_a_table_of_names_is_kept_however_long_it_is() -> None:
    names = ", ".join(f'"name{number}"' for number in range(1000))
    found = read_module(
        f"NAMES = ({names})\nfor name in NAMES:\n    __import__(name)\n".encode(), "m", is_package=False
    )
    assert isinstance(found, Source)
    assert len(found.imports) == 1000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"import " + b"a." * 300 + b"a\n", "a name of more than 200 parts"),
        (b"import os\n" * 20_000, "more than 10000 imports"),
        (b"import os\n" + b"a\n" * 40_000, "more than 32000 tokens"),
        (b"import os\nx = f'''{" + b"a+" * 40_000 + b"a}'''\n", "more than 32000 tokens"),
    ],
)
def test_a_source_that_would_cost_too_much_is_not_parsed(data: bytes, reason: str) -> None:
    assert read_module(data, "m", is_package=False, whole=True) == Unread(reason)


def test_comments_and_long_texts_weigh_nothing() -> None:
    data = b"import os\n" + b"# some words\n" * 20_000 + b"'''" + b"some words " * 40_000 + b"'''\n"
    assert read_module(data, "m", is_package=False, whole=True) == Source(
        (Import("os", (), 1, Condition.UNCONDITIONAL),)
    )


def test_a_source_with_many_attempts_is_read_without_holding_each_against_all() -> None:
    data = b"try:\n import a\nexcept ImportError:\n a = None\nif a is None:\n raise ImportError\n" * 100
    found = read_module(data, "m", is_package=False)
    assert isinstance(found, Source)
    assert (len(found.imports), found.choices) == (100, ())


def test_a_configuration_of_an_environment_without_end_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "pyvenv.cfg").write_text("home = /a" + "/b" * 100_000)
    with pytest.raises(SafepipError, match="File too large"):
        layout.read_venv(str(tmp_path / "bin/python"))


def test_a_source_with_a_name_that_no_file_has_is_passed_over(tmp_path: Path) -> None:
    there = small(tmp_path)
    there.add("odd", {"odd.py": "import x\n"})
    (dist,) = there.inventory().distributions
    odd = replace(dist, files=(*(dist.files or ()), TargetPath(f"{there.site}/o\0d.py")))
    modules = Modules(replace(there.inventory(), distributions=(odd,)), {})
    assert (modules.imported(odd), dict(modules.naming(odd, ["x"]))) == (
        frozenset({"x"}),
        {"x": (f"{there.site}/odd.py",)},
    )


@pytest.mark.parametrize("blanks", [" " * 300, "\t\f" * 200, "\u2003" * 300])
def test_blanks_without_end_in_pips_configuration_are_not_parsed(tmp_path: Path, blanks: str) -> None:
    path = tmp_path / "pip.conf"
    path.write_text(f"[global]\nyes{blanks}x\n", encoding="utf-8")
    with pytest.raises(SafepipError, match="256 blanks in a row"):
        pip_settings.read({"PIP_CONFIG_FILE": str(path)}, None, isolated=False)


def test_a_folder_that_a_path_file_names_a_thousand_times_is_looked_at_once(tmp_path: Path) -> None:
    there = small(tmp_path.resolve())
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/own.py").write_text("import os\n")
    (there.site / "x.pth").write_text(f"{tmp_path}/lib\n" * 1000)
    found = unrecorded.completed(there.inventory())
    assert [(dist.name, dist.sources) for dist in found.loose] == [
        ("own", (f"{tmp_path.resolve()}/lib/own.py",))
    ]


def test_fields_that_are_said_a_hundred_thousand_times_are_not_held_all_at_once() -> None:
    text = "Name: odd\nVersion: 1\nSummary: x\n" * 100_000
    tracemalloc.start()
    try:
        found = metadata.head(text)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found, most < 8 << 20) == (metadata.Head("odd", "1"), True)
