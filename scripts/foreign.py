#!/usr/bin/env python3
"""Compares what our public modules add to other modules' types with the list of allowed additions, scripts/foreign.txt.

Usage: scripts/foreign.py          fails on an addition that isn't in the list, and on entries that match nothing
       scripts/foreign.py --list   prints what it finds

Every file that imports the module sees an addition. If it overloads a name of Foundation or the standard library, it can make a
program ambiguous even though the program doesn't use it: `let data = try JSONEncoder().encode(value)` did not compile while
`JSONEncoder` had a second `encode(_:)`. So each addition is a decision. The symbol graphs of the debug build show these kinds:

    member       a member added to another module's type
    overload     the same, if the type has a member with this name and these labels
    conformance  of another module's type to a protocol
    type         a top-level type of ours whose name another module has too

A line of the list has four columns, separated by two or more spaces: the module, the kind, the name (a regular expression that
matches all of it), and the reason.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import debug_modules  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "foreign.txt"
OURS = [
    "NevodSupport", "NevodStorage", "NevodHost", "NevodHostFoundation", "NevodHostPostgreSQL", "NevodHostSecretService",
    "NevodPluginKit",
]
# Products that a program imports, if they exist.
OPTIONAL = ["NevodJWT", "NevodSessions"]
OTHERS = [
    "Swift", "_Concurrency", "_StringProcessing", "Synchronization", "Observation", "Dispatch", "FoundationEssentials", "Foundation",
    "FoundationNetworking", "FoundationInternationalization",
]
# Every copyable type conforms to them implicitly.
IMPLIED = {"Copyable", "Escapable", "Sendable", "SendableMetatype"}

Addition = collections.namedtuple("Addition", "module kind name")


def extract(module, folder, flags=()):
    done = subprocess.run(
        ["swift-symbolgraph-extract", "-target", "x86_64-unknown-linux-gnu", "-module-name", module,
         "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder, *flags],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"the symbols of {module} can't be read:\n{done.stdout}")


def graphs(folder, module):
    """The symbol graphs of a module: its own, and one for each module that it extends."""
    for path in sorted(pathlib.Path(folder).glob(f"{module}*.symbols.json")):
        name = path.name.removesuffix(".symbols.json")
        if name.split("@")[0] == module:
            yield name.partition("@")[2], json.loads(path.read_text())


def names_of_others(folder):
    """The top-level names of other modules, and the names of all their members, with their labels."""
    top, members = set(), set()
    for module in OTHERS:
        for _, graph in graphs(folder, module):
            for symbol in graph["symbols"]:
                path = symbol["pathComponents"]
                if symbol["kind"]["identifier"] == "swift.extension" or path[0].startswith("_"):
                    continue
                if len(path) > 1:
                    members.add(".".join(path))
                elif not symbol["kind"]["identifier"].startswith("swift.func"):
                    top.add(path[0])
    return top, members


def additions(folder, ours):
    top, members = names_of_others(folder)
    found = set()
    for module in ours:
        for extended, graph in graphs(folder, module):
            protocols = {symbol["identifier"]["precise"]: symbol["pathComponents"][-1] for symbol in graph["symbols"]}
            for symbol in graph["symbols"]:
                name, kind = ".".join(symbol["pathComponents"]), symbol["kind"]["identifier"]
                if not extended:
                    if len(symbol["pathComponents"]) == 1 and name in top and not kind.startswith("swift.func"):
                        found.add(Addition(module, "type", name))
                elif extended not in ours and kind != "swift.extension":
                    found.add(Addition(module, "overload" if name in members else "member", name))
            if not extended or extended in ours:
                continue
            for relation in graph["relationships"]:
                if relation["kind"] != "conformsTo":
                    continue
                protocol = relation.get("targetFallback") or protocols.get(relation["target"]) or relation["target"]
                protocol = protocol.rpartition(".")[2]
                if protocol in IMPLIED:
                    continue
                # A protocol of the same module has only a mangled name here: s:9NevodHost9TimePointP
                mangled = re.fullmatch(r"s:\d+[A-Za-z]+?(\d+)([A-Za-z]+)P", protocol)
                protocol = mangled[2][-int(mangled[1]):] if mangled and int(mangled[1]) <= len(mangled[2]) else protocol
                extended_type = protocols.get(relation["source"], relation["source"])
                found.add(Addition(module, "conformance", f"{extended_type}: {protocol}"))
    return found


def read_list(text):
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = re.split(r" {2,}", line.strip(), maxsplit=3)
        if len(columns) != 4:
            raise SystemExit(f"scripts/foreign.txt:{number}: it must have four columns")
        entries.append((number, *columns))
    return entries


def compare(found, entries):
    """What is wrong, in lines."""
    used, problems = set(), []
    for addition in sorted(found):
        matching = [
            number for number, module, kind, name, _ in entries
            if addition.module == module and addition.kind == kind and re.fullmatch(name, addition.name)]
        used.update(matching)
        if not matching:
            problems.append(f"{addition.module} adds to another module ({addition.kind}): {addition.name}")
    problems += [
        f"scripts/foreign.txt:{number}: nothing matches {name}" for number, _, _, name, _ in entries if number not in used]
    return problems


def main():
    with tempfile.TemporaryDirectory() as folder:
        flags = debug_modules.flags()
        ours = OURS + [
            name for name in OPTIONAL if (debug_modules.BUILD / "Modules" / f"{name}.swiftmodule").exists()]
        for module in OTHERS:
            extract(module, folder)
        for module in ours:
            extract(module, folder, ["-emit-extension-block-symbols", *flags])
        found = additions(folder, ours)
    if sys.argv[1:] == ["--list"]:
        print(*(f"{a.module}  {a.kind}  {a.name}" for a in sorted(found)), sep="\n")
        return
    problems = compare(found, read_list(LIST.read_text()))
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    if problems:
        print(
            "rename the addition, or make it internal or package; one that is meant to stay goes into scripts/foreign.txt",
            file=sys.stderr)
    print(f"{len(found)} additions to other modules, {len(problems)} unexpected")
    sys.exit(1 if problems or not found else 0)


if __name__ == "__main__":
    main()
