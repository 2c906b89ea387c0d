#!/usr/bin/env python3
"""Checks that files of Sources and Plugins are families: none is too long for a head, and few are too short to say anything.

    python3 scripts/file_sizes.py [ROOT]
"""

import pathlib
import statistics
import sys

LONGEST = 600
SHORT, SHORT_SHARE = 30, 0.12
MEDIAN = 80


def main(root):
    sizes = {path.relative_to(root).as_posix(): path.read_text().count("\n")
             for folder in ("Sources", "Plugins") for path in (root / folder).rglob("*.swift")}
    problems = [f"{name} has {size} lines; split it where its ideas part (at most {LONGEST})"
                for name, size in sorted(sizes.items()) if size > LONGEST]
    short = sorted(name for name, size in sizes.items() if size < SHORT)
    if len(short) > SHORT_SHARE * len(sizes):
        problems += [f"{len(short)} of {len(sizes)} files have under {SHORT} lines; merge each into what is read with it:", *short]
    if (median := statistics.median(sizes.values())) < MEDIAN:
        problems.append(f"half of the files have under {median:.0f} lines, where {MEDIAN} are the least; a file is a family, not a type")
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)))
