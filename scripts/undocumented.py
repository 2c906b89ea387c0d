"""Names every public symbol without a documentation comment, and fails if there is one.

A witness of a requirement that is documented, here or in the standard library, needs no words of its own.
"""
import json
import pathlib
import sys

# Requirements of the standard library's protocols: documented there.
STANDARD = {
    "==(_:_:)", "<(_:_:)", "hash(into:)", "description", "debugDescription", "customMirror", "rawValue", "init(rawValue:)",
    "init(from:)", "encode(to:)", "init(stringLiteral:)", "makeAsyncIterator()", "makeIterator()", "next()", "startIndex",
    "endIndex", "index(after:)", "subscript(_:)", "errorDescription",
}


def main():
    folder, modules = pathlib.Path(sys.argv[1]), sys.argv[2:]
    symbols, requirements, protocols = {}, set(), set()
    for path in sorted(folder.glob("*.symbols.json")):
        if path.name.split(".")[0].split("@")[0] not in modules:
            continue
        graph = json.loads(path.read_text())
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
        protocols |= {s["identifier"]["precise"] for s in graph["symbols"] if s["kind"]["identifier"] == "swift.protocol"}
        for relation in graph["relationships"]:
            if relation["kind"] in ("requirementOf", "optionalRequirementOf"):
                requirements.add(relation["source"])
    documented = {
        symbols[i]["names"]["title"] for i in requirements
        if i in symbols and "docComment" in symbols[i]}
    missing = sorted(
        ".".join(s["pathComponents"]) for s in symbols.values()
        if "docComment" not in s and s["names"]["title"] not in documented | STANDARD
        and not any(a.get("name") == "available" for a in s.get("availability", []))
        and s["kind"]["identifier"] != "swift.extension")
    for name in missing:
        print(f"undocumented: {name}", file=sys.stderr)
    sys.exit(1 if missing else 0)


main()
