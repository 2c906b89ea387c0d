"""The command asks for a missing secret at the terminal, independent of the standard streams."""

import contextlib
import json
import os
import select
import subprocess
import sys
import termios
import time

from support import API_KEY, HOST, PATIENCE, SECRET, environment, with_both_plugins

# A session leader's first terminal becomes its controlling one. `preexec_fn` would be unsafe with threads.
LAUNCHER = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execv(sys.argv[2], sys.argv[2:])"


class TerminalSession:
    """A process with its own pseudo-terminal to type on."""

    def __init__(self, words, env=None, stdin=subprocess.DEVNULL):
        self.ours, self.theirs = os.openpty()
        self.shown = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, os.ttyname(self.theirs), HOST, *map(str, words)], env=environment(**(env or {})), cwd="/",
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def read_until(self, is_done, what):
        end = time.monotonic() + PATIENCE
        while not is_done():
            if time.monotonic() > end:
                raise AssertionError(f"waited {PATIENCE} s in vain for {what}; the terminal shows {self.shown!r}")
            if select.select([self.ours], [], [], 0.05)[0]:
                self.shown += os.read(self.ours, 4096)

    def type(self, data):
        os.write(self.ours, data)

    def finish(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        while select.select([self.ours], [], [], 0)[0]:
            self.shown += os.read(self.ours, 4096)
        return self.process.returncode, out, err.decode()

    def echoes(self):
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)

    def close(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        os.close(self.ours)
        os.close(self.theirs)


class Terminal:
    PROMPT = b"Shared key of the signature: "

    @contextlib.contextmanager
    def asked(self, *words):
        session = TerminalSession(["--plugin", self.plugin(), "--set", f"api-key={API_KEY}", *words, self.url("/a")])
        with contextlib.closing(session):
            session.read_until(lambda: self.PROMPT in session.shown, "the question")
            yield session

    def test_typed_secret(self):
        with self.asked("-v") as terminal:
            self.assertFalse(terminal.echoes())
            terminal.type(SECRET.encode() + b"\n")
            code, out, err = terminal.finish()
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["verified"], True, out)
            self.assertNotIn(SECRET.encode(), terminal.shown)
            self.assertNotIn(SECRET, err)
            self.assertTrue(terminal.echoes())
            self.assertEqual(terminal.shown, self.PROMPT + b"\r\n")

    def test_empty_line(self):
        with self.asked() as terminal:
            terminal.type(b"\n")
            code, out, err = terminal.finish()
        self.assertEqual((code, out), (111, b""), err)
        self.assertIn("secret", err)
        self.expect_nothing_sent()

    def test_end_of_input(self):
        with self.asked() as terminal:
            terminal.type(b"\x04")
            code, out, err = terminal.finish()
            self.assertTrue(terminal.echoes())
        self.assertEqual((code, out), (113, b""), err)
        self.assertIn("cancelled", err)
        self.expect_nothing_sent()

    def test_interrupted(self):
        """After an interrupted question, the terminal echoes again."""
        with self.asked() as terminal:
            terminal.type(SECRET.encode() + b"\x03")
            code, out, _ = terminal.finish()
            self.assertNotEqual(code, 0)
            self.assertEqual(out, b"")
            self.assertTrue(terminal.echoes())
        self.expect_nothing_sent()

    def test_not_asked_when_given(self):
        session = TerminalSession([*self.credentials(), self.url("/a")])
        with contextlib.closing(session):
            code, out, err = session.finish()
            self.assertEqual((code, json.loads(out)["verified"], session.shown), (0, True, b""), err)

    def test_no_terminal(self):
        outcome = self.run_host("--plugin", self.plugin(), "--set", f"api-key={API_KEY}", self.url("/a"))
        self.expect_failure(outcome, 111, '"secret"', "secret=env:VARIABLE", "file:PATH")
        self.expect_nothing_sent()


with_both_plugins(Terminal, globals())
