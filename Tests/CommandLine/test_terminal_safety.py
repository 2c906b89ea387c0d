"""Nothing from a server controls the terminal that shows it. A pipe or a file gets it unchanged."""

import os
import select
import subprocess
import time
import unicodedata

from support import PATIENCE, CannedServer, Outcome, TestCase, canned, cases, environment

# A window's title, a cleared screen, a changed clipboard, C1 controls (CSI and OSC in one byte and as characters), a reversed
# direction, NUL, bell, backspace, DEL, a shift of the character set, and a lone carriage return.
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;b3duZWQ=\x1b\\\u009b31m\u009d0;x\u009c\u202eevil\u2066\0\a\b\x7f\x0e\rover".encode()
RAW = EVIL + b"\x9b31m\x9d0;x\x9c\xff"
ENDINGS = b"a\r\nb\tc\nd"

BODIES = {
    "text": ("text/plain", RAW + ENDINGS),
    "html": ("text/html", b"<title>" + RAW + b"</title>"),
    "no_type": (None, RAW),
    "malformed_json": ("application/json", b'{"a": "' + RAW + b'"'),
    "json_with_text_behind": ("application/json", b'{"a": 1} ' + RAW),
    "deep_json": ("application/json", b"[" * 5000 + b'"' + EVIL.replace(b"\0", b"") + b'"' + b"]" * 5000),
    "large_json": ("application/json", b'["' + b"x" * (5 << 20) + b'"]' + RAW),
    "json_of_another_charset": ("application/json", '{"a": "\x1b[2J"}'.encode("utf-16")),
    "binary": ("application/octet-stream", bytes(range(256)) * 20),
    "problem_json": ("application/problem+json", b'{"a": "\xc2\x9b31m\xe2\x80\xae", "b": "\\u001b[2J"}'),
}


class TerminalSafety(TestCase):
    def shown(self, *words, env=None):
        """Returns what a terminal gets from standard output, and the outcome."""
        ours, theirs = os.openpty()
        try:
            with subprocess.Popen(
                    self.command(*words), env=environment(TERM="dumb", **(env or {})), cwd="/", stdin=subprocess.DEVNULL,
                    stdout=theirs, stderr=subprocess.PIPE, start_new_session=True) as process:
                os.close(theirs)
                theirs = None
                shown, end = b"", time.monotonic() + PATIENCE
                while time.monotonic() < end:
                    if not select.select([ours], [], [], 0.1)[0]:
                        continue
                    try:
                        piece = os.read(ours, 1 << 16)
                    except OSError:  # the terminal's other side is closed
                        break
                    if not piece:
                        break
                    shown += piece
                err = process.stderr.read()
                code = process.wait(PATIENCE)
        finally:
            os.close(ours)
            if theirs is not None:
                os.close(theirs)
        return shown, Outcome([str(word) for word in words], code, shown, err)

    def expect_safe(self, shown):
        text = shown.decode()  # UTF-8 throughout
        # The terminal puts a carriage return before each line break, even if there already is one.
        unsafe = {
            c for c in text.replace("\r\r\n", "\n").replace("\r\n", "\n")
            if unicodedata.category(c) == "Cc" and c not in "\n\t" or c in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
        self.assertEqual(unsafe, set())

    @cases(BODIES)
    def test_body(self, kind, body):
        lines = [f"Content-Type: {kind}"] if kind else []
        with CannedServer(canned(body, *lines)) as server:
            shown, outcome = self.shown("-o", "-", server.url)
            self.expect(outcome, 0)
            self.expect_safe(shown)
            # A zero byte at the beginning is refused unless the terminal is requested.
            shown, outcome = self.shown(server.url)
            self.expect(outcome, 23 if b"\0" in body[:2000] else 0)
            self.expect_safe(shown)
            with CannedServer(canned(body.replace(b"\0", b""), *lines)) as text:
                shown, outcome = self.shown(text.url)
                self.expect(outcome, 0)
                self.expect_safe(shown)
            # A pipe and a file get the same bytes unchanged.
            self.assertEqual(self.run_host(server.url).out, body)
            path = self.folder / "file"
            self.expect(self.run_host("-o", path, server.url), 0)
            self.assertEqual(path.read_bytes(), body)

    def test_text_stays_readable(self):
        with CannedServer(canned("grüße\t日本\n".encode() + EVIL + ENDINGS, "Content-Type: text/plain")) as server:
            shown, _ = self.shown("-o", "-", server.url)
        text = shown.decode()
        self.assertTrue(text.startswith("grüße\t日本\r\n\\u{1b}]0;owned\\u{7}\\u{1b}[2J"), text)
        self.assertTrue(text.endswith("\\u{d}overa\r\r\nb\tc\r\nd") or text.endswith("\\u{d}overa\r\nb\tc\r\nd"), text)

    @cases({"dash": "-", "name": "/dev/stdout", "number": "/dev/fd/1"})
    def test_other_names_of_the_terminal(self, name):
        with CannedServer(canned(RAW, "Content-Type: text/plain")) as server:
            shown, outcome = self.shown("-o", name, server.url)
        self.expect(outcome, 0)
        self.expect_safe(shown)
        self.assertIn(b"\\x9b31m", shown)

    def test_character_between_two_pieces(self):
        """The body comes byte by byte."""
        body = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in EVIL + "é".encode()) + b"0\r\n\r\n"
        with CannedServer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body) as server:
            shown, outcome = self.shown("-o", "-", server.url)
        self.expect(outcome, 0)
        self.expect_safe(shown)
        self.assertTrue(shown.decode().endswith("é"), shown)

    def test_head(self):
        response = canned(b"x", "X-A: \x1b[2J\x9b", status="200 O\x1b[2JK")
        with CannedServer(response) as server:
            shown, outcome = self.shown("-i", server.url)
            self.expect(outcome, 0)
            self.expect_safe(shown)
            self.assertEqual(self.run_host("-i", server.url).out.partition(b"\r\n")[0], b"HTTP/1.1 200 O\x1b[2JK")

    def test_signature(self):
        """Only into a pipe does `sign` print the typed bytes unchanged."""
        words = ["sign", "--plugin", "APIKeyAuth", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET", "-d", "\x1b[2J\u202e", "http://127.0.0.1/"]
        shown, outcome = self.shown(*words)
        self.expect(outcome, 0)
        self.expect_safe(shown)
        self.assertIn(b"\x1b[2J", self.run_host(*words).out)
