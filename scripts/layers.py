#!/usr/bin/env python3
"""Checks that no file uses a declaration of a layer above its own, and prints the graph of the layers.

Usage: scripts/layers.py            prints each layer with what it uses; fails on an arrow that points up
       scripts/layers.py --table    prints the table of CONTRIBUTING.md
       scripts/layers.py --write    writes that table

The order stands here once. A layer is a module or a folder of one; rows of a table are sorted from the top to the bottom, and
layers of one row don't use each other.

What a file declares: types, functions and variables at the top level, and the members of extensions. What it uses: each name
in it. A member counts only if its name has several words and nothing else in the sources declares it, since the text alone
doesn't say which type it belongs to. That is enough to find a file in the wrong place, and needs no build.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the top (what a user writes) to the bottom.
ORDER = [
    [("nevod-host", "the command line")],
    [("NevodPluginChecks", "whether a plugin keeps the contract, each check in a process of its own")],
    [("NevodSessions/State", "an observable state for a UI")],
    [("NevodSessions/Client", "clients that keep a user logged in")],
    [
        ("NevodSessions/Analytics", "what is counted of tokens: refreshes, requests, ages"),
        ("NevodSessions/Users", "several accounts side by side, and the current one"),
        ("NevodSessions/Verification", "keys of an issuer, introspection, revocation, validation"),
    ],
    [("NevodSessions/Storage", "the tokens and the user of a session, as one stored value")],
    [
        ("NevodSessions/Migration", "stored values of earlier and later versions of an app"),
        ("NevodSessions/Presence", "a person who is asked before a token is used"),
    ],
    [("NevodSessions", "the coding of bodies and of what is stored")],
    [
        ("NevodHostFoundation", "`URLRequest`, `URLSession`, JSON, for programs that have Foundation"),
        ("NevodHostPostgreSQL", "a store that a fleet shares"),
        ("NevodHostSecretService", "a store in the desktop's keyring"),
    ],
    [("NevodHost/Schemes", "a plugin's session in a program: flows, logins, the person who is asked")],
    [
        ("NevodHost/OAuth", "OAuth 2.0 for programs that load no plugin: logins, renewal, revocation"),
        ("NevodHost/Pagination", "lists page by page"),
    ],
    [("NevodHost/Routing", "routes, their encodings, and a provider's methods that take them")],
    [("NevodHost/Provider", "`NetworkProvider`: attempts, redirects, retries, rate limits; its configuration")],
    [
        ("NevodHost/Interceptors", "authentication, headers, logging"),
        ("NevodHost/Caching", "the HTTP cache (RFC 9111)"),
    ],
    [("NevodHost/Plugins", "loading a library, its schemes, and all conversion between Swift and the contract")],
    [("NevodHost/Cookies", "the cookie jar (RFC 6265), and a token of cookies")],
    [("NevodHost/Tokens", "tokens, their storage, and the one renewal for all requests that need it")],
    [("NevodHost/Exchange", "what one request carries through the chain, and the chain")],
    [
        ("NevodHost/Logging", "loggers and redaction"),
        ("NevodHost/Transport", "the transport protocol, what it obeys, libcurl"),
    ],
    [("NevodHost/Errors", "the errors of requests, files and plugins")],
    [("NevodHost/HTTP", "values: request, response, headers, URL, origin, dates")],
    [("NevodHost/Time", "clocks, points in time, deadlines")],
    [
        ("NevodStorage/SQLite", "the embedded store"),
        ("NevodStorage/Layered", "one store over another"),
        ("NevodStorage/Files", "a file for each value"),
    ],
    [("NevodStorage/Sealing", "values sealed by a key, and where keys come from")],
    [("NevodStorage/Locking", "the lock of a renewal among processes")],
    [("NevodStorage/Watching", "which files of a folder other processes change")],
    [("NevodStorage/PrivateFiles", "files that only their owner may read, and a file written beside its target")],
    [("NevodStorage", "key-value storage: protocols, keys, errors, storage in memory")],
    [("NevodStorage/Concurrency", "waiters, timers, locks and queues for tasks; single flight")],
    [("NevodJWT", "JSON Web Tokens: parsing, keys, verification (RFC 7515 to 7519)")],
    [("NevodPluginTesting", "a host without a network, for the tests of a scheme; what crossed the contract, recorded and replayed")],
    [("NevodPluginCrypto", "digests, keys and signatures for authors of schemes")],
    [("NevodPluginKit", "for authors of schemes in Swift")],
    [("NevodCrypto", "keys, hashes and HMAC of libcrypto, for tokens and for plugins")],
    [("NevodSupport", "what host and kit share: secrets, locks, formats")],
]


def strip(text):
    """The code without comments and string literals; what an interpolation holds stays."""
    text = re.sub(r'"""(.|\n)*?"""', '""', text)
    text = re.sub(r"/\*(.|\n)*?\*/", "", text)
    text = re.sub(r"(?<![:\"])//[^\n]*", "", text)
    return re.sub(
        r'"(?:\\\([^"\n]*\)|\\.|[^"\\\n])*"', lambda match: " ".join(re.findall(r"\\\(([^\"\n]*?)\)", match[0])), text
    )


DECLARATION = re.compile(
    r"^\s*(?:@[\w.]+(?:\([^)]*\))?\s+)*"
    r"((?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated|mutating|static|class|convenience|borrowing)"
    r"(?:\([^)]*\))?\s+)*)"
    r"(struct|class|enum|protocol|actor|typealias|func|let|var|extension)\s+([\w.]+)"
)


ANY_DECLARATION = re.compile(r"\b(?:let|var|func|case|struct|enum|class|protocol)\s+(\w+)")


def declarations(code):
    """Names at the top level, and the members of extensions, that other files can see."""
    names, members = set(), set()
    depth, extends = 0, False
    for line in code.split("\n"):
        match = DECLARATION.match(line)
        if match and not re.search(r"\b(private|fileprivate)\b(?!\()", match[1]):
            if depth == 0 and match[2] == "extension":
                extends = True
            elif depth == 0:
                extends = False
                names.add(match[3])
            elif depth == 1 and extends and match[2] in ("func", "var", "let", "struct", "enum", "class"):
                members.add(match[3])
        depth += line.count("{") - line.count("}")
    return names, members


def layer_of(path, layers):
    folder = path.parent
    while folder != pathlib.Path("."):
        if folder.as_posix() in layers:
            return folder.as_posix()
        folder = folder.parent
    return None


class Graph:
    def __init__(self):
        self.rank = {}
        for rank, row in enumerate(reversed(ORDER)):
            for name, _ in row:
                self.rank[name] = rank
        sources = ROOT / "Sources"
        self.unknown = []
        files = {}
        for path in sorted(sources.glob("**/*.swift")):
            relative = path.relative_to(sources)
            layer = layer_of(relative, self.rank)
            if relative.parts[0] == "NevodHost" and len(relative.parts) == 2:
                continue  # It says what the module exports, and declares nothing.
            if relative.parts[0] == "NevodTestSupport":
                continue
            if layer is None:
                self.unknown.append(relative.as_posix())
                continue
            files[relative.as_posix()] = (layer, strip(path.read_text()))

        declared, member_of = collections.defaultdict(set), collections.defaultdict(set)
        for path, (layer, code) in files.items():
            names, members = declarations(code)
            for name in names:
                declared[name].add(path)
            for name in members:
                member_of[name].add(path)
        mentioned = collections.Counter(name for _, code in files.values() for name in set(ANY_DECLARATION.findall(code)))
        for name, paths in member_of.items():
            if re.search(r"[a-z][A-Z]", name) and len(paths) == 1 == mentioned[name]:
                declared["." + name] = paths

        self.uses = collections.defaultdict(lambda: collections.defaultdict(set))
        self.upward = []
        for path, (layer, code) in files.items():
            own_names, own_members = declarations(code)
            words = set(re.findall(r"(?<![.\w])\w+\b", code)) | {"." + word for word in re.findall(r"\.(\w+)\b", code)}
            local = set(ANY_DECLARATION.findall(code)) | set(re.findall(r"([a-z]\w*):", code))
            for word in words:
                if word not in declared or path in declared[word] or word in local:
                    continue
                owners = {files[owner][0] for owner in declared[word]}
                visible = {owner for owner in owners if self.can_see(layer, owner)}
                if len(visible) != 1:
                    continue
                owner = visible.pop()
                if owner == layer:
                    continue
                self.uses[layer][owner].add(word)
                if self.rank[owner] >= self.rank[layer]:
                    self.upward.append((path, layer, word, owner, sorted(declared[word])[0]))

    def can_see(self, layer, owner):
        """Whether the compiler would let one use the other at all: within a module anything, of others what is imported."""
        module, other = layer.split("/")[0], owner.split("/")[0]
        if module == other:
            return True
        imports = {
            "nevod-host": {
                "NevodHost", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodPluginChecks", "NevodPluginTesting",
                "NevodStorage", "NevodSupport",
            },
            "NevodPluginChecks": {"NevodHost", "NevodPluginTesting", "NevodSupport"},
            "NevodPluginTesting": {"NevodSupport"},
            "NevodPluginCrypto": {"NevodSupport"},
            "NevodHostFoundation": {"NevodHost", "NevodStorage", "NevodSupport"},
            "NevodSessions": {"NevodHost", "NevodHostFoundation", "NevodJWT", "NevodStorage", "NevodSupport"},
            "NevodHostPostgreSQL": {"NevodStorage", "NevodSupport"},
            "NevodHostSecretService": {"NevodStorage", "NevodSupport"},
            "NevodHost": {"NevodStorage", "NevodSupport"},
            "NevodStorage": {"NevodSupport"},
            "NevodCrypto": {"NevodSupport"},
            "NevodJWT": {"NevodCrypto", "NevodSupport"},
            "NevodPluginCrypto": {"NevodCrypto", "NevodPluginKit", "NevodSupport"},
            "NevodPluginKit": {"NevodSupport"},
            "NevodSupport": set(),
        }
        return other in imports[module]


def table():
    lines = ["| from the top | what it is | uses, of those below |", "| --- | --- | --- |"]
    graph = Graph()
    order = [name for row in ORDER for name, _ in row]
    for row in ORDER:
        for name, text in row:
            used = sorted(graph.uses[name], key=order.index)
            short = [use.removeprefix("NevodHost/") if name.startswith("NevodHost/") else use for use in used]
            lines.append(f"| `{name}` | {text} | {', '.join(short)} |")
    return "\n".join(lines)


def main():
    if "--table" in sys.argv:
        return print(table())
    page = ROOT / "CONTRIBUTING.md"
    marked = re.compile(r"(<!-- layers -->\n).*?(\n<!-- end -->)", re.S)
    if "--write" in sys.argv:
        page.write_text(marked.sub(lambda match: match[1] + table() + match[2], page.read_text()))
        return None
    graph = Graph()
    for row in ORDER:
        for name, _ in row:
            print(f"{name:26} → {', '.join(sorted(graph.uses[name], key=lambda use: (-graph.rank[use], use))) or '–'}")
    for path, layer, word, owner, place in sorted(graph.upward):
        print(f"{path} uses {word.lstrip('.')} of {owner} ({place}), which is not below {layer}", file=sys.stderr)
    for path in graph.unknown:
        print(f"{path} is in a folder that has no place in the order (scripts/layers.py)", file=sys.stderr)
    found = marked.search(page.read_text())
    is_current = found is not None and found[0] == marked.sub(lambda match: match[1] + table() + match[2], found[0])
    if not is_current:
        print("CONTRIBUTING.md shows another table: scripts/layers.py --write", file=sys.stderr)
    return 1 if graph.upward or graph.unknown or not is_current else 0


if __name__ == "__main__":
    sys.exit(main())
