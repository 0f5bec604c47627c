"""Make one table of the reports that cleanup.yml has brought here.

    python3 table.py REPORTS

REPORTS holds one JSON file for each environment: {"host", "environment", "report": what `safepip audit --json --remove`
printed}. Writes REPORTS/table.md and prints it. Ends with 1 where a verdict is not allow or warn: the roll-out must stop.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HEAD = ("host", "environment", "verdict", "would break", "frees")
GOES_ON = {"allow", "warn"}


def main(folder: Path) -> int:
    answers = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    rows = [row(answer) for answer in answers]
    lines = [HEAD, ("---",) * len(HEAD), *rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    (folder / "table.md").write_text(text)
    print(text, end="")
    stopping = [line for line in rows if line[2] not in GOES_ON]
    for line in stopping:
        print(f"{line[0]} {line[1]}: {line[2]}", file=sys.stderr)
    return 1 if stopping or not rows else 0


def row(answer: dict[str, Any]) -> tuple[str, ...]:
    report = answer["report"]
    if "error" in report:
        return answer["host"], answer["environment"], "cannot tell", report["error"]["message"], ""
    refusing = {item["distribution"] for item in report["findings"] if item["severity"] == "refuse"}
    frees = f"{report['removal']['bytes'] / 1e6:.1f} MB"
    return answer["host"], answer["environment"], report["verdict"], ", ".join(sorted(refusing)), frees


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
