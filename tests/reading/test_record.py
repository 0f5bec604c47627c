"""RECORD is read as pip reads it, and its promises are held against the files."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepip.model.environment import Claim
from safepip.model.paths import TargetPath
from safepip.reading.sites import record
from safepip.reading.sites.site import take_inventory
from support.environments import target
from support.wheels import install

CELLS = st.text('ab.,/"~ \\\n\r\x0c\u2028\0é', max_size=12)
TEXTS = st.lists(
    st.one_of(CELLS, st.sampled_from(["pkg/a.py,sha256=x,3", "../../../bin/x,,", '"a,b",,', "", "a//b/./c"]))
)

DIGEST = f"sha256={'x' * 43}"
ROWS = st.tuples(
    st.text("ab./,", max_size=6),
    st.sampled_from(
        [",,", f",{DIGEST},3", f",{DIGEST},", ",,5", f",{DIGEST[:-2]}\n,3", f",{DIGEST[:-1]}\r,3", ","]
    ),
    st.sampled_from(["\n", "\n", "\r\n", "\r", ""]),
)


PIECES = st.lists(
    st.sampled_from(["a", "b", "/", ".", "..", ",", "\n", "x/y", "//", "./", "\r\n", "\x85"]), max_size=12
)


def as_pip_reads(text: str) -> list[str] | None:
    """pip's metadata/base.py, `_iter_declared_entries_from_record`; None where it ends with a traceback."""
    try:
        return [str(Path(row[0])) for row in csv.reader(text.splitlines())]
    except (IndexError, csv.Error):
        return None


@given(st.lists(ROWS, max_size=4).map(lambda rows: "".join(part for row in rows for part in row)))
def test_a_record_that_is_taken_as_plain_has_the_cells_that_pip_reads(text: str) -> None:
    cells = record.plain(text)
    assert cells is None or [str(Path(cell)) for cell in cells.split("\n")[1:-1]] == as_pip_reads(text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_record_as_pip_and_uv_write_it_is_plain(end: str) -> None:
    rows = [f"pkg/a.py,{DIGEST},3", "../../../bin/a,,", "pkg-1.dist-info/RECORD,,"]
    assert record.plain("".join(f"{row}{end}" for row in rows)) == (
        "\npkg/a.py\n../../../bin/a\npkg-1.dist-info/RECORD\n"
    )


@given(PIECES.map("".join))
def test_a_record_made_of_slashes_and_dots_is_folded_as_pathlib_folds_it(text: str) -> None:
    expected = as_pip_reads(text)
    if expected is None:
        with pytest.raises(record.BrokenRecordError):
            record.paths(text)
    else:
        assert record.paths(text) == expected


@given(TEXTS.map("\n".join))
def test_paths_are_what_pip_reads(text: str) -> None:
    try:
        read: list[str] | None = record.paths(text)
    except record.BrokenRecordError:
        read = None
    assert read == as_pip_reads(text)


@pytest.mark.parametrize("cell", ["n" * 131_072, "n" * 131_073])
def test_a_field_may_be_as_long_as_csv_lets_it(cell: str) -> None:
    text = f"a.py,,\n{cell},,\n"
    if as_pip_reads(text) is None:
        with pytest.raises(record.BrokenRecordError):
            record.paths(text)
    else:
        assert record.paths(text) == ["a.py", cell]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("../pkg/a.py", "pkg/a.py"),
        ("PKG-INFO", "pkg.egg-info/PKG-INFO"),
        ("./x//y", "pkg.egg-info/x/y"),
        ("../../../../bin/tool", "../../../bin/tool"),
        ("sub/../x", "pkg.egg-info/sub/../x"),
        ("/etc/x", "/etc/x"),
        ("..", "."),
    ],
)
def test_installed_files_are_relative_to_the_metadata(line: str, path: str) -> None:
    assert record.installed_files(f"{line}\n\n", "/site/pkg.egg-info") == [path]


def test_claims_are_read_again_for_the_paths_that_are_asked_for(tmp_path: Path) -> None:
    install(tmp_path, "pkg", {"pkg/a.py": "x = 1\n", "pkg/b,c.py": b"", "pkg/d.py": "y\n"})
    site = TargetPath(str(tmp_path.resolve()))
    (dist,) = take_inventory(replace(target(), sites=(site,))).distributions
    a, b, own = (
        TargetPath(f"{site}/{name}") for name in ("pkg/a.py", "pkg/b,c.py", "pkg-1.0.dist-info/RECORD")
    )
    empty = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    assert record.claims(dist, [a, b, own, TargetPath("/nowhere")]) == {
        a: Claim(record.digest(a), 6),
        b: Claim(empty, 0),
        own: Claim("", None),
    }
    assert record.digest(a) != record.digest(b) == empty


def test_a_row_that_is_said_again_counts_once_and_the_last_says_what_it_promises(tmp_path: Path) -> None:
    info = install(tmp_path, "pkg", {"a.py": "x = 1\n", "b.py": ""})
    own = "pkg-1.0.dist-info/RECORD,,\n"
    (info / "RECORD").write_text("a.py,,5\nb.py,,0\n./a.py,,7\n" + "a.py,,6\n" * 1000 + own * 1000)
    site = TargetPath(str(tmp_path.resolve()))
    (dist,) = take_inventory(replace(target(), sites=(site,))).distributions
    assert dist.files == (f"{site}/a.py", f"{site}/b.py", f"{site}/pkg-1.0.dist-info/RECORD")
    a = TargetPath(f"{site}/a.py")
    assert record.claims(dist, [a]) == {a: Claim("", 6)}


def test_a_digest_is_made_by_the_claims_own_algorithm(tmp_path: Path) -> None:
    path = TargetPath(str(tmp_path / "x"))
    Path(path).write_bytes(b"")
    assert record.digest(path, "sha512=z4Phx").startswith("sha512=z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg")
    assert record.digest(path, "nonsense=1") == ""
    assert record.digest(TargetPath("/nowhere/x")) == ""
