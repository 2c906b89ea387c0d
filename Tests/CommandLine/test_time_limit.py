"""--max-time limits everything that a command does, from the start of its process."""

import contextlib
import os
import socket
import subprocess
import threading
import time

from support import (
    API_KEY, PATIENCE, Outcome, RecordingServer, ServerTestCase, cases, environment, reply, swift_plugin)
from test_terminal import TerminalSession

# Only prevents hanging: no test is about speed.
SOON = 30


class TimeLimit(ServerTestCase):
    def expect_time_is_up(self, outcome, *fragments):
        self.expect_failure(outcome, 28, "--max-time was up after 1 s", *fragments)

    @contextlib.contextmanager
    def open_input(self):
        """A standard input that nobody writes to."""
        reading, writing = os.pipe()
        try:
            with os.fdopen(reading, "rb") as file:
                yield file
        finally:
            os.close(writing)

    def run_on_open_input(self, *words):
        with self.open_input() as file:
            done = subprocess.run(
                self.command("-m", "1", *words), env=environment(), cwd="/", stdin=file, capture_output=True, timeout=SOON)
        return self.outcome(done)

    def outcome(self, done):
        return Outcome([str(word) for word in done.args], done.returncode, done.stdout or b"", done.stderr or b"")

    @cases({
        "data": ["-d", "@-"], "binary": ["--data-binary", "@-"], "encoded": ["--data-urlencode", "a@-"], "json": ["--json", "@-"],
        "part": ["-F", "a=<-"], "file_part": ["-F", "a=@-"], "headers": ["-H", "@-"], "user": ["-u", "-"],
        "setting": ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=-"],
    })
    def test_standard_input(self, words):
        self.expect_time_is_up(self.run_on_open_input(*words, self.url("/a")), "while reading standard input")
        self.expect_nothing_sent()

    def test_upload_of_standard_input(self):
        self.expect_failure(self.run_on_open_input("-T", "-", self.url("/a")), 28)

    @cases({
        "data": ["-d", "@{}"], "part": ["-F", "a=<{}"], "headers": ["-H", "@{}"], "user": ["-u", "file:{}"],
        "setting": ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=file:{}"],
    })
    def test_named_pipe(self, words):
        path = self.folder / "pipe"
        os.mkfifo(path)
        outcome = self.run_host("-m", "1", *(str(word).format(path) for word in words), self.url("/a"))
        self.expect_time_is_up(outcome, f"while opening {path}")
        self.expect_nothing_sent()

    def test_named_pipe_for_the_output(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        outcome = self.run_host("-m", "1", "-o", path, self.url("/status/200"))
        self.expect_time_is_up(outcome, f"while opening {path}")

    @cases({"body": (), "includes_the_head": ("-i",), "silent": ("-s",)})
    def test_stalled_reader_of_standard_output(self, *words):
        reading, writing = os.pipe()
        try:
            done = subprocess.run(
                self.command("-m", "1", *words, self.url(f"/stream?bytes={2**40}")), env=environment(), cwd="/",
                stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, timeout=SOON)
        finally:
            os.close(reading)
            os.close(writing)
        outcome = self.outcome(done)
        self.assertEqual(outcome.code, 28, outcome)
        if words != ("-s",):
            self.assertIn("while writing to standard output", outcome.err)

    def test_stalled_reader_of_standard_error(self):
        """With -v, the response's head goes to a pipe that nobody reads, and doesn't fit into it."""
        lines = [f"X-{number}: {'x' * 4000}" for number in range(40)]
        with RecordingServer(lambda seen: reply("200 OK", *lines)) as server:
            reading, writing = os.pipe()
            try:
                done = subprocess.run(
                    self.command("-m", "1", "-v", server.http), env=environment(), cwd="/",
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writing, timeout=SOON)
            finally:
                os.close(reading)
                os.close(writing)
        self.assertEqual(done.returncode, 28)

    def test_stalled_reader_that_does_not_block(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.setblocking(False)
            done = subprocess.run(
                self.command("-m", "1", self.url(f"/stream?bytes={2**40}")), env=environment(), cwd="/",
                stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, timeout=SOON)
        self.expect_time_is_up(self.outcome(done), "while writing to standard output")

    @cases({
        "password": (["-u", "me"], b"Password of me: "),
        "setting": (["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}"], b"Shared key of the signature: "),
    })
    def test_question(self, words, question):
        with contextlib.closing(TerminalSession(["-m", "1", *words, self.url("/a")])) as session:
            session.read_until(lambda: question in session.shown, "the question")
            code, out, err = session.finish()
            self.assertTrue(session.echoes())
        self.assertEqual((code, out), (28, b""), err)
        self.assertIn("while waiting for an answer at the terminal", err)
        self.expect_nothing_sent()

    def test_time_before_the_request_counts(self):
        """A request gets the time that reading its body has left."""
        waiting = threading.Event()
        with RecordingServer(lambda seen: waiting.wait(PATIENCE) and reply()) as server:
            with subprocess.Popen(
                    self.command("-m", "2", "-d", "@-", server.http), env=environment(), cwd="/", stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                start = time.monotonic()
                time.sleep(1.5)  # the time that the input takes
                process.stdin.close()
                self.assertEqual(process.wait(SOON), 28)
                self.assertLess(time.monotonic() - start, SOON)
            waiting.set()

    @cases({"seconds": "Retry-After: 20", "none": "X-None: 1"})
    def test_retries(self, line):
        with RecordingServer(lambda seen: reply("503 Service Unavailable", line, body=b"busy")) as server:
            outcome = self.run_host("-m", "2", "--retry", "20", server.http)
            # It doesn't begin a wait that would exceed the limit.
            self.expect(outcome, 0)
            self.assertEqual(outcome.out, b"busy")
            self.assertLess(len(server.requests), 4)

    def test_partial_file_is_removed(self):
        """Writing to the disk never blocks, so the limit ends the transfer."""
        outcome = self.run_host("-m", "1", "-o", self.folder / "file", self.url(f"/stream?bytes={2**40}"))
        self.expect_failure(outcome, 28)
        self.assertEqual(os.listdir(self.folder), [])


class EndlessInput(ServerTestCase):
    @cases({
        "data": ["-d", "@/dev/zero"], "binary": ["--data-binary", "@/dev/zero"], "encoded": ["--data-urlencode", "a@/dev/zero"],
        "json": ["--json", "@/dev/zero"], "part": ["-F", "a=</dev/zero"], "headers": ["-H", "@/dev/zero"],
        "user": ["-u", "file:/dev/zero"],
        "setting": ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=file:/dev/zero"],
    })
    def test_limit(self, words):
        self.expect_failure(self.run_host(*words, self.url("/a")), 26, "/dev/zero", "larger than")
        self.expect_nothing_sent()

    def test_file_part_must_be_a_file(self):
        self.expect_failure(self.run_host("-F", "a=@/dev/zero", self.url("/a")), 26, "/dev/zero")
