"""Output that only a terminal gets: formatted JSON in colours and progress, without a server's control sequences."""

import json
import os
import re
import select
import subprocess
import sys
import time

from support import HOST, PATIENCE, RecordingServer, SocketServer, TestCase, cases, environment, reply

LAUNCHER = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execv(sys.argv[2], sys.argv[2:])"
DOCUMENT = {"id": 4711, "name": "nevod", "tags": ["catch", None, True]}


def at_terminal(*words, out=True, err=True, **more):
    """Returns the exit code, the text on the terminal, and the bytes from the pipes."""
    ours, theirs = os.openpty()
    terminal = {"TERM": "xterm", "NO_COLOR": None} | more
    variables = {name: value for name, value in (environment() | terminal).items() if value is not None}
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, os.ttyname(theirs), HOST, *map(str, words)], env=variables, cwd="/",
        stdin=subprocess.DEVNULL, stdout=theirs if out else subprocess.PIPE, stderr=theirs if err else subprocess.PIPE,
        start_new_session=True)
    os.close(theirs)
    shown, piped, end = b"", b"", time.monotonic() + PATIENCE
    sources = [ours] + [pipe.fileno() for pipe in (process.stdout, process.stderr) if pipe]
    try:
        while sources and time.monotonic() < end:
            for source in select.select(sources, [], [], 0.1)[0]:
                try:
                    data = os.read(source, 65536)
                except OSError:  # All of the terminal's processes have ended.
                    data = b""
                if not data:
                    sources.remove(source)
                elif source == ours:
                    shown += data
                else:
                    piped += data
        return process.wait(PATIENCE), shown.replace(b"\r\n", b"\n"), piped
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


class FormattedJSON(TestCase):
    def shown_response(self, body=None, kind="application/json", *words, **options):
        body = json.dumps(DOCUMENT).encode() if body is None else body
        with RecordingServer(lambda seen: reply("200 OK", f"Content-Type: {kind}", body=body)) as server:
            return at_terminal(*words, server.http + "/a", **options)

    @cases({"json": "application/json", "charset": "application/json; charset=utf-8", "suffix": "application/problem+json"})
    def test_is_formatted_in_colour(self, kind):
        code, shown, _ = self.shown_response(None, kind)
        self.assertEqual(code, 0)
        self.assertIn(b'\x1b[', shown)
        plain = self.without_colours(shown)
        self.assertEqual(plain.decode(), json.dumps(DOCUMENT, indent=2) + "\n")

    def without_colours(self, text):
        return re.sub(rb"\x1b\[[0-9;]*m", b"", text)

    @cases({"no_color": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}})
    def test_without_colours(self, variables):
        code, shown, _ = self.shown_response(**variables)
        self.assertEqual((code, shown.decode()), (0, json.dumps(DOCUMENT, indent=2) + "\n"))

    def test_raw_in_a_pipe(self):
        code, shown, piped = self.shown_response(out=False)
        self.assertEqual((code, shown, piped), (0, b"", json.dumps(DOCUMENT).encode()))

    @cases({"not_json": (b"{nonsense", "application/json"), "text": (b'{"a":1}', "text/plain")})
    def test_stays_as_it_is(self, body, kind):
        code, shown, _ = self.shown_response(body, kind)
        self.assertEqual((code, shown), (0, body))

    def test_the_head_is_made_safe(self):
        with RecordingServer(lambda seen: reply("200 OK", "X-Title: \x1b]0;owned\x07", body=b"x")) as server:
            code, shown, _ = at_terminal("-i", server.http + "/a")
        self.assertEqual(code, 0)
        self.assertNotIn(b"\x1b", shown)
        self.assertIn(b"owned", shown)


class Progress(TestCase):
    SIZE = 3 << 20

    def download(self, *words, **options):
        target = self.folder / "file"
        with RecordingServer(lambda seen: reply(body=bytes(self.SIZE))) as server:
            outcome = at_terminal("-o", target, *words, server.http + "/a", **options)
        self.assertEqual(target.stat().st_size, self.SIZE)
        return outcome

    def test_of_a_download(self):
        code, shown, _ = self.download()
        self.assertEqual(code, 0)
        self.assertIn(b"100%", shown)
        self.assertIn(b"\r", shown)
        self.assertTrue(shown.endswith(b"\n"), shown)

    def test_of_an_upload(self):
        file = self.file("upload", bytes(self.SIZE))
        with RecordingServer() as server:
            code, shown, _ = at_terminal("-T", file, server.http + "/a")
        self.assertEqual(code, 0)
        self.assertIn(b"100%", shown)

    @cases({"silent": (["-s"], {}), "dumb": ([], {"TERM": "dumb"})})
    def test_none(self, words, variables):
        code, shown, _ = self.download(*words, **variables)
        self.assertEqual((code, shown), (0, b""))

    def test_none_in_a_pipe(self):
        code, shown, piped = self.download(err=False)
        self.assertEqual((code, shown, piped), (0, b"", b""))


class Limits(TestCase):
    """--max-filesize, with a declared length and without."""

    def get(self, limit, *lines, body=bytes(1000)):
        with RecordingServer(lambda seen: reply("200 OK", *lines, body=body)) as server:
            return self.run_host("--max-filesize", limit, "-o", self.folder / "file", server.http + "/a")

    def test_within(self):
        self.expect(self.get("1000"), 0)
        self.assertEqual((self.folder / "file").stat().st_size, 1000)

    def test_declared(self):
        self.expect_failure(self.get("999"), 63, "larger than 999 bytes")
        self.assertFalse((self.folder / "file").exists())

    def test_ten_gigabytes_undeclared(self):
        def endless(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                for _ in range(10 << 10):
                    connection.sendall(bytes(1 << 20))
            except OSError:
                pass
        with SocketServer(endless) as server:
            outcome = self.run_host("--max-filesize", "5000000", "-o", self.folder / "file", server.http + "/a")
        self.expect_failure(outcome, 63, "larger than 5000000 bytes")
        self.assertEqual(list(self.folder.iterdir()), [])

    @cases({"no_number": "many", "negative": "-1"})
    def test_usage(self, limit):
        self.expect_failure(self.get(limit), 2, "--max-filesize")


class Profiles(TestCase):
    def run_profile(self, text, *words, mode=0o600):
        folder = self.folder / "nevod"
        folder.mkdir(mode=0o700)
        (folder / "config").write_text(text)
        (folder / "config").chmod(mode)
        with RecordingServer() as server:
            (folder / "config").write_text(text.replace("HERE", server.http))
            outcome = self.run_host(*words, env={"XDG_CONFIG_HOME": str(self.folder)})
            return outcome, server.requests

    TEXT = "[work]\nurl = HERE/v1?team=1\nheader = X-Trace: 7\nrequest = PUT\n"

    def test_base_and_flags(self):
        outcome, seen = self.run_profile(self.TEXT, "--profile", "work", "/orders?x=1")
        self.expect(outcome, 0)
        self.assertIn("X-Trace: 7", repr(seen))
        self.assertIn("PUT /v1/orders?team=1&x=1", repr(seen))

    def test_the_command_line_wins(self):
        outcome, seen = self.run_profile(self.TEXT, "--profile", "work", "-X", "POST", "/orders")
        self.expect(outcome, 0)
        self.assertIn("POST /v1/orders?team=1", repr(seen))

    @cases({"unknown": ("[other]\n", 0o600), "mistyped": ("[work]\nheadr = a\n", 0o600), "writable": ("[work]\n", 0o666)})
    def test_refused(self, text, mode):
        outcome, seen = self.run_profile(text, "--profile", "work", "http://127.0.0.1:1/", mode=mode)
        self.expect_failure(outcome, 2)
