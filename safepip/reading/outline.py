"""The part of a Python file that is run while it is imported and bears on imports, cut out before it is parsed.

`ast` takes three milliseconds a file, nearly all of it for bodies of functions that no import runs. The
cut works on lines; where it goes wrong, what is left does not parse, and the whole file is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

STATEMENT = re.compile(rb"\n[A-Za-z_@\"']")
FUNCTION = re.compile(rb"(?:@[^\n]*\n(?:[ \t)][^\n]*\n|\n)*)*(?:async[ \t]+)?def[ \t]+(\w+)")
METHOD = re.compile(
    rb"^([ \t]+)(?:async[ \t]+)?def[ \t][^\n]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*(?:#[^\n]*)?\n|\1[)\]}][^\n]*\n)*",
    re.MULTILINE,
)
DECORATOR = re.compile(rb"^[ \t]+@[^\n(]*(?:\([^\n]*\))?(\n)", re.MULTILINE)
CALL = re.compile(rb"(\w+)\(")
CONTINUES = (b"else", b"elif", b"except", b"finally")
IMPORT = re.compile(rb"(?:^|[\n:;])[ \t]*(?:import|from)[ \t.]")
DECIDES = (
    b"ImportError",
    b"version_info",
    b"platform",
    b"os.name",
)  # what later conditions and handlers turn on
BY_NAME = (b"__import__", b"import_module")
ASSIGNMENT = re.compile(rb"\w+[ \t]*(?::[^=\n]*)?=[ \t]*[\[({\"']")
CONSTANT = 4096  # bytes
STEPS = 3  # calls that are followed from one function of the module to the next


def cut(data: bytes) -> bytes:
    """`data` with every line blank that importing it does not run, or that cannot lead to an import."""
    chunks = tuple(_chunks(data))
    functions = {
        match[1]: index
        for index, chunk in enumerate(chunks)
        if chunk.startswith((b"def", b"@", b"async")) and (match := FUNCTION.match(chunk))
    }
    inside = frozenset(functions.values())
    by_name = any(word in data for word in BY_NAME)
    kept = {0} | {
        index
        for index, chunk in enumerate(chunks)
        if index not in inside and _matters(chunk, by_name=by_name)
    }
    if any(_imports(chunks[index]) for index in inside):
        kept |= _called(chunks, functions, inside)
    return b"".join(
        _shorten(chunk) if index in kept else b"\n" * chunk.count(b"\n") for index, chunk in enumerate(chunks)
    )


def _matters(chunk: bytes, *, by_name: bool) -> bool:
    if _imports(chunk):
        return True
    if by_name and len(chunk) < CONSTANT and ASSIGNMENT.match(chunk):
        return True  # where names are given as values, any constant may be one
    return not chunk.startswith(b"class ") and any(word in chunk for word in DECIDES)


def _imports(chunk: bytes) -> bool:
    return b"import" in chunk and (IMPORT.search(chunk) is not None or any(word in chunk for word in BY_NAME))


def _chunks(data: bytes) -> Iterator[bytes]:
    """Statements of the top level with all that belongs to them; text in triple quotes is never split."""
    quotes = [mark for mark in (b'"""', b"'''") if mark in data]
    begin, decorated = 0, data.startswith(b"@")
    for match in STATEMENT.finditer(data):
        start = match.start() + 1
        begins = not decorated and not data.startswith(CONTINUES, start)
        if begins and not any(data.count(mark, begin, start) % 2 for mark in quotes):
            yield data[begin:start]
            begin = start
        decorated = data.startswith(b"@", start)
    yield data[begin:]


def _called(chunks: tuple[bytes, ...], functions: dict[bytes, int], inside: frozenset[int]) -> set[int]:
    """Functions through which the top level comes to an import, and the statements that call them."""
    calls: dict[int, set[int]] = {}
    pending = [
        index for index, chunk in enumerate(chunks) if index not in inside and not chunk.startswith(b"class ")
    ]
    for _ in range(STEPS + 1):
        for index in pending:
            calls[index] = {functions[name] for name in CALL.findall(chunks[index]) if name in functions}
        pending = [index for index in set().union(*calls.values()) if index not in calls]
    useful = {index for index in calls if index in inside and _imports(chunks[index])}
    for _ in range(STEPS + 1):
        useful |= {index for index, called in calls.items() if called & useful}
    return useful


def _shorten(chunk: bytes) -> bytes:
    if not chunk.startswith((b"class ", b"@")) or FUNCTION.match(chunk):
        return chunk
    short = METHOD.sub(
        lambda found: found[1] + b"pass" + b"\n" * found[0].count(b"\n"), DECORATOR.sub(rb"\1", chunk)
    )
    return short if IMPORT.search(short) else b"\n" * chunk.count(b"\n")
