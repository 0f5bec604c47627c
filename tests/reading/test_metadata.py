"""The head of METADATA and entry_points.txt, held against the standard library's own readers."""

from __future__ import annotations

import email
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepip.model.environment import EntryPoint
from safepip.reading.sites import metadata

NAMES = st.sampled_from(
    ["Name", "NAME", "Version", "Requires-Dist", "Provides-Extra", "Author", "Metadata-Version", "X Y"]
)
LINES = st.one_of(
    st.tuples(NAMES, st.sampled_from([":", ": ", ":\t", " :", ""]), st.text("ab=;>'\" \t", max_size=6)).map(
        "".join
    ),
    st.sampled_from(["", " wrapped", "\twrapped", "  ", "no header", ": nameless", "\ufeffName: x"]),
)
TEXTS = st.tuples(st.lists(LINES), st.sampled_from(["\n", "\r\n"])).map(lambda pair: pair[1].join(pair[0]))


def by_email(text: str) -> metadata.Head:
    message = email.message_from_string(text)

    def every(key: str) -> tuple[str, ...]:
        values = message.get_all(key, [])
        return tuple(" ".join(part.strip() for part in str(value).splitlines()).strip() for value in values)

    return metadata.Head(
        next(iter(every("Name")), None),
        next(iter(every("Version")), None),
        every("Requires-Dist"),
        every("Provides-Extra"),
    )


def real_metadata() -> Iterator[Path]:
    for folder in sys.path:
        yield from Path(folder).glob("*.dist-info/METADATA")


def test_the_head_of_every_real_metadata_is_what_email_reads() -> None:
    read = {path: metadata.head(path.read_bytes().decode()) for path in real_metadata()}
    assert read == {path: by_email(path.read_text(encoding="utf-8")) for path in read}
    assert len(read) > 10


@given(TEXTS)
def test_an_odd_head_is_what_email_reads(text: str) -> None:
    assert metadata.head(text) == by_email(text)


def test_the_long_description_is_not_the_head() -> None:
    text = "Name: a\nVersion: 1\n\nRequires-Dist: not this\nName: b\n"
    assert metadata.head(text) == metadata.Head("a", "1")


def test_every_real_entry_point_is_what_importlib_reads() -> None:
    for path in real_metadata():
        file = path.parent / "entry_points.txt"
        if file.exists():
            expected = importlib.metadata.PathDistribution(path.parent).entry_points
            assert set(metadata.entry_points(file.read_text())) == {
                EntryPoint(point.group, point.name, point.value) for point in expected
            }


def test_entry_points_are_taken_without_a_look_at_what_they_refer_to() -> None:
    text = "lost = a:b\n[console_scripts]\n# c = d:e\n\n cmd = not valid! \n= x:y\n[[odd]]\nk==v\n"
    assert metadata.entry_points(text) == (
        EntryPoint("console_scripts", "cmd", "not valid!"),
        EntryPoint("console_scripts", "", "x:y"),
        EntryPoint("odd", "k", "=v"),
    )


def test_a_line_without_an_equals_sign_is_an_error_within_a_section_only() -> None:
    assert metadata.entry_points("garbage\n[console_scripts]\n") == ()
    with pytest.raises(metadata.BrokenEntryPointsError):
        metadata.entry_points("[console_scripts]\ngarbage\n")


def test_requirements_of_an_egg_in_todays_form() -> None:
    text = "a>=1\n\n[:python_version < '3']\nb\n\n[Extra_One]\nc\n\n[extra_one:os_name == 'nt']\nd\n"
    assert metadata.egg_requirements(text) == (
        (
            "a>=1",
            "b ; python_version < '3'",
            'c ; extra == "extra-one"',
            "d ; (os_name == 'nt') and extra == \"extra-one\"",
        ),
        ("extra-one",),
    )


@pytest.mark.parametrize(("name", "key"), [("Foo.Bar", "foo-bar"), ("a__b", "a-b"), ("A-._b", "a-b")])
def test_names_in_canonical_form(name: str, key: str) -> None:
    assert metadata.canonical(name) == key


def test_a_section_whose_head_is_endless_is_not_repeated_by_each_of_its_lines() -> None:
    head = f"[doc:{'x' * 70_000}]"
    requires, _ = metadata.egg_requirements("\n".join([head, *["a"] * 1000]))
    assert (len(requires), max(map(len, requires)) < 200) == (1000, True)
