"""Shared by the tests of the program: runs it and a backend, and checks for output that must never appear."""

import contextlib
import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SHREDMATE_PROGRAM"])
EMAIL, PASSWORD = "ada@example.com", "correct horse"
PATIENCE = 60


class Backend:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", EXAMPLE / "backend/shredmate_server.py", "--parent-pid", str(os.getpid())],
            env=dict(os.environ, DEMO_SECRET=PASSWORD), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().removeprefix("listening on ").strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def tell(self, what):
        request = urllib.request.Request(f"{self.url}/admin/{what}", method="POST")
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def seen(self):
        with urllib.request.urlopen(f"{self.url}/admin/seen", timeout=PATIENCE) as response:
            return json.load(response)


class ProgramTest(unittest.TestCase):
    """Each test has its own backend and store. No output of the program may contain a token or the password."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="shredmate-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.backend = Backend()
        self.addCleanup(self.backend.stop)
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS") if name in os.environ},
            "HOME": folder.name, "SHREDMATE_URL": self.backend.url + "/api/v1"}
        self.outputs = []

    def tearDown(self):
        secrets = [PASSWORD] + [request["bearer"] for request in self.backend.seen()["requests"] if request.get("bearer")]
        for output in self.outputs:
            for secret in secrets:
                self.assertNotIn(secret, output)
                self.assertNotIn(secret.split(".")[-1], output)

    def run_program(self, *words, typed="", password=PASSWORD, status=0):
        """Runs the program until it exits, and returns what it printed."""
        environment = self.environment | ({"SHREDMATE_PASSWORD": password} if password else {})
        done = subprocess.run(
            [PROGRAM, *words], input=typed, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=PATIENCE)
        self.outputs.append(done.stdout)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def start(self, *words):
        process = subprocess.Popen(
            [PROGRAM, *words], env=self.environment | {"SHREDMATE_PASSWORD": PASSWORD}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.kill)
        # Stops a test that waits in vain for a line.
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        return process


@contextlib.contextmanager
def terminal(command, environment):
    """Runs a program in its own terminal, and yields a Screen."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execve(command[0], [str(word) for word in command], environment)
    screen = Screen(descriptor)
    try:
        yield screen
    finally:
        os.close(descriptor)  # the program gets SIGHUP
        _, status = os.waitpid(pid, 0)
        screen.status = os.waitstatus_to_exitcode(status)


class Screen:
    def __init__(self, descriptor):
        self.descriptor, self.text, self.status = descriptor, "", None

    def read(self):
        """Waits for output and reads it. Returns false at the end."""
        if not select.select([self.descriptor], [], [], PATIENCE)[0]:
            raise AssertionError(f"nothing more came in {PATIENCE} s: {self.text!r}")
        try:
            piece = os.read(self.descriptor, 65536)
        except OSError:  # the terminal's last program has ended
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)

    def wait_for(self, text):
        while text not in self.text:
            if not self.read():
                raise AssertionError(f"the program ended without {text!r}: {self.text!r}")

    def wait_for_end(self):
        while self.read():
            pass

    def type(self, line):
        os.write(self.descriptor, line.encode() + b"\n")
