"""Curl and nevod-host run with the same arguments against a recording server. The tests compare what arrives, what is printed and
what is written.

    NEVOD_BUILD_DIR=.build/debug python3 Tests/CommandLine/test_curl_lines.py --write     writes the tables of Docs/curl.md
    NEVOD_BUILD_DIR=.build/debug python3 Tests/CommandLine/test_curl_lines.py --try 'WORDS'     prints both outcomes

A row of lines_compared_with_curl/*.txt has the arguments that follow the program's name:

    WORDS                           both do the same
    WORDS ## REASON                 they differ, and the test asserts that they do
    WORDS ## ASPECTS: REASON        they differ in exactly these of: request, output, exit, files
    WORDS => WORDS ## REASON        nevod-host refuses curl's words (exit code 2, nothing sent), and does the same with the other words

`< FILE` at the end is standard input, and `&&` separates commands that run one after another. 127.0.0.1:8080 is the server, which
also speaks TLS. 127.0.0.1:8081 is another one, and 127.0.0.1:1 refuses connections. The files of lines_compared_with_curl/files are
in the working directory, which is also $HOME. The environment has USER_AND_PASSWORD, PASSWORD and TOKEN.
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from curl_lines_server import PASSWORD, USER, LinesServer  # noqa: E402
from support import HOST, PATIENCE, ROOT, TestCase, authority, environment  # noqa: E402

ROWS = FOLDER / "lines_compared_with_curl"
PAGE = ROOT / "Docs/curl.md"
ASPECTS = ("request", "output", "exit", "files")
TOPICS = ("request", "content", "auth", "transfer", "output", "connection", "shape")


class Row:
    def __init__(self, topic, number, text):
        self.topic, self.number, self.text = topic, number, text
        line, _, self.note = (part.strip() for part in text.partition(" ## "))
        first, _, second = (part.strip() for part in line.partition(" => "))
        self.line, self.ours = first, second
        named, colon, reason = self.note.partition(": ")
        aspects = set(named.split(", "))
        self.aspects, self.reason = (aspects, reason) if colon and aspects <= set(ASPECTS) else (set(), self.note)
        if (self.ours or " ## " in text) and not self.reason:
            raise ValueError(f"lines_compared_with_curl/{topic}.txt:{number}: a difference without a reason")

    @property
    def place(self):
        return f"lines_compared_with_curl/{self.topic}.txt:{self.number}: {self.text}"


def rows():
    found = []
    for topic in TOPICS:
        path = ROWS / f"{topic}.txt"
        if path.exists():
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if text.strip() and not text.startswith("#"):
                    found.append(Row(topic, number, text))
    return found


class Outcome:
    """What a program did, except for what can't be the same. Each ignored difference is listed here."""

    def __init__(self, requests, output, code, files, errors):
        self.request, self.output, self.exit, self.files, self.errors = requests, output, code, files, errors

    def differences(self, other):
        return {aspect for aspect in ASPECTS if getattr(self, aspect) != getattr(other, aspect)}

    def __repr__(self):
        return "\n".join(
            [*(str(request) for request in self.request), f"output: {self.output!r}", f"exit code: {self.exit}",
             f"files: {self.files}", f"standard error: {self.errors}"])


class Bench:
    """The servers, and runs against them."""

    def __init__(self):
        self.servers = [LinesServer(tls=authority().context()) for _ in range(2)]

    def __enter__(self):
        for server in self.servers:
            server.__enter__()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()

    def run(self, program, line):
        for server in self.servers:
            server.forget()
        with tempfile.TemporaryDirectory(prefix="nevod-lines-") as name:
            folder = pathlib.Path(name).resolve()
            shutil.copytree(ROWS / "files", folder, dirs_exist_ok=True)
            shutil.copy(authority().path("ca.pem"), folder)
            for path in folder.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
                if path.is_file():
                    # The servers' ports are only known now.
                    path.write_bytes(self.ports(path.read_bytes(), True))
            before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            output, errors, code = b"", "", 0
            for command in line.split(" && "):
                words = shlex.split(self.ports(command.encode(), True).decode())
                given = b""
                if len(words) > 1 and words[-2] == "<":
                    given = (folder / words[-1]).read_bytes()
                    del words[-2:]
                done = subprocess.run(
                    [program, *words], cwd=folder, env=self.environment(folder), input=given, capture_output=True,
                    timeout=PATIENCE)
                output, code = output + done.stdout, done.returncode
                errors += done.stderr.decode("utf-8", "backslashreplace")
            files = {
                str(path.relative_to(folder)): self.file(path.read_bytes())
                for path in sorted(folder.rglob("*")) if path.is_file() and before.get(path) != path.read_bytes()
            }
        requests = [
            self.request(number, seen) for number, server in enumerate(self.servers) for seen in server.requests
        ]
        return Outcome(requests, self.file(output), code, files, errors)

    @staticmethod
    def environment(folder):
        more = {"USER_AND_PASSWORD": f"{USER}:{PASSWORD}", "PASSWORD": PASSWORD, "TOKEN": "t0ken"}
        return environment(HOME=str(folder), **more)

    def ports(self, data, written):
        """Replaces the rows' ports with the servers', or back."""
        for fixed, server in zip((8080, 8081), self.servers):
            old, new = (fixed, server.port) if written else (server.port, fixed)
            data = re.sub(rb"(127\.0\.0\.1|localhost|\.test)(:|\t)%d\b" % old, rb"\g<1>\g<2>%d" % new, data)
        return data

    def file(self, data):
        data = self.ports(data, False)
        before, mark, cookies = data.partition(b"# Netscape")
        if mark:
            # The comments of a cookie file, and the order of its lines, don't matter.
            lines = (mark + cookies).splitlines(True)
            data = before + b"".join(sorted(line for line in lines if not line.startswith(b"# ") and line.strip()))
        return data

    def request(self, number, seen):
        head = self.ports(seen.head.encode("latin-1"), False).decode("latin-1")
        line, *lines = head.split("\r\n")
        fields = [tuple(text.split(":", 1)) if ":" in text else (text, "") for text in lines]
        body = seen.body
        kept = []
        for name, value in fields:
            value = value.strip(" ")
            if name == "User-Agent" and re.match(r"(curl|nevod-host)/[\w.-]+$", value):
                value = "(the program's name)"
            if name == "Content-Type" and (boundary := re.search(r"^multipart/.*; boundary=(\S+)$", value)):
                body, value = body.replace(boundary[1].encode(), b"BOUNDARY"), value.replace(boundary[1], "BOUNDARY")
            # Its digits are random. The server has checked the value computed from it.
            value = re.sub(r'(cnonce|response)="[^"]*"', r'\1="…"', value)
            # The digits of a nested boundary are random, too.
            kept.append((name, value))
        for nested in set(re.findall(rb"boundary=(-{8,}\w+|nevod-\w+)", body)):
            body = body.replace(nested, b"NESTED")
        if any(name == "Content-Type" and "BOUNDARY" in value for name, value in kept):
            # It includes the boundaries, whose lengths may differ.
            kept = [(name, "(its length)" if name == "Content-Length" else value) for name, value in kept]
        # The order of lines with different names has no meaning (RFC 9110 §5.3).
        kept.sort(key=lambda field: field[0].lower())
        return (f"server {number + 1}" + (" with TLS" if seen.is_secure else ""), line, kept, body)


class CurlLines(TestCase):
    """Each row of lines_compared_with_curl/*.txt."""

    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.enterClassContext(cls.bench)

    def check(self, row):
        theirs = self.bench.run("curl", row.line)
        ours = self.bench.run(HOST, row.line)
        both = f"{row.place}\n--- curl\n{theirs}\n--- nevod-host\n{ours}"
        found = theirs.differences(ours)
        if row.ours:
            self.assertEqual((ours.exit, ours.request), (2, []), both)
            ours = self.bench.run(HOST, row.ours)
            self.assertEqual(theirs.differences(ours), row.aspects, f"{both}\n--- with the other words\n{ours}")
        elif row.aspects:
            self.assertEqual(found, row.aspects, both)
        elif row.reason:
            self.assertTrue(found, f"they do not differ: {both}")
        else:
            self.assertEqual(found, set(), both)


def add_tests():
    for row in rows():
        name = f"test_{row.topic}_{row.number:03}"
        setattr(CurlLines, name, lambda self, row=row: self.check(row))


add_tests()


class Page(TestCase):
    """Docs/curl.md has all rows."""

    def test_the_tables(self):
        text = PAGE.read_text()
        self.assertEqual(
            with_tables(text), text, "write it: NEVOD_BUILD_DIR=.build/debug python3 Tests/CommandLine/test_curl_lines.py --write")

    def test_enough_rows(self):
        self.assertGreaterEqual(sum(row.topic in ("request", "content", "auth") for row in rows()), 90)

    def test_no_row_is_given_twice(self):
        lines = [row.line for row in rows()]
        self.assertEqual([line for line in lines if lines.count(line) > 1], [])


TITLES = {
    "request": "The request", "content": "Content", "auth": "Credentials and cookies", "transfer": "Transfers",
    "output": "Output", "connection": "Connections", "shape": "Several URLs",
}


def with_tables(text):
    begin, end = "<!-- rows: begin -->\n", "<!-- rows: end -->\n"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    made = [f"{len(rows())} lines, {sum(bool(row.reason) for row in rows())} of them with a difference.\n"]
    for topic in TOPICS:
        chosen = [row for row in rows() if row.topic == topic]
        if chosen:
            made.append(f"\n### {TITLES[topic]}\n\n| Line | Difference |\n| --- | --- |\n")
            made += [f"| {cell(row.line)} | {difference(row)} |\n" for row in chosen]
    return head + begin + "".join(made) + end + tail


def cell(line):
    line = line.replace("|", "\\|")
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def difference(row):
    return " ".join(part for part in ((f"{cell(row.ours)}:" if row.ours else ""), row.reason.replace("|", "\\|")) if part)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the tables of Docs/curl.md")
    parser.add_argument("--try", dest="line", help="print what both programs do with these words")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(with_tables(PAGE.read_text()))
    elif arguments.line:
        with Bench() as bench:
            row = Row("request", 0, arguments.line)
            theirs, ours = bench.run("curl", row.line), bench.run(HOST, row.ours or row.line)
            print(f"--- curl\n{theirs}\n--- nevod-host\n{ours}\n--- different: {', '.join(sorted(theirs.differences(ours))) or 'nothing'}")
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
