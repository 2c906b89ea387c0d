#!/usr/bin/env python3
"""Finds code that can end the process, and compares it with the list of allowed code, scripts/traps.txt.

Usage: scripts/traps.py          fails on code that isn't in the list, and on entries that no code matches
       scripts/traps.py --list   prints what it finds

It searches Sources and Plugins, outside of comments and strings, for precondition and the like, `try!`, `as!`, forced unwrapping,
and conversions to an integer type that may be too narrow or that has no negative numbers. It skips constants of C, and
conversions with a label (`clamping:`, `exactly:`). It can't find sums and products that overflow: reviews, fuzzers and property
tests look for them.

A line of the list has three columns, separated by two or more spaces: the files (an fnmatch pattern), the code (a regular
expression that matches all of it), and the reason why no input reaches it.
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "traps.txt"

CALLS = re.compile(r"\b(?:precondition|preconditionFailure|fatalError|assert|assertionFailure)\(")
WORDS = re.compile(r"\btry!|\bas!|\bunsafelyUnwrapped\b|[\w)\]]!(?![=\w(\[])|[\w)\]]!(?=[.\[(])")
NARROW = re.compile(r"(?<![\w.])(?:U?Int(?:8|16|32)|UInt64|UInt)\(")
CONSTANT = re.compile(r"\w+:|[A-Z][A-Z0-9_]*(?:\.rawValue)?\)|[0-9][0-9A-Fa-fx_]*\)|MemoryLayout<[^()]*>\.(?:size|stride)\)")


def code(text):
    """The text with comments and the contents of strings blanked out. Code in interpolations stays."""
    out, index, depth = [], 0, []
    while index < len(text):
        if text.startswith("//", index):
            end = text.find("\n", index)
            index = len(text) if end < 0 else end
        elif text.startswith("/*", index):
            end = text.find("*/", index)
            index = len(text) if end < 0 else end + 2
        elif text[index] == '"':
            quote = '"""' if text.startswith('"""', index) else '"'
            index += len(quote)
            out.append('"')
            while index < len(text) and not text.startswith(quote, index):
                if text.startswith("\\(", index):
                    start, level = index, 0
                    index += 1
                    while index < len(text):
                        level += {"(": 1, ")": -1}.get(text[index], 0)
                        index += 1
                        if level == 0:
                            break
                    out.append(code(text[start + 1 : index]))
                elif text[index] == "\\":
                    index += 2
                else:
                    if text[index] == "\n":
                        out.append("\n")
                    index += 1
            out.append('"')
            index += len(quote)
        else:
            out.append(text[index])
            index += 1
    return "".join(out)


def expression(text, start):
    """The call that begins here, up to its closing parenthesis, on one line."""
    level = 0
    for index in range(text.index("(", start), len(text)):
        level += {"(": 1, ")": -1}.get(text[index], 0)
        if level == 0:
            return " ".join(text[start : index + 1].split())
    return text[start:]


def found(path):
    """The places of a file, as pairs of a line and the code."""
    text = code(path.read_text())
    for match in CALLS.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, expression(text, match.start())
    for match in WORDS.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        yield text.count("\n", 0, match.start()) + 1, " ".join(text[start:end].split())
    for match in NARROW.finditer(text):
        if not CONSTANT.match(text, match.end()):
            yield text.count("\n", 0, match.start()) + 1, expression(text, match.start())


def main():
    entries = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = re.split(r"\s{2,}", line.strip(), maxsplit=2)
        if len(columns) != 3:
            sys.exit(f"scripts/traps.txt:{number}: the files, the code and the reason are separated by two spaces")
        entries.append((number, columns[0], re.compile(columns[1])))
    used, failures = set(), []
    files = sorted(path for folder in ("Sources", "Plugins") for path in (ROOT / folder).rglob("*.swift"))
    for path in files:
        name = str(path.relative_to(ROOT))
        # Compiled only for tests.
        if name.startswith("Sources/NevodTestSupport/"):
            continue
        for line, text in found(path):
            if sys.argv[1:] == ["--list"]:
                print(f"{name}:{line}: {text}")
                continue
            matching = [number for number, files, pattern in entries if fnmatch.fnmatch(name, files) and pattern.fullmatch(text)]
            used.update(matching)
            if not matching:
                failures.append(f"{name}:{line}: {text}")
    if sys.argv[1:] == ["--list"]:
        return
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        print("the code above can end the process: handle the case, or list it in scripts/traps.txt with the reason", file=sys.stderr)
    stale = [number for number, _, _ in entries if number not in used]
    for number in stale:
        print(f"scripts/traps.txt:{number}: no code matches; remove the line", file=sys.stderr)
    if failures or stale:
        sys.exit(1)
    print(f"traps: {len(entries)} entries, none other")


if __name__ == "__main__":
    main()
