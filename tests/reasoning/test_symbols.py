"""What an object would lack of another provider, on values."""

from __future__ import annotations

from safepip.model.elf import Symbol, Symbols, VersionNeed
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reasoning.libraries import linking, symbols
from support.fake_world import FakeWorld, glibc, lib

X, Z = TargetPath("/e/x.so"), TargetPath("/lib/libz.so.1")
INFLATE, DEFLATE, START = Symbol("inflate", "ZLIB_1.2"), Symbol("deflate", ""), Symbol("PyInit", "")


def table(
    *defined: Symbol,
    undefined: tuple[Symbol, ...] = (),
    hidden: tuple[Symbol, ...] = (),
    needs: tuple[VersionNeed, ...] = (),
    versions: frozenset[str] | None = None,
) -> Symbols:
    return Symbols(
        frozenset(undefined),
        frozenset(),
        frozenset(defined),
        frozenset(hidden),
        versions_needed=needs,
        versions_defined=versions,
        versioned=versions is not None,
    )


def lacks(consumer: Symbols, provider: Symbols | None, **how: Libc | Symbols) -> list[str]:
    tables: dict[str, Symbols] = {X: consumer} if provider is None else {X: consumer, Z: provider}
    world = FakeWorld({X: lib(needs=["libz.so.1"]), Z: lib("libz.so.1"), "/bin/python": lib()}, tables)
    loading = linking.link(X, world, glibc())
    found = symbols.lacking(loading, X, Z, world, **how)  # type: ignore[arg-type]
    return [item.version if isinstance(item, VersionNeed) else item.name for item in found]


def test_a_version_that_is_lacking_stands_for_its_symbols() -> None:
    consumer = table(undefined=(INFLATE, DEFLATE), needs=(VersionNeed("libz.so.1", "ZLIB_1.2", weak=False),))
    assert lacks(consumer, table(versions=frozenset({"ZLIB_1.1"}))) == ["ZLIB_1.2", "deflate"]


def test_a_weak_version_may_be_lacking_and_one_of_another_file_is_no_matter() -> None:
    needs = (VersionNeed("libz.so.1", "ZLIB_1.2", weak=True), VersionNeed("libc.so.6", "GLIBC_9", weak=False))
    assert lacks(table(needs=needs), table(versions=frozenset({"ZLIB_1.1"}))) == []


def test_with_the_former_provider_only_what_it_gave_is_asked_for() -> None:
    """PyInit's like come from the program, or from an import that opened its library RTLD_GLOBAL."""
    consumer = table(undefined=(INFLATE, DEFLATE, START))
    former = table(INFLATE, DEFLATE, versions=frozenset({"ZLIB_1.2"}))
    assert lacks(consumer, table(DEFLATE, versions=frozenset({"ZLIB_1.2"})), formerly=former) == ["inflate"]
    assert lacks(consumer, former, formerly=former) == []
    assert lacks(consumer, former) == ["PyInit"]


def test_musl_asks_for_names_alone() -> None:
    consumer = table(undefined=(INFLATE, DEFLATE), needs=(VersionNeed("libz.so.1", "ZLIB_1.2", weak=False),))
    other = table(Symbol("inflate", "ZLIB_7"), Symbol("deflate", "ZLIB_7"), versions=frozenset({"ZLIB_7"}))
    assert lacks(consumer, other, libc=Libc.MUSL) == []
    assert lacks(consumer, table(versions=frozenset()), libc=Libc.MUSL) == ["deflate", "inflate"]


def test_a_provider_that_cannot_be_read_gives_nothing() -> None:
    assert lacks(table(undefined=(DEFLATE,)), None) == ["deflate"]


def test_of_a_consumer_that_cannot_be_read_nothing_is_known_to_be_lacking() -> None:
    world = FakeWorld({X: lib(needs=["libz.so.1"]), Z: lib("libz.so.1"), "/bin/python": lib()}, {Z: table()})
    loading = linking.link(X, world, glibc())
    assert symbols.lacking(loading, X, Z, world) == ()
