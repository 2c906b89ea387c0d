#!/usr/bin/env python3
"""Logs in to real applications on loopback, and checks the table of Docs/schemes/cookie.md, or writes it.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Applications/run.py [--slow] [--write] [--reference] [WORD ...]

With words, only applications whose title or preset contains one of them run. Without --slow, the rows of large or slowly starting
applications stay in the table as they were last written. With --reference, the command line isn't run, and only the facts about
the applications are verified.
The last line says "N cells of N applications, N failed".
"""

import argparse
import concurrent.futures
import importlib
import os
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PAGE = ROOT / "Docs" / "schemes" / "cookie.md"
MARKED = re.compile(r"(<!-- applications -->\n).*?(\n<!-- end applications -->)", re.S)
# Debian's Python, for which the packages are installed.
PYTHON = "/usr/bin/python3"


def load(harness):
    """The classes of all applications, by title."""
    found = []
    for file in sorted((FOLDER / "apps").glob("*.py")):
        module = importlib.import_module(f"apps.{file.stem}")
        kinds = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, harness.Application)]
        found += [kind for kind in kinds if kind.__module__ == module.__name__ and kind.title]
    return sorted(found, key=lambda application: application.title.lower())


def table(rows, cells):
    lines = [f"| Application | Preset | {' | '.join(cells.values())} |", "|---|---|" + "---|" * len(cells)]
    for title in sorted(rows, key=str.lower):
        version, rest = rows[title]
        lines.append(f"| {title} {version} | {rest}")
    return "\n".join(lines)


def row_of(application, version, row, cells):
    """The version, and the rest of the row."""
    return version, f"`{application.preset}` | " + " | ".join(row[cell] for cell in cells) + " |"


def check_table(applications, rows, cells, is_written):
    """Returns what is wrong with the page's table. A row without a result stays unchanged. So does the version if the rest is the
    same, because Debian's versions differ between machines."""
    page = PAGE.read_text()
    marked = MARKED.search(page)
    if not marked:
        return f"{PAGE.name} has no table of applications"
    written = {}
    for application in applications:
        if found := re.search(rf"(?m)^\| {re.escape(application.title)} (\S+) \| (.*)$", marked[0]):
            written[application.title] = found.groups()
    if is_written:
        PAGE.write_text(MARKED.sub(lambda found: found[1] + table({**written, **rows}, cells) + found[2], page))
        return None
    for title, (_, rest) in rows.items():
        if title not in written or written[title][1] != rest:
            return f"the row of {title} in {PAGE.name} differs from what was found; write it with --write"
    return None


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--slow", "--write", "--reference"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    sys.path.insert(0, str(FOLDER))
    import harness

    applications = load(harness)

    def is_chosen(application):
        name = f"{application.title} {application.preset}".lower()
        is_named = not arguments.words or any(word.lower() in name for word in arguments.words)
        return is_named and (arguments.slow or not application.is_slow)

    chosen = [application for application in applications if is_chosen(application)]
    cells, rows, failed = harness.CELLS, {}, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = [pool.submit(harness.check, application, not arguments.reference) for application in chosen]
        for application, result in zip(chosen, results):
            version, row, problems, seconds = result.result()
            marks = "".join(f" {title} {row[cell] if row[cell] in '✓✗' else '–'}," for cell, title in cells.items() if cell in row)
            print(f"{application.title} {version}:{marks} started in {seconds:.1f} s", flush=True)
            for problem in problems:
                print(problem, flush=True)
            failed += len(problems)
            if not problems and not arguments.reference:
                rows[application.title] = row_of(application, version, row, cells)
    if not arguments.reference:
        print(table(rows, cells))
    if not failed and not arguments.reference and (arguments.write or not arguments.words):
        if problem := check_table(applications, rows, cells, arguments.write):
            print(problem)
            failed += 1
    print(f"{len(chosen) * len(cells)} cells of {len(chosen)} applications, {failed} failed")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    if sys.executable != PYTHON and os.path.exists(PYTHON) and not os.environ.get("NEVOD_APPLICATIONS_PYTHON"):
        os.execve(PYTHON, [PYTHON, __file__, *sys.argv[1:]], {**os.environ, "NEVOD_APPLICATIONS_PYTHON": "1"})
    main()
