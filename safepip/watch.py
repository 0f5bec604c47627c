"""Runs pip, and keeps each folder before pip changes something in it.

`safepip install` lets the environment's own Python (3.8 and later) run this file in pip's place: pip's arguments,
streams and process stay as they are. CPython tells audit hooks (PEP 578) of every change of the disk before it makes
it; the first change in a folder has the files there get second names in the vault. A second name keeps the old bytes
wherever they are unlinked, renamed or written anew; what is written in place is copied. What starts another program
has the whole environment kept, as no hook reaches that. So an install costs what it touches, however large the
environment. What was there is told line by line in an index, each line before the change that it is for.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys

TYPE_CHECKING = False  # `typing` itself would cost pip's start
if TYPE_CHECKING:
    from typing import Any

INDEX = "index"
OWN = ".safepip"
NO_LINKS = frozenset({errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})
MOST = 512 << 20  # bytes that are copied

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_KINDS = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l"}
_LOOK_ONLY = frozenset(
    {"lsb_release", "rustc", "ld", "ldd", "getconf", "uname"}
)  # what pip asks about the machine


class Keeper:
    """Keeps what lies below `home` in `folder`, a folder of the vault in which `INDEX` lies already.

    `tops`, relative to the home, are what counts as the whole environment.
    """

    def __init__(self, home: str, folder: str, tops: list[str]) -> None:
        self._home = home
        self._folder = folder
        self._tops = tops
        self._folders: dict[str, list[str]] = {}  # the folders that lie in one
        self._seen: dict[str, Any] = {}
        self._touched: set[str] = set()
        self._real: dict[str, str | None] = {}
        self._kept: dict[str, int] = {}
        self._copied = 0
        self._busy = False
        self._index = os.open(f"{folder}/{INDEX}", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook."""
        act = _ACTS.get(event)
        if act is None or self._busy or (event == "open" and not (arguments[2] or 0) & _WRITES):
            return
        self._busy = True
        try:
            act(self, *arguments)
        finally:
            self._busy = False

    def keep_all(self) -> None:
        for top in self._tops:
            self._keep_below(top)

    def changing(self, path: Any, folder: Any = -1) -> None:
        """A name comes, goes, or gets another meaning."""
        place = self._place(path, folder)
        if place is not None:
            self._touch(place.rpartition("/")[0])

    def going(self, path: Any, folder: Any = -1) -> None:
        """The same, with all in it where it is a folder."""
        self.changing(path, folder)
        place = self._place(path, folder)
        if place is not None and self._seen.get(place, "?")[0] == "d":
            self._keep_below(place)

    def moving(self, source: Any, goal: Any, source_folder: Any = -1, goal_folder: Any = -1) -> None:
        self.going(source, source_folder)
        self.going(goal, goal_folder)

    def writing(self, path: Any, *_: Any) -> None:
        """A file may be written in place: its second name would tell the new bytes."""
        self.changing(path)
        place = self._place(path)
        number = None if place is None else self._kept.get(place)
        if place is None or number is None:
            return
        kept = f"{self._folder}/{number}"
        try:
            if os.path.samestat(os.lstat(f"{self._home}/{place}"), os.lstat(kept)):
                os.unlink(kept)
                self._copy(f"{self._home}/{place}", kept)
        except FileNotFoundError:
            pass

    def starting(self, program: Any, arguments: Any, *_: Any) -> None:
        words = [arguments] if isinstance(arguments, (str, bytes)) else list(arguments or ())
        name = os.path.basename(os.fsdecode(program or (words[0] if words else "")))
        if name not in _LOOK_ONLY:
            self.keep_all()

    def _place(self, path: Any, folder: Any = -1) -> str | None:
        """Relative to the home, the folder part without links; None where it lies elsewhere."""
        if isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if folder is not None and folder != -1 and not os.path.isabs(text):
            text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)
        head, name = os.path.split(os.path.abspath(text))
        if head not in self._real:
            self._real[head] = self._below(os.path.realpath(head))
        real = self._real[head]
        if real is None or (not real and name == OWN):
            return None
        return f"{real}/{name}" if real else name

    def _below(self, real: str) -> str | None:
        if real == self._home:
            return ""
        inside = real[len(self._home) + 1 :] if real.startswith(f"{self._home}/") else None
        return None if inside is None or inside.partition("/")[0] == OWN else inside

    def _touch(self, folder: str) -> None:
        """Keep what lies in `folder` itself, if that was there before pip began."""
        if folder in self._touched or not self._was_there(folder):
            return
        self._touched.add(folder)
        path = f"{self._home}/{folder}"
        seen: dict[str, Any] = {}
        kept: dict[str, int] = {}
        try:
            with os.scandir(path) as entries:
                seen[folder] = _seen("d", os.lstat(path))
                for entry in entries:
                    self._look(entry, f"{folder}/{entry.name}" if folder else entry.name, seen, kept)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            pass
        self._folders[folder] = [inner for inner, row in seen.items() if row[0] == "d" and inner != folder]
        seen = {inner: row for inner, row in seen.items() if inner not in self._seen}  # as it was at first
        self._seen.update(seen)
        self._kept.update(kept)
        line = json.dumps({"folder": folder, "seen": seen, "kept": kept}).encode() + b"\n"
        if os.write(self._index, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._folder)

    def _keep_below(self, top: str) -> None:
        pending = [top]
        while pending:
            folder = pending.pop()
            self._touch(folder)
            pending += self._folders.get(folder, ())

    def _was_there(self, folder: str) -> bool:
        """A folder that is not listed in one that was looked into in time has come since."""
        while folder and folder not in self._seen:
            folder = folder.rpartition("/")[0]
            if folder in self._touched:
                return False
        return True

    def _look(self, entry: Any, path: str, seen: dict[str, Any], kept: dict[str, int]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
            kind = _KINDS.get(stat.S_IFMT(status.st_mode))
            if kind is None or path == OWN:
                return
            seen[path] = _seen(kind, status, os.readlink(entry.path) if kind == "l" else "")
            if kind == "f":
                number = len(self._kept) + len(kept)
                copied = is_written_in_place(path)
                if self._keep(entry.path, f"{self._folder}/{number}", status.st_size, copied=copied):
                    kept[path] = number
        except FileNotFoundError:  # it has vanished meanwhile
            seen.pop(path, None)

    def _keep(self, path: str, name: str, size: int, *, copied: bool) -> bool:
        if not copied:
            try:
                os.link(path, name, follow_symlinks=False)
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
            else:
                return True
        self._copied += size
        if self._copied > MOST:
            return False
        self._copy(path, name)
        return True

    def _copy(self, path: str, name: str) -> None:
        with open(path, "rb") as source, open(name, "xb") as copy:
            status = os.fstat(source.fileno())
            copy.writelines(iter(lambda: source.read(1 << 20), b""))
        os.chmod(name, status.st_mode & 0o7777)
        os.utime(name, ns=(status.st_mtime_ns, status.st_mtime_ns))


def is_written_in_place(path: str) -> bool:
    """By programs that no hook reaches: setuptools writes `.pth`, `.egg-link` and `.egg-info`, git its references."""
    return (
        path.endswith((".pth", ".egg-link"))
        or ".egg-info/" in path
        or ("/.git/" in path and "/objects/" not in path)
    )


def main(words: list[str]) -> None:
    """`words`: home, folder, tops, the script that starts pip or -m, and what pip is told."""
    import runpy

    home, folder, tops, start = words[:4]
    sys.addaudithook(Keeper(home, folder, json.loads(tops)).hear)
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        sys.path[0] = os.getcwd() if start == "-m" else os.path.dirname(os.path.abspath(start))
    sys.argv = ["pip" if start == "-m" else start, *words[4:]]
    try:
        if start == "-m":
            runpy.run_module("pip", run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(start, run_name="__main__")
    except KeyboardInterrupt:  # before pip itself catches it
        sys.exit("ERROR: Operation cancelled by user")


def _seen(kind: str, status: os.stat_result, goal: str = "") -> list[Any]:
    mode = stat.S_IMODE(status.st_mode)
    return [kind, mode, status.st_mtime_ns, status.st_size, status.st_ino, goal]


_ACTS: dict[str, Any] = {
    "open": Keeper.writing,
    "os.chmod": Keeper.writing,
    "os.chown": Keeper.writing,
    "os.utime": Keeper.writing,
    "os.truncate": Keeper.writing,
    "os.remove": Keeper.changing,
    "os.mkdir": lambda keeper, path, _, folder=-1: keeper.changing(path, folder),
    "os.rmdir": Keeper.going,
    "os.rename": Keeper.moving,
    "os.link": lambda keeper, _, goal, __=-1, folder=-1: keeper.changing(goal, folder),
    "os.symlink": lambda keeper, _, path, folder=-1: keeper.changing(path, folder),
    "shutil.rmtree": lambda keeper, path, folder=-1: keeper.going(path, folder),
    "subprocess.Popen": Keeper.starting,
    "os.exec": Keeper.starting,
    "os.posix_spawn": Keeper.starting,
    "os.system": lambda keeper, command: keeper.starting("sh", (command,)),
}

if __name__ == "__main__":
    main(sys.argv[1:])
