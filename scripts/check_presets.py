#!/usr/bin/env python3
"""Checks the shipped presets (Presets/SCHEME/NAME.preset) and their table in Docs/presets.md.

Usage: scripts/check_presets.py          fails on a preset without sources, and on a table that differs
       scripts/check_presets.py --write  writes the table

Each paragraph with a setting names a page of the service's own documentation, as `# source: https://…`, so that every shipped
setting can be looked up. The program itself checks the rest when it reads a preset; Tests/CommandLine/test_presets.py makes it
read each one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Docs" / "presets.md"
MARKED = re.compile(r"(<!-- presets -->\n).*?(\n<!-- end -->)", re.S)
LONGEST = 132
# Filters of a recipe for hash functions that are broken for signatures but that some vendors still require.
WEAK = {"MD5": r"[|:]md5\b", "SHA-1": r"[|:]sha1\b"}


def problems(text):
    """The problems of a preset, as pairs of a line number and a sentence."""
    lines = text.splitlines()
    if not lines or not re.match(r"# \w", lines[0]):
        yield 1, "the first line must be a comment that says what the preset is for"
    for name, pattern in WEAK.items() if lines else ():
        uses = any(re.search(pattern, line) for line in lines if not line.startswith("#"))
        if uses != (f"weak: {name}" in lines[0] or f"and {name})" in lines[0]):
            yield 1, f"the first line says (weak: {name}) if, and only if, a recipe uses it"
    number = 1
    for paragraph in text.split("\n\n"):
        block = paragraph.splitlines()
        sources = [line for line in block if line.startswith("# source:")]
        for index, line in enumerate(block):
            if line.startswith("# source:") and not re.fullmatch(r"# source: https://[^\s/]+/\S*", line):
                yield number + index, "a source is the https address of a page, and nothing else"
            if len(line) > LONGEST and not sources:
                yield number + index, f"the line has more than {LONGEST} characters"
            if line != line.strip():
                yield number + index, "there is a space at an end of the line"
        settings = [index for index, line in enumerate(block) if line and line[0] not in "#{"]
        if settings and not sources:
            yield number + settings[0], "no source is named in this paragraph"
        if settings and sources and block.index(sources[0]) > settings[0]:
            yield number + settings[0], "the source must stand above what it is for"
        number += len(block) + 1
    if not text.endswith("\n") or "\n\n\n" in text:
        yield len(lines), "paragraphs are separated by one empty line, and the file ends with a line break"


def table(files):
    rows = ["| Scheme | Preset | For | Needs |", "|---|---|---|---|"]
    for path in files:
        text = path.read_text()
        needs = ", ".join(f"`{name}`" for name in re.findall(r"^\{([a-z0-9-]+)\} *=", text, re.M))
        rows.append(f"| `{path.parent.name}` | `{path.stem}` | {text.splitlines()[0].lstrip('# ')} | {needs} |")
    return "\n".join(rows)


def main():
    files = sorted(ROOT.glob("Presets/*/*.preset"))
    page = PAGE.read_text()
    current = MARKED.sub(lambda found: found[1] + table(files) + found[2], page)
    if "--write" in sys.argv:
        PAGE.write_text(current)
        return 0
    found = [f"{path.relative_to(ROOT)}:{line}: {problem}" for path in files for line, problem in problems(path.read_text())]
    strays = [path for path in (ROOT / "Presets").rglob("*") if path.is_file() and path not in files]
    found += [f"{path.relative_to(ROOT)}: a preset is Presets/SCHEME/NAME.preset" for path in strays]
    if not files or not MARKED.search(page) or page != current:
        found.append("Docs/presets.md shows another table: scripts/check_presets.py --write")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
