"""What an object binds of a provider: the versions that are checked at load, the symbols at relocation.

Asked only of objects whose provider changed, for it reads whole symbol tables. An extension module is
opened RTLD_NOW, so every undefined function counts, used or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from safepip.model.elf import Flaw, Loading, Symbol, Symbols, VersionNeed
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
    formerly: Symbols | None = None,
) -> tuple[VersionNeed | Symbol, ...]:
    """What `consumer` does not get in `loading`, where one of its needs is bound to `provider`.

    Versions come first; symbols of a version that is lacking are not told again. `formerly` are the symbols
    of the provider until now: with it only what that one gave is asked for, which is quick, and leaves out
    what an earlier import brings in by RTLD_GLOBAL. `main` is the value of `main_program`. An unreadable
    provider gives nothing.
    """
    wanted, offered = world.symbols(consumer), world.symbols(provider)
    if isinstance(wanted, Flaw):
        return ()
    versions: tuple[VersionNeed, ...] = ()
    if libc is Libc.GLIBC:
        files = {b.wants for b in loading.bindings if b.consumer == consumer and b.provider == provider}
        versions = tuple(_versions(wanted, offered, files))
    told = {need.version for need in versions}
    open_needs = {symbol for symbol in wanted.undefined if symbol.version not in told}
    if formerly is not None:
        open_needs = _met(open_needs, formerly, libc)
    for path in _scope(loading, consumer, provider, main):
        if not open_needs:
            break
        given = world.symbols(path)
        if isinstance(given, Symbols):
            open_needs -= _met(open_needs, given, libc)
    return (*versions, *sorted(open_needs))


def _versions(wanted: Symbols, offered: Symbols | Flaw, files: set[str]) -> Iterator[VersionNeed]:
    """The names that verneed asks of the provider and its verdef lacks (dl-version.c:match_symbol).

    A provider without any verdef passes; a weak need does too, though its symbols may not bind.
    """
    defined = frozenset[str]() if isinstance(offered, Flaw) else offered.versions_defined
    for need in wanted.versions_needed:
        if need.file in files and not need.weak and defined is not None and need.version not in defined:
            yield need


def _scope(
    loading: Loading, consumer: TargetPath, provider: TargetPath, main: Loading | None
) -> Iterator[TargetPath]:
    """Where symbols are looked up: the program's objects and the whole closure. The likeliest come first."""
    opened = [item.path for item in loading.objects]
    started = [item.path for item in main.objects] if main else []
    met = [binding.provider for binding in loading.bindings if binding.provider]
    yield from dict.fromkeys((provider, consumer, *started, *met, *opened))


def _met(needs: set[Symbol], given: Symbols, libc: Libc) -> set[Symbol]:
    """Those of `needs` that this object's definitions serve (dl-lookup.c:check_match)."""
    if libc is Libc.MUSL:
        names = {symbol.name for symbol in given.defined - given.hidden}
        return {need for need in needs if need.name in names}
    by_name = {
        symbol.name
        for symbol in given.defined
        if symbol not in given.hidden or symbol.version == given.first_version
    }
    return {need for need in needs if _serves(need, given, by_name)}


def _serves(need: Symbol, given: Symbols, by_name: set[str]) -> bool:
    if not need.version or not given.versioned:  # an object without versions serves them all
        return need.name in by_name
    return need in given.defined or Symbol(need.name, "") in given.defined
