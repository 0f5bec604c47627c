"""The `.pth` files and import hooks that build backends leave behind, in the forms that they write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from safepip.model.environment import Mapped
from safepip.model.paths import TargetPath
from safepip.reading.sites import editable

SETUPTOOLS = """
from __future__ import annotations
MAPPING: dict[str, str] = {'proj': '@/src/proj', 'one': '@/src/one.py'}
NAMESPACES: dict[str, list[str]] = {'space': ['@/src/space']}
PATH_PLACEHOLDER = '__editable__.proj-1.0.finder' + ".__path_hook__"
def install():
    sys.meta_path.append(_EditableFinder)
"""
EDITABLES = """
from editables.redirector import RedirectingFinder as F
F.install()
F.map_module('proj', '@/src/proj/__init__.py')
F.map_module('one', '@/src/one.py')
"""
SCIKIT = """
def install(known_source_files, known_wheel_files, path):
    sys.meta_path.insert(0, 1)
install({'proj': '@/src/proj/__init__.py', 'proj.inner': '@/src/proj/inner.py', 'one': '@/src/one.py'}, {'proj._c': 'proj/_c.so'}, None)
"""
MESON = """
def init():
    finder = MesonpyMetaFinder('proj', {'proj'}, '@/build', ['ninja'], False)
    sys.meta_path.insert(0, finder)
"""
OLDER_MESON = "install('proj', {'proj'}, '@/build', ['ninja'], False)\n"
PLAN = {
    "targets": {"@/build/_c.so": {"destination": "{py_platlib}/proj/_c.so", "tag": "runtime"}},
    "python": {
        "@/src/proj/__init__.py": {"destination": "{py_platlib}/proj/__init__.py"},
        "@/src/data.txt": {"destination": "{py_platlib}/proj/data.txt"},
    },
    "man": {"@/src/proj.1": {"destination": "{mandir}/proj.1"}},
}
FORMS = {
    "setuptools": ("__editable___proj_1_0_finder", SETUPTOOLS, {"proj": "src/proj", "one": "src/one.py", "space": "src/space"}),
    "editables": ("_editable_impl_proj", EDITABLES, {"proj": "src/proj", "one": "src/one.py"}),
    "scikit-build-core": ("_editable_skbc_proj", SCIKIT, {"proj": "src/proj", "one": "src/one.py"}),
    "meson-python": ("_proj_editable_loader", MESON, {"proj": "src/proj", "proj._c": "build/_c.so"}),
    "older meson-python": ("_proj_editable_loader", OLDER_MESON, {"proj": "src/proj", "proj._c": "build/_c.so"}),
}  # fmt: skip


@pytest.mark.parametrize("backend", FORMS)
def test_the_tables_of_an_import_hook_are_read(backend: str, tmp_path: Path) -> None:
    module, text, expected = FORMS[backend]
    (tmp_path / "build/meson-info").mkdir(parents=True)
    plan = json.dumps(PLAN).replace("@", str(tmp_path))
    (tmp_path / "build/meson-info/intro-install_plan.json").write_text(plan)
    (tmp_path / f"{module}.py").write_text(text.replace("@", str(tmp_path)))
    (tmp_path / "proj.pth").write_text(f"import {module}; {module}.install()\n")
    site = TargetPath(str(tmp_path))
    by = TargetPath(f"{tmp_path}/{module}.py")
    brought = editable.read(site, "proj.pth")
    mapped = [Mapped(name, TargetPath(f"{tmp_path}/{place}"), by) for name, place in expected.items()]
    assert (sorted(brought.mapped), brought.folders, brought.silent) == (sorted(mapped), (), ())


def test_the_program_that_a_hook_of_meson_starts_is_known(tmp_path: Path) -> None:
    ninja = tmp_path / "bin/ninja"
    (tmp_path / "build/meson-info").mkdir(parents=True)
    plan = json.dumps({"python": PLAN["python"]}).replace("@", str(tmp_path))
    (tmp_path / "build/meson-info/intro-install_plan.json").write_text(plan)
    text = MESON.replace("@", str(tmp_path)).replace("'ninja'", f"'{ninja}', '-j2'")
    (tmp_path / "_proj_editable_loader.py").write_text(text)
    (tmp_path / "proj.pth").write_text("import _proj_editable_loader\n")
    (found,) = editable.read(TargetPath(str(tmp_path)), "proj.pth").mapped
    assert found.builder == str(ninja)


def test_a_line_that_names_a_folder_brings_it_and_other_code_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "a.pth").write_text("# words\nimport os; os.mkdir('no')\nsrc\n/nowhere/at/all\n")
    expected = editable.Brought(TargetPath(f"{tmp_path}/a.pth"), (TargetPath(f"{tmp_path}/src"),))
    assert editable.read(TargetPath(str(tmp_path)), "a.pth") == expected


@pytest.mark.parametrize("text", ["def (", "MAPPING = {1: 2, 'proj': __file__}\n", "MAPPING = f()\n", ""])
def test_a_hook_without_a_table_is_silent(text: str, tmp_path: Path) -> None:
    (tmp_path / "_proj_editable.py").write_text(text)
    (tmp_path / "a.pth").write_text("import _proj_editable\n")
    assert editable.read(TargetPath(str(tmp_path)), "a.pth").silent == (f"{tmp_path}/_proj_editable.py",)
