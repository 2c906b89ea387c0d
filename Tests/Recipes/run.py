#!/usr/bin/env python3
"""Compares each recipe with its vendor's software, and checks the table of Docs/schemes/hmac.md, or writes it.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Recipes/run.py [--write] [WORD ...]

With words, only rows whose preset or judge contains one of them. The last line says "N requests of N schemes, N failed".
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
PEERS = ROOT / ".build" / "peers"
PAGE = ROOT / "Docs" / "schemes" / "hmac.md"
MARKED = re.compile(r"(<!-- recipes -->\n).*?(\n<!-- end recipes -->)", re.S)
# Debian's Python, which has the libraries that the judges need.
PYTHON = "/usr/bin/python3"


def load():
    """The rows of all judges, by the name of the preset."""
    rows = []
    for file in sorted(FOLDER.glob("judge_*.py")):
        rows += importlib.import_module(file.stem).rows()
    return sorted(rows, key=lambda row: (row.preset, row.judge))


def compare(recipes, row):
    """The differences, and the number of requests whose credentials are equal byte by byte."""
    problems = [] if len(row.cases) >= 3 else [f"has only {len(row.cases)} requests"]
    equal = 0
    for case in row.cases:
        found = recipes.differences(row, case)
        problems += [f"{case.method} {case.url}: {text}" for text in found]
        equal += not found
    return problems, equal


def table(rows, equal):
    lines = ["| Preset | Judge | Requests | Equal |", "|---|---|---|---|"]
    for row, count in zip(rows, equal):
        lines.append(f"| [`{row.preset}`]({row.source}) | {row.judge} | {len(row.cases)} | {count} |")
    return "\n".join(lines)


def check_table(rows, equal, is_written):
    page = PAGE.read_text()
    current = MARKED.sub(lambda found: found[1] + table(rows, equal) + found[2], page)
    if not MARKED.search(page):
        return f"{PAGE.name} has no table of recipes"
    if is_written:
        PAGE.write_text(current)
    elif current != page:
        return f"the table of {PAGE.name} differs from what was compared; write it with --write"
    return None


def check_server():
    """The server code on the page is the same as in the tests."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    if code is None or code[1] not in (FOLDER / "strict_server.py").read_text():
        return f"the server of {PAGE.name} is not the one of strict_server.py"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    sys.path[:0] = [str(FOLDER), str(PEERS)]
    import recipes

    rows = load()
    chosen = [row for row in rows if not arguments.words or any(word in f"{row.preset} {row.judge}" for word in arguments.words)]
    # Other processes sign the requests, two in parallel. The judges take turns, because they pin this process's clock.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda row: compare(recipes, row), chosen))
    for row, (problems, _) in zip(chosen, results):
        for problem in problems:
            print(f"{row.preset} ({row.judge}): {problem}", flush=True)
    failed = sum(bool(problems) for problems, _ in results)
    if not arguments.words and not failed:
        for problem in (check_table(rows, [equal for _, equal in results], arguments.write), check_server()):
            if problem:
                print(problem)
                failed += 1
    print(f"{sum(len(row.cases) for row in chosen)} requests of {len(chosen)} schemes, {failed} failed")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    if sys.executable != PYTHON and os.path.exists(PYTHON) and not os.environ.get("NEVOD_RECIPES_PYTHON"):
        os.execve(PYTHON, [PYTHON, __file__, *sys.argv[1:]], {**os.environ, "NEVOD_RECIPES_PYTHON": "1"})
    main()
