"""Who owns a file, asked once or a thousand times."""

from __future__ import annotations

from dataclasses import replace

from safepip.reasoning.dependents import owner_of
from support.environments import at, dist, inventory


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
