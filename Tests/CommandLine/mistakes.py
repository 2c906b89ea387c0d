#!/usr/bin/env python3
"""The table of mistakes: the command, the output and the exit code. Its rows are in mistakes.txt.

    python3 Tests/CommandLine/mistakes.py --write

writes Docs/mistakes.md from it; test_mistakes.py runs the rows and compares the page.
"""

import pathlib
import re
import shlex
import sys
import typing

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent.parent / "Docs/mistakes.md"

# The placeholders' values on the page. The test has its own.
SHOWN = {
    "closed": "8081", "plain": "8080", "self": "8443", "ca": "8444", "wrong": "8445", "expired": "8446", "mute": "8082", "odd": "8083",
    "folder": "/work", "plugins": "/usr/lib/nevod/plugins", "looked": "…",
}


class Mistake(typing.NamedTuple):
    name: str
    section: str
    # The arguments of `nevod-host`, after assignments of variables.
    line: str
    code: int
    # The lines on standard error without `nevod-host: `; … stands for any text.
    texts: tuple

    def words(self, values):
        """Returns the variables and the words."""
        words = [fill(word, values) for word in shlex.split(self.line)]
        count = 0
        while count < len(words) and re.match(r"[A-Za-z_]+=", words[count]):
            count += 1
        return dict(word.split("=", 1) for word in words[:count]), words[count:]

    def pattern(self, values):
        lines = [re.escape("nevod-host: " + fill(text, values) + "\n").replace("…", ".*") for text in self.texts]
        return "".join(lines)


def fill(text, values):
    """Replaces {name} where there is such a value."""
    return re.sub(r"\{([a-z]+)\}", lambda found: str(values.get(found[1], found[0])), text)


def mistakes():
    """Reads mistakes.txt: `## SECTION`, and for each row `NAME`, `$ LINE` and `CODE TEXT`, with further texts on lines that begin with
    `+ `."""
    rows, section, name, line = [], None, None, None
    for text in (FOLDER / "mistakes.txt").read_text().splitlines():
        if text.startswith("## "):
            section = text[3:]
        elif text.startswith("$ "):
            line = text[2:]
        elif text.startswith("+ "):
            rows[-1] = rows[-1]._replace(texts=(*rows[-1].texts, text[2:]))
        elif found := re.match(r"(\d+) (.*)$", text):
            rows.append(Mistake(name, section, line, int(found[1]), (found[2],) if found[2] else ()))
        elif text and not text.startswith("#"):
            name = text
    return rows


def code(text):
    # A table's cell ends at a bar, even in code.
    return "`" + text.replace("|", "\\|") + "`"


def page():
    lines = [
        "# Mistakes",
        "",
        "For a mistake, the command line prints one line on standard error: what is wrong, where, and how to fix it. The last column is the",
        "[exit code](command-line.md). `python3 Tests/CommandLine/mistakes.py --write` writes this page from rows that the tests run. `…` replaces",
        "text that depends on the machine.",
    ]
    section = None
    for row in mistakes():
        if row.section != section:
            section = row.section
            lines += ["", f"## {section}", "", "| Typed | Printed | Exit code |", "|---|---|---|"]
        texts = "<br>".join(code(fill(text, SHOWN)) for text in row.texts)
        variables, words = row.words({})
        typed = fill(" ".join([*(f"{key}={value}" for key, value in variables.items()), shown_words(row)]), SHOWN)
        lines.append(f"| {code(typed)} | {texts} | {row.code} |")
    return "\n".join(lines) + "\n"


def shown_words(row):
    """The words as they were typed, with the program's name before them."""
    line = row.line
    while found := re.match(r"[A-Za-z_]+=\S* ", line):
        line = line[found.end():]
    return f"nevod-host {line}"


def main():
    if sys.argv[1:] != ["--write"]:
        print(__doc__, file=sys.stderr)
        return 2
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
