"""Which files another package manager keeps: dpkg's lists and conda's records, as those tools write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from safepip.model.change import Reach, Removal, Why
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sites import packaged
from support import environments

PLACE = "/usr/lib/python3/dist-packages"
KEPT = TargetPath(f"{PLACE}/six.py")
DIST = environments.dist("six", [KEPT, "/usr/local/lib/python3/six.py"])


def in_image(
    tmp_path: Path, lists: Mapping[str, Sequence[str]], diversions: list[str] | None = None
) -> list[Reach]:
    info = tmp_path / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    for name, lines in lists.items():
        (info / f"{name}.list").write_text("".join(f"{line}\n" for line in ["/.", "/usr", *lines]))
    if diversions:
        (info.parent / "diversions").write_text("".join(f"{line}\n" for line in diversions))
    removal = Removal((DIST,), tuple(DIST.files or ()))
    with tree.entered(str(tmp_path)):
        return list(packaged.reaches(removal, environments.target()))


def test_what_a_list_of_dpkg_names_is_its_packages(tmp_path: Path) -> None:
    lists = {"python3-six:all": [PLACE, KEPT], "other": [f"{PLACE}/six_more.py"], "dash": ["/bin/sh"]}
    assert in_image(tmp_path, lists) == [Reach(KEPT, Why.DPKG, DIST, "python3-six")]


def test_a_list_that_names_lib_means_the_folder_in_usr_that_it_leads_to(tmp_path: Path) -> None:
    lists = {"python3-six": [KEPT.removeprefix("/usr")]}
    assert in_image(tmp_path, lists) == [Reach(KEPT, Why.DPKG, DIST, "python3-six")]


def test_a_diverted_file_is_the_diverters(tmp_path: Path) -> None:
    lists = {"python3-six": [KEPT], "vendor": [KEPT]}
    diversions = [KEPT, f"{KEPT}.distrib", "vendor"]
    assert in_image(tmp_path, lists, diversions) == [Reach(KEPT, Why.DPKG, DIST, "vendor")]


def test_nothing_below_usr_local_is_dpkgs(tmp_path: Path) -> None:
    assert in_image(tmp_path, {"odd": ["/usr/local/lib/python3/six.py"]}) == []


def test_what_a_record_of_conda_lists_is_its_packages(tmp_path: Path) -> None:
    inside = "lib/python3.12/site-packages/six.py"
    own = environments.dist(
        "six", [f"{tmp_path}/{inside}", f"{tmp_path}/lib/python3.12/site-packages/mine.py"]
    )
    record = {"name": "six", "version": "1.16.0", "build": "pyh6c4a22f_0", "files": [inside]}
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / "conda-meta/six-1.16.0-pyh6c4a22f_0.json").write_text(json.dumps(record))
    (tmp_path / "conda-meta/broken-1-0.json").write_text(inside)
    (tmp_path / "conda-meta/history").write_text("==> 2026-12-02 <==\n")
    target = replace(environments.target(), prefix=TargetPath(str(tmp_path)))
    reach = Reach(TargetPath(f"{tmp_path}/{inside}"), Why.CONDA, own, "six=1.16.0")
    assert packaged.reaches(Removal((own,), tuple(own.files or ())), target) == (reach,)


def test_rpms_hand_is_noted_and_no_more() -> None:
    of_rpm = replace(DIST, installer="rpm")
    [note] = packaged.noted(Removal((of_rpm, DIST)))
    assert (note.subject, note.reason.partition(",")[0]) == (of_rpm.info, "installed by rpm")
