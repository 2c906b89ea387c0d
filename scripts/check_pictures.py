#!/usr/bin/env python3
"""Checks the pictures of the documents: the plots have the numbers of the tables, and the terminal shows no secret and no path.

    python3 scripts/check_pictures.py [ROOT]

scripts/pictures draws them.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import plots

TERMINAL = "Docs/images/terminal.svg"
TERMINAL_BYTES = 150_000
DRAW = "draw it again: make pictures"
SVG = "{http://www.w3.org/2000/svg}"
PATH = re.compile(r"/(?:root|home|work|tmp)\b[\w./-]*")
# A key, a token or a signature: long, and with digits and letters.
SECRET = re.compile(r"(?=[A-Za-z+/_=-]*[0-9])(?=[0-9+/_=-]*[A-Za-z])[A-Za-z0-9+/_=-]{24,}")


def texts(path):
    """(the document, the texts that it shows) of an SVG."""
    document = ElementTree.parse(path).getroot()
    return document, ["".join(element.itertext()) for element in document.iter(f"{SVG}text")]


def foreign(document):
    """What is not drawn, or is fetched from elsewhere. Both are dropped, or refused, where a page shows the picture."""
    for element in document.iter():
        if element.tag in (f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject"):
            yield f"contains <{element.tag.removeprefix(SVG)}>"
        for name, value in element.items():
            if name.endswith("href") and not value.startswith("#") or name.startswith("on"):
                yield f"contains {name}=\"{value}\""
        if element.tag == f"{SVG}style" and re.search(r"@import|url\(", element.text or ""):
            yield "contains a style that fetches something"


def plot_problems(root, name, title, groups):
    path = root / plots.FOLDER / f"{name}.svg"
    expected = plots.numbers((root / plots.TABLES).read_text(), groups)
    document, shown = texts(path)
    if (document.findtext(f"{SVG}desc") or "") != plots.description(title, expected):
        yield f"its <desc> doesn't have the numbers of {plots.TABLES}; {DRAW}"
    values = [value for _, bars in expected for _, value in bars]
    if [text for text in shown if re.fullmatch(r"\d+\.\d\d", text)] != values:
        yield f"it doesn't show the numbers of {plots.TABLES}; {DRAW}"
    yield from foreign(document)


def terminal_problems(path):
    document, shown = texts(path)
    if path.stat().st_size > TERMINAL_BYTES:
        yield f"has {path.stat().st_size} bytes, where {TERMINAL_BYTES} are the most; shorten the session in scripts/record_terminal.py"
    if found := PATH.search(path.read_text()):
        yield f"contains the path {found[0]}; {DRAW}, from another folder"
    for text in shown:
        if found := SECRET.search(text):
            yield f"shows \"{found[0]}\", which may be a secret; remove it from the session in scripts/record_terminal.py"
    yield from foreign(document)


def problems(root):
    """(file, what is wrong with it)."""
    try:
        for name, (title, _, groups) in plots.PLOTS.items():
            for problem in plot_problems(root, name, title, groups):
                yield f"{plots.FOLDER}/{name}.svg", problem
        for problem in terminal_problems(root / TERMINAL):
            yield TERMINAL, problem
    except plots.Failure as failure:
        yield plots.TABLES, str(failure)
    except (OSError, ElementTree.ParseError) as error:
        yield plots.FOLDER, f"{error}; {DRAW}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else plots.ROOT)
    found = [f"{file}: {problem}" for file, problem in problems(root)]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
