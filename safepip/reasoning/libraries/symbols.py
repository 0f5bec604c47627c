"""What an object binds of a provider: the versions that are checked at load, the symbols at relocation.

Asked only of objects whose provider changed, for it reads symbol tables. An extension module is
opened RTLD_NOW, so every undefined function counts, used or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from safepip.model.elf import Definitions, Flaw, Loading, Symbol, VersionNeed
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.world import World


def lacking(  # noqa: PLR0913  what process it is in takes two of them
    loading: Loading,
    consumer: TargetPath,
    provider: TargetPath,
    world: World,
    *,
    main: Loading | None = None,
    libc: Libc = Libc.GLIBC,
    formerly: tuple[World, TargetPath] | None = None,
) -> tuple[VersionNeed | Symbol, ...]:
    """What `consumer` does not get in `loading`, where one of its needs is bound to `provider`.

    Versions come first; symbols of a version that is lacking are not told again. `formerly` is the provider
    until now, in the world as it was: with it only what that one gave is asked for, which is quick, and leaves out
    what an earlier import brings in by RTLD_GLOBAL. `main` is the value of `main_program`. An unreadable
    provider gives nothing.
    """
    wanted = world.undefined(consumer)
    if isinstance(wanted, Flaw):
        return ()
    versions = versions_lacking(loading, consumer, provider, world) if libc is Libc.GLIBC else ()
    told = {need.version for need in versions}
    open_needs = {symbol for symbol in wanted.symbols if symbol.version not in told}
    if formerly is not None:
        before, was = formerly
        gave = before.definitions(was, _names(open_needs))
        open_needs = open_needs if isinstance(gave, Flaw) else _met(open_needs, gave, libc)
    for path in _scope(loading, consumer, provider, main):
        if not open_needs:
            break
        given = world.definitions(path, _names(open_needs))
        if isinstance(given, Definitions):
            open_needs -= _met(open_needs, given, libc)
    return (*versions, *sorted(open_needs))


def lacking_on_the_way(  # noqa: PLR0913  as above
    loading: Loading,
    consumer: TargetPath,
    provider: TargetPath,
    world: World,
    *,
    main: Loading | None = None,
    libc: Libc = Libc.GLIBC,
    formerly: tuple[World, TargetPath],
) -> tuple[VersionNeed | Symbol, ...]:
    """As `lacking`, and where `consumer` lacks nothing, of the objects through which it was loaded.

    An object may bind symbols of a need of its need, which it does not name itself.
    """
    loaders = {item.path: item.loader for item in loading.objects}
    who: TargetPath | None = next((item.path for item in loading.objects if item.real == consumer), consumer)
    while who is not None:
        found = lacking(loading, who, provider, world, main=main, libc=libc, formerly=formerly)
        if found:
            return found
        who = loaders.get(who)
    return ()


def versions_lacking(
    loading: Loading, consumer: TargetPath, provider: TargetPath, world: World
) -> tuple[VersionNeed, ...]:
    """The names that verneed asks of the provider and its verdef lacks (dl-version.c:match_symbol).

    A provider without any verdef passes; a weak need does too, though its symbols may not bind.
    """
    wanted, offered = world.undefined(consumer), world.definitions(provider, ())
    if isinstance(wanted, Flaw):
        return ()
    files = {b.wants for b in loading.bindings if b.consumer == consumer and b.provider == provider}
    defined = frozenset[str]() if isinstance(offered, Flaw) else offered.versions
    return tuple(
        need
        for need in wanted.versions
        if need.file in files and not need.weak and defined is not None and need.version not in defined
    )


def _names(needs: set[Symbol]) -> frozenset[str]:
    return frozenset([need.name for need in needs])


def _scope(
    loading: Loading, consumer: TargetPath, provider: TargetPath, main: Loading | None
) -> Iterator[TargetPath]:
    """Where symbols are looked up: the program's objects and the whole closure. The likeliest come first."""
    opened = [item.path for item in loading.objects]
    started = [item.path for item in main.objects] if main else []
    met = [binding.provider for binding in loading.bindings if binding.provider]
    yield from dict.fromkeys((provider, consumer, *started, *met, *opened))


def _met(needs: set[Symbol], given: Definitions, libc: Libc) -> set[Symbol]:
    """Those of `needs` that this object's definitions serve (dl-lookup.c:check_match)."""
    if libc is Libc.MUSL:
        names = {symbol.name for symbol in given.symbols - given.hidden}
        return {need for need in needs if need.name in names}
    by_name = {
        symbol.name
        for symbol in given.symbols
        if symbol not in given.hidden or symbol.version == given.first_version
    }
    return {need for need in needs if _serves(need, given, by_name)}


def _serves(need: Symbol, given: Definitions, by_name: set[str]) -> bool:
    if not need.version or not given.versioned:  # an object without versions serves them all
        return need.name in by_name
    return need in given.symbols or Symbol(need.name, "") in given.symbols
