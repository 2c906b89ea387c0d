"""The table of mistakes, and what a person at a terminal sees."""

import contextlib
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import tempfile

import mistakes
from support import (
    API_KEY, BUILD, PATIENCE, SECRET, CannedServer, TestCase, authority, canned, compile_c, environment)
from test_sessions import SessionTestCase
from test_terminal import TerminalSession

# The secrets that no message may repeat.
PASSWORD = "hunter2"


class Places:
    """The servers and files that the rows name."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-")).resolve()
        self.stack.callback(shutil.rmtree, folder, ignore_errors=True)
        closed = self.stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        ca = authority()
        ca.openssl("req", "-x509", *ca.KEY, "-keyout", "self.key", "-out", "self.pem", "-subj", "/CN=self", "-days", "10", "-addext",
                   "subjectAltName=IP:127.0.0.1")
        self.values = {"closed": closed.getsockname()[1], "folder": folder, "plugins": BUILD}
        plain = {"plain": canned(b"page\n"), "mute": b"", "odd": b"220 mail.example ready\r\n"}
        for name, response in plain.items():
            self.values[name] = self.stack.enter_context(CannedServer(response)).port
        for name, certificate in {"ca": "here", "self": "self", "wrong": "elsewhere", "expired": "expired"}.items():
            self.values[name] = self.stack.enter_context(CannedServer(canned(b"page\n"), tls=ca.context(certificate))).port
        for name, source in {"ca.pem": "ca.pem", "client.pem": "client.pem", "other.key": "ca.key"}.items():
            shutil.copy(ca.path(source), folder / name)
        (folder / "text").write_text("hello\n")
        compile_c(["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", folder / "empty.so"])
        machine = bytearray((folder / "empty.so").read_bytes())
        machine[18:20] = (243 if machine[18] != 243 else 183).to_bytes(2, "little")  # the processor in ELF's header: RISC-V, or ARM
        (folder / "other-machine.so").write_bytes(machine)
        (folder / "empty-home").mkdir(mode=0o700)
        self.config("home", "[work]\nurl = http://127.0.0.1\nplugin = HMACAuth\n[bare]\nplugin = HMACAuth\nset = api-key=demo\nset = secret=env:KEY\n")
        self.config("bad-home", "[work]\npluginn = HMACAuth\n")
        self.config("open-home", "[work]\n", 0o666)

    def config(self, home, text, mode=0o600):
        path = self.values["folder"] / home / ".config/nevod/config"
        path.parent.mkdir(parents=True, mode=0o700)
        path.write_text(text)
        path.chmod(mode)

    def environment(self):
        return {"HOME": str(self.values["folder"] / "home"), "NEVOD_HOST_STORE": "", "KEY": SECRET}


class Table(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.places = Places()
        cls.addClassCleanup(cls.places.stack.close)

    def check(self, row):
        values = self.places.values
        variables, words = row.words(values)
        outcome = self.run_host(*words, env={**self.places.environment(), **variables}, cwd=values["folder"])
        self.assertEqual(outcome.code, row.code, outcome)
        self.assertRegex(outcome.err, r"\A" + row.pattern(values) + r"\Z", outcome)
        for secret in (SECRET, PASSWORD):
            self.assertNotIn(secret, outcome.err)
        if row.code:
            self.assertEqual(outcome.out, b"", outcome)


for index, row in enumerate(mistakes.mistakes()):
    setattr(Table, f"test_{index:03}_{row.name}", lambda self, row=row: self.check(row))


class Page(TestCase):
    def test_up_to_date(self):
        self.assertEqual(mistakes.PAGE.read_text(), mistakes.page(), "run python3 Tests/CommandLine/mistakes.py --write")

    def test_rows(self):
        rows = mistakes.mistakes()
        self.assertGreaterEqual(len(rows), 60)
        self.assertEqual(len({row.name for row in rows}), len(rows))
        for row in rows:
            self.assertNotEqual(row.texts, (), row)


class AtATerminal(TestCase):
    """A closed prompt, and what is reported before a prompt."""

    def asked(self, *words):
        session = TerminalSession(words)
        self.addCleanup(session.close)
        return session

    def test_closed_prompt(self):
        """Ctrl-D cancels. There is no answer, so the exit code is the one for a missing answer."""
        session = self.asked("-u", "ada", f"http://127.0.0.1:{self.closed_port()}/")
        session.read_until(lambda: b"Password of ada: " in session.shown, "the question")
        session.type(b"\x04")
        code, out, err = session.finish()
        self.assertEqual((code, out, err), (113, b"", "nevod-host: cancelled: the prompt was closed without an answer\n"))
        self.assertTrue(session.shown.endswith(b"\n"), session.shown)

    def test_missing_setting_before_the_prompt(self):
        """The command doesn't ask for a secret that it can't use."""
        session = self.asked("--plugin", BUILD / "libHMACAuth.so", f"http://127.0.0.1:{self.closed_port()}/")
        code, out, err = session.finish()
        self.assertEqual((code, out, session.shown), (111, b"", b""), err)
        self.assertIn('needs the setting "api-key"', err)
        self.assertIn("--set secret=env:VARIABLE", err)

    def test_no_colour_when_empty(self):
        """An empty NO_COLOR counts as not set (no-color.org)."""
        server = CannedServer(canned(b'{"a":1}', "Content-Type: application/json"))
        with server:
            for value, coloured in {"": True, "1": False}.items():
                text = self.shown_at_a_terminal(server.url, env={"NO_COLOR": value, "TERM": "xterm"})
                self.assertEqual(b"\x1b[" in text, coloured, (value, text))

    def shown_at_a_terminal(self, *words, env):
        script = f"timeout {PATIENCE} script -qec {shlex.quote(shlex.join(map(str, self.command(*words))))} /dev/null"
        done = subprocess.run(
            ["sh", "-c", script], env=environment(**env), stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * PATIENCE)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout


class SelfSigned(TestCase):
    """A shell runs the command from the message."""

    def test_way_out(self):
        ca = authority()
        if not ca.path("self.pem").exists():
            ca.openssl("req", "-x509", *ca.KEY, "-keyout", "self.key", "-out", "self.pem", "-subj", "/CN=self", "-days", "10",
                       "-addext", "subjectAltName=IP:127.0.0.1")
        with CannedServer(canned(b"page"), tls=ca.context("self")) as server:
            outcome = self.run_host(server.url)
            self.expect(outcome, 60)
            command, flags = re.search("with: (.*); then add (.*)$", outcome.err.strip()).groups()
            done = subprocess.run(["sh", "-c", command], cwd=self.folder, capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done)
            outcome = self.run_host(*flags.split(), server.url, cwd=self.folder)
            self.assertEqual((outcome.code, outcome.out), (0, b"page"), outcome)


class LostKey(SessionTestCase):
    def test_starting_anew(self):
        """The command from the message makes a login possible again."""
        self.logged_in()
        self.key_file.unlink()
        outcome = self.run_host("sessions")
        self.expect_failure(outcome, 114, f"{self.key_file}: the key file of this store is missing; restore it from a backup; or, ")
        command = re.search("without the sessions: (rm -f .*), and then: nevod-host login$", outcome.err.strip())[1]
        self.assertIn(str(self.store), command)
        self.assertEqual(subprocess.run(["sh", "-c", command], timeout=PATIENCE).returncode, 0)
        self.logged_in()
        self.expect_logins(self.get(), 2)

    def test_key_in_a_variable(self):
        key = "5f" * 32
        self.logged_in("--store-key", "env:STORE_KEY", env={"STORE_KEY": key})
        outcome = self.run_host("sessions", "--store-key", "env:STORE_KEY")
        self.expect_failure(outcome, 114, "STORE_KEY: is not set", "set it; or, to start anew, without the sessions: rm -f ")
        self.expect(self.run_host("sessions", "--store-key", "env:STORE_KEY", env={"STORE_KEY": key}), 0)
