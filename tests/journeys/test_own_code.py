"""Code that no distribution records: it needs what it imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.sandbox import Environment

ALLOWED, REFUSED, WRONG_USAGE, COULD_NOT = 0, 10, 2, 12


@pytest.fixture
def project(environment: Environment, tmp_path: Path) -> Path:
    environment.add("leaf", {"leaf.py": "x = 1\n"})
    environment.add("middle", {"middle/__init__.py": "", "middle/deep.py": "import leaf\n"})
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def test_what_ones_own_code_imports_is_refused_with_file_and_line(
    environment: Environment, project: Path
) -> None:
    (project / "main.py").write_text("import sys\n\ndef run():\n    import leaf\n")
    assert environment.safepip("uninstall", "--dry-run", "leaf").code == ALLOWED
    answer = environment.safepip("uninstall", "--dry-run", "--code", str(project), "leaf")
    assert answer.code == REFUSED
    assert f"{project}/main.py:4 imports leaf, of leaf" in " ".join(answer.out.split())

    report = environment.safepip("uninstall", "--dry-run", "--json", f"--code={project}", "leaf").report
    assert [(item["kind"], item["distribution"], item["paths"]) for item in report["findings"]] == [
        ("import-lost", "app", [str(environment.site / "leaf.py")])
    ]
    assert report["findings"][0]["consumers"] == [
        {
            "path": f"{project}/main.py",
            "distribution": "app",
            "chain": [f"{project}/main.py:4", "import leaf"],
        }
    ]
    assert not any("middle" in words for remedy in report["remedies"] for words in remedy["commands"])


def test_a_module_that_leads_to_what_goes_counts_where_ones_own_code_imports_it(
    environment: Environment, project: Path
) -> None:
    (project / "main.py").write_text("from middle import deep\n")
    answer = environment.safepip("uninstall", "--dry-run", "--code", str(project), "leaf")
    assert answer.code == REFUSED
    assert f"{project}/main.py:1 leads to an import of leaf" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    "sources",
    [
        {"main.py": "try:\n    import leaf\nexcept ImportError:\n    leaf = None\n"},
        {"main.py": "import leaf\n", "leaf.py": ""},
        {"main.py": "import leaf\n", "src/leaf/__init__.py": ""},
        {"main.py": "import middle\n"},
        {".venv/pyvenv.cfg": "", "env/pyvenv.cfg": "", "env/lib/main.py": "import leaf\n"},
    ],
)
def test_what_goes_on_without_it_is_let_through(
    environment: Environment, project: Path, sources: dict[str, str]
) -> None:
    for name, text in sources.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    answer = environment.safepip("uninstall", "--dry-run", "--code", str(project), "leaf")
    assert answer.code == ALLOWED


def test_the_configuration_names_code_for_every_removal(environment: Environment, project: Path) -> None:
    (project / "main.py").write_text("import leaf\n")
    (environment.prefix / ".safepip").mkdir()
    settings = environment.prefix / ".safepip/config.toml"
    settings.write_text(f'code = ["{project}"]\n')
    before = environment.tree()
    answer = environment.safepip("uninstall", "-y", "leaf")
    assert (answer.code, environment.tree()) == (REFUSED, before)

    settings.write_text('code = ["/nowhere/at/all"]\n')
    answer = environment.safepip("uninstall", "-y", "leaf")
    assert (answer.code, environment.tree() == before) == (COULD_NOT, False)
    assert (environment.site / "leaf.py").exists()


def test_own_code_that_cannot_be_read_is_named(environment: Environment, project: Path) -> None:
    (project / "old.py").write_text("print 'leaf'\n")
    report = environment.safepip("uninstall", "--dry-run", "--json", "--code", str(project), "leaf").report
    assert [item["subject"] for item in report["unjudged"]] == [f"{project}/old.py"]


def test_a_folder_that_is_not_there_is_wrong_usage(environment: Environment, project: Path) -> None:
    answer = environment.safepip("uninstall", "--code", f"{project}/src", "leaf")
    assert answer.code == WRONG_USAGE
    assert f"--code: there is no {project}/src" in " ".join(answer.err.split())
    assert (environment.site / "leaf.py").exists()
