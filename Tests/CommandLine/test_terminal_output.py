"""A terminal's output: binary data is refused, streams are formatted as they come, and long texts go to a pager."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

from support import HOST, PATIENCE, RecordingServer, SocketServer, TestCase, cases, environment, reply, wait_until
from test_responses import digests_of, response_plugin

# A session leader's first terminal becomes its controlling one.
LAUNCHER = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execv(sys.argv[2], sys.argv[2:])"


class Terminal:
    """A process whose three streams are a pseudo-terminal of 10 rows."""

    def __init__(self, *words, rows=10, env=None):
        self.ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 60, 0, 0))
        self.shown = b""
        variables = environment(**({"TERM": "xterm", "PAGER": "cat"} | (env or {})))
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, os.ttyname(theirs), HOST, *map(str, words)], env=variables, cwd="/",
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.ours)

    def read(self):
        if select.select([self.ours], [], [], 0.05)[0]:
            try:
                self.shown += os.read(self.ours, 65536)
            except OSError:  # all processes at the terminal have ended
                return False
        return True

    def until(self, text):
        def found():
            self.read()
            return text in self.shown

        wait_until(found, f"{text!r} in {self.shown!r}")

    def finish(self):
        end = time.monotonic() + PATIENCE
        while self.read():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for the end: {self.shown!r}")
        return self.process.wait(PATIENCE), self.shown.replace(b"\r\n", b"\n")


def without_colours(text):
    return re.sub(rb"\x1b\[[0-9;]*m", b"", text)


class TerminalOutput(TestCase):
    def shown(self, response, *words, **options):
        with RecordingServer(lambda seen: response) as server, Terminal(*words, server.http + "/a", **options) as terminal:
            return terminal.finish()


class Binary(TerminalOutput):
    BODY = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

    @cases({"alone": (), "with_colours": ("--color", "always"), "with_a_pager": ()})
    def test_is_refused(self, *words):
        code, shown = self.shown(reply("200 OK", "Content-Type: image/png", body=self.BODY), *words)
        self.assertEqual(code, 23)
        self.assertTrue(shown.startswith(b"nevod-host: the response is binary"), shown)
        self.assertIn(b"-o FILE", shown)
        self.assertEqual(shown.count(b"\n"), 1)

    def test_after_the_head(self):
        code, shown = self.shown(reply("200 OK", body=self.BODY), "-i")
        self.assertEqual(code, 23)
        self.assertTrue(shown.startswith(b"HTTP/1.1 200 OK\r\n"), shown)
        self.assertNotIn(b"PNG", shown)

    @cases({"dash": "-", "name": "/dev/stdout", "terminal": "/dev/tty"})
    def test_is_shown_where_it_is_asked_for(self, name):
        code, shown = self.shown(reply("200 OK", body=self.BODY), "-o", name)
        self.assertEqual((code, shown), (0, b"\\x89PNG\r\n\\u{1a}\n\\u{0}\\u{0}\\u{0}\\u{d}IHDR"))

    def test_late_zero_is_no_reason(self):
        """As with curl, only the beginning counts."""
        def converse(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4003\r\n\r\n" + b"a" * 4000)
            started.wait(PATIENCE)
            connection.sendall(b"\0bc")

        started = threading.Event()
        with SocketServer(converse) as server, Terminal(server.http + "/a", rows=200) as terminal:
            terminal.until(b"aaa")
            started.set()
            code, shown = terminal.finish()
        self.assertEqual((code, shown[-8:]), (0, b"\\u{0}bc"[-8:].rjust(8, b"a")))

    @cases({"json": "application/json", "utf16": "application/json; charset=utf-16", "none": "application/octet-stream"})
    def test_type_does_not_matter(self, kind):
        code, _ = self.shown(reply("200 OK", f"Content-Type: {kind}", body='{"a": 1}'.encode("utf-16")))
        self.assertEqual(code, 23)


class Heads(TerminalOutput):
    EVIL = "\x1b]0;owned\x07\x9b31m"

    @cases({"include": ("-i",), "head": ("-I", "-X", "GET"), "dash": ("-D", "-"), "terminal": ("-D", "/dev/tty"), "failure": ("-f", "-i")})
    def test_are_made_safe(self, *words):
        _, shown = self.shown(
            reply(f"404 No{self.EVIL}", f"X-Title: {self.EVIL}", body=b"x"), *words)
        self.assertIn(b"owned", shown)
        self.assertNotIn(b"\x1b", shown)
        self.assertNotIn(b"\x9b", shown)
        self.assertNotIn(b"\x07", shown)

    def test_reasons_of_a_refusal_are_made_safe(self):
        _, shown = self.shown(
            reply("401 Unauthorized", f'WWW-Authenticate: Bearer error="a{self.EVIL}"'), "-H", "Authorization: Bearer tok-1234567")
        self.assertNotIn(b"\x07", shown)
        self.assertNotIn(b"\x1b", shown)


class Streams(TerminalOutput):
    """Each record is shown when it is complete."""

    CASES = {
        "ndjson": ("application/x-ndjson", [(b'{"a":1}\n', b'{"a": 1}'), (b'[1,{"b":null}]\n', b'[1, {"b": null}]')]),
        "jsonl": ("application/jsonl; charset=utf-8", [(b'{"a":"\\u001b"}\r\n', b'{"a": "\\u001b"}')]),
        "sequence": ("application/json-seq", [(b'\x1e{"a":1}\n', b'{"a": 1}'), (b'\x1e"x"\n', b'"x"')]),
        "events": ("text/event-stream", [
            (b'event: price\ndata: {"a":1}\n\n', b'event: price\ndata: {"a": 1}\n'), (b": ping\n", b": ping"),
            (b"data: plain \x1b[2J\n", b"data: plain \\u{1b}[2J"), (b"data:5\r\n", b"data:5")]),
        "not_json": ("application/x-ndjson", [(b"oh \x1b[2J\x9b no\n", b"oh \\u{1b}[2J\\x9b no"), (b'{"a":1}\n', b'{"a": 1}')]),
    }

    @cases({f"{name}_{way}": (name, way) for name in CASES for way in ("whole", "bytes")})
    def test_arrives_record_by_record(self, name, way):
        kind, records = self.CASES[name]
        shown_before = threading.Semaphore(0)

        def converse(connection):
            connection.recv(65536)
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
            for record, _ in records:
                for piece in [record] if way == "whole" else [bytes([byte]) for byte in record]:
                    connection.sendall(piece)
                # The next one is sent only after this one is seen at the terminal.
                shown_before.acquire(timeout=PATIENCE)

        with SocketServer(converse) as server, Terminal(server.http + "/a", env={"NO_COLOR": "1"}) as terminal:
            expected = b""
            for _, text in records:
                expected += text.replace(b"\n", b"\r\n") + b"\r\n"
                terminal.until(expected)
                shown_before.release()
            code, shown = terminal.finish()
        self.assertEqual((code, shown), (0, expected.replace(b"\r\n", b"\n")))

    def test_colours(self):
        code, shown = self.shown(reply("200 OK", "Content-Type: application/x-ndjson", body=b'{"a":1}\n{"b":2}'))
        self.assertIn(b"\x1b[36m1\x1b[0m", shown)
        self.assertEqual((code, without_colours(shown)), (0, b'{"a": 1}\n{"b": 2}\n'))

    def test_line_without_end(self):
        size = 3 << 20
        code, shown = self.shown(reply("200 OK", "Content-Type: application/x-ndjson", body=b'"' + b"a" * size + b'\x1b"\n{"b":2}\n'), env={"NO_COLOR": "1"})
        self.assertEqual((code, shown[:3], shown[-20:]), (0, b'"aa', b'aa\\u{1b}"\n{"b": 2}\n'[-20:].rjust(20, b"a")))

    def test_never_in_a_pager(self):
        body = b'{"a":1}\n' * 100
        code, shown = self.shown(reply("200 OK", "Content-Type: application/x-ndjson", body=body), env={"PAGER": "false", "NO_COLOR": "1"})
        self.assertEqual((code, shown), (0, b'{"a": 1}\n' * 100))

    def test_unchanged_in_a_pipe(self):
        body = b'{"a":1}\n{"b":\x1b}\n'
        with RecordingServer(lambda seen: reply("200 OK", "Content-Type: application/x-ndjson", body=body)) as server:
            self.assertEqual(self.run_host(server.http).out, body)


class Colours(TerminalOutput):
    JSON = reply("200 OK", "Content-Type: application/json", body=b'{"a":1}')
    COLOURED = b'{\n  \x1b[1;34m"a"\x1b[0m: \x1b[36m1\x1b[0m\n}\n'
    PLAIN = b'{\n  "a": 1\n}\n'

    @cases({
        "nothing": ((), {}, True), "never": (("--color", "never"), {}, False), "auto": (("--color", "auto"), {}, True),
        "always": (("--color=always",), {}, True), "empty_no_color": ((), {"NO_COLOR": ""}, True), "no_color": ((), {"NO_COLOR": "1"}, False),
        "clicolor": ((), {"CLICOLOR": "0"}, False), "clicolor_1": ((), {"CLICOLOR": "1"}, True),
        "flag_beats_variable": (("--color", "always"), {"NO_COLOR": "1"}, True), "auto_beats_variable": (("--color", "auto"), {"NO_COLOR": "1"}, True),
        "dumb": ((), {"TERM": "dumb"}, False), "forced_and_dumb": ((), {"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True),
        "no_color_beats_force": ((), {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
    })
    def test_at_a_terminal(self, words, env, coloured):
        self.assertEqual(self.shown(self.JSON, *words, env=env), (0, self.COLOURED if coloured else self.PLAIN))

    @cases({
        "nothing": ((), {}, False), "always": (("--color", "always"), {}, True), "forced": ((), {"CLICOLOR_FORCE": "1"}, True),
        "forced_0": ((), {"CLICOLOR_FORCE": "0"}, False), "forced_empty": ((), {"CLICOLOR_FORCE": ""}, False),
        "auto": (("--color", "auto"), {"CLICOLOR_FORCE": "1"}, False), "never": (("--color", "never"), {"CLICOLOR_FORCE": "1"}, False),
        "no_color": ((), {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
    })
    def test_in_a_pipe(self, words, env, coloured):
        with RecordingServer(lambda seen: self.JSON) as server:
            outcome = self.run_host(*words, server.http, env=env)
            self.assertEqual((outcome.code, outcome.out), (0, self.COLOURED if coloured else b'{"a":1}'))
            path = self.folder / "file"
            self.run_host(*words, "-o", path, server.http, env=env)
            self.assertEqual(path.read_bytes(), b'{"a":1}')

    def test_usage(self):
        self.expect_failure(self.run_host("--color", "sometimes", "http://127.0.0.1/"), 2, "auto, always, never")


class Pager(TerminalOutput):
    LINES = b"".join(b"line %d\n" % number for number in range(50))

    def text(self, body=LINES, kind="text/plain"):
        return reply("200 OK", f"Content-Type: {kind}", body=body)

    def pager(self, script="cat >\"$0.got\"; echo paged"):
        """A pager in sh. $0.got has what it gets, and $0.env its environment."""
        path = self.file("pager", f"#!/bin/sh\nenv >\"$0.env\"\n{script}\n", mode=0o700)
        return path

    def got(self):
        return (self.folder / "pager.got").read_bytes()

    @cases({"pager": "PAGER", "ours": "NEVOD_PAGER"})
    def test_long_text(self, variable):
        code, shown = self.shown(self.text(), env={variable: str(self.pager())})
        self.assertEqual((code, shown, self.got()), (0, b"paged\n", self.LINES))

    def test_ours_comes_first(self):
        code, shown = self.shown(self.text(), env={"PAGER": "false", "NEVOD_PAGER": str(self.pager())})
        self.assertEqual((code, shown), (0, b"paged\n"))

    def test_long_json_in_colours(self):
        document = json.dumps(list(range(40))).encode()
        code, shown = self.shown(self.text(document, "application/json"), env={"PAGER": str(self.pager())})
        self.assertEqual((code, shown), (0, b"paged\n"))
        self.assertIn(b"\x1b[36m7\x1b[0m", self.got())
        self.assertEqual(json.loads(without_colours(self.got())), list(range(40)))

    def test_head_is_in_it(self):
        self.shown(self.text(), "-i", env={"PAGER": str(self.pager())})
        self.assertTrue(self.got().startswith(b"HTTP/1.1 200 OK\r\n"), self.got())

    def test_is_made_safe(self):
        self.shown(self.text(self.LINES + b"\x1b[2J"), env={"PAGER": str(self.pager())})
        self.assertTrue(self.got().endswith(b"\\u{1b}[2J"))

    @cases({
        "short": (["x"], {}), "flag": ([None, "--no-pager"], {}), "output": ([None, "-o", "-"], {}), "limit": ([None, "-m", "30"], {}),
        "empty": ([None], {"PAGER": ""}), "cat": ([None], {"PAGER": "cat"}), "missing": ([None], {"PAGER": "/nonexistent/pager -R"}),
        "dumb": ([None], {"TERM": "dumb"}), "off_by_ours": ([None], {"NEVOD_PAGER": ""}),
    })
    def test_none(self, words, env):
        body, *words = words
        body = b"x\n" if body else self.LINES
        self.assertEqual(self.shown(self.text(body), *words, env={"PAGER": str(self.pager())} | env), (0, body))
        self.assertEqual([name for name in os.listdir(self.folder) if name != "pager"], [])

    def test_rows_are_counted_as_wrapped(self):
        """60 columns: nine rows fit above the prompt."""
        env = {"PAGER": str(self.pager())}
        self.assertEqual(self.shown(self.text(b"a" * 60 * 9 + b"\n"), env=env)[1], b"a" * 540 + b"\n")
        self.assertEqual(self.shown(self.text(b"a" * 60 * 10 + b"\n"), env=env)[1], b"paged\n")

    def test_words_and_shell(self):
        code, shown = self.shown(self.text(), env={"PAGER": f"{self.pager('cat >/dev/null; echo $1')} -R"})
        self.assertEqual((code, shown), (0, b"-R\n"))
        code, shown = self.shown(self.text(), env={"PAGER": "tail -n 1 | sed 's/line/last line/'"})
        self.assertEqual((code, shown), (0, b"last line 49\n"))

    def test_environment_without_secrets(self):
        self.shown(self.text(), "-u", "env:LOGIN", env={
            "PAGER": str(self.pager()), "LOGIN": "ada:pass-4711", "https_proxy": "http://a:pass-4711@127.0.0.1:1", "LANG": "C.UTF-8"})
        variables = dict(line.split("=", 1) for line in (self.folder / "pager.env").read_text().splitlines())
        self.assertNotIn("pass-4711", str(variables))
        self.assertNotIn("NEVOD_TEST_SECRET", variables)
        self.assertEqual((variables["LESS"], variables["LANG"], variables["TERM"]), ("FRX", "C.UTF-8", "xterm"))

    def test_left_early(self):
        """The rest of a large body isn't read, which isn't a failure."""
        code, shown = self.shown(self.text(self.LINES * 20000), env={"PAGER": str(self.pager("head -n 2"))})
        self.assertEqual((code, shown), (0, b"line 0\nline 1\n"))

    def test_interrupt_belongs_to_the_pager(self):
        pager = self.pager("trap 'echo interrupted' INT; cat >/dev/null; echo ready; read line </dev/tty; read line </dev/tty; echo left")
        with RecordingServer(lambda seen: self.text()) as server, Terminal(server.http, env={"PAGER": str(pager)}) as terminal:
            terminal.until(b"ready")
            os.write(terminal.ours, b"\x03")
            terminal.until(b"interrupted")
            os.write(terminal.ours, b"q\nq\n")
            code, shown = terminal.finish()
        self.assertEqual(code, 0)
        self.assertTrue(shown.endswith(b"left\n"), shown)

    def test_body_that_breaks_off(self):
        response = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + self.LINES

        def converse(connection):
            connection.recv(65536)
            connection.sendall(response)

        with SocketServer(converse) as server, Terminal(server.http + "/a", env={"PAGER": str(self.pager())}) as terminal:
            code, shown = terminal.finish()
        self.assertEqual((code, self.got()), (18, self.LINES))
        self.assertTrue(shown.startswith(b"paged\nnevod-host: "), shown)
        self.assertNotIn(b"TLS", shown)

    def stalling(self, body, kind="text/plain"):
        """A server that sends the beginning of a body and then nothing, until the client has disconnected."""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 100000\r\n\r\n".encode()

        def converse(connection):
            connection.recv(65536)
            connection.sendall(head + body)
            connection.recv(65536)

        return self.enterContext(SocketServer(converse))

    @cases({"text": (LINES, "text/plain"), "with_a_head": (LINES, "text/plain", "-i")})
    def test_left_while_the_server_stalls(self, body, kind, *words):
        server = self.stalling(body, kind)
        with Terminal(server.http, *words, env={"PAGER": str(self.pager("head -n 3 >/dev/null; echo left"))}) as terminal:
            self.assertEqual(terminal.finish(), (0, b"left\n"))

    def test_interrupt_ends_a_stalled_server(self):
        """Ctrl-C belongs to the pager only while it runs. Here it ends the pager, and the pager's end or the signal itself ends
        the command."""
        server = self.stalling(self.LINES)
        with Terminal(server.http, env={"PAGER": str(self.pager("echo ready; exec cat >/dev/null"))}) as terminal:
            terminal.until(b"ready")
            os.write(terminal.ours, b"\x03")
            self.assertIn(terminal.finish()[0], (0, -signal.SIGINT))

    HEAD = b"HTTP/1.1 200 OK\n"

    @cases({
        "text": ("text/plain", b"one\ntwo\n", [], b"one\ntwo\n"), "text_with_a_head": ("text/plain", b"one\ntwo\n", ["-i"], b"one\ntwo\n"),
        "json": ("application/json", b'{"a": [1,', [], b'{"a": [1,'), "json_with_a_head": ("application/json", b'{"a": [1,', ["-i"], b'{"a": [1,'),
    })
    def test_held_back_text_is_shown_after_a_failure(self, kind, body, words, expected):
        def converse(connection):
            connection.recv(65536)
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 1000\r\n\r\n".encode() + body)

        with SocketServer(converse) as server, Terminal(server.http, *words, rows=30, env={"PAGER": str(self.pager())}) as terminal:
            code, shown = terminal.finish()
        self.assertEqual(code, 18, shown)
        shown, _, message = shown.replace(b"\r", b"").partition(b"nevod-host: ")
        self.assertEqual((shown.startswith(self.HEAD), shown.endswith(expected)), ("-i" in words, True), shown)
        self.assertTrue(message.startswith(b"the connection broke"), message)
        self.assertNotIn(b"TLS", message)

    def test_head_of_a_binary_body(self):
        code, shown = self.shown(reply("200 OK", body=Binary.BODY), "-i", rows=30, env={"PAGER": str(self.pager())})
        self.assertEqual(code, 23)
        self.assertTrue(shown.replace(b"\r", b"").startswith(self.HEAD), shown)
        self.assertIn(b"nevod-host: the response is binary", shown)

    @cases({"nothing_else": b"", "lines": b"one\ntwo\n"})
    def test_held_back_text_is_shown_while_the_server_stalls(self, body):
        server = self.stalling(body)
        with Terminal(server.http, "-i", rows=30, env={"PAGER": str(self.pager())}) as terminal:
            terminal.until(body.replace(b"\n", b"\r\n") or b"Content-Length: 100000")
            self.assertIn(b"HTTP/1.1 200 OK", terminal.shown)
            os.write(terminal.ours, b"\x03")
            self.assertEqual(terminal.finish()[0], -2)

    def test_refused_response_is_not_shown(self):
        """What was held back can't be trusted, including its head."""
        response = reply("200 OK", "Content-Type: text/plain", f"X-Digests: {digests_of(b'good')}", body=b"evil\n")
        words = ["--plugin", response_plugin(), "--scheme", "plain", "--set", "needs=cod"]
        code, shown = self.shown(response, "-i", *words, rows=30, env={"PAGER": str(self.pager())})
        self.assertEqual((code, b"evil" in shown), (116, False), shown)


class Progress(TerminalOutput):
    BODY = bytes(3 << 20)

    @cases({"plain": ([], True), "bar": (["-#"], True), "none": (["--no-progress-meter"], False), "silent": (["-s"], False), "errors": (["-sS"], False)})
    def test_of_a_download(self, words, is_shown):
        code, shown = self.shown(reply(body=self.BODY), "-o", self.folder / "file", *words)
        self.assertEqual((code, b"100%" in shown), (0, is_shown), shown)
