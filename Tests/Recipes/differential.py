#!/usr/bin/env python3
"""Compares nevod-host with an interpreter of the recipe language that was written from its specification alone.

    NEVOD_RECIPES_REFERENCE=reference.py NEVOD_BUILD_DIR=.build/release python3 Tests/Recipes/differential.py [--count N] [--seed N]

Random recipes sign random requests. Both must send the same, or both refuse. Differences are shrunk. The seed is printed; the same seed
makes the same recipes. The last line says "N recipes, N refused by both, N differ".
"""

import argparse
import base64
import importlib.util
import os
import random
import re
import subprocess
import sys
from typing import Optional

sys.dont_write_bytecode = True
from recipes import AT, BUILD, RANDOM, TIME_NANOSECONDS

FIXED = {"host", "user-agent", "accept", "content-length", "content-type"}
HASHES = "md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-256 sha3-384 sha3-512".split()
NAMES = ["a", "b", "B", "a b", "a%20b", "ü", "%C3%BC", "x", "n.1", "list[]", "c", "signature", ""]
VALUES = ["", "1", "2", "10", "a+b", "a%20b", "%2F", "%2f/", "ü", "%C3%BC", "%ff", "%zz", "%", "=", "1=2", "~!*'()", "%26%3D", "a%0Ab", "%00"]


class Lines(dict):
    """Headers of which several may have one name."""

    def __init__(self, pairs):
        self.pairs = pairs

    def items(self):
        return self.pairs

    def __bool__(self):
        return bool(self.pairs)


class Trial:
    def __init__(self, statements, settings, secrets, method, url, headers, body):
        self.statements, self.settings, self.secrets = statements, settings, secrets
        self.method, self.url, self.header_lines, self.body = method, url, headers, body

    @property
    def headers(self):
        return Lines(self.header_lines)

    def but(self, **changes):
        fields = dict(
            statements=self.statements, settings=self.settings, secrets=self.secrets, method=self.method, url=self.url,
            headers=self.header_lines, body=self.body,
        )
        return Trial(**{**fields, **changes})


# ---- Random recipes and requests


class Maker:
    def __init__(self, source: random.Random):
        self.source = source

    def some(self, choices):
        return self.source.choice(choices)

    def chance(self, share):
        return self.source.random() < share

    def items(self):
        count = self.some([0, 1, 1, 2, 3, 5, 8])
        made = []
        for _ in range(count):
            name, value = self.some(NAMES), self.some(VALUES)
            made.append(self.some([f"{name}={value}"] * 6 + [name, ""]))
        return "&".join(made)

    def url(self):
        host = self.some(["api.example.com", "API.Example.com", "127.0.0.1", "[::1]", "a.b"])
        port = self.some(["", "", "", ":80", ":443", ":8443"])
        path = "".join("/" + self.some(["", "a", "b c", "a%2Fb", "ü", "..", ".", "~x", "v1", "%7e", "a+b", "a;b=1", "%zz"]) for _ in range(self.some([0, 1, 1, 2, 3, 4])))
        query = self.some(["", "?", *["?" + self.items()] * 6])
        return f"{self.some(['http', 'https'])}://{host}{port}{path}{query}{self.some(['', '', '', '#f?x'])}"

    def json_text(self):
        parts = []
        values = ['"text"', '"ü\\n\\u00e9\\ud83d\\ude00"', '"a\\/b\\"c"', "1", "-1.50e+3", "0", "true", "false", "null", '[1, {"a": 2}]', '{ "b" : 1 }', '""', '"a b+c&d=e"']
        for _ in range(self.some([0, 1, 2, 3, 5])):
            space = self.some(["", "", " ", "\n", "\t"])
            parts.append(f'{space}"{self.some(["a", "b", "c", "n", chr(252), "a b", "x%20y", "a" + chr(92) + "u0062"])}"{space}:{space}{self.some(values)}{space}')
        text = "{" + ",".join(parts) + "}"
        if self.chance(0.1):
            index = self.source.randrange(len(text))
            text = text[:index] + self.some(["", ",", "}", "\\", "\x01"]) + text[index + 1 :]
        return self.some([text, text, text, " " + text + "\n", "[1]", '"x"', text + "x"]).encode()

    def request(self):
        method = self.some(["GET", "GET", "POST", "POST", "PUT", "DELETE", "PATCH", "X-A.b"])
        kind = self.some(["none", "none", "empty", "form", "form", "json", "json", "bytes"])
        headers, body = [], None
        if kind == "empty":
            body = b""
        elif kind == "form":
            body = self.items().replace(" ", "+").encode()
            headers.append(("Content-Type", self.some(["application/x-www-form-urlencoded", "Application/X-WWW-Form-Urlencoded; charset=utf-8"])))
        elif kind == "json":
            body = self.json_text()
            headers.append(("content-type", self.some(["application/json", "application/json;charset=utf-8", "application/problem+json", "text/plain"])))
        elif kind == "bytes":
            body = self.source.randbytes(self.some([1, 2, 63, 64, 65, 127, 128, 1000]))
        for _ in range(self.some([0, 0, 1, 2, 3])):
            name = self.some(["X-A", "x-a", "X-B", "X-C", "Date"])
            headers.append((name, self.some(["", "1", "a   b", "a \t b", "ü", "x, y", "a=b&c", '"q"', "{x}", "%2F"])))
        return method, self.url(), headers, body

    def text(self, least=0):
        pieces = ["a", "b", "B", " ", ":", "/", "&", "=", "?", "%", "+", "|", ".", "-", "_", "~", "ü", "€", "0", '"', "'", "#", "\\n", "\\r", "\\t", "\\s", "\\\\", "\\{", "\\}", "{{", "}}"]
        return "".join(self.some(pieces) for _ in range(self.source.randint(least, 4)))

    def argument(self, least=0):
        text = self.text(least).replace("{{", "\\{").replace("}}", "\\}")
        return text.replace(":", "\\:").replace("|", "\\|")

    def number(self):
        return self.some([0, 1, 2, 3, 4, 7, 16, 32, 33, 64, 100])

    def value(self, lets):
        optional = self.some(["?", "?", "?", ""])
        kinds = [
            *"method scheme host hostname port target path query url body key secret passphrase token memo nonce".split(),
            *["query", "body", "path"] * 4,
            f"segment:{self.some([1, 2, -1, -2, 1, -1])}",
            f"query:{self.some(['a', 'b', 'x', 'a b', 'ü', 'n.1'])}{optional}",
            f"form:{self.some(['a', 'b', 'x', 'a b', 'ü'])}{optional}",
            f"json:{self.some(['a', 'b', 'n', 'ü', 'ab'])}{optional}",
            f"header:{self.some(['X-A', 'x-b', 'Date', 'content-type'])}{optional}",
            "headers:" + ";".join(self.some(["X-A?", "x-b?", "Date?", "Host", "Content-Type?", "X-*", "x-a*"]) for _ in range(self.some([1, 1, 2, 3]))),
            self.some(["time", "time", "time+60", "time-5", "time+86400"]) + "|" + self.time_format(),
            "nonce|" + self.nonce_format(),
        ]
        return self.some(kinds + lets * 4)

    def time_format(self):
        names = "seconds milliseconds microseconds nanoseconds rfc1123 rfc3339 rfc3339-milliseconds basic date basic-date".split()
        pattern = "".join(self.some(["%Y", "%m", "%d", "%H", "%M", "%S", "%L", "%f", "%a", "%b", "%e", "%y", "%%", "-", "T", "\\:", ":", " "]) for _ in range(3))
        return self.some(names + [f"decimal:{self.source.randint(1, 9)}", f"format:{pattern}"])

    def nonce_format(self):
        kind = self.some(["hex", "digits", "alphanumeric", "lowercase", "bytes", "uuid"])
        return kind if kind == "uuid" else f"{kind}:{self.source.randint(1, 64 if kind == 'hex' else 32)}"

    def filters(self, lets):
        made = []
        for _ in range(self.some([0, 0, 1, 1, 1, 2, 2, 3, 4])):
            sets = "rfc3986 path form javascript rfc3986-lower form-lower javascript-lower".split()
            keys = ["secret", "secret", "key", "passphrase", *lets]
            made.append(
                self.some(
                    [
                        self.some(HASHES), f"hmac:{self.some(HASHES)}:{self.some(keys)}",
                        self.some("hex HEX base64 base64-unpadded base64url base64url-padded base32".split()),
                        self.some(["hex|from-hex", "HEX|from-hex", "base64|from-base64", "base64url|from-base64", "from-hex" if self.chance(0.2) else "hex|from-hex", "from-base64" if self.chance(0.2) else "base64|from-base64"]),
                        self.some(["encode", f"encode:{self.some(sets)}", f"reencode:{self.some(sets)}"]), self.some(["decode", "decode:form"]),
                        self.some(["lower", "upper", "trim", "collapse", "json"]), f"{self.some(['prefix', 'suffix', 'default', 'without-prefix'])}:{self.argument()}",
                        f"{self.some(['first', 'last', 'skip', 'drop-last'])}:{self.number()}", f"replace:{self.argument(1)}:{self.argument()}",
                        self.some(["sort", "sort:decoded", "sort:names"]), self.some(["with-values", "add-equals"]),
                        "without:" + ":".join(self.some(["a", "b", "x", "a b", "ü"]) for _ in range(self.some([1, 2]))),
                        f"{self.some(['join', 'join-decoded'])}:{self.argument()}:{self.argument()}", f"{self.some(['values', 'values-decoded'])}:{self.argument()}",
                        "json-items" if self.chance(0.1) else "sort",
                        f"{self.some(['without-suffix', 'before', 'after'])}:{self.argument(1)}", self.some(["length", "sort-lines", f"line-names:{self.argument()}"]),
                        "only:" + self.some(["a:b", "x", "a b:ü"]), f"names:{self.argument()}",
                    ]
                )
            )
        return made

    def place(self, lets):
        value = self.value(lets)
        if value == "body" and self.chance(0.15):
            value = "body|json-items"
        return "{" + "|".join([value, *self.filters(lets)]) + "}"

    def template(self, lets):
        return "".join(self.some([self.text(), self.place(lets), self.place(lets)]) for _ in range(self.some([1, 1, 2, 3]))).strip()

    def condition(self):
        kind = self.some(["body", "query", "form", "json", "key", "passphrase", "token", "memo", "method GET", "method POST PUT", "header X-A", "header date", "path /a", "path /v1"])
        return self.some(["", "", "not "]) + kind

    def recipe(self):
        statements, lets, count = [], [], 0

        def output(scope):
            nonlocal count
            count += 1
            kind = self.some(["header"] * 6 + ["query"] * 2 + ["cookie"])
            shown = self.template(scope) if self.chance(0.4) else f"{self.place(scope)[:-1]}|hex}}"
            name = "X-C" if kind == "header" and self.chance(0.05) else f"N{count}"
            return f"{kind} {name} = {shown}"

        for _ in range(self.some([1, 2, 3, 4, 5])):
            kind = self.some(["let", "output", "output", "when"])
            if kind == "let":
                statements.append(f"let l{len(lets)} = {self.template(lets)}")
                lets.append(f"l{len(lets)}")
            elif kind == "output":
                statements.append(output(lets))
            else:
                both = self.chance(0.6)
                # A `let` of one branch has a name that isn't used outside of it.
                name = f"l{len(lets)}" if both else f"only{len(statements)}"
                statements.append("when " + " and ".join(self.condition() for _ in range(self.some([1, 1, 2]))))
                statements += [f"  let {name} = {self.template(lets)}", "  " + output(lets + [name]) + f"{{{name}|hex}}"]
                if self.chance(0.1):
                    statements.append("  refuse not like this")
                if both:
                    statements += ["otherwise", f"  let {name} = {self.template(lets)}"]
                    lets.append(name)
                statements.append("end")
        # A `let` that nothing uses is refused.
        text = "\n".join(statements)
        for name in re.findall(r"let (l\d+) =", text):
            if not re.search(rf"[{{:]{name}\b", text):
                statements.append(f"query U{name} = {{{name}|hex}}")
                text += statements[-1]
        if self.chance(0.9):
            statements.append("header S = {target|hmac:sha256:secret|hex}")
        if self.chance(0.7):
            statements += ["accept unsigned-time", "accept unsigned-nonce"]
        if self.chance(0.2):
            statements.append("accept unbound-signature")
        if self.chance(0.1):
            index = self.source.randrange(len(statements))
            text = statements[index]
            at = self.source.randrange(len(text) + 1)
            statements[index] = text[:at] + self.some(["{", "}", "|", ":", "\\", " ", "=", "?", "x", "\t", "\n", ""]) + text[at + self.some([0, 1]) :]
        return statements

    def trial(self):
        encoding = self.some(["", "", "text", "hex", "base64"])
        secret = self.source.randbytes(self.some([1, 16, 64, 65, 200]))
        secrets = {"secret": {"hex": secret.hex(), "base64": base64.b64encode(secret).decode()}.get(encoding, "demo secret ü/+=&1")}
        for name in ("passphrase", "token", "memo"):
            if self.chance(0.92):
                secrets[name] = self.some(["p", "päss {x}|:", "a=b&c=d"])
        settings = {"api-key": self.some(["demo", "k+/=&ü"] * 6 + [""])}
        if encoding:
            settings["secret-encoding"] = encoding
        return Trial(self.recipe(), settings, secrets, *self.request())


# ---- Both sides


def load(file):
    spec = importlib.util.spec_from_file_location("reference", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_reference(reference, trial):
    """(what is sent, None), or (None, the reason)."""
    try:
        headers, items, cookies = reference.evaluate(trial.statements, trial.settings, trial.secrets, trial, TIME_NANOSECONDS, RANDOM)
        target = reference.Request(trial).target
    except ValueError as error:
        return None, str(error)
    for name, value in items:
        separator = b"&" if b"?" in target else b"?"
        target += separator + reference.percent_encode(name.encode(), "rfc3986") + b"=" + reference.percent_encode(value, "rfc3986")
    written = {name.lower() for name, _ in headers}
    lines = [(name.lower().encode(), value.strip(b" \t")) for name, value in headers]
    for name, value in trial.header_lines:
        if name.lower() not in written | FIXED:
            lines.append((name.lower().encode(), value.encode().strip(b" \t")))
    if cookies:
        lines.append((b"cookie", b"; ".join(name.encode() + b"=" + value for name, value in cookies).strip(b" \t")))
    return (trial.method.encode(), target, sorted(lines), trial.body or b""), None


def from_host(trial):
    command = [str(BUILD / "nevod-host"), "sign", "--plugin", str(BUILD / "libHMACAuth.so"), "--at", AT, "--random", RANDOM.hex()]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for name, value in trial.settings.items():
        command += ["--set", f"{name}=text:{value}" if not value else f"{name}={value}"]
    for number, (name, value) in enumerate(trial.secrets.items()):
        environment[f"SECRET_{number}"] = value
        command += ["--set", f"{name}=env:SECRET_{number}"]
    for statement in trial.statements:
        command += ["--set", f"recipe={statement}"]
    for name, value in trial.header_lines:
        command += ["-H", f"{name}: {value}" if value else f"{name};"]
    command += ["-X", trial.method]
    if trial.body is not None:
        if not any(name.lower() == "content-type" for name, _ in trial.header_lines):
            command += ["-H", "Content-Type:"]
        command += ["--data-binary", "@-"]
    command += ["--url", trial.url]
    done = subprocess.run(command, input=trial.body or b"", capture_output=True, env=environment, timeout=60)
    errors = done.stderr.decode(errors="replace").strip()
    if done.returncode < 0 or done.returncode > 125 or "crash" in errors:
        return ("crashed", done.returncode, errors), None
    if done.returncode:
        return None, errors
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    first, *rest = head.split(b"\r\n")
    method, _, others = first.partition(b" ")
    pairs = [(line.partition(b":")[0].lower(), line.partition(b":")[2].strip(b" \t")) for line in rest]
    return (method, others.removesuffix(b" HTTP/1.1"), sorted(pair for pair in pairs if pair[0].decode() not in FIXED), body), None


def difference(reference, trial) -> Optional[str]:
    words = {line.split()[0] for line in "\n".join(trial.statements).split("\n") if line.strip()}
    if words <= {"accept", "#"}:
        # Not a recipe, but the scheme's own settings.
        return None
    expected, reason = from_reference(reference, trial)
    sent, refused = from_host(trial)
    # How conditions are counted is the plugin's business, and a recipe that ends in "=-" is the host's.
    if sent == expected or re.search("different conditions|standard input", f"{reason} {refused}"):
        return None
    if sent is None:
        return f"nevod-host refuses: {refused}\n  reference: {expected}"
    if expected is None:
        return f"the reference refuses: {reason}\n  nevod-host: {sent}"
    if sent[0] == "crashed":
        return f"nevod-host crashed: {sent}"
    parts = []
    for what, one, two in zip(("method", "target", "headers", "body"), sent, expected):
        if what == "headers":
            one, two = [line for line in one if line not in two], [line for line in two if line not in one]
        if one != two:
            parts.append(f"{what}: nevod-host {one}\n    reference {two}")
    return "\n  ".join(parts)


def kind_of(text):
    """Differences of one kind are shown once: without names, numbers and bytes."""
    return re.sub(r"0x\w+|\d+|'[^']*'|\"[^\"]*\"|b'.*", "", text.split("\n")[0])[:60]


# ---- Shrinking


def smaller(trial):
    """Trials with one thing less."""
    statements = trial.statements
    for index in range(len(statements)):
        yield trial.but(statements=statements[:index] + statements[index + 1 :])
    flat = "\n".join(statements).split("\n")
    if flat != statements:
        yield trial.but(statements=flat)
    for index, statement in enumerate(statements):
        for found in re.finditer(r"\|[^|{}]+(?=[|}])", statement):
            yield trial.but(statements=[*statements[:index], statement[: found.start()] + statement[found.end() :], *statements[index + 1 :]])
        for found in re.finditer(r"\{[^{}]*\}", statement):
            yield trial.but(statements=[*statements[:index], statement[: found.start()] + statement[found.end() :], *statements[index + 1 :]])
        start = statement.find("= ") + 2
        if start > 1:
            for found in re.finditer(r"\\.|[^{}\\|]", statement[start:]):
                yield trial.but(statements=[*statements[:index], statement[: start + found.start()] + statement[start + found.end() :], *statements[index + 1 :]])
    for index in range(len(trial.header_lines)):
        yield trial.but(headers=trial.header_lines[:index] + trial.header_lines[index + 1 :])
    for name in list(trial.secrets):
        yield trial.but(secrets={each: value for each, value in trial.secrets.items() if each != name})
    if trial.settings != {"api-key": "demo"}:
        yield trial.but(settings={"api-key": "demo"}, secrets={**trial.secrets, "secret": "s"})
    if trial.method != "GET":
        yield trial.but(method="GET")
    if trial.body is not None:
        yield trial.but(body=None)
        for index in range(min(len(trial.body), 40)):
            yield trial.but(body=trial.body[:index] + trial.body[index + 1 :])
    base, mark, query = trial.url.partition("?")
    if mark:
        yield trial.but(url=base)
        items = query.split("&")
        for index in range(len(items)):
            yield trial.but(url=base + "?" + "&".join(items[:index] + items[index + 1 :]))
    if base != "http://h/":
        yield trial.but(url="http://h/" + mark + query)


def shrink(reference, trial, text, runs=250):
    wanted = kind_of(text)
    progress = True
    while progress and runs > 0:
        progress = False
        for candidate in smaller(trial):
            runs -= 1
            if runs <= 0:
                break
            found = difference(reference, candidate)
            if found is not None and kind_of(found) == wanted:
                trial, text, progress = candidate, found, True
                break
    return trial, text


def shown(trial):
    lines = ["recipe:", *("    " + line for line in "\n".join(trial.statements).split("\n"))]
    lines.append(f"request: {trial.method} {trial.url}" + "".join(f" -H {name + ': ' + value!r}" for name, value in trial.header_lines))
    if trial.body is not None:
        lines.append(f"body: {trial.body!r}")
    if trial.settings != {"api-key": "demo"} or trial.secrets != {"secret": "s"}:
        lines.append(f"settings: {trial.settings} {trial.secrets}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--whole", action="store_true", help="don't shrink")
    arguments = parser.parse_args()
    reference = load(os.environ["NEVOD_RECIPES_REFERENCE"])
    print(f"seed {arguments.seed}", flush=True)
    refused, kinds, differing = 0, set(), 0
    for number in range(arguments.count):
        trial = Maker(random.Random(f"{arguments.seed} {number}")).trial()
        if from_reference(reference, trial)[0] is None:
            refused += 1
        text = difference(reference, trial)
        if text is None:
            continue
        differing += 1
        if kind_of(text) in kinds:
            continue
        kinds.add(kind_of(text))
        if not arguments.whole:
            trial, text = shrink(reference, trial, text)
        print(f"--- trial {number}\n{shown(trial)}\n{text}", flush=True)
    print(f"{arguments.count} recipes, {refused} refused by both, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
