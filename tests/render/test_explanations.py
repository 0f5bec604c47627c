"""Every kind of finding and every check has a text of its own."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest

from safepip.model.diagnosis import Check
from safepip.model.report import FindingKind
from safepip.render import explanations, meanings
from safepip.render.terminal import Style


@pytest.mark.parametrize("name", [kind.value for kind in (*FindingKind, *Check)])
def test_a_name_is_explained_within_80_columns(name: str) -> None:
    found = explanations.find(name)
    assert found is not None
    said = explanations.show(name, found, Style())
    for part in ("Example", "What to do", "By hand"):
        assert part in said
    prose = said.partition("By hand")[0]
    assert max(map(len, prose.splitlines())) <= 80


@pytest.mark.parametrize("name", [kind.value for kind in (*FindingKind, *Check)])
def test_what_is_to_be_tried_by_hand_is_shell(name: str) -> None:
    found = explanations.find(name)
    assert found is not None
    for command in found.proof:
        assert subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).stderr == b""


def test_by_hand_rows_and_digests_are_as_record_has_them_and_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("x = 1\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).decode().rstrip("=")
    row = f"there.py,sha256={digest},6"
    (tmp_path / "pkg-1.dist-info").mkdir()
    (tmp_path / "pkg-1.dist-info" / "RECORD").write_text(f"{row}\ngone.py,,\n")

    def shell(command: str) -> tuple[str, str]:
        command = command.replace("PATH", "there.py").replace("NAME", "pkg")
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.stdout, done.stderr

    assert shell(meanings.ROWS) == (f"{row}\n", "")
    assert shell(meanings.DIGEST) == (f"{digest}=", "")
    assert "there.py" not in shell(meanings.THERE)[1]
    assert "gone.py" in shell(meanings.THERE)[1]
