#!/usr/bin/env python3
"""Checks that no file uses a declaration of a layer above its own, and prints the graph of the layers.

Usage: scripts/layers.py            prints each layer with what it uses; fails on an arrow that points up
       scripts/layers.py --table    prints the table of CONTRIBUTING.md
       scripts/layers.py --write    writes that table, and the tables of modules and folders in Docs/internals/architecture.md

This file is the only place of the order. A layer is a module or one of its folders. Rows are sorted from the top to the bottom,
and layers in one row don't use each other.

A file declares types, functions and variables at the top level, and members of extensions. It uses each name in it. A member
counts only if its name has several words and only one declaration in the sources, because the text alone doesn't say which type
it belongs to. This is enough to find a file in the wrong place, and needs no build.
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
    [("NevodProcesses", "child programs: their start, their descriptors, their end")],
    [("NevodOAuth", "OAuth 2.0 without a network: what requests say, what responses mean; for the host, for sessions and the plugin")],
    [("NevodPluginCrypto", "digests, keys and signatures for authors of schemes")],
    [("NevodPluginKit", "for authors of schemes in Swift")],
    [("NevodCrypto", "keys, hashes and HMAC of libcrypto, for tokens and for plugins")],
    [("NevodSupport", "what host and kit share: secrets, locks, formats")],
]

# Modules that have no place in the order, or whose folders have the places.
MODULES = {
    "NevodHost": "the library: requests, credentials, plugins, the network",
    "NevodPluginABI": "the contract in C, and checks of its layout",
    "NevodSessions": "an app's session, with what apps need around it",
    "NevodStorage": "key-value stores, sealing, and the concurrency they need; no network",
    "NevodTestSupport": "what all tests share: servers, fleets of processes, rules for sealed stores",
    "C/CEmbeddedRuntime": "in plugins of Embedded Swift, the functions that Swift's archives leave to the program",
    "C/COpenSSLExit": "keeps OpenSSL usable until the process has ended",
    "C/CPluginCalls": "names the plugin when the process ends during a plugin's call; wakes threads",
    "C/CPluginRuntime": "the part of the kit that Swift can't express",
    "C/CTemplates": "the files of `nevod-host new`, inside the program",
    "C/CTokenFile": "reads a token's file for a plugin of Embedded Swift",
    "C/NevodPluginLinkage": "no code; linked into each plugin, it hides all symbols but the entry point",
    "System/CBrotli": "Brotli's decoder",
    "System/CCurl": "libcurl",
    "System/CFutex": "a lock's slow path, for code that must not import the C library",
    "System/CIDN2": "international domain names",
    "System/CLinux": "functions of the C library that Swift's Glibc module leaves out",
    "System/COpenSSL": "OpenSSL's libcrypto",
    "System/CPAM": "PAM; loaded when a presence is first checked",
    "System/CPQ": "libpq; loaded when a store in PostgreSQL is first opened",
    "System/CPSL": "the public suffix list",
    "System/CSQLite": "SQLite; loaded when a store is first opened",
    "System/CSecretService": "libsecret; loaded when the desktop's keyring is first used",
    "System/CZlib": "zlib",
    "System/CZstd": "Zstandard",
}

# The folders of the command line. They may use each other: the order above is for the library.
COMMAND_LINE = {
    "Arguments": "what a command line can say: commands, flags, help, completions, the manual page",
    "Commands": "each command, from its arguments to its result",
    "Content": "bodies and forms from arguments and files",
    "Cookies": "cookie files and curl's cookie options",
    "Credentials": "credentials for other programs: git, docker, kubectl, netrc; Digest and Basic by `-u`",
    "Errors": "exit codes, an error's text with its way out, what a server's refusal says",
    "Linkage": "what the static program links in place of the C++ library",
    "Login": "the person at the terminal: questions, the browser, the loopback redirect",
    "New": "`nevod-host new`",
    "Output": "what is written: responses, progress, the pager, files, colours, JSON",
    "Profiles": "the configuration file: its grammar, its commands, the choice of a profile",
    "Recording": "`record` and `replay`",
    "Sessions": "the store of sessions, its key and its names",
    "Settings": "settings and secrets: where their values come from, child programs, the terminal",
    "Shorthands": "HTTPie's items",
    "SiteLogin": "`login URL`: what kind of login a site's page has",
    "Transport": "connections, interceptors and hops as the flags ask for them",
    "WriteOut": "`-w`",
}


def strip(text):
    """The code without comments and string literals. Code in interpolations stays."""
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
                continue  # It re-exports other modules and declares nothing.
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
        """Whether the compiler would allow the use at all: anything in the same module, and what is imported from others."""
        module, other = layer.split("/")[0], owner.split("/")[0]
        if module == other:
            return True
        imports = {
            "nevod-host": {
                "NevodHost", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodPluginChecks", "NevodPluginTesting",
                "NevodProcesses", "NevodStorage", "NevodSupport",
            },
            "NevodPluginChecks": {"NevodHost", "NevodPluginTesting", "NevodProcesses", "NevodSupport"},
            "NevodProcesses": {"NevodSupport"},
            "NevodPluginTesting": {"NevodSupport"},
            "NevodPluginCrypto": {"NevodSupport"},
            "NevodHostFoundation": {"NevodHost", "NevodStorage", "NevodSupport"},
            "NevodSessions": {"NevodHost", "NevodHostFoundation", "NevodJWT", "NevodOAuth", "NevodStorage", "NevodSupport"},
            "NevodHostPostgreSQL": {"NevodStorage", "NevodSupport"},
            "NevodHostSecretService": {"NevodStorage", "NevodSupport"},
            "NevodHost": {"NevodOAuth", "NevodStorage", "NevodSupport"},
            "NevodStorage": {"NevodSupport"},
            "NevodCrypto": {"NevodSupport"},
            "NevodOAuth": {"NevodSupport"},
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


def modules():
    """The table of all modules, each with what it holds and which of ours it imports; and what is missing in the lists above."""
    sources = ROOT / "Sources"
    texts = {name: text for row in ORDER for name, text in row if "/" not in name} | MODULES
    found = {path.relative_to(sources).as_posix(): path for folder in (".", "C", "System")
             for path in (sources / folder).iterdir() if path.is_dir() and path.name not in ("C", "System")}
    names = {path.name for path in found.values()}
    lines = ["| module | what it holds | imports, of ours |", "| --- | --- | --- |"]
    for name, path in sorted(found.items(), key=lambda item: ("/" in item[0], item[0].lower())):
        imported = {word for file in path.rglob("*.swift")
                    for word in re.findall(r"^\s*(?:@\w+ )?(?:\w+ )?import (?:\w+ )?(\w+)", file.read_text(), re.M)}
        ours = ", ".join(f"`{other}`" for other in sorted((imported & names) - {path.name}))
        lines.append(f"| `{name}` | {texts.get(name, '')} | {ours} |")
    problems = [f"Sources/{name} has no line in MODULES (scripts/layers.py)" for name in sorted(found.keys() - texts.keys())]
    problems += [f"there is no module {name} any more (scripts/layers.py)" for name in MODULES if name not in found]
    return "\n".join(lines), problems


def folders():
    """The table of the folders of all modules that have some; and what is missing in the lists above."""
    here = {path.name for path in (ROOT / "Sources/nevod-host").iterdir() if path.is_dir()}
    lines = ["| folder | what it holds |", "| --- | --- |"]
    lines += [f"| `nevod-host/{name}` | {text} |" for name, text in COMMAND_LINE.items()]
    lines += [f"| `{name}` | {text} |" for row in ORDER for name, text in row if "/" in name]
    problems = [f"Sources/nevod-host/{name} has no line in COMMAND_LINE (scripts/layers.py)" for name in sorted(here - set(COMMAND_LINE))]
    problems += [f"there is no folder nevod-host/{name} any more (scripts/layers.py)" for name in COMMAND_LINE if name not in here]
    return "\n".join(lines), problems


def tables(write):
    """Compares the generated tables with those in the documents, or writes them; returns what is wrong."""
    (module_table, problems), (folder_table, more) = modules(), folders()
    problems += more
    for name, mark, content in [
        ("CONTRIBUTING.md", "layers", table()),
        ("Docs/internals/architecture.md", "modules", module_table),
        ("Docs/internals/architecture.md", "folders", folder_table),
    ]:
        before = (ROOT / name).read_text()
        after, count = re.subn(
            rf"(<!-- {mark} -->\n).*?(\n<!-- end -->)", lambda match: match[1] + content + match[2], before, flags=re.S)
        if count != 1:
            problems.append(f"{name} needs one place between <!-- {mark} --> and <!-- end -->")
        elif write:
            (ROOT / name).write_text(after)
        elif after != before:
            problems.append(f"{name} shows another table of {mark}: scripts/layers.py --write")
    return problems


def main():
    if "--table" in sys.argv:
        return print(table())
    problems = tables(write="--write" in sys.argv)
    graph = Graph()
    for row in ORDER:
        for name, _ in row:
            print(f"{name:26} → {', '.join(sorted(graph.uses[name], key=lambda use: (-graph.rank[use], use))) or '–'}")
    for path, layer, word, owner, place in sorted(graph.upward):
        print(f"{path} uses {word.lstrip('.')} of {owner} ({place}), which is not below {layer}", file=sys.stderr)
    for path in graph.unknown:
        print(f"{path} is in a folder that has no place in the order (scripts/layers.py)", file=sys.stderr)
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if graph.upward or graph.unknown or problems else 0


if __name__ == "__main__":
    sys.exit(main())
