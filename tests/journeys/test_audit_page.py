"""`safepip audit --html`: by what the page shows and does in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.sandbox import Environment, library

CHROMIUM = shutil.which("chromium")
ASK = """
<script>
const key = (name, target) => (target || document.body).dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
const type = text => { by("search").value = text; by("search").dispatchEvent(new Event("input")); };
const names = () => [...by("list").children].map(row => row.querySelector(".name").textContent);
const text = id => by(id).textContent;
const answer = (() => { %s })();
const out = document.createElement("pre"); out.id = "answer"; out.textContent = JSON.stringify(answer); document.body.append(out);
</script>
"""


@pytest.fixture
def page(story: Environment, tmp_path: Path) -> Path:
    story.add("evil", {"evil/lib</script><b>.so.1": library("libevil.so.1")}, version="<img src=x>")
    path = tmp_path / "audit.html"
    assert story.safepip("audit", "--html", str(path)).code == 0
    return path


def ask(page: Path, script: str, *, dark: bool = False, anchor: str = "", width: int = 1200) -> Any:
    """What `script` gives when it runs in the page, after the page's own."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    copy = page.with_name("asked.html")
    copy.write_text(page.read_text().replace("</body>", ASK % script + "</body>"))
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={page.parent / 'profile'}",
            f"--window-size={width},900",
            *(["--blink-settings=preferredColorScheme=0"] if dark else []),
            "--dump-dom",
            f"{copy.as_uri()}{anchor}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r'<pre id="answer">(.*)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def test_nothing_is_loaded_from_outside(page: Path) -> None:
    text = page.read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href|url)\s*[=(]\s*[\"']?(https?:)?//", text)
    assert not re.search(r"<(link|img|iframe|object|embed)\b", text)


def test_names_of_the_environment_cannot_become_markup(page: Path) -> None:
    assert page.read_text().count("</script>") == 2
    shown = ask(
        page, 'choose("evil"); return [document.images.length, text("details").includes("<img src=x>")];'
    )
    assert shown == [0, True]


def test_every_distribution_is_listed_and_search_narrows_by_name_and_by_library(page: Path) -> None:
    everything, by_name, by_library, none = ask(
        page,
        """const all = names(); type("TORCH"); const one = names(); type("libcudnn.so.9"); const two = names();
        type("nothing of the kind"); return [all, one, two, names()];""",
    )
    assert sorted(everything) == ["cudnn-cu12", "cudnn-cu13", "evil", "leaf", "pip", "torch"]
    assert (by_name, sorted(by_library), none) == (["torch"], ["cudnn-cu12", "cudnn-cu13"], [])


def test_a_chosen_removal_shows_what_it_would_break_and_by_which_chain(page: Path) -> None:
    details, users = ask(
        page,
        """choose("cudnn-cu13");
        return [text("details"), [...document.querySelectorAll("#map path.user")].length];""",
    )
    assert "cudnn-cu13 9.19" in details
    assert "torch could no longer be loaded" in details
    assert "import torch → torch/_C" in details
    assert users == 2


def test_the_keyboard_alone_suffices(page: Path) -> None:
    steps = ask(
        page,
        """key("/"); const focused = document.activeElement.id; type("cudnn"); key("Enter", by("search"));
        const first = chosen; key("ArrowDown"); const second = chosen; key("Escape");
        return [focused, first, second, chosen, names().length];""",
    )
    assert steps[0] == "search"
    assert sorted(steps[1:3]) == ["cudnn-cu12", "cudnn-cu13"]
    assert steps[3:] == [None, 6]


def test_hovering_a_name_brings_out_its_neighbours(page: Path) -> None:
    near = ask(
        page,
        """document.querySelector('#map text[data-name="torch"]').dispatchEvent(new MouseEvent("mouseenter"));
        return [...document.querySelectorAll("#map text.near")].map(label => label.dataset.name).sort();""",
    )
    assert near == ["cudnn-cu12", "cudnn-cu13", "torch"]


def test_a_link_to_a_distribution_opens_it(page: Path) -> None:
    assert ask(page, "return chosen;", anchor="#torch") == "torch"


def test_it_is_light_or_dark_as_the_system_is_and_a_button_turns_it(page: Path) -> None:
    script = """const colour = () => getComputedStyle(document.body).backgroundColor;
    const before = colour(); by("theme").click(); return [before, colour()];"""
    light, dark = "rgb(251, 250, 248)", "rgb(22, 24, 28)"
    assert ask(page, script) == [light, dark]
    assert ask(page, script, dark=True) == [dark, light]


def test_a_hundred_distributions_are_drawn_at_once(environment: Environment, tmp_path: Path) -> None:
    for number in range(100):
        environment.add(
            f"d{number}",
            {f"d{number}.py": f"import d{number - 1}\n" if number else ""},
            requires=[f"d{number - 1}"] if number else [],
        )
    page = tmp_path / "audit.html"
    environment.safepip("audit", "--html", str(page))
    labels, lines = ask(
        page, 'return ["#map text", "#map path"].map(name => document.querySelectorAll(name).length);'
    )
    assert labels >= 100
    assert lines >= 99


def test_a_narrow_window_cuts_nothing_off(page: Path) -> None:
    script = """choose("torch");
        const right = id => by(id).getBoundingClientRect().right <= innerWidth;
        return [innerWidth < 760, document.documentElement.scrollWidth <= innerWidth, right("theme"), right("order")];"""
    assert ask(page, script, width=500) == [True, True, True, True]
