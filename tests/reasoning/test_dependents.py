"""Who owns a file, asked once or a thousand times."""

from __future__ import annotations

from dataclasses import replace

from safepip.model.rows import packed
from safepip.reasoning.dependents import owner_of
from support.environments import SITE, at, dist, inventory


def test_an_index_of_owners_says_what_looking_through_everybody_says() -> None:
    first = replace(
        dist("first"), files=(at("one/a.py"), at("both/b.py"), at("both/b.py"), at("one/data.txt"))
    )
    second = replace(dist("second"), files=(at("both/b.py"), at("two/c.so")))
    project = replace(dist("project"), files=None, sources=(at("project/d.py"),))
    loose = replace(dist("loose"), files=(at("loose.py"),))
    plain = replace(inventory(first, second, project), loose=(loose,))
    paths = [at(name) for name in ("one/a.py", "both/b.py", "two/c.so", "project/d.py", "loose.py", "no.py")]

    assert plain.indexed().owners(paths) == plain.owners(paths)
    assert plain.owners(paths)[at("both/b.py")] == (first, second)
    for staying in ((first, second, project, loose), (second, project, loose), (first,)):
        looked, indexed = owner_of(staying, plain), owner_of(staying, plain.indexed())
        assert [indexed(path) for path in paths] == [looked(path) for path in paths]
    assert owner_of((first,), plain)(at("one/data.txt")) is None


def test_owners_of_very_many_rows_are_those_of_each_row() -> None:
    files = (at("a/x.py"), at("a/y.txt")), (at("a/x.py"), at("a/z.py")), (at("b/x.so"),)
    plain = [replace(dist(f"d{number}"), files=paths) for number, paths in enumerate(files)]
    rows = [plain[0], *(replace(item, files=packed(SITE, item.files or ())) for item in plain[1:])]
    paths = [at(name) for name in ("a/x.py", "a/y.txt", "a/z.py", "b/x.so", "a/no.py", "no.py")]
    each, together = owner_of(plain, inventory(*plain)), owner_of(rows, inventory(*rows))
    assert [together(path) for path in paths] == [each(path) for path in paths]
    later = owner_of(rows[1:], inventory(*rows))
    assert later(at("a/x.py")) == plain[1]
