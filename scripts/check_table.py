#!/usr/bin/env python3
"""Writes the table of all checks in Docs/checking.md, from what `nevod-host check --list` prints.

    python3 scripts/check_table.py          # brings the page up to date
    python3 scripts/check_table.py --check  # changes nothing, and fails if that would

NEVOD_BUILD_DIR says where nevod-host is; by default in .build/release.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "Docs/checking.md"
TABLE = re.compile(r"(<!-- checks: [^\n]* -->\n)(.*?)(<!-- end of checks -->\n)", re.S)


def rows():
    program = pathlib.Path(os.environ.get("NEVOD_BUILD_DIR", ROOT / ".build/release")) / "nevod-host"
    done = subprocess.run([program, "check", "--list"], capture_output=True, text=True, timeout=60, check=True)
    for line in done.stdout.splitlines():
        name, title = line.split(None, 1)
        yield f"| `{name}` | {title} |\n"


def main():
    text = PAGE.read_text()
    table = "\n| Check | The rule |\n| --- | --- |\n" + "".join(rows()) + "\n"
    wanted, count = TABLE.subn(lambda found: found[1] + table + found[3], text)
    if count != 1:
        print(f"{PAGE}: the marks of the table are missing", file=sys.stderr)
        return 1
    if wanted == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{PAGE}: the table is out of date; run python3 scripts/check_table.py", file=sys.stderr)
        return 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
