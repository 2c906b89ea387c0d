"""Names every public symbol without a documentation comment, and fails if there is one.

    python3 scripts/undocumented.py FOLDER MODULE…

FOLDER holds symbol graphs, as scripts/check-docs extracts them. A protocol's requirement is documented in the protocol, ours or
the standard library's. A default implementation has its requirement's comment.
"""
import json
import pathlib
import sys


def main():
    folder, modules = pathlib.Path(sys.argv[1]), sys.argv[2:]
    symbols, answers = {}, {}
    for path in sorted(folder.glob("*.symbols.json")):
        if path.name.split(".")[0].split("@")[0] not in modules:
            continue
        graph = json.loads(path.read_text())
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
        for relation in graph["relationships"]:
            if relation["kind"] == "defaultImplementationOf":
                answers[relation["source"]] = relation["target"]
            elif relation["kind"] == "memberOf" and "sourceOrigin" in relation:
                answers[relation["source"]] = relation["sourceOrigin"]["identifier"]
    missing = modules_without_graph(folder, modules) + sorted(
        place(symbol) for identifier, symbol in symbols.items()
        if not is_documented(identifier, symbols, answers) and symbol["kind"]["identifier"] != "swift.extension")
    print(*(f"undocumented: {name}" for name in missing), sep="\n", end="\n" if missing else "", file=sys.stderr)
    print(f"{len(symbols)} public symbols, {len(missing)} without documentation")
    sys.exit(1 if missing or not symbols else 0)


def is_documented(identifier, symbols, answers):
    symbol = symbols.get(identifier)
    if symbol is None:
        return True  # Another library's requirement, documented there.
    if any(entry.get("isUnconditionallyDeprecated") for entry in symbol.get("availability", [])):
        return True  # The attribute names what replaces it.
    if "docComment" in symbol or "location" not in symbol:  # A macro wrote it, so it can't have a comment.
        return True
    return identifier in answers and is_documented(answers[identifier], symbols, answers)


def modules_without_graph(folder, modules):
    return [f"{module}: there is no symbol graph" for module in modules if not (folder / f"{module}.symbols.json").exists()]


def place(symbol):
    location = symbol.get("location", {})
    file = location.get("uri", "").partition("/Sources/")[2] or "?"
    return f"Sources/{file}:{location.get('position', {}).get('line', -1) + 1}: {'.'.join(symbol['pathComponents'])}"


main()
