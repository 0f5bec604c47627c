"""What a RECORD lists, as one text: the same paths to whoever asks."""

from __future__ import annotations

import pytest

from safepip.model.paths import TargetPath
from safepip.model.rows import Rows, packed
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
    assert (tuple(rows), len(rows), hash(rows)) == (paths, len(paths), hash(paths))
    assert (rows == paths, rows == Rows(at("pkg"), paths), rows == (*paths, SITE)) == (True, True, False)
    assert [path in rows for path in PATHS] == [path in paths for path in PATHS]
    assert (rows[:1], list(rows[1:])) == (list(paths[:1]), list(paths[1:]))


@pytest.mark.parametrize("path", ["pkg/a.py", "a.py\npkg", "", SITE, f"{SITE}/pkg/a", "/bin/tool"])
def test_a_part_of_a_row_is_no_row(path: str) -> None:
    assert path not in packed(SITE, PATHS[:3])


@pytest.mark.parametrize("odd", [f"{SITE}/a\nb.py", f"{SITE}//a.py", "a.py"])
def test_a_row_that_one_text_would_not_tell_apart_leaves_them_as_they_are(odd: str) -> None:
    paths = (*PATHS, TargetPath(odd))
    assert packed(SITE, paths) is paths
