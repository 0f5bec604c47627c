"""Where an object's hash table leads for a name: what the loader does for each symbol that it binds."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import lru_cache

from safepip.reading.elf_files.elf import UnusualError
from safepip.reading.elf_files.elf_pieces import GNU_HASH, HASH, Pieces

_STEPS, _STEPS_MORE = 32, 1024  # along chains, a name and in all; a linker's are three or four long


def find(pieces: Pieces, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """The index of each symbol that the table has under one of `names`.

    Raises UnusualError where no linker would have laid out such a table: it is to be walked then.
    """
    if GNU_HASH in pieces.values:
        yield from _by_gnu_hash(pieces, names)
    elif HASH in pieces.values:
        yield from _by_hash(pieces, names)


def first(pieces: Pieces) -> int:
    """The index of the first symbol that a look-up can find."""
    return pieces.unpack("II", pieces.offset(GNU_HASH))[1] if GNU_HASH in pieces.values else 1


def _by_gnu_hash(pieces: Pieces, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """dl-lookup.c:do_lookup_x: filter of Bloom, bucket, chain; a chain's last entry is odd."""
    start, bits = pieces.offset(GNU_HASH), pieces.image.abi.bits
    buckets, hashed, words, shift = pieces.unpack("IIII", start)
    if not buckets or not words or words & (words - 1) or shift >= 32:
        raise UnusualError
    word, width = "Q" if bits == 64 else "I", bits // 8
    bloom = start + 16
    bucket = bloom + words * width
    chain = bucket + 4 * buckets - 4 * hashed
    steps = _STEPS * len(names) + _STEPS_MORE
    for name in names:
        number = _gnu_hash(name)
        mask = 1 << number % bits | 1 << (number >> shift) % bits
        if pieces.unpack(word, bloom + width * (number // bits & (words - 1)))[0] & mask != mask:
            continue
        index = pieces.unpack("I", bucket + 4 * (number % buckets))[0]
        if index < hashed:
            continue
        text, value = os.fsencode(name), 0
        while not value & 1:
            if index >= pieces.most or not steps:
                raise UnusualError
            value = pieces.unpack("I", chain + 4 * index)[0]
            if value | 1 == number | 1 and pieces.is_text(pieces.symbol(index).name, text):
                yield index, name
            index += 1
            steps -= 1


def _by_hash(pieces: Pieces, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """The table of the System V ABI: an entry of a chain is the index of the next one, 0 ends it."""
    start = pieces.offset(HASH)
    buckets, count = pieces.unpack("II", start)
    if not buckets:
        raise UnusualError
    chain = start + 8 + 4 * buckets
    steps = _STEPS * len(names) + _STEPS_MORE
    for name in names:
        text = os.fsencode(name)
        index = pieces.unpack("I", start + 8 + 4 * (_hash(text) % buckets))[0]
        while index:
            if index >= min(count, pieces.most) or not steps:
                raise UnusualError
            if pieces.is_text(pieces.symbol(index).name, text):
                yield index, name
            index = pieces.unpack("I", chain + 4 * index)[0]
            steps -= 1


@lru_cache(maxsize=1 << 14)  # the same names are looked up in one object after the other
def _gnu_hash(name: str) -> int:
    value = 5381
    for byte in os.fsencode(name):
        value = value * 33 + byte & 0xFFFFFFFF
    return value


def _hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & 0x0FFFFFFF
    return value
