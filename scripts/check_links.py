#!/usr/bin/env python3
"""Checks the links of all documents that git tracks: relative paths exist, and anchors name a heading.

    python3 scripts/check_links.py [ROOT]

Links to other sites are not followed. Text in code is not read.
"""

import pathlib
import re
import subprocess
import sys
import urllib.parse

FENCE = re.compile(r"^( *)(```+|~~~+).*?^ *\2`*~* *$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^ *\[[^\]]+\]:\s+(\S+)", re.M)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.M)
NAMED = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")


def blanked(pattern, text):
    """The text with each match replaced by its line breaks, which keeps line numbers."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text):
    """The anchors that GitHub gives the headings of a document."""
    text = blanked(FENCE, text)
    found, counts = set(NAMED.findall(text)), {}
    for heading in HEADING.findall(text):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = counts.get(slug, 0)
        counts[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found


def links(text):
    """(line, target) of each link."""
    for pattern in (FENCE, COMMENT, CODE):
        text = blanked(pattern, text)
    for match in LINK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


def problem(root, page, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
        return None
    path, _, anchor = target.partition("#")
    if path.startswith("/"):
        return "an absolute path, which works on one site only"
    aim = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
    if not aim.exists():
        return "no such file"
    if not aim.is_relative_to(root):
        return "outside the repository"
    if anchor and aim.suffix == ".md" and urllib.parse.unquote(anchor) not in anchors(aim.read_text()):
        return "no such heading"
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root, check=True,
        capture_output=True, text=True).stdout
    faults = 0
    for name in filter(None, sorted(listed.split("\0"))):
        page = root / name
        if not page.exists():
            continue
        for line, target in links(page.read_text()):
            if wrong := problem(root, page, target):
                faults += 1
                print(f"{name}:{line}: {target}: {wrong}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
