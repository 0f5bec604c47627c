"""What is brought beside the vault before it takes another's place."""

from __future__ import annotations

import os
from pathlib import Path

from safepip.acting import vault
from safepip.model.paths import TargetPath

SECOND = 10**9


def test_a_source_that_takes_a_place_has_not_the_second_of_the_one_whose_byte_code_is_there(
    tmp_path: Path,
) -> None:
    there, same, other = (tmp_path / name for name in ("core.py", "same", "other"))
    for path, mtime in ((there, 1700000000.25), (same, 1700000000.75), (other, 1700000005.5)):
        path.write_text("")
        os.utime(path, ns=(int(mtime * SECOND),) * 2)
    home = TargetPath(str(tmp_path))
    vault.make_room(home)
    for source, expected in ((same, 1699999999.75), (other, 1700000005.5)):
        (near,) = vault.bring({TargetPath(str(there)): str(source)}, home).values()
        assert os.stat(near).st_mtime_ns == int(expected * SECOND)
