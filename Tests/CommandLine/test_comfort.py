"""What a person at a terminal sees, and a pipe does not: formatted JSON in colours, progress, nothing that a server could steer."""

import json
import os
import re
import select
import subprocess
import sys
import time

from support import HOST, PATIENCE, RecordingServer, TestCase, cases, environment, reply

LAUNCHER = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execv(sys.argv[2], sys.argv[2:])"
DOCUMENT = {"id": 4711, "name": "nevod", "tags": ["catch", None, True]}


def at_terminal(*words, out=True, err=True, **more):
    """(exit code, what the terminal shows, what came through pipes)"""
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
                except OSError:  # The last one at the terminal has gone.
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
    def answer(self, body=None, kind="application/json", *words, **options):
        body = json.dumps(DOCUMENT).encode() if body is None else body
        with RecordingServer(lambda seen: reply("200 OK", f"Content-Type: {kind}", body=body)) as server:
            return at_terminal(*words, server.http + "/a", **options)

    @cases({"json": "application/json", "charset": "application/json; charset=utf-8", "suffix": "application/problem+json"})
    def test_is_formatted_in_colour(self, kind):
        code, shown, _ = self.answer(None, kind)
        self.assertEqual(code, 0)
        self.assertIn(b'\x1b[', shown)
        plain = self.without_colours(shown)
        self.assertEqual(plain.decode(), json.dumps(DOCUMENT, indent=2) + "\n")

    def without_colours(self, text):
        return re.sub(rb"\x1b\[[0-9;]*m", b"", text)

    @cases({"no_color": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}})
    def test_without_colours(self, variables):
        code, shown, _ = self.answer(**variables)
        self.assertEqual((code, shown.decode()), (0, json.dumps(DOCUMENT, indent=2) + "\n"))

    def test_raw_in_a_pipe(self):
        code, shown, piped = self.answer(out=False)
        self.assertEqual((code, shown, piped), (0, b"", json.dumps(DOCUMENT).encode()))

    @cases({"not_json": (b"{nonsense", "application/json"), "text": (b'{"a":1}', "text/plain")})
    def test_stays_as_it_is(self, body, kind):
        code, shown, _ = self.answer(body, kind)
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
