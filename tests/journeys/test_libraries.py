"""`safepip uninstall --dry-run` of libraries that no import needs at once: named, opened later, split, or only lying there."""

from __future__ import annotations

from pathlib import Path

from support.elves import compile_lib
from support.sandbox import TAG, Environment, Run, library, module


def found(answer: Run) -> list[tuple[str, str, str, str]]:
    return [
        (item["kind"], item["severity"], item["distribution"], item.get("soname") or "")
        for item in answer.report["findings"]
    ]


def test_a_library_that_an_object_and_a_source_name_is_missed_by_both(
    environment: Environment, tmp_path: Path
) -> None:
    engine = compile_lib(tmp_path / "libengine.so", 'const char *name = "libcublas.so.12";')
    environment.add("cublas", {"nvidia/cublas/lib/libcublas.so.12": library("libcublas.so.12")})
    environment.add("engine", {"engine/libengine.so": engine.read_bytes(), "engine/__init__.py": ""})
    environment.add(
        "faiss", {"faiss/__init__.py": "import ctypes\n\ndef gpu():\n    ctypes.CDLL('libcublas.so.12')\n"}
    )
    answer = environment.safepip("uninstall", "--dry-run", "--json", "cublas")
    assert (answer.code, answer.report["verdict"]) == (0, "warn")
    assert sorted(found(answer)) == [
        ("dlopen-hint", "warn", "engine", "libcublas.so.12"),
        ("dlopen-hint", "warn", "faiss", "libcublas.so.12"),
    ]
    assert {item["message"] for item in answer.report["findings"]} == {
        "engine may open libcublas.so.12 at run time: engine/libengine.so names it, and the last copy would go",
        "faiss may open libcublas.so.12 at run time: faiss/__init__.py:4 names it, and the last copy would go",
    }
    environment.add("second", {"second/libcublas.so.12": library("libcublas.so.12")})
    answer = environment.safepip("uninstall", "--dry-run", "--json", "cublas")
    assert (answer.report["verdict"], answer.report["findings"]) == ("allow", [])


def test_a_plugin_is_lost_though_no_import_reaches_it(environment: Environment) -> None:
    environment.add(
        "qt-plugins",
        {"qt/plugins/imageformats/libqsvg.so": module("libQt6Svg.so.6", runpath="$ORIGIN/../../lib")},
    )
    environment.add("qt-svg", {"qt/lib/libQt6Svg.so.6": library("libQt6Svg.so.6")})
    answer = environment.safepip("uninstall", "--dry-run", "--json", "qt-svg")
    assert answer.code == 10
    assert [item["message"] for item in answer.report["findings"]] == [
        "qt-plugins could no longer open libqsvg.so, which needs libQt6Svg.so.6; it is opened later, not at import"
    ]


def test_a_library_where_the_loader_does_not_look_warns_and_refuses_once_it_looks_there(
    environment: Environment,
) -> None:
    """numba's tbbpool and tbb, which lies in the venv's lib folder."""
    environment.add(
        "numba", {"numba/__init__.py": "", f"numba/tbbpool.{TAG}.so": module("libtbb-of-numba.so.12")}
    )
    environment.add("tbb", {"../../libtbb-of-numba.so.12": library("libtbb-of-numba.so.12")})
    command = ("uninstall", "--dry-run", "--json", "tbb")
    unset = environment.safepip(*command)
    assert (unset.code, found(unset)) == (0, [("last-copy", "warn", "numba", "libtbb-of-numba.so.12")])
    folder = str(environment.python.parent.parent / "lib")
    with_path = environment.safepip(*command, env={"LD_LIBRARY_PATH": folder})
    assert (with_path.code, found(with_path)) == (
        10,
        [("library-lost", "refuse", "numba", "libtbb-of-numba.so.12")],
    )


def test_a_family_whose_members_would_come_from_two_folders_warns(environment: Environment) -> None:
    needs = ("libcudnn_ops.so.9", "libcudnn_graph.so.9")
    environment.add(
        "app",
        {"app/__init__.py": "", f"app/_m.{TAG}.so": module(*needs, runpath="$ORIGIN/../one:$ORIGIN/../two")},
    )
    environment.add("ops", {"one/libcudnn_ops.so.9": library("libcudnn_ops.so.9")})
    environment.add("graph", {"one/libcudnn_graph.so.9": library("libcudnn_graph.so.9")})
    environment.add("whole", {f"two/{name}": library(name) for name in needs})
    answer = environment.safepip("uninstall", "--dry-run", "--json", "graph")
    assert (answer.code, sorted(found(answer))) == (
        0,
        [
            ("family-split", "warn", "app", "libcudnn_graph.so.9"),
            ("provider-changed", "warn", "app", "libcudnn_graph.so.9"),
        ],
    )
    split = next(item for item in answer.report["findings"] if item["kind"] == "family-split")
    assert split["message"] == (
        f"app/_m.{TAG}.so would load parts of cuDNN (9) from two places: "
        "libcudnn_ops.so.9 from one, libcudnn_graph.so.9 from two"
    )
