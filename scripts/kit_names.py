#!/usr/bin/env python3
"""Checks that Docs/kit.md has each public name of the kit and its cryptography, and each element of the contract.

Usage: scripts/kit_names.py          fails with the names that are missing
       scripts/kit_names.py --list   prints all names
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "Docs/kit.md"
HEADER = ROOT / "Sources/NevodPluginABI/include/nevod_plugin.h"
SOURCES = [
    *sorted((ROOT / "Sources/NevodPluginKit").rglob("*.swift")), *sorted((ROOT / "Sources/NevodPluginCrypto").rglob("*.swift")),
    # The kit re-exports these as its own.
    *(ROOT / "Sources/NevodSupport" / name for name in (
        "Secret.swift", "Locked.swift", "Formats/Base64.swift", "Formats/Hexadecimal.swift", "Formats/JSONValue.swift",
        "Formats/PercentEncoding.swift", "Cookies/CookieScope.swift", "Cookies/SetCookieLine.swift")),
]
# Requirements of the standard library's protocols, and functions that only the compiler calls.
UNSAID = {
    "description", "debugDescription", "customMirror", "ArrayLiteralElement", "hash", "rawValue", "stringLiteral", "Key", "Value",
    "wrappedValue", "RawValue"}
DECLARATION = re.compile(
    r"\bpublic\s+(?:internal\(set\)\s+|private\(set\)\s+|package\(set\)\s+)?(?:static\s+|final\s+|mutating\s+|consuming\s+|convenience\s+|nonisolated\s+)*"
    r"(?:struct|enum|class|protocol|func|var|let|typealias)\s+`?(\w+)")


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    # A deprecated symbol has a replacement with another name.
    return re.sub(r"@available\(\*, deprecated[^\n]*\n[^\n]*\n", "", text)


def cases(text):
    """The cases of public enums: the lines of their bodies."""
    for found in re.finditer(r"^( *)public (?:indirect )?enum \w+[^{]*\{\n(.*?)^\1\}", text, re.M | re.S):
        indent = found[1] + "    "
        for line in re.findall(rf"^{indent}case ([^\n]*)", found[2], re.M):
            line = re.sub(r"\([^()]*\)|=\s*(\"[^\"]*\"|-?\w+)", "", line)
            yield from re.findall(r"`?(\w+)`?", line)


def requirements(text):
    for found in re.finditer(r"^public protocol \w+[^{]*\{\n(.*?)^\}", text, re.M | re.S):
        yield from re.findall(r"^    (?:static |mutating |@_lifetime\([^)]*\) )*(?:func|var|associatedtype) (\w+)", found[1], re.M)


def swift_names():
    names = set()
    for path in SOURCES:
        text = without_comments(path.read_text())
        names |= set(DECLARATION.findall(text)) | set(cases(text)) | set(requirements(text))
    return {name for name in names if not name.startswith("_")} - UNSAID


def contract_names():
    """Structs, their fields, constants and macros; a field as struct.field."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    names = set(re.findall(r"\bNEVOD_[A-Z0-9_]+\b", text)) | {"nevod_plugin_v1"}
    for name, body in re.findall(r"struct (nevod_\w+) \{\n(.*?)\n\}", text, re.S):
        names.add(name)
        for line in re.sub(r"\([^;()]*(?:\([^()]*\)[^;()]*)*\)(?=;)", "()", body).split(";"):
            found = re.search(r"\(\*(\w+)\)", line) or re.search(r"(\w+)\s*$", line)
            if found:
                names.add(f"{name}.{found[1]}")
    return names


def missing():
    guide = GUIDE.read_text()
    words = set(re.findall(r"\w+", guide))
    lacking = [f"Swift: {name}" for name in sorted(swift_names()) if name not in words]
    table = set(re.findall(r"[\w.]+", guide))
    return lacking + [f"contract: {name}" for name in sorted(contract_names()) if name not in table]


def main():
    if "--list" in sys.argv:
        print("\n".join(sorted(swift_names()) + sorted(contract_names())))
        return None
    lacking = missing()
    if lacking:
        return "Docs/kit.md lacks:\n" + "\n".join(lacking)
    print(f"kit: {len(swift_names())} names and {len(contract_names())} elements of the contract are documented")
    return None


if __name__ == "__main__":
    sys.exit(main())
