"""What an object would lack of another provider, on values."""

from __future__ import annotations

from safepip.model.elf import Definitions, Symbol, Undefined, VersionNeed
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reasoning.libraries import linking, symbols
from support.fake_world import FakeWorld, Table, glibc, lib

X, Z = TargetPath("/e/x.so"), TargetPath("/lib/libz.so.1")
INFLATE, DEFLATE, START = Symbol("inflate", "ZLIB_1.2"), Symbol("deflate", ""), Symbol("PyInit", "")


def table(
    *defined: Symbol,
    undefined: tuple[Symbol, ...] = (),
    hidden: tuple[Symbol, ...] = (),
    needs: tuple[VersionNeed, ...] = (),
    versions: frozenset[str] | None = None,
    first: str = "",
) -> Table:
    return Table(
        Undefined(frozenset(undefined), needs),
        Definitions(frozenset(defined), frozenset(hidden), first, versions, versioned=versions is not None),
    )


def lacks(
    consumer: Table, provider: Table | None, libc: Libc = Libc.GLIBC, formerly: Table | None = None
) -> list[str]:
    tables: dict[str, Table] = {X: consumer} if provider is None else {X: consumer, Z: provider}
    files = {X: lib(needs=["libz.so.1"]), Z: lib("libz.so.1"), "/bin/python": lib()}
    world = FakeWorld(files, tables)
    before = None if formerly is None else (FakeWorld(files, {Z: formerly}), Z)
    found = symbols.lacking(linking.link(X, world, glibc()), X, Z, world, libc=libc, formerly=before)
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


def test_of_a_former_provider_that_cannot_be_read_nothing_is_left_out() -> None:
    world = FakeWorld(
        {X: lib(needs=["libz.so.1"]), Z: lib("libz.so.1"), "/bin/python": lib()},
        {X: table(undefined=(DEFLATE,)), Z: table()},
    )
    loading = linking.link(X, world, glibc())
    formerly = (FakeWorld({Z: lib()}), Z)
    assert symbols.lacking(loading, X, Z, world, formerly=formerly) == (DEFLATE,)


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
    assert symbols.versions_lacking(loading, X, Z, world) == ()


OLD, NEW = Symbol("inflate", "Z_1"), Symbol("inflate", "Z_2")
PLAIN = Symbol("inflate", "")


def test_a_need_without_a_version_is_served_by_the_default_and_by_the_first_version_only() -> None:
    """dl-lookup.c:check_match: a hidden definition counts where its version is the object's first."""
    needing = table(undefined=(PLAIN,))
    both = frozenset({"Z_1", "Z_2"})
    assert lacks(needing, table(NEW, versions=frozenset({"Z_2"}))) == []
    assert lacks(needing, table(NEW, hidden=(NEW,), versions=both)) == ["inflate"]
    assert lacks(needing, table(NEW, hidden=(NEW,), versions=both, first="Z_2")) == []


def test_a_need_with_a_version_is_served_by_that_one_or_by_a_definition_without_any() -> None:
    needing = table(undefined=(NEW,))
    assert lacks(needing, table(OLD, versions=frozenset({"Z_1"}))) == ["inflate"]
    assert lacks(needing, table(OLD, NEW, versions=frozenset({"Z_1"}))) == []
    assert lacks(needing, table(PLAIN, versions=frozenset({"Z_1"}))) == []
    assert lacks(needing, table(PLAIN)) == []
    assert lacks(needing, table(START)) == ["inflate"]


def test_a_version_that_another_library_is_asked_for_is_not_asked_of_this_one() -> None:
    y = TargetPath("/lib/liby.so.1")
    wanted = table(needs=(VersionNeed("liby.so.1", "Y_9", weak=False),))
    offered = table(versions=frozenset({"Z_1"}))
    world = FakeWorld(
        {
            X: lib(needs=["libz.so.1", "liby.so.1"]),
            Z: lib("libz.so.1"),
            y: lib("liby.so.1"),
            "/bin/python": lib(),
        },
        {X: wanted, Z: offered, y: offered},
    )
    loading = linking.link(X, world, glibc())
    assert symbols.lacking(loading, X, Z, world) == ()
    assert symbols.lacking(loading, X, y, world) == wanted.undefined.versions


def test_who_needs_it_through_another_may_lack_what_that_one_does_not() -> None:
    """The whole closure is in the scope, so an object may bind what its need's need defines."""
    middle = TargetPath("/lib/libm9.so")
    files = {
        X: lib(needs=["libm9.so"]),
        middle: lib("libm9.so", needs=["libz.so.1"]),
        Z: lib("libz.so.1"),
        "/bin/python": lib(),
    }
    gave, gives = table(INFLATE, DEFLATE), table(INFLATE)

    def lacked(root: Table, between: Table) -> tuple[object, ...]:
        world = FakeWorld(files, {X: root, middle: between, Z: gives})
        loading = linking.link(X, world, glibc())
        formerly = (FakeWorld(files, {Z: gave}), Z)
        return symbols.lacking_on_the_way(loading, middle, Z, world, formerly=formerly)

    assert lacked(table(undefined=(DEFLATE,)), table(undefined=(INFLATE,))) == (DEFLATE,)
    assert lacked(table(undefined=(INFLATE, START)), table(undefined=(INFLATE,))) == ()
    assert lacked(table(), table(undefined=(DEFLATE,))) == (DEFLATE,)
