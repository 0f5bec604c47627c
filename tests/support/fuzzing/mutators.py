"""Ways to spoil bytes: cut, flip, fill, splice, repeat, lie about lengths, nest, and write what no text has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

MOST = 1 << 18  # bytes of an ordinary input
LARGEST = 4 << 20  # of one in a few thousand
_ONE_IN = 4000

_NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1,
            1 << 63, (1 << 64) - 1)  # fmt: skip
_HUGE = (b"9" * 5000, b"-1", b"1e999", b"NaN", b"0x" + b"f" * 40, b"99999999999999999999", b"\xd9\xa3" * 30)
_ODD = (
    b"\0", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[2J\x1b]0;x\x07", b"\r", b"\x85", b"\xe2\x80\xa8",
    b"\x08" * 9, b"\x7f", b"\xe2\x80\xae", b"\xc2\x9b31m", b"\n\n", b"\r\n", b"\x0c", b'"', b"'", b"\\", b",", b"=",
)  # fmt: skip
_PATHS = (b"../", b"../" * 40, b"/", b"//", b"/etc/passwd", b"../../../../outside/kept.txt", b"./", b"~/", b"link/",
          b"a" * 300, b"/dev/zero", b"/proc/self/mem", b"$ORIGIN/", b".safepip/", b"fifo")  # fmt: skip
_TEXTS = ("", ".", "..", "../../../outside/kept.txt", "../../../outside", "/etc", "/etc/passwd", ".safepip/journal", "bin/../..",
          "a\0b", "\udcff", "\ud800", "\x1b[2J", "x" * 5000, "-1", "--help", "index", "installing", "removing", "link", "file")  # fmt: skip
_ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    1 << 70,
    10**400,
    1.5,
    float("inf"),
    float("nan"),
    [],
    {},
    [None],
    0o7777,
    0o10000,
)
_OPENING = (
    b"(",
    b"[",
    b"{",
    b'{"a":',
    b"-",
    b"not ",
    b"a.",
    b"if x:\n ",
    b"f(",
    b"[[",
    b'"',
    b"lambda:",
    b"${A",
    b"$(",
)


def spoil(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """`data` with one to four faults in it; `others` are what may be spliced in."""
    most = LARGEST if random.randrange(_ONE_IN) == 0 else MOST
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(_WAYS)(data, random, others)[:most]
    if most == LARGEST and data:
        data = (data * (most // len(data) + 1))[: random.randrange(MOST, most)]
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _cut(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return data[: _place(data, random)]


def _drop(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, random)
    return data[:start] + data[start + random.choice((1, 2, 4, 16, 256)) :]


def _flip(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    spoiled = bytearray(data)
    for _number in range(random.choice((1, 1, 1, 2, 8))):
        if spoiled:
            spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return bytes(spoiled)


def _early_flip(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """Where binary files keep their tables."""
    head = bytearray(data[:1024])
    if head:
        head[random.randrange(len(head))] = random.randrange(256)
    return bytes(head) + data[1024:]


def _fill(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, random)
    length = random.choice((1, 4, 8, 64, 512, 4096))
    return data[:start] + random.choice((b"\0", b"\xff", b" ", b"A")) * length + data[start + length :]


def _number(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """A length, count or offset that is not true."""
    width, order = random.choice((1, 2, 4, 8)), random.choice(("little", "big"))
    start = random.randrange(0, len(data) + 1, random.choice((1, 4, 8)))
    value = random.choice((*_NUMBERS, random.getrandbits(16), len(data), len(data) + 1, len(data) - 1))
    number = (value % (1 << 8 * width)).to_bytes(width, order)  # type: ignore[arg-type]
    return data[:start] + number + data[start + width :]


def _splice(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    start = _place(other, random)
    piece = other[start : start + random.choice((1, 8, 64, 1024, len(other) + 1))]
    place = _place(data, random)
    return data[:place] + piece + data[place + (len(piece) if random.randrange(2) else 0) :]


def _repeat(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, random)
    piece = data[start : start + random.choice((1, 3, 16, 128))]
    return data[:start] + piece * random.choice((2, 10, 100, 1000, 5000)) + data[start:]


def _repeat_line(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = random.choice(lines)
    return b"".join([*lines, line * min(random.choice((1, 2, 50, 2000)), MOST // len(line) + 1)])


def _drop_line(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[random.randrange(len(lines))]
    return b"".join(lines)


def _swap_lines(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _insert(pieces: Sequence[bytes]) -> Callable[[bytes, Random, Sequence[bytes]], bytes]:
    def insert(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
        start, piece = _place(data, random), random.choice(pieces)
        return data[:start] + piece + data[start + (len(piece) if random.randrange(2) else 0) :]

    return insert


def _digits(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """Another number in the place of one that is written out."""
    places = [index for index, byte in enumerate(data[:MOST]) if 48 <= byte < 58]
    if not places:
        return data
    start = end = random.choice(places)
    while end < len(data) and 48 <= data[end] < 58:
        end += 1
    return data[:start] + random.choice(_HUGE) + data[end:]


def _nest(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, random)
    return data[:start] + random.choice(_OPENING) * random.choice((3, 30, 300, 3000, 30000)) + data[start:]


def _word(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """Two words of the file change places: what is damaged this way is well formed."""
    words = data[:4096].split()
    if len(words) < 2:
        return data
    one, other = random.choice(words), random.choice(words)
    return data.replace(one, other, random.choice((1, -1)))


def _value(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Of JSON, by the line or as a whole: one value is another, and all is well formed."""
    lines = data.split(b"\n") if b"\n" in data.strip() else [data]
    places = [index for index, line in enumerate(lines) if line[:1] in {b"{", b"["}]
    if not places:
        return _word(data, random, others)
    place = random.choice(places)
    try:
        whole = json.loads(lines[place])
        holders = list(_holders(whole))
        holder = random.choice(holders)
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder, dict) and random.randrange(3) == 0:
            holder[random.choice(_TEXTS)] = holder.pop(key)
        else:
            holder[key] = random.choice((*_TEXTS, *_ODD_VALUES, random.choice(holders)))
        lines[place] = json.dumps(whole).encode()
    except (ValueError, RecursionError, IndexError):
        return _word(data, random, others)
    return b"\n".join(lines)


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        if value:
            yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


_WAYS: tuple[Callable[[bytes, Random, Sequence[bytes]], bytes], ...] = (
    _cut, _drop, _flip, _flip, _early_flip, _fill, _number, _number, _splice, _repeat, _repeat_line, _drop_line,
    _swap_lines, _insert(_ODD), _insert(_ODD), _insert(_PATHS), _insert(_PATHS), _insert(_HUGE), _digits, _nest, _word,
    _value, _value, _value,
)  # fmt: skip
