"""What a RECORD lists, as one text: the same paths to whoever asks."""

from __future__ import annotations

import pytest

from safepip.model.paths import TargetPath
from safepip.model.rows import OUTSIDE, Asked, Rows, names_in, packed
from support.environments import SITE, at

PATHS = (
    at("pkg/a.py"),
    at("pkg/é\udcff.py"),
    TargetPath("/v/bin/tool"),
    at("pkg/a.py"),
    TargetPath(f"{SITE}/"),
)


@pytest.mark.parametrize("paths", [PATHS, PATHS[:2], PATHS[2:3], PATHS[4:], ()])
def test_rows_are_the_paths_that_they_were_made_of(paths: tuple[TargetPath, ...]) -> None:
    rows = packed(SITE, paths)
    assert isinstance(rows, Rows)
    once = tuple(dict.fromkeys(paths))
    assert (tuple(rows), len(rows), bool(rows), hash(rows)) == (once, len(once), bool(once), hash(once))
    assert (rows == once, rows == packed(at("pkg"), paths), rows == (*once, SITE)) == (True, True, False)
    assert [path in rows for path in PATHS] == [path in paths for path in PATHS]
    assert (rows[:1], list(rows[1:])) == (list(once[:1]), list(once[1:]))


@pytest.mark.parametrize("path", ["pkg/a.py", "a.py\npkg", "", SITE, f"{SITE}/pkg/a", "/bin/tool"])
def test_a_part_of_a_row_is_no_row(path: str) -> None:
    assert path not in packed(SITE, PATHS[:3])


@pytest.mark.parametrize("odd", [f"{SITE}/a\nb.py", f"{SITE}//a.py", "a.py"])
def test_a_row_that_one_text_would_not_tell_apart_leaves_them_as_they_are(odd: str) -> None:
    paths = (*PATHS, TargetPath(odd))
    assert packed(SITE, paths) is paths


def test_what_is_asked_often_is_kept_and_says_the_same() -> None:
    rows = Rows(SITE, "\npkg/a.py\nb.py\n")
    assert [at("b.py") in rows for _ in range(12)] == [True] * 12
    assert (at("pkg") in rows, at("pkg/a.py") in rows, rows[0], list(rows.packed())) == (
        False,
        True,
        at("pkg/a.py"),
        list(rows),
    )


def test_the_names_in_a_folder_are_those_that_rows_lie_in_or_are() -> None:
    rows = Rows(SITE, "\npkg/sub/a.py\nb.py\n/v/bin/tool\n/other/c/d.py\n")
    assert rows.heads() == {"pkg", "b.py", OUTSIDE}
    assert rows.names(SITE) == {"pkg", "b.py"}
    assert [*rows.names(at("pkg")), *rows.names(TargetPath("/v"))] == ["sub", "bin"]
    assert names_in(SITE, rows) == {"pkg", "b.py"}


def test_only_rows_that_begin_alike_are_asked_for() -> None:
    rows = Rows(SITE, "\npkg/a.py\n/v/bin/tool\n")
    asked = Asked(frozenset({at("pkg/a.py"), at("pkg/b.py"), at("x.py"), TargetPath("/v/bin/tool")}))
    assert set(asked.rows_of(rows)) == set(asked.rows_of(tuple(rows))) == {at("pkg/a.py"), "/v/bin/tool"}
    assert asked.rows_of(Rows(SITE, "\nmore/a.py\n")) == []
