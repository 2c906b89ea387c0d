#!/usr/bin/env python3
"""Writes the tables of settings in Docs/schemes/*.md from the plugins' own declarations.

    python3 scripts/scheme_tables.py          # brings the pages up to date
    python3 scripts/scheme_tables.py --check  # changes nothing, and fails if that would

A table is between <!-- settings: libNAME.so SCHEME --> and <!-- end -->. Every scheme of every plugin in Plugins/ has one, on one
page. NEVOD_BUILD_DIR says where nevod-host and the plugins are; by default in .build/release.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = "make tables"
START = re.compile(r"^<!-- settings: (\S+) (\S+) -->\n", re.M)
END = "<!-- end -->\n"


class Failure(Exception):
    pass


def declared(build_dir, root):
    """{(library, scheme): the output of `inspect`} for the plugins of this repository."""
    schemes = {}
    for folder in sorted(path for path in (root / "Plugins").iterdir() if path.is_dir()):
        library = build_dir / f"lib{folder.name}.so"
        if not library.exists():
            raise Failure(f"Plugins/{folder.name} is not built as {library}; run make build")
        done = subprocess.run(
            [build_dir / "nevod-host", "inspect", "--json", library], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise Failure(f"inspect {library} failed: {done.stderr.strip()}")
        for scheme in json.loads(done.stdout)["schemes"]:
            schemes[library.name, scheme["id"]] = scheme
    return schemes


def prose(text):
    return re.sub(r"([\\`*\[\]<|])", r"\\\1", text)


def code(text):
    """In a table, a bar ends a cell, even in code. A line break ends the row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("|", r"\|").replace("\n", r"\n")


def row(setting):
    kind = {"boolean": "true or false", "url": "URL"}.get(setting["kind"], setting["kind"])
    if setting["kind"] == "choice":
        kind = ", ".join(map(code, setting["choices"]))
    flags = [name for name in ("required", "secret", "repeatable") if setting[name]]
    default = "" if setting["default"] is None else code(setting["default"])
    return [code(setting["name"]), prose(setting["help"]), kind, default, ", ".join(flags)]


def table(scheme):
    if not scheme["settings"]:
        return "It has no settings.\n"
    rows = [["Setting", "What it is", "Value", "Default", ""], ["---"] * 5] + list(map(row, scheme["settings"]))
    return "".join("|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n" for cells in rows)


def rewritten(name, text, schemes, pages):
    """Returns the page with correct tables, and records in `pages` which schemes it has."""
    result, position = "", 0
    for start in START.finditer(text):
        key = start.groups()
        if key not in schemes:
            raise Failure(f"{name} has a table for the scheme {key[1]} of {key[0]}, which there is not")
        if key in pages:
            raise Failure(f"{name} has a table for the scheme {key[1]} of {key[0]}, and so has {pages[key]}")
        pages[key] = name
        end = text.find(END, start.end())
        if end < 0 or START.search(text, start.end(), end):
            raise Failure(f"{name}: the table of the scheme {key[1]} of {key[0]} has no {END.strip()}")
        result += text[position:start.end()] + "\n" + table(schemes[key]) + "\n"
        position = end
    if not position:
        raise Failure(f"{name} has no table: <!-- settings: libNAME.so SCHEME -->, and {END.strip()} below it")
    return result + text[position:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    build_dir = pathlib.Path(os.environ.get("NEVOD_BUILD_DIR", ROOT / ".build/release")).resolve()
    failures, pages = [], {}
    try:
        schemes = declared(build_dir, ROOT)
    except Failure as failure:
        sys.exit(str(failure))
    for path in sorted((ROOT / "Docs/schemes").glob("*.md")):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        try:
            wanted = rewritten(name, text, schemes, pages)
        except Failure as failure:
            failures.append(str(failure))
            continue
        if wanted != text and check:
            failures.append(f"{name} doesn't say what the plugin says; run {COMMAND}")
        elif wanted != text:
            path.write_text(wanted)
            print(f"{name}: written")
    failures += [
        f"no page in Docs/schemes has a table for the scheme {scheme} of {library}; write <!-- settings: {library} {scheme} -->, "
        f"{END.strip()} below it, and run {COMMAND}" for library, scheme in schemes if (library, scheme) not in pages]
    if failures:
        sys.exit("\n".join(failures))
    print(f"the settings of {len(schemes)} schemes stand on their pages")


if __name__ == "__main__":
    main()
