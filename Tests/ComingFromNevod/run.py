#!/usr/bin/env python3
"""Compiles code that programs write for Nevod, and compares the counts with Docs/coming-from-nevod.md.

    python3 Tests/ComingFromNevod/run.py           after swift build --build-tests
    python3 Tests/ComingFromNevod/run.py --write   writes the states and counts of the document

Guides.md has our own source for each snippet of Nevod's guides, and Uses.md has one for each name of its public API, in the same
shape. They are compiled from outside the package, against the modules of the debug build. If a use must change here, its source
has both forms:

    #if AS_WRITTEN
        what Nevod's users have; after "// Compiles, but …", it works differently here
    #else
        what they write here
    #endif

Untyped holds sources that use names of Foundation and the standard library. Importing our modules must not make them ambiguous.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = ROOT / "Docs" / "coming-from-nevod.md"
sys.path.insert(0, str(ROOT / "scripts"))
import debug_modules  # noqa: E402

UNCHANGED, TRY, CHANGED, NONE = "unchanged", "`try`", "changed", "none"
STATES = [UNCHANGED, TRY, CHANGED, NONE]
KINDS = {"Guides": (27, 27, "snippets of the guides"), "Uses": (169, 140, "uses of the API")}
SOURCE = re.compile(r"^## (\d+)\. ([^\n]+)\n\n```swift\n(.*?)^```$", re.M | re.S)
PLACE = re.compile(r"^(.+?\.swift):(\d+):\d+: error: (.*)$", re.M)


def sources(kind):
    """(number, title, text, line of the document before the text) of each source."""
    document = (HERE / f"{kind}.md").read_text()
    for match in SOURCE.finditer(document):
        yield int(match[1]), match[2], match[3], document.count("\n", 0, match.start(3))


def file(kind, number):
    """The path of a source. The compiler wants a name of its own for each file of a module."""
    return f"{kind}/{kind}{number}.swift"


def errors(folder, *flags):
    """The first error of each file, by its path below the folder."""
    files = sorted(folder.glob("*/*.swift"))
    done = subprocess.run(
        ["swiftc", "-typecheck", "-wmo", "-swift-version", "6", *debug_modules.flags(), *flags, *map(str, files)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    found = collections.OrderedDict()
    for path, line, message in PLACE.findall(done.stdout):
        found.setdefault(pathlib.Path(path).relative_to(folder).as_posix(), f"{line}: {message}")
    if done.returncode and not found:
        raise SystemExit(f"the compiler failed:\n{done.stdout}")
    return found


def forms(text):
    """What a user of Nevod has, and what it becomes here."""
    parts = re.fullmatch(r"(.*)^#if AS_WRITTEN\n(.*)^#else\n(.*)^#endif\n(.*)", text, re.M | re.S)
    return (parts[1] + parts[2] + parts[4], parts[1] + parts[3] + parts[4]) if parts else (text, text)


def without_try(text):
    """The text without what `try` requires: the word, `throws` in the function around it, parentheses and spaces."""
    return re.sub(r"\btry\b[?]?|\bthrows\b|[()\s]", "", text)


def state(text, as_written, as_changed):
    before, after = forms(text)
    if not as_written and "// Compiles, but " not in before:
        return UNCHANGED
    if as_changed:
        return NONE
    return TRY if without_try(before) == without_try(after) else CHANGED


def states():
    """The title and state of each source, by folder and number, and what is wrong with the sources themselves."""
    # Outside the package, so that only its public API is visible.
    with tempfile.TemporaryDirectory() as outside:
        folder = pathlib.Path(outside).resolve()
        shutil.copytree(HERE / "Untyped", folder / "Untyped")
        for kind in KINDS:
            (folder / kind).mkdir()
            for number, _, text, _ in sources(kind):
                (folder / file(kind, number)).write_text(text)
        written, changed = errors(folder, "-D", "AS_WRITTEN"), errors(folder)
    problems = [f"Tests/ComingFromNevod/{path}:{written[path]}" for path in written if path.startswith("Untyped/")]
    found = {}
    for kind, (count, _, _) in KINDS.items():
        if [number for number, *_ in sources(kind)] != list(range(1, count + 1)):
            problems.append(f"Tests/ComingFromNevod/{kind}.md: there must be {count} sources, numbered from 1")
        for number, title, text, line in sources(kind):
            path = file(kind, number)
            found[kind, number] = title, state(text, path in written, path in changed)
            # An unneeded second form would hide that the first one compiles.
            if found[kind, number][1] == UNCHANGED and "#if AS_WRITTEN" in text:
                problems.append(f"Tests/ComingFromNevod/{kind}.md:{line}: it compiles as written; remove the other form")
    return found, problems


def counts(found):
    """One sentence for each kind."""
    for kind, (count, goal, name) in KINDS.items():
        of = collections.Counter(state for (other, _), (_, state) in found.items() if other == kind)
        yield kind, of[UNCHANGED] + of[TRY], (
            f"Of {count} {name}, {of[UNCHANGED]} compile unchanged, {of[TRY]} with `try` added, {of[CHANGED]} with another change, "
            f"{of[NONE]} not at all.")


ROW = re.compile(r"^\| (Guide )?(\d+) \| (.*?) \| (\S+) \| (.*?) ?\|$", re.M)


def document(text, found):
    """The document with the sources' states and counts, and what else is wrong with it."""
    problems, rows = [], set()

    def row(match):
        key = "Guides" if match[1] else "Uses", int(match[2])
        if key not in found:
            problems.append(f"no source has the number of the row: {match[0]}")
            return match[0]
        rows.add(key)
        title, state = found[key]
        # The section is above the table of uses.
        name = title if match[1] else title.partition(": ")[2]
        if state in (CHANGED, NONE) and not match[5].strip():
            problems.append(f"the row says neither what to write nor why: {match[0]}")
        return f"| {match[1] or ''}{match[2]} | {name} | {state} | {match[5].strip()} |".replace("|  |", "| |")

    text = ROW.sub(row, text)
    problems += [f"there is no row for {kind}/{number}: {found[kind, number][0]}" for kind, number in sorted(found.keys() - rows)]
    for kind, _, sentence in counts(found):
        text, replaced = re.subn(rf"^Of \d+ {KINDS[kind][2]}, .*$", sentence, text, flags=re.M)
        if replaced != 1:
            problems.append(f"the document must have one line that begins: Of {KINDS[kind][0]} {KINDS[kind][2]}, ")
    return text, problems


def main():
    found, problems = states()
    before = DOCUMENT.read_text()
    after, more = document(before, found)
    problems += more
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(after)
    elif after != before:
        changed = [
            f"- {old}\n+ {new}" for old, new in zip(before.splitlines(), after.splitlines()) if old != new]
        problems.append("Docs/coming-from-nevod.md differs from what compiles (--write mends it):\n" + "\n".join(changed))
    for kind, sufficient, sentence in counts(found):
        print(sentence)
        if sufficient < KINDS[kind][1]:
            problems.append(f"only {sufficient} compile with at most `try` added; the goal is {KINDS[kind][1]}")
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
