"""Acting on the wrong environment is the worst that could happen: which one it is, case by case."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from safepip.errors import TargetError
from safepip.model.paths import TargetPath
from safepip.model.request import Chosen
from safepip.reading.pythons.targets import choose

Folder = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    def make(name: str) -> Path:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        return tmp_path / name

    return make


def program(path: Path, text: str = "") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def chosen(
    path: str = "", *, python: str | None = None, argv0: str = "safepip", module: bool = False
) -> Chosen:
    return choose(python, {"PATH": path}, argv0, running_as_module=module)


def expected(python: Path | str, reason: str) -> Chosen:
    return Chosen(TargetPath(str(python)), reason)


def by_pip(python: Path | str, pip: Path) -> Chosen:
    named = expected(python, f"the environment of {pip}, the first pip on the PATH")
    return named._replace(pip=TargetPath(str(pip)))


def test_a_named_interpreter_decides_and_so_does_an_environments_folder(folder: Folder) -> None:
    python = program(folder("venv/bin") / "python")
    for named in (python, folder("venv")):
        assert chosen(python=str(named), module=True) == expected(python, "named by --python")


def test_a_link_to_an_environments_folder_is_as_good(folder: Folder) -> None:
    program(folder("venv/bin") / "python")
    link = folder("elsewhere") / "link"
    link.symlink_to(folder("venv"))
    assert chosen(python=str(link)).executable == f"{link}/bin/python"


def test_the_shell_functions_tell_what_they_stand_for(folder: Folder) -> None:
    python = program(folder("bin") / "python3")
    path = {"PATH": str(folder("bin")), "SAFEPIP_STANDS_FOR": "python3"}
    assert choose(None, path, "/elsewhere/bin/safepip", running_as_module=False).executable == str(python)


def test_a_named_interpreter_is_a_path_from_here(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    python = program(folder("venv/bin") / "python")
    monkeypatch.chdir(folder("venv"))
    assert chosen(python=".").executable == chosen(python="bin/python").executable == str(python)


def test_a_name_on_the_path_is_no_interpreter_to_pip_but_it_is_pointed_out(folder: Folder) -> None:
    python = program(folder("bin") / "python3.12")
    with pytest.raises(TargetError, match=r"there is no interpreter python3\.12") as caught:
        chosen(str(folder("bin")), python="python3.12")
    assert caught.value.hint == f"--python wants a path: {python}"


def test_a_folder_without_an_interpreter_is_named(folder: Folder) -> None:
    with pytest.raises(TargetError, match="empty is no environment: it has no bin/python"):
        chosen(python=str(folder("empty")))


def test_an_environment_whose_interpreter_has_gone_is_named(folder: Folder) -> None:
    (folder("venv/bin") / "python").symlink_to("/nowhere/python3.9")
    for named in (folder("venv"), folder("venv/bin") / "python"):
        with pytest.raises(TargetError, match=r"venv/bin/python leads to /nowhere/python3\.9, which is not"):
            chosen(python=str(named))


def test_run_as_a_module_it_acts_on_the_python_that_runs_it() -> None:
    assert chosen(module=True) == expected(sys.executable, "the Python that runs safepip")


def test_called_by_a_path_of_its_own_it_acts_on_the_environment_that_it_lies_in(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = folder("mine/bin"), folder("other/bin")
    python, called = program(mine / "python"), program(mine / "safepip")
    pip = program(other / "pip", f"#!{program(other / 'python')}\n")
    monkeypatch.setattr(sys, "prefix", str(folder("mine")))
    assert chosen(str(other), argv0=str(called)) == expected(str(python), f"the environment of {called}")
    assert chosen(f"{other}:{mine}", argv0=str(called)) == by_pip(other / "python", pip)
    assert chosen(f"{other}:{mine}", argv0="safepip") == by_pip(other / "python", pip)


def test_another_safepip_that_comes_first_on_the_path_makes_it_one_called_by_path(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = folder("mine/bin"), folder("other/bin")
    python, called = program(mine / "python"), program(mine / "safepip")
    program(other / "safepip")
    program(other / "pip", f"#!{program(other / 'python')}\n")
    monkeypatch.setattr(sys, "prefix", str(folder("mine")))
    assert chosen(f"{other}:{mine}", argv0=str(called)).executable == str(python)


def test_a_link_into_a_tools_own_environment_does_not_choose_that_one(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, local, user = folder("tools/safepip/bin"), folder("local/bin"), folder("venv/bin")
    program(tool / "python")
    (local / "safepip").symlink_to(program(tool / "safepip"))
    pip = program(user / "pip", f"#!{program(user / 'python')}\n")
    monkeypatch.setattr(sys, "prefix", str(folder("tools/safepip")))
    assert chosen(str(user), argv0=str(local / "safepip")) == by_pip(user / "python", pip)


@pytest.mark.parametrize(
    "text",
    [
        "#!{python}\n",
        "#! {python} -sP\n",
        "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3.12' \"$0\" \"$@\"\n' '''\n",
        "#!/usr/bin/env python3.12\n",
        "#!/usr/bin/env -S python3.12 -s\n",
    ],
)
def test_a_pip_says_in_its_first_lines_to_which_interpreter_it_belongs(text: str, folder: Folder) -> None:
    python = program(folder("venv/bin") / "python3.12")
    pip = program(folder("venv/bin") / "pip", text.replace("{python}", str(python)))
    program(folder("later") / "pip", "#!/nowhere/python\n")
    assert chosen(f"{folder('empty')}:{folder('venv/bin')}:{folder('later')}") == by_pip(python, pip)


def test_a_folder_and_a_file_that_cannot_be_run_are_no_pip(folder: Folder) -> None:
    folder("one/pip")
    (folder("two") / "pip").write_text("#!/nowhere/python\n")
    python = program(folder("three") / "python")
    pip = program(folder("three") / "pip", f"#!{python}\n")
    assert chosen(f"{folder('one')}:{folder('two')}:{folder('three')}") == by_pip(python, pip)


def test_an_interpreter_with_a_blank_in_its_path_is_read_whole(folder: Folder) -> None:
    python = program(folder("my venv/bin") / "python")
    text = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n"
    pip = program(folder("my venv/bin") / "pip", text)
    assert chosen(str(pip.parent)) == by_pip(python, pip)


def test_a_shim_belongs_with_the_python_beside_it(folder: Folder) -> None:
    shims = folder("shims")
    pip = program(shims / "pip", '#!/usr/bin/env bash\nexec pyenv exec pip "$@"\n')
    python = program(shims / "python3", "#!/usr/bin/env bash\n")
    assert chosen(str(shims)) == by_pip(python, pip)
    python = program(shims / "python", "#!/usr/bin/env bash\n")
    assert chosen(str(shims)) == by_pip(python, pip)


def test_a_pip_that_does_not_say_where_it_belongs_is_not_guessed_at(folder: Folder) -> None:
    pip = program(folder("bin") / "pip", "#!/bin/sh\nexec something\n")
    with pytest.raises(TargetError, match=f"{pip} does not say to which environment it belongs"):
        chosen(str(pip.parent))


def test_a_pip_whose_interpreter_has_gone_is_not_passed_over(folder: Folder) -> None:
    pip = program(folder("bin") / "pip", "#!/nowhere/bin/python\n")
    program(folder("later") / "python3")
    with pytest.raises(TargetError, match=f"{pip}, the first pip on the PATH, wants /nowhere/bin/python"):
        chosen(f"{pip.parent}:{folder('later')}")


def test_without_a_pip_the_first_python3_is_taken(folder: Folder) -> None:
    python = program(folder("bin") / "python3")
    assert chosen(f"{folder('empty')}:{folder('bin')}") == expected(
        str(python), "the first python3 on the PATH, where there is no pip"
    )


def test_with_nothing_on_the_path_there_is_no_environment(folder: Folder) -> None:
    with pytest.raises(TargetError, match="neither pip nor python3 is on the PATH") as caught:
        chosen(str(folder("empty")))
    assert (caught.value.hint, caught.value.exit_code) == ("Name the environment with --python.", 12)


@pytest.mark.parametrize("place", ["short", "long" * 40])  # the second does not fit into a shebang line
def test_a_real_pip_is_understood(place: str, tmp_path: Path) -> None:
    venv = tmp_path / place
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    assert chosen(str(venv / "bin")) in {
        by_pip(venv / "bin" / name, venv / "bin/pip") for name in ("python", "python3")
    } | {by_pip(venv / f"bin/python3.{sys.version_info.minor}", venv / "bin/pip")}
