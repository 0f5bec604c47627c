"""Judge what accuracy.py wrote down: the guard's verdicts beside what happened, as a table.

    python3 scripts/accuracy_table.py [--readme README.md] [--json FILE] [--all] RESULTS.jsonl …

A change breaks if something that loaded loads no more, or if a survivor's file is gone that is neither text, a
stub nor an empty `__init__.py`. Where only `pip check` newly complains, refuse and warn are both right and allow
is wrong. A warning is right if `pip check` complains, a file is lost, or what it names (an import at a line, a
library) worked before and fails now.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import safepip

HARMLESS = (".pyi", ".h", ".txt", ".md", ".rst", "__init__.py", "LICENSE", ".pyc", "py.typed")
COMPLAINTS = (
    re.compile(r"No module named '([\w.]+)'"),
    re.compile(r"(\S+\.so[\w.]*): cannot open shared object file"),
    re.compile(r"cannot import name '\w+' from '([\w.]+)'"),
)
MARKS = ("<!-- accuracy -->", "<!-- /accuracy -->")

Answers = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS.jsonl")
    parser.add_argument("--readme", type=Path, metavar="FILE", help="put the table between its marks there")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true", help="list every change, not only disagreements")
    options = parser.parse_args()
    rows = read(options.results)
    print(listing(rows, everything=options.all))
    print(table(rows))
    if options.readme:
        head, rest = options.readme.read_text().split(MARKS[0])
        tail = rest.split(MARKS[1])[1]
        options.readme.write_text(f"{head}{MARKS[0]}\n{table(rows)}\n{MARKS[1]}{tail}")
    if options.json:
        options.json.write_text(json.dumps({"figures": figures(rows), "changes": rows}))
    return 1 if any(row["outcome"].startswith("MISS") for row in rows) else 0


def read(results: list[Path]) -> list[Answers]:
    lines = [
        (path, line) for path in results if path.exists() for line in path.read_text().splitlines() if line
    ]
    return [judged({"environment": path.stem, **json.loads(line)}) for path, line in lines]


def judged(record: Answers) -> Answers:
    report = record["report"]
    shown = [finding for finding in report.get("findings", []) if finding["severity"] != "note"]
    mattering = record.get("mattering")
    if mattering is None:
        mattering = [
            path for paths in record["lost"].values() for path in paths if not path.endswith(HARMLESS)
        ]
    broke = [item for item in record["broke"] if not interrupted(item)]
    verdict = report.get("verdict", "error")
    return {
        "environment": record["environment"],
        "python": report.get("environment", {}).get("version", ""),
        "trial": record["trial"],
        "kind": kind_of(record["trial"]),
        "done": record.get("rc", 0) == 0,
        "full": record.get("full", True),
        "verdict": verdict,
        "findings": sorted({finding["kind"] for finding in shown}),
        "outcome": outcome(verdict, broke=bool(broke or mattering), record=record),
        "evidence": evidence(broke, shown) if verdict == "refuse" and broke else None,
        "cannot_tell": verdict == "error"
        or any(finding["kind"] == "cannot-tell" for finding in report.get("findings", [])),
        "remedy": remedy(record),
        "beyond": record.get("beyond", []),
        "broke": broke[:20],
        "lost": mattering[:20],
        "check": record["check"],
        "named": record.get("named", {}),
    }


def interrupted(item: list[str]) -> bool:
    """A probe that ran out of time says nothing."""
    return item[-1] == "the probe died" or (item[-1] == "died" and item[1] != "open")


def kind_of(trial: str) -> str:
    if trial.startswith("install:"):
        return "install"
    return "several removed" if "+" in trial else "one removed"


def outcome(verdict: str, *, broke: bool, record: Answers) -> str:
    if record.get("rc", 0) != 0:
        return "pip did not do it"
    said = {"refuse": "refused", "warn": "warned", "allow": "allowed"}.get(verdict, "no verdict")
    if broke:
        return {"allow": "MISS: allowed, broke"}.get(verdict, f"{said}, broke")
    if record["check"]:
        return {"allow": "MISS: allowed, pip check complains"}.get(
            verdict, f"{said}, only pip check complains"
        )
    if verdict in {"refuse", "warn"} and (record.get("named") or record["lost"]):
        return f"{said}, what it names fails"
    return {"refuse": "FALSE: refused, harmless", "warn": "warned, harmless"}.get(
        verdict, f"{said}, harmless"
    )


def evidence(broke: list[list[str]], shown: list[Answers]) -> str:
    """Is what the errors complain of what findings name, with one that complains as its consumer?"""
    complained = {(dist, what) for dist, *_, error in broke if (what := complaint(error))}
    if not complained:
        return "the error names nothing"
    if any(names(finding, what, dist) for finding in shown for dist, what in complained):
        whats = {what for _, what in complained}
        left = {what for what in whats if not any(names(finding, what, None) for finding in shown)}
        return f"not all named: {', '.join(sorted(left))}" if left else "named"
    return f"OTHER: {', '.join(sorted({what for _, what in complained}))}"


def complaint(error: str) -> str:
    return next((found[1] for rule in COMPLAINTS if (found := rule.search(error))), "")


def names(finding: Answers, what: str, dist: str | None) -> bool:
    text = json.dumps([finding["message"], finding["soname"], finding["paths"], finding["consumers"]])
    asking = {plain(finding["distribution"]), *(plain(item["distribution"]) for item in finding["consumers"])}
    forms = {
        what,
        what.rpartition("/")[2],
        what.replace(".", "/"),
        what.replace(".", "-"),
    }  # or its distribution
    return (dist is None or plain(dist) in asking) and any(form in text for form in forms)


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def remedy(record: Answers) -> str | None:
    done = record.get("remedy")
    if not done or done["rc"] is None:
        return None
    if done["rc"]:
        return f"ended with {done['rc']}: {done.get('said', '')[-160:]}"
    return f"still broken: {done['broke'][0]}" if done["broke"] else "all loads"


def figures(rows: list[Answers]) -> Answers:
    done = [row for row in rows if row["done"]]
    kinds = Counter(row["kind"] for row in done)
    outcomes = Counter(row["outcome"] for row in done)
    refused = [row for row in done if row["verdict"] == "refuse"]
    warned = [row for row in done if row["verdict"] == "warn"]
    remedies = [row["remedy"] for row in done if row["remedy"]]
    checked = Counter((row["evidence"] or "").split(":")[0] for row in done if row["evidence"])
    return {
        "changes": len(done),
        "environments": len({row["environment"] for row in done}),
        "kinds": dict(kinds),
        "outcomes": dict(outcomes),
        "missed": sum(row["outcome"].startswith("MISS") for row in done),
        "refusals": len(refused),
        "refusals_right": sum(not row["outcome"].startswith("FALSE") for row in refused),
        "warnings": len(warned),
        "warnings_right": sum(row["outcome"] != "warned, harmless" for row in warned),
        "cannot_tell": sum(row["cannot_tell"] for row in done),
        "evidence": dict(checked),
        "remedies": len(remedies),
        "remedies_right": remedies.count("all loads"),
        "probed_in_full": sum(row["full"] for row in done),
        "beyond_the_choice": sum(bool(row["beyond"]) for row in done),
    }


def listing(rows: list[Answers], *, everything: bool = False) -> str:
    lines = []
    for row in rows:
        amiss = [
            row["outcome"] if row["outcome"].startswith(("MISS", "FALSE", "pip", "no verdict")) else "",
            row["outcome"] if row["outcome"] == "warned, harmless" else "",
            row["evidence"] if (row["evidence"] or "").startswith("OTHER") else "",
            f"remedy {row['remedy']}" if row["remedy"] not in {None, "all loads"} else "",
            f"beyond {row['beyond']}" if row["beyond"] else "",
        ]
        if everything or any(amiss):
            first = " ".join(map(str, row["broke"][0])) if row["broke"] else " ".join(row["lost"][:1])
            said = "; ".join(filter(None, amiss)) or row["outcome"]
            lines.append(
                f"{row['environment']:10} {row['trial']:32} {','.join(row['findings'])}: {said} | {first[:110]} {' '.join(row['check'][:1])}"
            )
    return "\n".join(lines)


def table(rows: list[Answers]) -> str:
    told = figures(rows)
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(told["kinds"].items()))
    pythons = ", ".join(sorted({row["python"] for row in rows} - {""}))
    lines = [
        f"Written on {datetime.now(UTC).date()} with safepip {safepip.__version__}; Python {pythons}.",
        "",
        f"| {told['changes']} changes really done in {told['environments']} environments | |",
        "| --- | ---: |",
        f"| by kind | {kinds} |",
        *(
            f"| {name} | {count} |"
            for name, count in sorted(told["outcomes"].items(), key=lambda item: -item[1])
        ),
        f"| **missed** (allowed, and something broke or `pip check` complains) | **{told['missed']}** |",
        f"| refusals right | {part(told['refusals_right'], told['refusals'])} |",
        f"| warnings right | {part(told['warnings_right'], told['warnings'])} |",
        f"| cannot tell | {part(told['cannot_tell'], told['changes'])} |",
        f"| evidence: what the errors complain of is what the findings name | {part(told['evidence'].get('named', 0), sum(told['evidence'].values()))} |",
        f"| the first remedy carried out leaves everything loading | {part(told['remedies_right'], told['remedies'])} |",
        f"| probed in full, of which the choice of what to probe would have left out a break | {told['probed_in_full']}, {told['beyond_the_choice']} |",
    ]
    return "\n".join(lines)


def part(some: int, every: int) -> str:
    return f"{some} of {every}" + (f" ({100 * some / every:.1f} %)" if every else "")


if __name__ == "__main__":
    sys.exit(main())
