"""The loader's rules, one small world each: what is there, what is opened, and what the loader makes of it.

`@` stands for the folder that everything lies in. The answer is what is loaded beside the opened object, in
the loader's order, or what is missing, or which file ends the search and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from safepip.model.elf import Abi, Elf, Flaw
from support.elves import write
from support.fake_world import Broken, Content, HardLink, Link, lib, program

T = "libT.so.1"
AARCH64, I386, BIG = Abi(64, True, 183), Abi(32, True, 3), Abi(64, False, 62)
SCRIPT = Broken(b"GROUP ( libT.so.1 )".ljust(80), Flaw.NOT_ELF)


@dataclass(frozen=True)
class Case:
    says: str
    files: Mapping[str, Content]
    glibc: str | None
    musl: str | None = None  # None: the rule is not musl's, or cannot be told apart there
    root: str = "X.so"  # "": nothing is opened, the program only starts
    main: Elf = field(default_factory=program)
    library_path: str = ""
    preload: str = ""
    cwd: str = ""
    hwcaps: tuple[str, ...] = ()  # that the machine must have
    system: Mapping[str, Content] = field(default_factory=dict)  # what real ones have below /lib
    values_only: str = ""  # why no real loader is asked
    version: tuple[int, int] = (2, 36)


def x(**how: str) -> Elf:
    """The object that needs libT.so.1."""
    return lib("X.so", needs=[T], **how)  # type: ignore[arg-type]


def at(*folders: str) -> dict[str, Content]:
    return {f"{folder}/{T}" if folder else T: lib(T) for folder in folders}


ORDER = [
    Case(
        "RPATH comes before LD_LIBRARY_PATH in glibc and after it in musl",
        {"X.so": x(rpath="@/rp"), **at("rp", "llp")},
        library_path="@/llp",
        glibc="rp/libT.so.1",
        musl="llp/libT.so.1",
    ),
    Case(
        "LD_LIBRARY_PATH comes before RUNPATH",
        {"X.so": x(runpath="@/rn"), **at("rn", "llp")},
        library_path="@/llp",
        glibc="llp/libT.so.1",
        musl="llp/libT.so.1",
    ),
    Case("RUNPATH alone is enough", {"X.so": x(runpath="@/rn"), **at("rn")}, "rn/libT.so.1", "rn/libT.so.1"),
    Case(
        "Without any list the library is missing",
        {"X.so": x(), **at("rn")},
        "missing libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "The program's RPATH comes before LD_LIBRARY_PATH for a library without paths",
        {"X.so": x(), **at("rp", "llp")},
        main=program(rpath="@/rp"),
        library_path="@/llp",
        glibc="rp/libT.so.1",
        musl="llp/libT.so.1",
    ),
    Case(
        "The program's RPATH does not count for a library with a RUNPATH",
        {"X.so": x(runpath="@/rn"), **at("rp", "llp")},
        main=program(rpath="@/rp"),
        library_path="@/llp",
        glibc="llp/libT.so.1",
        musl="llp/libT.so.1",
    ),
    Case(
        "A RUNPATH serves only the direct needs of its object, and in musl its descendants too",
        {"X.so": lib(needs=["libL.so"], runpath="@/rn"), "rn/libL.so": lib("libL.so", needs=[T]), **at("rn")},
        "missing libT.so.1",
        "rn/libL.so rn/libT.so.1",
    ),
    Case(
        "The program's RUNPATH serves no library in glibc",
        {"X.so": x(), **at("rn")},
        main=program(runpath="@/rn"),
        glibc="missing libT.so.1",
        musl="rn/libT.so.1",
    ),
    *(
        Case(
            f"An RPATH is inherited: with the library in {folders} the {folders[-1]} one counts",
            {
                "X.so": lib(needs=["libL.so"], rpath="@:@/parent"),
                "libL.so": lib("libL.so", needs=[T], rpath="@/own"),
                **at(*folders),
            },
            main=program(rpath="@/program"),
            glibc=f"libL.so {folders[-1]}/libT.so.1",
            musl=f"libL.so {folders[-1]}/libT.so.1",
        )
        for folders in (("program",), ("program", "parent"), ("program", "parent", "own"))
    ),
    Case(
        "A RUNPATH that finds nothing still hides the program's RPATH",
        {"X.so": x(runpath="@/none"), **at("rp")},
        main=program(rpath="@/rp"),
        glibc="missing libT.so.1",
        musl="rp/libT.so.1",
    ),
    Case(
        "The RPATH chain runs through an object that has a RUNPATH",
        {
            "X.so": lib(needs=["libM.so"], rpath="@:@/rp"),
            "libM.so": lib("libM.so", needs=["libL.so"], runpath="@"),
            "libL.so": lib("libL.so", needs=[T]),
            **at("rp"),
        },
        "libM.so libL.so rp/libT.so.1",
        "libM.so libL.so rp/libT.so.1",
    ),
    Case(
        "The program's RPATH counts again below an object with a RUNPATH",
        {
            "X.so": lib(needs=["libL.so"], runpath="@"),
            "libL.so": lib("libL.so", needs=[T]),
            **at("rp"),
        },
        main=program(rpath="@/rp"),
        glibc="libL.so rp/libT.so.1",
        musl="libL.so rp/libT.so.1",
    ),
    Case(
        "The program's RPATH is found from where its links lead",
        {"X.so": x(), **at("beside", "bin/beside")},
        main=program(rpath="$ORIGIN/../beside:$ORIGIN/beside"),
        glibc="bin/../beside/libT.so.1",
        musl="bin/../beside/libT.so.1",
    ),
    Case(
        "Of both tags in one object the RPATH is dropped",
        {"X.so": x(rpath="@/rp", runpath="@/rn"), **at("rp", "llp")},
        library_path="@/llp",
        glibc="llp/libT.so.1",
        musl="llp/libT.so.1",
    ),
    Case(
        "An RPATH that is dropped finds nothing",
        {"X.so": x(rpath="@/rp", runpath="@/none"), **at("rp")},
        "missing libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "A parent with both tags gives its descendants nothing",
        {
            "X.so": lib(needs=["libL.so"], rpath="@:@/rp", runpath="@"),
            "libL.so": lib("libL.so", needs=[T]),
            **at("rp"),
        },
        "missing libT.so.1",
        "missing libT.so.1",
    ),
    *(
        Case(
            f"A shared library resolves its needs by whoever loaded it first: {first}",
            {
                "X.so": lib(needs=[first, second], rpath="@"),
                "libA.so": lib("libA.so", needs=["libL.so"], rpath="@:@/a"),
                "libB.so": lib("libB.so", needs=["libL.so"], rpath="@:@/b"),
                "libL.so": lib("libL.so", needs=[T]),
                **at("a", "b"),
            },
            f"{first} {second} libL.so {folder}/libT.so.1",
            f"{first} {second} libL.so {folder}/libT.so.1",
        )
        for first, second, folder in (("libA.so", "libB.so", "a"), ("libB.so", "libA.so", "b"))
    ),
    Case(
        "A need with a slash is not searched for",
        {
            "X.so": lib(needs=["here/libT.so"]),
            "here/libT.so": lib(),
            "other/y": b"",
            "llp/here/libT.so": lib(),
        },
        cwd="other",
        library_path="@/llp",
        glibc="missing here/libT.so",
        musl="missing here/libT.so",
    ),
    Case(
        "A need with a slash is opened from the working folder",
        {"X.so": lib(needs=["here/libT.so"]), "here/libT.so": lib()},
        "here/libT.so",
        "here/libT.so",
    ),
    Case(
        "A need with a slash is not met by a SONAME",
        {"X.so": lib(needs=[T, "/nowhere/libT.so.1"], runpath="@"), **at("")},
        "missing /nowhere/libT.so.1",
        "missing /nowhere/libT.so.1",
    ),
    Case(
        "$ORIGIN is expanded in a need",
        {
            "X.so": lib(needs=["$ORIGIN/here/libT.so"]),
            "here/libT.so": lib(),
            "other/y": b"",
        },
        cwd="other",
        glibc="here/libT.so",
        musl="missing $ORIGIN/here/libT.so",
    ),
    Case(
        "A preloaded library meets a need against its RUNPATH, by its SONAME, which musl ignores",
        {"X.so": x(runpath="@/q"), **at("p", "q")},
        preload="@/p/libT.so.1",
        glibc="",
        musl="q/libT.so.1",
    ),
    Case(
        "A preload by bare name is searched as the program's need, and in musl as nobody's",
        at("p", "q"),
        root="",
        main=program(runpath="@/p"),
        preload=T,
        glibc="p/libT.so.1",
        musl="",
    ),
    Case(
        "A preload by bare name is found by LD_LIBRARY_PATH before the program's RUNPATH",
        at("p", "q"),
        root="",
        main=program(runpath="@/p"),
        library_path="@/q",
        preload=T,
        glibc="q/libT.so.1",
        musl="q/libT.so.1",
    ),
    Case(
        "A preload that misses a library keeps the program from starting",
        {"p/libP.so": lib("libP.so", needs=[T])},
        root="",
        preload="@/p/libP.so",
        glibc="missing libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "A missing preload is passed over",
        {"X.so": x(runpath="@/q"), **at("q")},
        preload="@/gone.so",
        glibc="q/libT.so.1",
        musl="q/libT.so.1",
    ),
    Case(
        "What the program has loaded meets every later need of its name",
        {"X.so": x(rpath="@/own"), **at("own", "program")},
        main=program(needs=[T], rpath="@/program"),
        glibc="",
        musl="",
    ),
    Case(
        "A root that the program has loaded already loads nothing",
        {"X.so": Link("program/libT.so.1"), **at("program")},
        main=program(needs=[T], rpath="@/program"),
        glibc="",
        musl="",
    ),
    Case(
        "DF_1_NODEFLIB forbids cache entries below a default folder",
        {"X.so": lib(needs=["libresolv.so.2"], nodeflib=True)},
        "missing libresolv.so.2",
        system={"/lib/libresolv.so.2": lib("libresolv.so.2")},
    ),
    Case(
        "A library in the loader's cache or a default folder is found without any list",
        {"X.so": lib(needs=["libresolv.so.2"])},
        "libresolv.so.2 of the system",
        system={"/lib/libresolv.so.2": lib("libresolv.so.2")},
    ),
    Case(
        "musl does not know DF_1_NODEFLIB",
        {"X.so": lib(needs=[T], nodeflib=True)},
        None,
        "",
        system={f"/lib/{T}": lib(T)},
        values_only="musl's default folders hold nothing but musl",
    ),
    Case(
        "A loaded path is not met by the same file's name from another working folder",
        {
            "X.so": lib(needs=["@/here/libT.so", "here/libT.so"]),
            "here/libT.so": lib(),
            "other/y": b"",
        },
        cwd="other",
        glibc="missing here/libT.so",
        musl="missing here/libT.so",
    ),
    Case(
        "A preload may be what dlopen refuses",
        {"X.so": x(runpath="@/q"), "no/libT.so.1": lib(T, noopen=True), **at("q")},
        preload="@/no/libT.so.1",
        glibc="",
    ),
]

LISTS = [
    *(
        Case(
            f"An empty element of a RUNPATH is the working folder in glibc and nothing in musl: {written!r}",
            {"X.so": x(runpath=written), **at("here")},
            cwd="here",
            glibc="here/libT.so.1",
            musl="missing libT.so.1",
        )
        for written in ("/nonexistent:", ":/nonexistent", "/nonexistent::/none")
    ),
    Case(
        "An empty element of LD_LIBRARY_PATH is the working folder",
        {"X.so": x(), **at("here")},
        cwd="here",
        library_path=":",
        glibc="here/libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "A RUNPATH that is the empty string means nothing",
        {"X.so": x(runpath=""), **at("here")},
        cwd="here",
        glibc="missing libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "A semicolon does not separate in a RUNPATH",
        {"X.so": x(runpath="/nonexistent;@/here"), **at("here")},
        "missing libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "A semicolon separates in LD_LIBRARY_PATH, not so in musl",
        {"X.so": x(), **at("here")},
        library_path="/nonexistent;@/here",
        glibc="here/libT.so.1",
        musl="missing libT.so.1",
    ),
    Case("Trailing slashes are cut", {"X.so": x(runpath="@/here///"), **at("here")}, "here/libT.so.1"),
    Case(
        "A relative element follows the working folder",
        {"X.so": x(runpath="here"), **at("here", "other/here")},
        cwd="other",
        glibc="other/here/libT.so.1",
        musl="other/here/libT.so.1",
    ),
    Case(
        "An absolute element that is a file is passed over",
        {"X.so": x(runpath="@/file:@/here"), "file": b"text", **at("here")},
        "here/libT.so.1",
        "here/libT.so.1",
    ),
    Case(
        "A relative element that is a file ends its list",
        {"X.so": x(runpath="file:@/here"), "file": b"text", **at("here")},
        "missing libT.so.1",
        "here/libT.so.1",
    ),
    Case(
        "Since glibc 2.39 a relative element that is a file is passed over too",
        {"X.so": x(runpath="file:@/here"), "file": b"text", **at("here")},
        "here/libT.so.1",
        version=(2, 39),
        values_only="asks for glibc 2.39",
    ),
    Case(
        "$ORIGIN is the object's folder",
        {"s/X.so": x(runpath="$ORIGIN/o"), **at("s/o")},
        "s/o/libT.so.1",
        "s/o/libT.so.1",
        root="s/X.so",
    ),
    Case(
        "Braces may stand around ORIGIN",
        {"s/X.so": x(runpath="${ORIGIN}/o"), **at("s/o")},
        "s/o/libT.so.1",
        "s/o/libT.so.1",
        root="s/X.so",
    ),
    Case(
        "A name that only starts with a token is none",
        {"X.so": x(runpath="$ORIGINx"), **at("$ORIGINx")},
        "$ORIGINx/libT.so.1",
    ),
    Case(
        "An unknown token is text",
        {"X.so": x(runpath="$FOO/x"), **at("$FOO/x")},
        "$FOO/x/libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "$LIB is expanded",
        {"X.so": x(runpath="@/$LIB/x"), **at("lib/x86_64-linux-gnu/x", "lib64/x")},
        "lib/x86_64-linux-gnu/x/libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "An unknown token voids the whole list in musl",
        {"X.so": x(runpath="@/rn:@/$PLATFORM"), **at("rn")},
        "rn/libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "$ORIGIN in LD_LIBRARY_PATH is the program's, and text in musl",
        {"X.so": x(), **at("beside")},
        library_path="$ORIGIN/../beside",
        glibc="bin/../beside/libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "A list is split before it is expanded, and after it in musl",
        {"co:lon/X.so": x(runpath="$ORIGIN/o"), **at("co:lon/o")},
        root="co:lon/X.so",
        glibc="co:lon/o/libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "$ORIGIN keeps the links of the path that was opened",
        {"view/X.so": Link("../real/X.so"), "real/X.so": x(runpath="$ORIGIN/o"), **at("view/o", "real/o")},
        root="view/X.so",
        glibc="view/o/libT.so.1",
        musl="view/o/libT.so.1",
    ),
    Case(
        "$ORIGIN keeps the links of the path that a search found",
        {
            "X.so": lib(needs=["libL.so"], runpath="@/view"),
            "view/libL.so": Link("@/real/libL.so"),
            "real/libL.so": lib("libL.so", needs=[T], runpath="$ORIGIN/o"),
            **at("view/o", "real/o"),
        },
        "view/libL.so view/o/libT.so.1",
        "view/libL.so view/o/libT.so.1",
    ),
    Case(
        "Dots are kept as written",
        {"view/X.so": x(runpath="$ORIGIN/../view/./o"), **at("view/o")},
        root="view/X.so",
        glibc="view/../view/./o/libT.so.1",
        musl="view/../view/./o/libT.so.1",
    ),
    Case(
        "Two dots after a link lead where the kernel goes",
        {"link": Link("deep/real"), "deep/real/X.so": x(runpath="$ORIGIN/../o"), **at("deep/o")},
        root="link/X.so",
        glibc="link/../o/libT.so.1",
        musl="link/../o/libT.so.1",
    ),
    Case(
        "Two dots after a link do not lead where the text goes",
        {"link": Link("deep/real"), "deep/real/X.so": x(runpath="$ORIGIN/../o"), **at("o")},
        root="link/X.so",
        glibc="missing libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "LD_LIBRARY_PATH cannot name a folder with a colon",
        {"X.so": x(), **at("co:lon")},
        library_path="@/co:lon",
        glibc="missing libT.so.1",
        musl="missing libT.so.1",
    ),
    Case(
        "$PLATFORM is expanded",
        {"X.so": x(runpath="@/$PLATFORM/x"), **at("x86_64/x")},
        "x86_64/x/libT.so.1",
        "missing libT.so.1",
        values_only="the platform's name is the processor's",
    ),
    Case(
        "In braces LIB is the same",
        {"X.so": x(runpath="@/${LIB}/x"), **at("lib/x86_64-linux-gnu/x", "lib64/x")},
        "lib/x86_64-linux-gnu/x/libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "A token may stand behind other text",
        {"X.so": x(runpath="@/a$LIB"), **at("alib/x86_64-linux-gnu", "alib64")},
        "alib/x86_64-linux-gnu/libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "A newline separates in musl and is part of a name in glibc",
        {"X.so": x(runpath="/nonexistent\n@/rn"), **at("rn")},
        "missing libT.so.1",
        "rn/libT.so.1",
    ),
]

V2, V3 = "glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3"
CANDIDATES = [
    Case("A processor's variant comes before the folder", {"X.so": x(runpath="@/a"), **at("a", f"a/{V2}")},
         f"a/{V2}/libT.so.1", "a/libT.so.1", hwcaps=(V2,)),
    Case("Of two variants the better counts", {"X.so": x(runpath="@/a"), **at(f"a/{V3}", f"a/{V2}")},
         f"a/{V3}/libT.so.1", "missing libT.so.1", hwcaps=(V3, V2)),
    Case("A plain file in the first folder comes before a variant in the second",
         {"X.so": x(runpath="@/a:@/b"), **at("a", f"b/{V2}")}, "a/libT.so.1", hwcaps=(V2,)),
    Case("Variants are tried in the folders of LD_LIBRARY_PATH too", {"X.so": x(), **at(f"a/{V2}")},
         f"a/{V2}/libT.so.1", library_path="@/a", hwcaps=(V2,)),
    Case("Before glibc 2.37 a tls folder comes first", {"X.so": x(runpath="@/a"), **at("a", "a/tls")},
         "a/tls/libT.so.1", hwcaps=("tls",)),
    Case("Before glibc 2.37 a folder of the platform's name comes first",
         {"X.so": x(runpath="@/a"), **at("a", "a/x86_64")}, "a/x86_64/libT.so.1", hwcaps=("x86_64",)),
    Case("A dangling link is passed over",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Link("gone"), **at("b")}, "b/libT.so.1", "b/libT.so.1"),
    Case("Another ELF class is passed over, and in musl, which reads it as its own, the end",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": lib(T, abi=I386), **at("b")}, "b/libT.so.1",
         "libT.so.1: Exec format error"),
    Case("Another machine is passed over, by musl mapped",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": lib(T, abi=AARCH64), **at("b")}, "b/libT.so.1",
         "a/libT.so.1"),
    Case("Another machine's library alone is a missing one",
         {"X.so": x(runpath="@/a"), "a/libT.so.1": lib(T, abi=AARCH64)}, "missing libT.so.1"),
    Case("Another class's library alone is a missing one",
         {"X.so": x(runpath="@/a"), "a/libT.so.1": lib(T, abi=I386)}, "missing libT.so.1"),
    Case("A file that ends before its program headers ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Broken(write(lib(T))[:120], Flaw.CUT_OFF), **at("b")},
         "libT.so.1: cannot read file data", "libT.so.1: Exec format error"),
    Case("A linker script ends the search though a good file lies later",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": SCRIPT, **at("b")}, "libT.so.1: invalid ELF header",
         "libT.so.1: Exec format error"),
    Case("A linker script in one list ends the search of all",
         {"X.so": x(runpath="@/b"), "a/libT.so.1": SCRIPT, **at("b")}, "libT.so.1: invalid ELF header",
         "libT.so.1: Exec format error", library_path="@/a"),
    Case("An empty file ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Broken(b"", Flaw.TOO_SHORT), **at("b")},
         "libT.so.1: file too short", "libT.so.1: Exec format error"),
    Case("A folder of that name ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Flaw.FOLDER, **at("b")}, "libT.so.1: Is a directory",
         "libT.so.1: Is a directory"),
    Case("An object of another byte order is passed over: its machine's number reads as another",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": lib(T, abi=BIG), **at("b")}, "b/libT.so.1",
         "libT.so.1: Exec format error"),
    Case("A header that claims another byte order ends the search",
         {"X.so": x(runpath="@/a:@/b"),
          "a/libT.so.1": Broken(write(lib(T))[:5] + b"\x02" + write(lib(T))[6:], Flaw.WRONG_ORDER), **at("b")},
         "libT.so.1: ELF file data encoding not little-endian"),
    Case("An object file ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Broken(write(replace(lib(T), type=1)), Flaw.WRONG_TYPE),
          **at("b")}, "libT.so.1: only ET_DYN and ET_EXEC can be loaded"),
    Case("Another operating system's ABI ends the search",
         {"X.so": x(runpath="@/a:@/b"),
          "a/libT.so.1": Broken(write(lib(T))[:7] + b"\x09" + write(lib(T))[8:], Flaw.WRONG_ABI), **at("b")},
         "libT.so.1: ELF file OS ABI invalid"),
    Case("An object without a dynamic section ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": replace(lib(T), dynamic=False), **at("b")},
         "libT.so.1: object file has no dynamic section"),
    Case("A program found by a search ends it",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": replace(lib(T), pie=True), **at("b")},
         "libT.so.1: cannot dynamically load position-independent executable"),
    Case("A link to itself ends its list, not the search",
         {"X.so": x(runpath="@/b"), "a/libT.so.1": Link("libT.so.1"), **at("b")}, "b/libT.so.1",
         "libT.so.1: Symbolic link loop", library_path="@/a"),
    Case("A link to itself ends its list", {"X.so": x(), "a/libT.so.1": Link("libT.so.1"), **at("b")},
         "missing libT.so.1", library_path="@/a:@/b"),
    Case("A root that is a program is refused", {"X.so": replace(lib(), pie=True)},
         "X.so: cannot dynamically load position-independent executable"),
    Case("The program itself is refused as a root", {}, "main: cannot dynamically load position-independent executable",
         root="bin/main"),
    Case("A root that is text is refused", {"X.so": SCRIPT}, "X.so: invalid ELF header"),
    Case("DF_1_NOOPEN forbids dlopen", {"X.so": lib(noopen=True)}, "X.so: shared object cannot be dlopen()ed"),
    Case("DF_1_NOOPEN forbids dlopen of what needs the object",
         {"X.so": x(runpath="@/no"), "no/libT.so.1": lib(T, noopen=True)},
         "libT.so.1: shared object cannot be dlopen()ed"),
    Case("DF_1_NOOPEN does not matter at the program's start", {"no/libT.so.1": lib(T, noopen=True)},
         "no/libT.so.1", root="", main=program(needs=[T], rpath="@/no")),
    Case("A filter's library is a need",
         {"X.so": replace(lib(runpath="@"), filters=(T,))}, "missing libT.so.1"),
    Case("A filter's library is searched with the filter's own paths",
         {"X.so": replace(lib(runpath="@/a"), filters=(T,)), **at("a")}, "a/libT.so.1"),
    Case("A program of fixed addresses found by a search ends it",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": replace(lib(T), type=2), **at("b")},
         "libT.so.1: cannot dynamically load executable"),
    Case("Another ABI version ends the search",
         {"X.so": x(runpath="@/a:@/b"),
          "a/libT.so.1": Broken(write(lib(T))[:8] + b"\x09" + write(lib(T))[9:], Flaw.WRONG_ABI_VERSION), **at("b")},
         "libT.so.1: ELF file ABI version invalid"),
    Case("A file that asks for an interpreter may be a library",
         {"X.so": x(runpath="@/a"), "a/libT.so.1": replace(lib(T), interpreter="/lib/ld.so")}, "a/libT.so.1"),
    Case("musl looks into no folder of a processor's variant",
         {"X.so": x(runpath="@/a:@/b"), **at(f"a/{V2}", "b")}, None, "b/libT.so.1"),
    Case("An archive ends the search",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Broken(b"!<arch>\n".ljust(80), Flaw.NOT_ELF), **at("b")},
         "libT.so.1: invalid ELF header", "libT.so.1: Exec format error"),
    Case("An auxiliary filter's library may be missing", {"X.so": replace(lib(runpath="@"), auxiliaries=(T,))}, ""),
    Case("An auxiliary filter's library is searched with the filter's own paths",
         {"X.so": replace(lib(runpath="@/a"), auxiliaries=(T,)), **at("a")}, "a/libT.so.1"),
    Case("A folder that may not be entered is passed over",
         {"X.so": x(runpath="@/a:@/b"), "a/libT.so.1": Flaw.NO_ACCESS, **at("b")}, "b/libT.so.1",
         values_only="root may enter every folder"),
]  # fmt: skip

LOADED = [
    Case(
        "An object loaded by path meets later needs of its SONAME, which musl never looks at",
        {
            "X.so": lib(needs=["@/z/libTzzz.so", "libU.so"], runpath="@"),
            "z/libTzzz.so": lib(T),
            "libU.so": x(runpath="@/q"),
            **at("q"),
        },
        "z/libTzzz.so libU.so",
        "z/libTzzz.so libU.so q/libT.so.1",
    ),
    Case(
        "A file name is no name of an object that was opened by path",
        {"X.so": lib(needs=["@/nos/libT.so.1", T]), "nos/libT.so.1": lib()},
        "missing libT.so.1",
        "missing libT.so.1",
    ),
    Case(
        "The name that a search found an object by is its name",
        {
            "X.so": lib(needs=["libA.so", "libB.so"], runpath="@"),
            "libA.so": lib("libA.so", needs=[T], runpath="@/nos"),
            "libB.so": lib("libB.so", needs=[T]),
            "nos/libT.so.1": lib(),
        },
        "libA.so libB.so nos/libT.so.1",
        "libA.so libB.so nos/libT.so.1",
    ),
    Case(
        "What a search finds need not have the SONAME, and answers to both from then on",
        {"X.so": lib(needs=[T, "libTother.so.9"], runpath="@"), "libT.so.1": lib("libTother.so.9")},
        "libT.so.1",
        "missing libTother.so.9",
    ),
    Case(
        "A hard link and a symbolic link are the same object",
        {
            "X.so": lib(needs=["@/p/libT.so.1", "@/h/hard.so", "@/s/soft.so"]),
            "h/hard.so": HardLink("p/libT.so.1"),
            "s/soft.so": Link("../p/libT.so.1"),
            **at("p"),
        },
        "p/libT.so.1",
        "p/libT.so.1",
    ),
    Case(
        "An object keeps the path that it was first opened by",
        {
            "X.so": lib(needs=["@/real/libL.so", "@/view/libL.so"]),
            "real/libL.so": lib("libL.so", needs=[T], runpath="$ORIGIN/o"),
            "view/libL.so": Link("../real/libL.so"),
            **at("real/o", "view/o"),
        },
        "real/libL.so real/o/libT.so.1",
        "real/libL.so real/o/libT.so.1",
    ),
    Case(
        "A path that is loaded is met as text",
        {
            "X.so": lib(needs=["@/p/libT.so.1", "@/p/libT.so.1", "libA.so"], runpath="@"),
            "libA.so": lib("libA.so", needs=["@/p/libT.so.1"]),
            **at("p"),
        },
        "p/libT.so.1 libA.so",
        "p/libT.so.1 libA.so",
    ),
    Case(
        "A hard link's name is added to the object, but not in musl",
        {
            "X.so": lib(needs=["libA.so", "libTlnk.so", "libB.so"], runpath="@:@/h"),
            "libA.so": lib("libA.so", needs=[T], runpath="@/p"),
            "libB.so": lib("libB.so", needs=["libTlnk.so", "libC.so"], runpath="@"),
            "libC.so": lib("libC.so", needs=["libTlnk.so"]),
            "h/libTlnk.so": HardLink("p/libT.so.1"),
            **at("p"),
        },
        "libA.so h/libTlnk.so libB.so libC.so",
    ),
    Case(
        "A hard link's name answers for later needs, but not in musl",
        {
            "X.so": lib(needs=["libA.so", "libB.so", "libC.so"], rpath="@"),
            "libA.so": lib("libA.so", needs=[T], rpath="@/p"),
            "libB.so": lib("libB.so", needs=["libTlnk.so"], rpath="@/h"),
            "libC.so": lib("libC.so", needs=["libTlnk.so"]),
            "h/libTlnk.so": HardLink("p/libT.so.1"),
            **at("p"),
        },
        "libA.so libB.so libC.so p/libT.so.1",
        "missing libTlnk.so",
    ),
    Case(
        "A copy is a second object, and later needs bind to the first",
        {
            "X.so": lib(needs=["@/p/libT.so.1", "@/c/libTcopy.so", "libU.so"], runpath="@"),
            "c/libTcopy.so": lib(T),
            "libU.so": x(),
            **at("p"),
        },
        "p/libT.so.1 c/libTcopy.so libU.so",
        "missing libT.so.1",
    ),
    *(
        Case(
            f"The first to ask decides for all: {first}",
            {
                "X.so": lib(needs=[first, second], runpath="@"),
                "libA.so": x(runpath="@/a"),
                "libB.so": x(runpath="@/b"),
                **at("a", "b"),
            },
            f"{first} {second} {folder}/libT.so.1",
            f"{first} {second} {folder}/libT.so.1",
        )
        for first, second, folder in (("libA.so", "libB.so", "a"), ("libB.so", "libA.so", "b"))
    ),
    Case(
        "Needs are loaded breadth-first",
        {
            "X.so": lib(needs=["libD1.so", "libD2.so"], runpath="@"),
            "libD1.so": lib(needs=["libD11.so"], runpath="@"),
            "libD11.so": x(runpath="@/p"),
            "libD2.so": x(runpath="@/q"),
            **at("p", "q"),
        },
        "libD1.so libD2.so libD11.so q/libT.so.1",
        "libD1.so libD2.so libD11.so q/libT.so.1",
    ),
    Case(
        "Circles and needs of oneself are harmless",
        {
            "X.so": lib(needs=["libA.so", "libA.so"], runpath="@"),
            "libA.so": lib("libA.so", needs=["libA.so", "libB.so"], runpath="@"),
            "libB.so": lib("libB.so", needs=["libA.so"], runpath="@"),
        },
        "libA.so libB.so",
        "libA.so libB.so",
    ),
    Case(
        "A renamed file that kept its SONAME is not met by that SONAME",
        {
            "X.so": lib(needs=["@/p/libT.so.1", "libT.ab12.so.1"], runpath="@/hs"),
            "hs/libT.ab12.so.1": lib(T),
            **at("p"),
        },
        "p/libT.so.1 hs/libT.ab12.so.1",
        "p/libT.so.1 hs/libT.ab12.so.1",
    ),
    Case(
        "A renamed file, once loaded, meets everyone's need of its SONAME, but not in musl",
        {
            "X.so": lib(needs=["libT.ab12.so.1", "libU.so"], runpath="@:@/hs"),
            "hs/libT.ab12.so.1": lib(T),
            "libU.so": x(runpath="@/q"),
            **at("q"),
        },
        "hs/libT.ab12.so.1 libU.so",
        "hs/libT.ab12.so.1 libU.so q/libT.so.1",
    ),
    Case(
        "In musl a file that a search finds to be loaded already gets its name then",
        {
            "X.so": lib(needs=["@/p/libT.so.1", "libA.so", "libB.so"], rpath="@"),
            "libA.so": x(rpath="@/p"),
            "libB.so": x(),
            **at("p"),
        },
        None,
        "p/libT.so.1 libA.so libB.so",
    ),
    Case(
        "Names of musl's own libc are met whatever follows",
        {"X.so": lib(needs=["libm.so.99", "libpthread.so.0", "libc.musl-x86_64.so.1"])},
        None,
        "",
    ),
    Case(
        "No file is looked at for a name of musl's own libc",
        {"X.so": lib(needs=["libm.so.6"], runpath="@/rn"), "rn/libm.so.6": SCRIPT},
        None,
        "",
        library_path="@/rn",
    ),
    *(
        Case(f"{name} is not musl's own libc", {"X.so": lib(needs=[name])}, None, f"missing {name}")
        for name in (
            "libcrypt.so.1",
            "libresolv.so.2",
            "libnsl.so.1",
            "libc-extra.so.1",
            "ld-linux-x86-64.so.2",
            "ld-musl-x86_64.so.1",
        )
    ),
]

CASES = [*ORDER, *LISTS, *CANDIDATES, *LOADED]
