"""Extension modules that this Python does not load, by their names."""

from __future__ import annotations

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.paths import DistKey
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.health.foreign import Foreign, ailments, find
from support.environments import EXT, at, dist, inventory
from support.fake_world import FakeWorld, empty

OTHER, ARM = ".cpython-311-x86_64-linux-gnu.so", ".cpython-312-aarch64-linux-gnu.so"


def test_a_module_is_foreign_where_only_another_python_or_machine_loads_it() -> None:
    fitting = [
        f"a/both{EXT}",
        f"a/both{OTHER}",
        f"a/source{OTHER}",
        "a/source.py",
        f"a/any{OTHER}",
        "a/any.abi3.so",
        "a/stable.abi3.so",
    ]
    plain = ["a/plain.so", "a/lib.cpython-3.so.1", "a/x.py"]
    lxml = dist(
        "lxml",
        [
            f"lxml/etree{OTHER}",
            f"lxml/arm{ARM}",
            "lxml/pypy.pypy39-pp73-linux.so",
            f"lxml/gone{OTHER}",
            "lxml/later.abi3t.so",
        ],
    )
    whole, there = (
        dist("whole", [*fitting, *plain]),
        [path for path in lxml.files or () if "gone" not in path],
    )
    world = FakeWorld(empty(*there, *map(at, fitting), *map(at, plain)))
    known = inventory(lxml, whole)
    assert list(find(known, Finder(world, known.target))) == [
        Foreign(
            lxml,
            {
                at(f"lxml/etree{OTHER}"): at(f"lxml/etree{EXT}"),
                at(f"lxml/arm{ARM}"): at(f"lxml/arm{EXT}"),
                at("lxml/pypy.pypy39-pp73-linux.so"): at(f"lxml/pypy{EXT}"),
                at("lxml/later.abi3t.so"): at(f"lxml/later{EXT}"),
            },
        )
    ]


def test_it_is_an_error_where_an_import_misses_it() -> None:
    lxml = dist("lxml", version="6.1")
    one, two = at(f"lxml/etree{OTHER}"), at(f"lxml/sax{OTHER}")
    said = "of lxml 6.1 {} for another Python or machine: this one loads cpython-312-x86_64-linux-gnu"
    (single,) = ailments([Foreign(lxml, {one: at("x")})], (), inventory(lxml))
    assert single == Ailment(
        Check.FOREIGN_BUILD,
        Level.WARN,
        "lxml",
        f"lxml/etree{OTHER} {said.format('is')}",
        one,
        paths=(one,),
        mended_by=(lxml.key,),
    )
    (several,) = ailments([Foreign(lxml, {one: at("x"), two: at("y")})], [DistKey("lxml")], inventory(lxml))
    assert (several.level, several.message) == (
        Level.ERROR,
        f"lxml/etree{OTHER} and 1 more {said.format('are')}",
    )
