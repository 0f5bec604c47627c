"""What is kept of changes, for people and for programs."""

from __future__ import annotations

import datetime as dt
import json
import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from safepip.errors import printable
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.receipt import Held, ItemKind, Kept, Ledger, Receipt, Undone
from safepip.model.sparing import Sparing
from safepip.render.document import SCHEMA, escaped
from safepip.render.terminal import Style

NAMED = 5  # paths in the way that are shown
COMMAND = 40  # columns of the command in a listing
_COUNTED = (ItemKind.FILE, ItemKind.LINK, ItemKind.CHANGED, ItemKind.ARRIVED)


def show_kept(kept: Kept, removal: Removal, target: Target, style: Style) -> str:
    """How to have back what has just gone; nothing where nothing went."""
    lines = [line for note in kept.notes for line in _wrapped(f"safepip: {note}", style)]
    if kept.receipt is not None:
        safepip = ["safepip", "--python", target.executable]
        lines.append(f"safepip: kept {_count(kept.receipt)} ({size_of(kept.bytes)} that nothing else holds)")
        lines.append(f"  to put back: {shlex.join([*safepip, 'undo', str(kept.receipt.id)])}")
        lines.append(f"  to let go:   {shlex.join([*safepip, 'history', '--drop'])}")
    elif kept.unkept:
        pins = [f"{dist.name}=={dist.version}" for dist in removal.leaving]
        again = shlex.join(["safepip", "--python", target.executable, "install", "--no-deps", *pins])
        lines += _wrapped(f"safepip: not kept: {kept.unkept}; to have it again:", style)
        lines += [f"  {again}"]
    return "".join(f"{printable(line)}\n" for line in lines)


def show_sparing(sparing: Sparing, style: Style, *, done: bool) -> str:
    """What a safe removal leaves, before it or after."""
    lines: list[str] = []
    if done:
        names = [f"{dist.name} {dist.version}" for dist in sparing.removal.leaving]
        lines += _wrapped(f"safepip: removed {', '.join(names)}", style)
    if sparing.kept:
        whose = f" that {' and '.join(sparing.owners)} own{'s' * (len(sparing.owners) == 1)} as well"
        stay = "stayed" if done else f"stay{'s' * (len(sparing.kept) == 1)}"
        lines += _wrapped(f"  {_files(len(sparing.kept))}{whose if sparing.owners else ''} {stay}", style)
    for survivor in dict.fromkeys(item.survivor for item in sparing.restored):
        number = sum(item.survivor == survivor for item in sparing.restored)
        own = f"{survivor.name} {survivor.version}'s own bytes"
        lines += _wrapped(
            f"  {number:,} of them {'got' if done else 'to get'} {own}{'' if done else ', fetched and judged first'}",
            style,
        )
    for what, paths in (("of the one that leaves", sparing.foreign), ("that nobody recorded", sparing.odd)):
        if paths:
            lines += _wrapped(f"  {len(paths):,} of them keep the bytes {what}: {paths[0]}", style)
    return "".join(f"{printable(line)}\n" for line in lines)


def show_undone(undone: Undone, style: Style) -> str:
    names = _names(undone.receipt)
    lines = [line for note in undone.notes for line in _wrapped(f"safepip: {note}", style)]
    if undone.in_the_way:
        lines += _wrapped(f"safepip: REFUSED: {names} cannot be put back: its place is taken", style)
        lines += [f"  {path}" for path in undone.in_the_way[:NAMED]]
        if len(undone.in_the_way) > NAMED:
            lines += [f"  … and {len(undone.in_the_way) - NAMED} more"]
    else:
        did = f"took back the {names}" if undone.receipt.is_install else f"put back {names}"
        lines += _wrapped(f"safepip: {did} ({_count(undone.receipt)}), as before", style)
        if undone.receipt.unkept:
            lost = f"{_files(len(undone.receipt.unkept))} could not be kept and stays as the install left it"
            lines += _wrapped(f"  BROKEN: {lost}: {undone.receipt.unkept[0]}", style)
    for name in undone.unmet:
        lines += _wrapped(f"  BROKEN: it needs {name}, which was found before and is not there now", style)
    return "".join(f"{printable(line)}\n" for line in lines)


def show_history(ledger: Ledger, style: Style, *, dropped: bool) -> str:
    lines = [
        f"unfinished: {entry.what} ({entry.action.value}): the next change or undo ends it"
        for entry in ledger.unfinished
    ]
    lines += [_line(held) for held in ledger.held]
    total = size_of(sum(held.bytes for held in ledger.held))
    if dropped:
        lines += [f"let go of {len(ledger.held)} changes, {total}"]
    elif ledger.held:
        lines += _wrapped(f"{total} kept by nothing else; safepip history --drop lets it go", style)
    else:
        lines += ["nothing is kept"]
    return "".join(f"{printable(line)}\n" for line in lines)


def dump_undone(undone: Undone) -> str:
    return _dump(
        {
            "undone": None if undone.in_the_way else _receipt(undone.receipt),
            "in_the_way": undone.in_the_way,
            "unmet": undone.unmet,
            "notes": undone.notes,
        }
    )


def dump_history(ledger: Ledger, *, dropped: bool) -> str:
    return _dump(
        {
            "dropped" if dropped else "changes": [
                {**_receipt(held.receipt), "bytes": held.bytes} for held in ledger.held
            ],
            "unfinished": [
                {"action": entry.action.value, "id": entry.id, "what": entry.what}
                for entry in ledger.unfinished
            ],
        }
    )


def describe_kept(kept: Kept) -> dict[str, Any]:
    """For the report of an uninstall."""
    return {
        "id": kept.receipt.id if kept.receipt else None,
        "bytes": kept.bytes,
        "unkept": kept.unkept or None,
        "notes": kept.notes,
    }


def size_of(number: int) -> str:
    """Decimal, as disks are sold and `df -H` counts."""
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= power:
            return f"{number / power:.3g} {unit}"
    return f"{number} bytes"


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {
        "id": receipt.id,
        "time": _time(receipt).isoformat(timespec="seconds"),
        "command": receipt.command,
        "removed": [{"name": name, "version": version} for name, version in receipt.leaving],
        "installed": [{"name": name, "version": version} for name, version in receipt.arriving],
        "complete": receipt.complete,
        "files": len(receipt.of(*_COUNTED)),
        "home": receipt.home,
    }


def _line(held: Held) -> str:
    command = textwrap.shorten(shlex.join(held.receipt.command), COMMAND, placeholder=" …")
    when = _time(held.receipt).strftime("%Y-%m-%d %H:%M")
    return f"{held.receipt.id:>3}  {when}  {_names(held.receipt)}  {size_of(held.bytes)}  {command}"


def _time(receipt: Receipt) -> dt.datetime:
    return dt.datetime.fromtimestamp(receipt.time).astimezone()


def _names(receipt: Receipt) -> str:
    """What went; of an install what came, by what it is called, unless that is but a part of what was asked for."""
    if not receipt.complete:
        return "incomplete install"
    named = receipt.arriving if receipt.is_install else receipt.leaving
    names = [f"{name} {version}".strip() for name, version in named]
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"install of {some or 'something'}" if receipt.is_install else some


def _count(receipt: Receipt) -> str:
    return _files(len(receipt.of(*_COUNTED)))


def _files(number: int) -> str:
    return f"{number:,} file{'s' * (number != 1)}"


def _wrapped(text: str, style: Style) -> Sequence[str]:
    return textwrap.wrap(
        text, style.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(escaped({"schema": SCHEMA, **document}))
