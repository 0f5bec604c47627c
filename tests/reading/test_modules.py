"""Which sources of an installed distribution name a module, found without parsing, and kept for later runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from safepip.model.environment import Distribution
from safepip.model.imports import Condition, Import, Source, Unread
from safepip.model.paths import DistKey, TargetPath
from safepip.reading.plain_file import PIECE
from safepip.reading.sources.modules import Modules, import_hooks, pth_folders
from support.small import Small, small


def user(there: Small, **sources: str) -> Distribution:
    """The distribution `user` with `sources` by module name."""
    there.add("user", {f"user/{name}.py": text for name, text in sources.items()})
    found = there.inventory().find(DistKey("user"))
    assert found is not None
    return found


def naming(
    there: Small, dist: Distribution, *names: str, environ: dict[str, str] | None = None
) -> dict[str, list[str]]:
    found = Modules(there.inventory(), environ or {}).naming(dist, names)
    return {name: [path.rpartition("/")[2] for path in paths] for name, paths in found.items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import numpy\n", True),
        ("import os, numpy as np\n", True),
        ("    from numpy.linalg import norm\n", True),
        ("load('numpy')\n", True),
        ("from .numpy import it\n", False),
        ("import numpydoc\n", False),
        ("import mynumpy\n", False),
        ("# numpy is not needed\n", False),
        ("numpy.zeros(1)\n", False),
    ],
)
def test_a_name_counts_in_an_import_or_as_a_string(tmp_path: Path, text: str, found: bool) -> None:  # noqa: FBT001
    there = small(tmp_path)
    assert ("numpy" in naming(there, user(there, one=text), "numpy")) is found


def test_a_name_in_a_namespace_may_stand_on_a_line_of_its_own(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(there, one="from google.cloud import (\n    core,\n    storage,\n)\n", two="import storage\n")
    assert naming(there, dist, "google.cloud.storage") == {"google.cloud.storage": ["one.py"]}


def test_a_name_in_a_namespace_may_be_relative_where_the_source_lies_in_that(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(
        there, one="from ..user import inner\n", two="from . import (\n    inner,\n)\n", three="x = inner()\n"
    )
    assert naming(there, dist, "user.inner", "google.inner") == {"user.inner": ["one.py", "two.py"]}


def test_a_last_part_is_found_behind_any_dots(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(
        there, one="from .inner import it\n", two="import user.inner\n", three="inner = 1\nprint(inner)\n"
    )
    assert naming(there, dist, ".inner") == {".inner": ["one.py", "two.py", "three.py"]}


def test_the_imported_names_are_those_of_all_statements_and_are_kept(tmp_path: Path) -> None:
    there = small(tmp_path)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    text = "import os.path, numpy as np\nfrom scipy.sparse import csr\nif 0:\n    import_module('pandas.io')\nfrom . import x\nfrom yaml \\\n  import load"
    dist = user(there, one=text)
    modules = Modules(there.inventory(), environ)
    assert modules.imported(dist) == {"os", "numpy", "scipy", "pandas", "x", "yaml", "load"}
    modules.keep()
    os.unlink(f"{there.site}/user/one.py")
    assert Modules(there.inventory(), environ).imported(dist) == modules.imported(dist)


def test_what_cannot_be_read_may_name_anything_and_what_is_missing_names_nothing(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(there, one="import os\n", two="import numpy\n")
    for name in ("one", "two"):
        (there.site / f"user/{name}.py").unlink()
    (there.site / "user/one.py").mkdir()
    assert naming(there, dist, "numpy") == {"numpy": ["one.py"]}
    path = TargetPath(f"{there.site}/user/one.py")
    read = Modules(there.inventory(), {}).read(dist, path, "user.one", is_package=False)
    assert read == Unread("Is a directory")


def test_many_names_are_found_where_each_alone_is(tmp_path: Path) -> None:
    there = small(tmp_path)
    texts = [
        "import numpy\r\nimport os, scipy as sp\n",
        "from google.cloud import (\n    core,\n\tstorage,\n)\n",
        "from .inner import numpy\nload('.pandas', \"yaml\")\n# from bz2\n",
        "from numpy \\\n  import pandas\nx = 'of numpy'; y = scipy\nimport na\u00efve\n",
        "version('scikit-learn')\nimport_module(\"google.cloud\" + '.core')",
    ]
    dist = user(there, **{f"m{number}": text for number, text in enumerate(texts)})
    names = [
        "numpy",
        "scipy",
        "pandas",
        "yaml",
        "os",
        "core",
        "inner",
        ".inner",
        ".core",
        "google.cloud.core",
    ]
    names += [
        "google.cloud.storage",
        "google.cloud",
        ".pandas",
        "na\u00efve",
        "bz2",
        "scikit-learn",
        "sp",
        "learn",
    ]
    alone = {name: hits for one in names for name, hits in naming(there, dist, one).items()}
    assert naming(there, dist, *names) == alone
    assert alone["numpy"] == ["m0.py", "m2.py", "m3.py"]


def test_names_that_will_be_asked_are_searched_for_at_once_and_kept_at_the_end(tmp_path: Path) -> None:
    there = small(tmp_path)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    dist = user(there, one="import numpy\nimport scipy\n")
    modules = Modules(there.inventory(), environ)
    with modules.many(lambda: ["scipy"]):
        modules.naming(dist, ["numpy"])
        modules.keep()
        assert not (tmp_path / "cache").exists()
        os.unlink(f"{there.site}/user/one.py")
        assert modules.naming(dist, ["scipy"]) == {"scipy": (f"{there.site}/user/one.py",)}
    assert naming(there, dist, "scipy", environ=environ) == {"scipy": ["one.py"]}


def test_tests_are_left_out(tmp_path: Path) -> None:
    there = small(tmp_path)
    sources = {
        f"user/{path}.py": "import numpy" for path in ("tests/test_it", "conftest", "test_top", "core")
    }
    there.add("user", sources)
    dist = there.inventory().distributions[0]
    assert naming(there, dist, "numpy") == {"numpy": ["core.py"]}


def test_what_was_found_is_kept_as_long_as_record_is_the_same(tmp_path: Path) -> None:
    there = small(tmp_path)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    dist = user(there, one="import numpy\n")
    source = TargetPath(f"{there.site}/user/one.py")
    first = Modules(there.inventory(), environ)
    first.naming(dist, ["numpy", "scipy"])
    read = first.read(dist, source, "user.one", is_package=False)
    first.keep()
    assert read == Source((Import("numpy", (), 1, Condition.UNCONDITIONAL),))

    os.unlink(source)
    assert naming(there, dist, "numpy", "scipy", environ=environ) == {"numpy": ["one.py"]}
    again = Modules(there.inventory(), environ)
    assert again.read(dist, source, "user.one", is_package=False) == read

    os.utime(f"{dist.info}/RECORD", ns=(1, 1))
    assert naming(there, dist, "numpy", environ=environ) == {}
    assert isinstance(
        Modules(there.inventory(), environ).read(dist, source, "user.one", is_package=False), Unread
    )


@pytest.mark.parametrize(
    "damage", [b"", b"[1", b"[1,2,3,4]", b'[1,"3.12.1","/x",{"a":1}]', b"\xff\xfe", b"[" * 100000]
)
def test_a_damaged_cache_is_found_out_anew(tmp_path: Path, damage: bytes) -> None:
    there = small(tmp_path)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    dist = user(there, one="import numpy\n")
    first = Modules(there.inventory(), environ)
    first.naming(dist, ["numpy"])
    first.read(dist, TargetPath(f"{there.site}/user/one.py"), "user.one", is_package=False)
    first.keep()
    kept = sorted((tmp_path / "cache/safepip/imports").iterdir())
    assert len(kept) == 2
    for file in kept:
        file.write_bytes(damage)
    assert naming(there, dist, "numpy", environ=environ) == {"numpy": ["one.py"]}
    read = Modules(there.inventory(), environ).read(
        dist, TargetPath(f"{there.site}/user/one.py"), "user.one", is_package=False
    )
    assert isinstance(read, Source)


@pytest.mark.parametrize("home", ["relative", "/dev/null/nowhere", ""])
def test_without_a_writable_cache_nothing_is_kept_and_nothing_fails(tmp_path: Path, home: str) -> None:
    there = small(tmp_path)
    modules = Modules(there.inventory(), {"XDG_CACHE_HOME": home})
    modules.naming(user(there, one="import numpy\n"), ["numpy"])
    modules.keep()


def test_the_cache_never_lies_in_the_target(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(there, one="import numpy\n")
    modules = Modules(there.inventory(), {"XDG_CACHE_HOME": f"{there.prefix}/cache"})
    modules.naming(dist, ["numpy"])
    modules.keep()
    assert not (there.prefix / "cache").exists()


def test_compiled_modules_tell_whole_names_only(tmp_path: Path) -> None:
    there = small(tmp_path)
    content = {
        "user/_rust.abi3.so": b"\0import _cffi_backend\0",
        "user/_other.abi3.so": b"my_cffi_backend_too",
    }
    there.add("user", content)
    dist = there.inventory().distributions[0]
    found = Modules(there.inventory(), {}).compiled_naming(dist, ["_cffi_backend"])
    assert found == ((TargetPath(f"{there.site}/user/_rust.abi3.so"), "_cffi_backend"),)


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        (0, b"", True),
        (PIECE - 3, b"", True),
        (PIECE - 3, b" ", True),
        (PIECE - 7, b"", True),
        (PIECE - 7, b"x", False),
        (PIECE - 7, b"\0", True),
        (PIECE, b"x", False),
        (PIECE, b"", True),
        (PIECE - 6, b".", True),
    ],
)
def test_a_name_is_found_where_a_part_that_is_read_ends(
    tmp_path: Path, before: int, after: bytes, *, held: bool
) -> None:
    there = small(tmp_path)
    there.add("user", {"user/_rust.abi3.so": b"\0" * before + b"backend" + after})
    dist = there.inventory().distributions[0]
    assert bool(Modules(there.inventory(), {}).compiled_naming(dist, ["backend", "x.y"])) is held
    (there.site / "user/_rust.abi3.so").write_bytes(b"x" * before + b"backend" + after)
    assert bool(Modules(there.inventory(), {}).compiled_naming(dist, ["backend"])) is (held and not before)


def test_unreadable_and_odd_files_are_unread(tmp_path: Path) -> None:
    there = small(tmp_path)
    dist = user(there, one="import numpy\n")
    path = TargetPath(f"{there.site}/user/one.py")
    os.unlink(path)
    os.mkfifo(path)
    modules = Modules(there.inventory(), {})
    assert modules.naming(dist, ["numpy"]) == {}
    os.unlink(path)
    os.mkdir(path)
    assert isinstance(modules.read(dist, path, "user.one", is_package=False), Unread)


def test_folders_of_a_pth_are_told_and_its_code_is_not(tmp_path: Path) -> None:
    file = tmp_path / "it.pth"
    file.write_text("# comment\nimport sys\n/src\ninside\n\n")
    assert pth_folders([TargetPath(str(file)), TargetPath("/no.pth")]) == {"/src", f"{tmp_path}/inside"}


def test_a_text_is_quoted_where_a_source_that_imports_the_module_has_it_whole_between_quotes(
    tmp_path: Path,
) -> None:
    """As librmm's load.py names the library that it gives to ctypes."""
    there = small(tmp_path)
    opens = 'import ctypes\nsoname = "librmm.so"\nctypes.CDLL(soname)\n'
    dist = user(there, one=opens, two="import ctypes\n'librmm.so.1'\n", three='soname = "librmm.so"\n')
    modules = Modules(there.inventory(), {})
    found = [path.rpartition("/")[2] for path in modules.quoting(dist, "ctypes", "librmm.so")]
    assert found == ["one.py"]


def test_a_hook_is_a_module_that_a_pth_of_its_own_starts_and_that_answers_for_imports(tmp_path: Path) -> None:
    """As numba-cuda's does, for numba.cuda. setuptools' is another matter: it answers for distutils."""
    hooking = "import sys\nsys.meta_path.insert(0, Finder())\n"
    texts = {
        "redirect.pth": "# licence\nimport _redirect\n",
        "_redirect.py": hooking,
        "distutils-precedence.pth": "import _distutils_hack\n",
        "_distutils_hack/__init__.py": hooking,
        "cover.pth": "import cover; cover.start()\n",
        "cover/__init__.py": "def start(): pass\n",
        "alone.py": hooking,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    paths = {TargetPath(f"{tmp_path}/{name}") for name in texts}
    assert import_hooks(paths) == {f"{tmp_path}/_redirect.py"}
    assert import_hooks(paths - {TargetPath(f"{tmp_path}/redirect.pth")}) == frozenset()
