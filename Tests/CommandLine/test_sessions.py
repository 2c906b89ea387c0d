"""Sessions that outlive a command: storage, use, renewal, end, and the secrecy of their tokens."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from support import (
    BUILD, HOST, PATIENCE, ROOT, SECRET, RecordingServer, TestCase, built_once, cases, environment, login_plugin, reply, wait_until)
from test_terminal import TerminalSession

PASSPHRASE = "passphrase-Xw81"


ANSWERS_OF_ADA = ["--answer", "username=ada", "--answer", "password=env:NEVOD_TEST_SECRET"]


class SessionServer:
    """Examples/demo-server/session_server.py in its own process."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "Examples/demo-server/session_server.py", "--parent-pid", str(os.getpid())],
            env={"PATH": os.environ["PATH"], "DEMO_SECRET": SECRET}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.url = self.process.stdout.readline().decode().removeprefix("listening on ").strip()

    def expire(self):
        """Ends all sessions at the server."""
        urllib.request.urlopen(self.url + "/expire", data=b"", timeout=PATIENCE).read()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class SessionTestCase(TestCase):
    """With a server, and a new home for each test."""

    def setUp(self):
        self.server = SessionServer()
        self.addCleanup(self.server.stop)
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.store = self.home / ".local/share/nevod-host/sessions.db"
        self.key_file = self.home / ".config/nevod-host/store.key"

    def env(self, **more):
        return {"HOME": str(self.home), "NEVOD_HOST_STORE": "", "NEVOD_TEST_PASSPHRASE": PASSPHRASE, **more}

    def run_host(self, *words, env=None, **options):
        return super().run_host(*words, env=self.env(**(env or {})), **options)

    def scheme(self, *words):
        url = self.server.url
        settings = [
            f"login={url}/signin", f"logout={url}/signout", "csrf=input", "csrf-name=csrf", "session-cookie=sid"]
        return ["--plugin", BUILD / "libCookieAuth.so", *(word for text in settings for word in ("--set", text)), *words]

    ANSWERS = ANSWERS_OF_ADA
    # With these a login asks no questions.
    ALONE = ["--set", "username=ada", "--set", "password=env:NEVOD_TEST_SECRET"]

    def login(self, *words, **options):
        return self.run_host("login", *self.scheme(*self.ANSWERS, *words), **options)

    def logged_in(self, *words, **options):
        outcome = self.login(*words, **options)
        self.expect(outcome, 0)
        return outcome

    def get(self, *words, path="/orders", **options):
        return self.run_host("-f", *self.scheme(*words), self.server.url + path, **options)

    def expect_logins(self, outcome, count):
        """Expects a successful request and this number of logins."""
        self.expect(outcome, 0)
        self.assertEqual(json.loads(outcome.out), {"user": "ada", "logins": count, "renewals": 0}, outcome)

    def sessions(self, *words, **options):
        outcome = self.run_host("sessions", "--json", *words, **options)
        self.expect(outcome, 0)
        return json.loads(outcome.out)["sessions"]

    def profile(self, text):
        folder = self.home / ".config/nevod"
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        (self.home / ".config").chmod(0o700)
        path = folder / "config"
        path.write_text(text)
        path.chmod(0o600)

    def expect_nothing_in_clear(self):
        """Expects that neither a file of the home nor a response of the server contains the text."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        self.assertTrue(files)
        for path in files:
            content = path.read_bytes()
            for secret in (SECRET, PASSPHRASE):
                self.assertNotIn(secret.encode(), content, path)
            if path != self.key_file:
                self.assertIsNone(re.search(rb"sid=?[^a-z]{0,8}[0-9a-f]{32}", content), path)


class Login(SessionTestCase):
    def test_kept_for_later_commands(self):
        outcome = self.login()
        self.expect(outcome, 0)
        out = outcome.out.decode()
        self.assertRegex(
            out, f'^logged in as ada with "Session cookie" at {self.server.url}, until 20\\d\\d-\\d\\d-\\d\\dT[\\d:]{{8}}Z\n'
            f"kept in {self.store}, sealed by the key file {self.key_file}\n$")
        self.assertEqual(
            outcome.err, f"nevod-host: sessions are kept in {self.store}, sealed by the key file {self.key_file}\n"
            f'nevod-host: logging in with "Session cookie", which sends to {self.server.url}\n')
        for _ in range(2):
            outcome = self.get()
            self.expect_logins(outcome, 1)
            self.assertEqual(outcome.err, "")
        self.expect_logins(self.run_host("-f", *self.scheme(), self.server.url + "/x"), 1)
        self.expect_nothing_in_clear()

    def test_files_are_for_nobody_else(self):
        self.logged_in()
        for path in self.home.rglob("*"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)

    def test_again_replaces(self):
        self.logged_in()
        outcome = self.logged_in()
        self.assertNotIn("sessions are kept", outcome.err)
        self.assertEqual(len(self.sessions()), 1)
        self.expect_logins(self.get(), 2)

    def test_by_a_request(self):
        """A request that can log in does so, and the next one uses its session."""
        outcome = self.get(*self.ALONE)
        self.expect(outcome, 0, "sessions are kept in", "logging in")
        self.expect_logins(self.get(*self.ALONE), 1)
        self.expect_logins(self.get(*self.ALONE, "--no-store"), 2)
        self.expect_logins(self.get(*self.ALONE), 2)

    def test_by_a_signature(self):
        outcome = self.run_host("sign", *self.scheme(*self.ALONE), self.server.url + "/orders")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out, b"\r\nCookie: .*sid=")
        self.assertEqual(self.run_host("sign", *self.scheme(*self.ALONE), self.server.url + "/orders").out, outcome.out)

    def test_given_answers_are_not_missed(self):
        """A stored session asks no questions, and unused answers are no mistake."""
        self.logged_in()
        self.assertEqual(self.get(*self.ANSWERS).err, "")

    def test_at_the_terminal(self):
        words = ["-f", *self.scheme(), self.server.url + "/orders"]
        with contextlib.closing(TerminalSession(words, self.env())) as terminal:
            for prompt, answer in ((b"User name: ", b"ada"), (b"Password: ", SECRET.encode())):
                terminal.read_until(lambda: prompt in terminal.shown, prompt)
                terminal.type(answer + b"\n")
            code, out, err = terminal.finish()
        self.assertEqual((code, json.loads(out)["logins"]), (0, 1), err)
        self.expect_logins(self.get(), 1)

    def test_wrong_password(self):
        """No session is stored, and a stored one stays."""
        self.logged_in()
        outcome = self.run_host(
            "login", *self.scheme("--answer", "username=ada", "--answer", "password=env:WRONG"), env={"WRONG": "wrong"})
        self.expect(outcome, 112)
        self.expect_logins(self.get(), 1)

    @cases({
        "login": ("login", "has no login"), "logout": ("logout", "has no login")})
    def test_scheme_without_a_login(self, command, fragment):
        outcome = self.run_host(
            command, "--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET")
        self.expect_failure(outcome, 2, fragment, '"api-key"')
        self.assertFalse(self.store.exists())

    @cases({
        "no_plugin": (["login"], "login needs a --plugin"),
        "url": (["login", "-p", "hmac", "http://127.0.0.1/"], "login takes no URL"),
        "logout": (["logout"], "logout needs a --plugin"), "account": (["--account", "a", "http://127.0.0.1/"], "--plugin"),
        "sessions": (["sessions", "hide"], "sessions show"), "store": (["store"], "where, verify"),
        "file": (["store", "export"], "export FILE"), "key": (["store", "rekey"], "--key"),
        "source": (["sessions", "--store-key", "hunter2"], "--store-key must be")})
    def test_usage(self, words, fragment):
        outcome = self.run_host(*words)
        self.expect_failure(outcome, 2, fragment)
        self.assertNotIn("hunter2", outcome.err)


class Answers(SessionTestCase):
    """Answers that are given although a session is stored, or by a profile."""

    def test_typed_ones_win(self):
        """An answer on the command line replaces the profile's user."""
        words = " ".join(map(str, self.scheme())).replace(" --set ", "\nset = ").replace("--plugin ", "plugin = ", 1)
        answers = "answer = username=ada\nanswer = password=env:NEVOD_TEST_SECRET\n"
        self.profile(f"[work]\n{words}\n{answers}")
        outcome = self.run_host("login", "--profile", "work", "--answer", "username=eve")
        self.expect(outcome, 112)
        self.assertNotIn("warning", outcome.err)
        self.expect(self.run_host("login", "--profile", "work"), 0)

    def test_a_profiles_are_not_missed_elsewhere(self):
        self.logged_in()
        self.profile("[work]\nanswer = username=ada\n")
        for words in (["sessions"], ["store", "where"], ["store", "verify"]):
            outcome = self.run_host(*words, "--profile", "work")
            self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
            outcome = self.run_host(*words, "--profile", "work", "--answer", "store-pasphrase=env:NEVOD_TEST_PASSPHRASE")
            self.expect(outcome, 0, "no question asked for --answer store-pasphrase")
            self.assertNotIn("username", outcome.err)

    def test_of_somebody_else(self):
        self.logged_in()
        outcome = self.get("--answer", "username=eve", "--answer", "password=env:NEVOD_TEST_SECRET")
        self.expect_logins(outcome, 1)
        self.assertIn("warning: the stored session of ada is used and the answers are ignored; to log in with another account: nevod-host login ", outcome.err)

    @cases({"the_same": ANSWERS_OF_ADA, "secrets_only": ANSWERS_OF_ADA[2:]})
    def test_of_the_same(self, words):
        self.logged_in()
        outcome = self.get(*words)
        self.expect_logins(outcome, 1)
        self.assertEqual(outcome.err, "")


class NowhereToKeepIt(SessionTestCase):
    """A login may have used a one-time code, so its session serves at least this command."""

    def setUp(self):
        super().setUp()
        (self.home / "file").touch()
        self.words = ["--store", self.home / "file/sessions.db"]

    def test_request(self):
        outcome = self.get(*self.ANSWERS, *self.words)
        self.expect_logins(outcome, 1)
        self.assertIn("warning: this session can't be stored and ends with this command: ", outcome.err)
        self.assertIn(str(self.words[1]), outcome.err)

    def test_login(self):
        """The session would be for later commands only, so no question is asked."""
        outcome = self.login(*self.words)
        self.expect_failure(outcome, 114, str(self.words[1]))
        self.assertNotIn("logging in", outcome.err)


class NobodyThere(SessionTestCase):
    """Without a terminal, the error suggests the login command."""

    def test_no_session(self):
        outcome = self.get("--cacert", "/dev/null")
        command = f"nevod-host login --plugin {BUILD}/libCookieAuth.so --set 'login={self.server.url}/signin'"
        self.expect(outcome, 113, "there is no terminal", f"; or log in once, at a terminal: {command}", "--cacert /dev/null\n")
        self.assertFalse(self.store.exists())

    def test_what_it_says_logs_in(self):
        line = self.get().err.rpartition(" at a terminal: nevod-host ")[2].strip()
        done = subprocess.run(
            ["sh", "-c", f"{HOST} {line} --answer username=ada --answer password=env:NEVOD_TEST_SECRET"],
            env=environment(**self.env()), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, start_new_session=True)
        self.assertEqual(done.returncode, 0, done)
        self.expect_logins(self.get(), 1)

    def test_over(self):
        self.logged_in()
        self.server.expire()
        self.expect(self.get(), 113, "at a terminal: nevod-host login --plugin")

    def test_with_a_profile(self):
        words = " ".join(map(str, self.scheme("--set", "username=ada"))).replace(" --set ", "\nset = ")
        self.profile(f"[work]\nurl = {self.server.url}\n" + words.replace("--plugin ", "plugin = ", 1) + "\n")
        outcome = self.run_host("--profile", "work", "/orders", "--account", "a b")
        self.assertTrue(outcome.err.endswith(" at a terminal: nevod-host login --profile work --account 'a b'\n"), outcome)
        self.expect(outcome, 113)

    def test_login_itself(self):
        outcome = self.run_host("login", *self.scheme())
        self.expect(outcome, 113, "--answer username=env:VARIABLE")
        self.assertNotIn("nevod-host login", outcome.err)

    def test_no_store(self):
        outcome = self.get("--no-store")
        self.expect(outcome, 113)
        self.assertNotIn("nevod-host login", outcome.err)

    def test_no_home(self):
        outcome = self.get(env={"HOME": ""})
        self.expect_failure(outcome, 2, "--store PATH", "--no-store")
        for words in (["sessions"], ["store", "where"], ["login", *self.scheme()]):
            outcome = self.run_host(*words, env={"HOME": ""})
            self.expect_failure(outcome, 2, "--store PATH")
            self.assertNotIn("--no-store", outcome.err)

    def test_secrets_are_not_repeated(self):
        outcome = self.get("--set", "password=env:NEVOD_TEST_SECRET")
        self.expect(outcome, 113, "--set 'password=env:NEVOD_TEST_SECRET'")
        self.assertNotIn(SECRET, outcome.err)


class Renewal(SessionTestCase):
    def test_silently(self):
        self.expect_logins(self.get(*self.ALONE), 1)
        self.server.expire()
        self.expect_logins(self.get(*self.ALONE), 2)
        self.expect_logins(self.get(*self.ALONE), 2)

    def test_once_for_eight_processes(self):
        self.expect_logins(self.get(*self.ALONE), 1)
        for number in range(3):
            self.server.expire()
            outcomes = []
            threads = [threading.Thread(target=lambda: outcomes.append(self.get(*self.ALONE))) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            self.assertEqual(len(outcomes), 8)
            for outcome in outcomes:
                self.expect_logins(outcome, number + 2)


class RefusedRenewal(SessionTestCase):
    """The session has expired, and the password is no longer right: an account may be locked after a few attempts."""

    COMMANDS = 6

    def setUp(self):
        super().setUp()
        self.logins, self.refused, self.all_refused = 0, 0, threading.Event()
        self.is_over, self.lock = False, threading.Lock()

        def respond(seen):
            with self.lock:
                if seen.path == "/login":
                    self.logins += 1
                else:
                    self.refused += self.is_over
                    if self.refused == self.COMMANDS:
                        self.all_refused.set()
            if not self.is_over:
                return reply("200 OK", *(["Set-Cookie: sid=secret-sid-4711; Path=/"] if seen.path == "/login" else []))
            if seen.path == "/login":
                # By then, each command has learned that its session has ended.
                self.all_refused.wait(PATIENCE)
                return reply("401 Unauthorized", "Content-Type: application/json", body=b'{"error":"Wrong password"}')
            return self.refusal

        self.site = self.enterContext(RecordingServer(respond))
        self.words = [
            "--plugin", BUILD / "libCookieAuth.so", "--set", f"login={self.site.http}/login", "--set", "session-cookie=sid",
            *self.ALONE]

    def send(self, *more):
        return self.run_host("-f", *more, *self.words, f"{self.site.http}/orders")

    @cases({
        "status": reply("401 Unauthorized"), "redirect": reply("302 Found", "Location: /login"),
        "page_of_login": reply("303 See Other", "Location: /login?next=/orders"),
    })
    def test_once_for_six_commands(self, refusal):
        self.refusal = refusal
        self.expect(self.send(), 0)
        self.is_over, self.logins = True, 0
        outcomes = []
        threads = [threading.Thread(target=lambda: outcomes.append(self.send())) for _ in range(self.COMMANDS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual((self.logins, len(outcomes)), (1, self.COMMANDS))
        for outcome in outcomes:
            self.expect(outcome, 112, "nevod-host: the request could not be authorized: the server refused to renew the token: ")
            self.assertEqual(outcome.out, b"")
            self.assertEqual(outcome.err.splitlines()[-1], outcomes[0].err.splitlines()[-1])
        self.assertEqual(self.sessions(), [])
        self.expect_nothing_in_clear()
        for path in (path for path in self.home.rglob("*") if path.is_file()):
            self.assertNotIn(b"4711", path.read_bytes(), path)
        # A later command tries again.
        self.expect(self.send(), 112)
        self.assertEqual(self.logins, 2)
        self.is_over = False
        self.expect(self.send(), 0)
        self.assertEqual((self.logins, len(self.sessions())), (3, 1))

    @cases({"one_by_one": (), "at_once": ("-Z", "--parallel-max", "2")})
    def test_once_for_a_command_with_several_urls(self, *words):
        self.refusal = reply("401 Unauthorized")
        self.expect(self.send(), 0)
        self.is_over, self.logins = True, 0
        self.all_refused.set()
        urls = [f"{self.site.http}/orders?{number}" for number in range(5)]
        outcome = self.run_host("-f", *words, *self.words, *urls)
        self.expect(outcome, 112, "the server refused to renew the token: ")
        self.assertEqual(self.logins, 1, outcome)
        self.assertEqual(self.sessions(), [])


class EndsInARenewal(SessionTestCase):
    """When the server responds, it has spent the old token. So the new one is saved, however the command ends."""

    def setUp(self):
        super().setUp()
        self.arrived, self.may_respond = threading.Event(), threading.Event()
        self.issued = []

        def respond(seen):
            if seen.path == "/login":
                if self.issued:
                    self.arrived.set()
                    self.may_respond.wait(PATIENCE)
                self.issued.append(f"s{len(self.issued) + 1}")
                return reply("200 OK", f"Set-Cookie: sid={self.issued[-1]}; Path=/")
            known = seen.values("Cookie") == [f"sid={self.issued[-1]}"] and not self.is_over
            return reply("200 OK" if known else "401 Unauthorized")

        self.is_over = False
        self.slow = self.enterContext(RecordingServer(respond))
        self.words = ["--plugin", BUILD / "libCookieAuth.so", "--set", f"login={self.slow.http}/login", *self.ALONE]
        self.expect(self.run_host("login", *self.words), 0)

    def ended_while_the_server_thinks(self, *words, end=lambda process: None):
        self.is_over = True
        process = subprocess.Popen(
            [HOST, "-f", *words, *self.words, f"{self.slow.http}/orders"], env=environment(**self.env()),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(self.arrived.wait(PATIENCE))
        end(process)
        self.is_over = False
        self.may_respond.set()
        _, err = process.communicate(timeout=PATIENCE)
        logins = len(self.issued)
        self.expect(self.run_host("-f", *self.words, f"{self.slow.http}/orders"), 0)
        self.assertEqual(len(self.issued), logins, "the next command has the new session")
        return process.returncode, err

    def wait_for_notice(self, process):
        """Reads until the command says that it has begun to wait for the server."""
        line = process.stderr.readline()
        while b"waiting up to 30 s for the response" not in line:
            self.assertTrue(line)
            line = process.stderr.readline()

    def test_time_is_over(self):
        code, err = self.ended_while_the_server_thinks("--max-time", "2", end=self.wait_for_notice)
        self.assertEqual(code, 28, err)

    def test_interrupted(self):
        def end(process):
            process.send_signal(signal.SIGINT)
            self.wait_for_notice(process)

        code, err = self.ended_while_the_server_thinks(end=end)
        self.assertEqual(code, -signal.SIGINT, err)

    def test_time_is_over_while_another_renews(self):
        """This command has sent nothing, so no token can be lost. It neither waits nor warns."""
        outcomes = []

        def end(process):
            outcomes.append(self.run_host("-f", "--max-time", "0.5", *self.words, f"{self.slow.http}/orders"))

        code, err = self.ended_while_the_server_thinks(end=end)
        self.assertEqual(code, 0, err)
        self.expect_failure(outcomes[0], 28)


class Logout(SessionTestCase):
    def test_given_back(self):
        self.logged_in()
        cookie = re.search(rb"Cookie: .*(sid=\w+)", self.run_host("sign", *self.scheme(), self.server.url).out)[1].decode()
        outcome = self.run_host("logout", *self.scheme())
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"logged out ada\n", ""), outcome)
        self.assertEqual(self.sessions(), [])
        self.expect(self.run_host("-f", "-H", f"Cookie: {cookie}", self.server.url + "/orders"), 119)
        self.expect(self.get(), 113)

    def test_server_that_is_not_told(self):
        """The scheme has no logout address: the cookie stays valid, and a warning says so."""
        words = [word for word in self.scheme() if "signout" not in str(word)]
        words = ["--plugin", BUILD / "libCookieAuth.so", *(word for text in words if "=" in str(text) for word in ("--set", text))]
        self.expect(self.run_host("login", *words, *self.ANSWERS), 0)
        cookie = re.search(rb"Cookie: .*(sid=\w+)", self.run_host("sign", *words, self.server.url).out)[1].decode()
        outcome = self.run_host("logout", *words)
        self.expect(outcome, 0, "warning: the session ada is cleared here, but nothing was sent to the server", "nevod-host inspect ")
        self.assertEqual(outcome.out, b"logged out ada\n")
        self.expect(self.run_host("-f", "-H", f"Cookie: {cookie}", self.server.url + "/orders"), 0)

    def test_nothing_to_log_out_of(self):
        for _ in range(2):
            outcome = self.run_host("logout", *self.scheme())
            self.expect(outcome, 0)
            self.assertIn(b"no session to log out of", outcome.out)
            self.logged_in("--account", "other", "--set", "username=ada")

    def test_server_that_is_away(self):
        """The session is still cleared, with a warning."""
        self.logged_in()
        self.server.stop()
        outcome = self.run_host("logout", *self.scheme())
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn("warning: the session ada is cleared here, but the server may not know", outcome.err)
        self.assertEqual((outcome.out, self.sessions()), (b"", []))
        self.server = SessionServer()
        self.addCleanup(self.server.stop)


class Accounts(SessionTestCase):
    def test_several(self):
        self.logged_in("--account", "work")
        self.logged_in("--account", "home & garden/ä")
        self.assertEqual([session["account"] for session in self.sessions()], ["home & garden/ä", "work"])
        self.assertEqual([session["logged_in_as"] for session in self.sessions()], ["ada", "ada"])
        outcome = self.get()
        self.expect_failure(outcome, 2, "several accounts: home & garden/ä, work", "--account")
        self.expect_logins(self.get("--account", "work"), 2)
        self.expect(self.run_host("logout", *self.scheme(), "--account", "work"), 0)
        self.expect_logins(self.get(), 2)
        self.expect(self.get("--account", "work"), 113, "--account work")

    def test_name_of_ones_own(self):
        """The output names both the account that logged in and the name given here."""
        out = self.logged_in("--account", "eve").out.decode()
        self.assertRegex(out, f'^logged in as ada with .*\nkept as the account "eve" in {self.store}, ')

    def test_named_by_the_scheme(self):
        self.logged_in()
        (session,) = self.sessions()
        self.assertEqual(session["account"], "ada")
        self.expect_logins(self.get("--account", "ada"), 1)

    def test_other_settings(self):
        """A request as another user doesn't use ada's session."""
        self.logged_in()
        self.expect(self.get("--set", "username=bob"), 113, "password")
        self.expect_logins(self.get(), 1)

    def test_secrets_do_not_count(self):
        self.expect_logins(self.get(*self.ALONE), 1)
        self.expect_logins(self.get("--set", "username=ada"), 1)


class Client(SessionTestCase):
    """A server that binds each session to User-Agent and Accept-Language. A login as another client would be useless."""

    def setUp(self):
        super().setUp()
        self.clients, self.refusals = [], 0

        def respond(seen):
            client = (seen.values("User-Agent"), seen.values("Accept-Language"))
            if seen.path == "/login":
                self.clients.append(client)
                return reply("200 OK", f"Set-Cookie: sid=s{len(self.clients)}; Path=/")
            known = seen.values("Cookie") == [f"sid=s{len(self.clients)}"] and self.clients[-1] == client
            self.refusals += not known
            return reply("200 OK" if known else "401 Unauthorized")

        self.bound = self.enterContext(RecordingServer(respond))
        self.words = [
            "--plugin", BUILD / "libCookieAuth.so", "--set", f"login={self.bound.http}/login", "--set", "session-cookie=sid",
            *self.ALONE]

    @cases({
        "default": ([], None, []),
        "agent": (["-A", "Mozilla/5.0"], "Mozilla/5.0", []),
        "none": (["-A", ""], "", []),
        "header": (["-A", "x", "-H", "user-agent: Firefox", "-H", "Accept-Language: de;q=1"], "Firefox", ["de;q=1"]),
        "removed": (["-H", "User-Agent:", "-H", "Accept-Language: de", "-H", "Accept-Language: en"], "", ["de", "en"]),
    })
    def test_login_by_a_request(self, words, agent, languages):
        for _ in range(2):
            self.expect(self.run_host("-f", *self.words, *words, f"{self.bound.http}/orders"), 0)
        agents, seen = self.clients[0]
        self.assertEqual((len(self.clients), self.refusals, seen), (1, 0, languages))
        self.assertEqual(agents, self.bound.requests[-1].values("User-Agent"))
        if agent is not None:
            self.assertEqual(agents, [agent] if agent else [])

    def test_login_with_the_agent(self):
        self.expect(self.run_host("login", *self.words, "-A", "Mozilla/5.0"), 0)
        self.expect(self.run_host("-f", *self.words, "-A", "Mozilla/5.0", f"{self.bound.http}/orders"), 0)
        self.assertEqual((len(self.clients), self.refusals), (1, 0))

    def test_login_with_a_profile(self):
        words = "".join(f"set = {word}\n" for word in self.words[3::2])
        self.profile(
            f"[app]\nurl = {self.bound.http}\nplugin = {self.words[1]}\n{words}user-agent = Mozilla/5.0\n"
            "header = Accept-Language: de\nheader = X-Other: x\n")
        self.expect(self.run_host("login", "--profile", "app"), 0)
        self.expect(self.run_host("-f", "--profile", "app", "/orders"), 0)
        self.assertEqual((self.clients, self.refusals), ([(["Mozilla/5.0"], ["de"])], 0))
        self.assertEqual(self.bound.requests[0].values("X-Other"), [])


class Profiles(SessionTestCase):
    def setUp(self):
        super().setUp()
        words = " ".join(map(str, self.scheme(*self.ALONE))).replace(" --set ", "\nset = ").replace("--plugin ", "plugin = ", 1)
        self.profile("".join(f"[{name}]\nurl = {self.server.url}\n{words}\n" for name in ("work", "play")))

    def test_one_session_each(self):
        self.expect(self.run_host("login", "--profile", "work"), 0)
        self.expect_logins(self.run_host("--profile", "work", "/orders"), 1)
        self.expect_logins(self.run_host("--profile", "play", "/orders"), 2)
        self.expect_logins(self.get(*self.ALONE), 3)
        self.assertEqual([session["profile"] for session in self.sessions()], ["", "play", "work"])
        self.assertEqual([session["number"] for session in self.sessions("--profile", "play")], [2])
        self.expect(self.run_host("logout", "--profile", "work"), 0)
        self.assertEqual([session["profile"] for session in self.sessions()], ["", "play"])
        self.expect_logins(self.run_host("--profile", "play", "/orders"), 3)

    def test_store_of_a_profile(self):
        path = self.home / "elsewhere/s.db"
        self.profile((self.home / ".config/nevod/config").read_text() + f"store = {path}\n")
        self.expect(self.run_host("login", "--profile", "play"), 0, str(path))
        self.assertTrue(path.exists())
        self.assertEqual(self.run_host("store", "where", "--profile", "play").out.splitlines()[0], str(path).encode())


class List(SessionTestCase):
    def test_none(self):
        outcome = self.run_host("sessions")
        self.assertEqual((outcome.code, outcome.out), (0, f"no sessions: there is no store yet at {self.store}\n".encode()))
        self.assertFalse(self.store.parent.exists())

    def test_table(self):
        self.logged_in()
        outcome = self.run_host("sessions")
        head, row, place = outcome.out.decode().splitlines()
        self.assertEqual(head, "#  PROFILE  SCHEME  ACCOUNT  EXPIRES               ORIGINS")
        self.assertRegex(row, f"^1  -        cookie  ada      20[-\\d]{{8}}T[:\\d]{{8}}Z  {self.server.url}$")
        self.assertEqual(place, f"in {self.store}")

    @cases({"number": "1", "account": "ada"})
    def test_show(self, word):
        self.logged_in()
        out = self.run_host("sessions", "show", word).out.decode()
        for fragment in ("plugin        CookieAuth\n", "account       ada\n", f"origins       {self.server.url}\n", f"store         {self.store}\n", "sealed by     the key file"):
            self.assertIn(fragment, out)
        self.assertNotIn("sid", out)
        self.assertEqual(json.loads(self.run_host("sessions", "show", word, "--json").out)["account"], "ada")

    def test_show_within_a_profile(self):
        words = " ".join(map(str, self.scheme(*self.ALONE))).replace(" --set ", "\nset = ").replace("--plugin ", "plugin = ", 1)
        self.profile(f"[work]\n{words}\n[play]\n{words}\n")
        for name in ("work", "play"):
            self.expect(self.run_host("login", "--profile", name), 0)
        self.expect_failure(self.run_host("sessions", "show", "ada"), 2, '2 sessions match "ada"')
        for word in ("ada", "2"):
            outcome = self.run_host("sessions", "show", word, "--profile", "work", "--json")
            self.expect(outcome, 0)
            self.assertEqual((json.loads(outcome.out)["number"], json.loads(outcome.out)["profile"]), (2, "work"))
        self.expect_failure(self.run_host("sessions", "show", "1", "--profile", "work"), 2, 'no session "1"')

    def test_forget(self):
        """A session can be removed even if its settings are lost."""
        self.logged_in()
        self.expect(self.run_host("login", *self.scheme(*self.ANSWERS, "--set", "field=a=b")), 0)
        self.assertEqual(len(self.sessions()), 2)
        outcome = self.run_host("sessions", "forget", "1")
        self.assertEqual((outcome.code, outcome.out), (0, b"the session of ada is removed here; the server was not told\n"))
        self.assertEqual(len(self.sessions()), 1)
        self.expect_failure(self.run_host("sessions", "forget", "2"), 2, 'no session "2"')

    def test_show_unknown(self):
        self.logged_in()
        self.expect_failure(self.run_host("sessions", "show", "7"), 2, 'no session "7"')

    def test_escape_sequences(self):
        self.logged_in("--account", "a\x1b[2J")
        out = self.run_host("sessions").out
        self.assertNotIn(b"\x1b", out)
        self.assertIn(rb"a\u{1b}[2J", out)

    def test_damaged_one_does_not_hide_the_others(self):
        self.logged_in("--account", "a")
        self.logged_in("--account", "b")
        with contextlib.closing(sqlite3.connect(self.store)) as database, database:
            (count,) = database.execute("SELECT count(*) FROM entry").fetchone()
            self.assertEqual(count, 2)
            database.execute(
                "UPDATE entry SET sealed = (SELECT sealed FROM entry WHERE key LIKE '%/b') WHERE key LIKE '%/a'")
        first, second = self.sessions()
        self.assertIn("does not open", first["problem"])
        self.assertEqual((second["account"], second["problem"]), ("b", None))
        self.assertIn(b"damaged", self.run_host("sessions").out)
        self.expect(self.run_host("store", "verify"), 115, "1 of its parts is damaged")
        self.expect(self.get("--account", "a"), 115, "does not open")
        self.expect_logins(self.get("--account", "b"), 2)
        self.expect(self.run_host("logout", *self.scheme(), "--account", "a"), 115, "cleared here")
        self.assertEqual([session["account"] for session in self.sessions()], ["b"])
        self.expect(self.run_host("store", "verify"), 0)


class Store(SessionTestCase):
    def where(self, *words, **options):
        outcome = self.run_host("store", "where", "--json", *words, **options)
        self.expect(outcome, 0)
        return json.loads(outcome.out)

    def test_where(self):
        self.assertEqual(
            self.where(), {"path": str(self.store), "exists": False, "layout": None, "sessions": 0, "sealed_by": None})
        self.logged_in()
        self.assertEqual(
            self.where(), {"path": str(self.store), "exists": True, "layout": 2, "sessions": 1, "sealed_by": "key-file"})
        self.assertIn(f"sealed by  the key file {self.key_file}\n".encode(), self.run_host("store", "where").out)

    def test_a_row_put_back_after_logout(self):
        self.logged_in("--account", "a")
        with contextlib.closing(sqlite3.connect(self.store)) as database:
            rows = database.execute("SELECT key, version, sealed FROM entry").fetchall()
        self.expect(self.run_host("logout", *self.scheme(), "--account", "a"), 0)
        with contextlib.closing(sqlite3.connect(self.store)) as database, database:
            database.executemany("INSERT INTO entry VALUES (?, ?, ?)", rows)
        self.expect(self.get("--account", "a"), 115, "has been put back by something else")
        self.expect(self.run_host("store", "verify"), 115, "has been put back by something else")
        (session,) = self.sessions()
        self.assertIn("was removed or replaced", session["problem"])
        self.expect(self.run_host("sessions", "forget", "a"), 0)
        self.assertIn(b"is intact", self.run_host("store", "verify").out)

    def test_an_older_copy_of_the_store(self):
        self.logged_in()
        copy = self.folder / "copy"
        shutil.copytree(self.store.parent, copy)
        self.expect(self.run_host("logout", *self.scheme()), 0)
        shutil.rmtree(self.store.parent)
        shutil.copytree(copy, self.store.parent)
        self.expect(self.run_host("store", "verify"), 115, "was turned back, or is a copy")
        self.expect(self.run_host("store", "rekey", "--key", f"file:{self.folder}/next.key"), 0)
        self.expect(self.run_host("store", "verify", "--store-key", f"file:{self.folder}/next.key"), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can use the home of another user")
    def test_home_of_another_user(self):
        os.chown(self.home, 65534, 65534)
        outcome = self.login()
        self.expect_failure(outcome, 114, f"{self.home}: belongs to another user (uid 65534)")
        self.assertEqual(os.listdir(self.home), [])
        self.expect(self.login("--store", self.folder / "own.db", "--store-key", f"file:{self.folder}/own.key"), 0)

    def test_a_number_beyond_all(self):
        self.logged_in()
        self.expect_failure(self.run_host("sessions", "show", "--", str(-2**63)), 2, "there is no session")

    @cases({"flag": (["--store", "{}"], {}), "environment": ([], {"NEVOD_HOST_STORE": "{}"})})
    def test_elsewhere(self, words, env):
        path = self.folder / "other/s.db"
        words = [word.format(path) for word in words]
        self.logged_in(*words, env={name: value.format(path) for name, value in env.items()})
        self.assertTrue(path.exists())
        self.assertFalse(self.store.exists())

    def test_relative_path(self):
        self.expect(self.login("--store", "s.db", cwd=self.home), 0, f"{self.home}/s.db")

    def test_verify(self):
        self.expect_failure(self.run_host("store", "verify"), 114, "there is no store of sessions", "nevod-host login")
        self.logged_in()
        outcome = self.run_host("store", "verify")
        self.assertEqual((outcome.code, outcome.out), (0, f"{self.store} is intact; its value opens\n".encode()), outcome)

    @cases({"passphrase": ("passphrase", "passphrase"), "file": ("file:{folder}/k", "key-file"), "env": ("env:K", "environment")})
    def test_rekey(self, key, kind):
        """The store then opens only with the new key."""
        self.logged_in()
        key = key.format(folder=self.folder)
        env = {"K": "ab" * 32}
        answers = ["--answer", "passphrase=env:NEVOD_TEST_PASSPHRASE"] if kind == "passphrase" else []
        self.expect(self.run_host("store", "rekey", "--key", key, *answers, env=env), 0)
        opening = ["--store-key", key, *(["--answer", "store-passphrase=env:NEVOD_TEST_PASSPHRASE"] if answers else [])]
        self.assertEqual(self.where(*opening, env=env)["sealed_by"], kind)
        self.expect_logins(self.get(*opening, env=env), 1)
        self.expect(self.get("--store-key", f"file:{self.key_file}"), 114)
        if kind != "passphrase":
            self.expect(self.get(env={"NEVOD_HOST_STORE_KEY": "cd" * 32}), 114)
        self.expect_nothing_in_clear()

    def test_rekey_says_a_path_that_holds_everywhere(self):
        self.logged_in()
        outcome = self.run_host("store", "rekey", "--key", "file:other.key", cwd=self.home)
        self.expect(outcome, 0)
        words = re.search("opens with (--store-key .*)$", outcome.err.strip())[1].split()
        self.assertEqual(words[1], f"file:{self.home}/other.key")
        self.expect_logins(self.get(*words), 1)

    @cases({
        "json": (["verify", "--json"], "--json", "where"), "key": (["where", "--key", "passphrase"], "--key", "rekey"),
        "replace": (["export", "f", "--replace"], "--replace", "import")})
    def test_flag_of_another_word(self, words, flag, owner):
        """The flag would have no effect, so a program that expects JSON would get text."""
        self.logged_in()
        self.expect_failure(self.run_host("store", *words), 2, f"store {words[0]} takes no {flag}; it belongs to store {owner}")

    @cases({
        "export": (["store", "export", "copy"], "passphrase"), "rekey": (["store", "rekey", "--key", "passphrase"], "passphrase"),
        "new": (["--store", "new.db", "--store-key", "passphrase"], "store-passphrase")})
    def test_empty_passphrase(self, words, name):
        self.logged_in()
        words = words if words[0] == "store" else ["login", *self.scheme(), *words]
        outcome = self.run_host(*words, "--answer", f"{name}=env:EMPTY", env={"EMPTY": ""}, cwd=self.home)
        self.expect_failure(outcome, 111, f"passphrase (--answer {name}) is empty")
        self.assertEqual([path for path in ("copy", "new.db") if (self.home / path).exists()], [])

    @cases({
        "export": (["store", "export", "{}"], b"New passphrase: "),
        "login": (["login", "--store", "{}", "--store-key", "passphrase"], b"New passphrase of the store: ")})
    def test_interrupted_while_it_is_asked(self, words, prompt):
        """No file is left. The export can be repeated under that name, and no other key replaces the passphrase."""
        self.logged_in()
        path = self.folder / "begun/file"
        words = [word.format(path) for word in words] + (list(self.scheme()) if words[0] == "login" else [])
        with contextlib.closing(TerminalSession(words, self.env())) as terminal:
            terminal.read_until(lambda: prompt in terminal.shown, prompt)
            terminal.type(b"\x03")
            code, _, err = terminal.finish()
        self.assertEqual(code, -signal.SIGINT, err)
        self.assertFalse(path.parent.exists())

    def test_rekey_to_the_same(self):
        """The same key isn't a new one. The error says so."""
        self.logged_in()
        self.expect_failure(
            self.run_host("store", "rekey", "--key", f"file:{self.key_file}"), 114,
            f"is sealed by the key file {self.key_file} already", "a key file that doesn't exist yet")
        self.expect_logins(self.get(), 1)

    def test_passphrase_without_a_terminal(self):
        self.logged_in()
        rekey = ["store", "rekey", "--key", "passphrase"]
        self.expect_failure(self.run_host(*rekey), 113, "--answer passphrase=env:VARIABLE")
        self.expect_failure(self.run_host(*rekey, "--answer", "passphrase=hunter2"), 111, '"passphrase" is a secret')
        self.expect(self.run_host(*rekey, "--answer", "passphrase=env:NEVOD_TEST_PASSPHRASE"), 0)
        self.expect_failure(self.get(), 113, "--answer store-passphrase=env:VARIABLE")
        self.expect_failure(self.get("--answer", "store-passphrase=env:NEVOD_TEST_SECRET"), 114, "does not open")

    def test_passphrase_at_the_terminal(self):
        """A command asks twice for a new passphrase, but only once for each passphrase."""
        self.logged_in()

        def ask(words, *answers):
            with contextlib.closing(TerminalSession(words, self.env())) as terminal:
                for prompt, answer in answers:
                    start = len(terminal.shown)
                    terminal.read_until(lambda: prompt in terminal.shown, prompt)
                    self.assertFalse(terminal.echoes())
                    terminal.type(answer.encode() + b"\n")
                code, _, err = terminal.finish()
                self.assertNotIn(PASSPHRASE.encode(), terminal.shown)
            return code, err

        rekey = ["store", "rekey", "--key", "passphrase"]
        new, again = b"New passphrase: ", b"Repeat the passphrase: "
        code, err = ask(rekey, (new, PASSPHRASE), (again, "another"))
        self.assertEqual(code, 111, err)
        self.assertIn("differ", err)
        self.assertEqual(ask(rekey, (new, PASSPHRASE), (again, PASSPHRASE)), (0, ""))
        self.assertEqual(ask(["store", "verify"], (b"Passphrase of the store: ", PASSPHRASE)), (0, ""))
        code, err = ask(["store", "verify"], (b"Passphrase of the store: ", "wrong"))
        self.assertEqual(code, 114, err)

    def test_export_and_import(self):
        self.logged_in("--account", "a")
        file = self.folder / "copy"
        given = ["--answer", "passphrase=env:NEVOD_TEST_PASSPHRASE"]
        outcome = self.run_host("store", "export", file, *given)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertNotIn(SECRET.encode(), file.read_bytes())
        self.expect_failure(self.run_host("store", "export", file), 114, "exists already")
        other = {"HOME": str(self.folder / "second")}
        outcome = self.run_host("store", "import", self.folder / "none", *given, env=other)
        self.expect_failure(outcome, 26, f"can't read {self.folder}/none")
        self.assertFalse((self.folder / "second").exists())
        self.expect(self.run_host("store", "import", file, "--answer", "passphrase=env:NEVOD_TEST_SECRET", env=other), 114)
        outcome = self.run_host("store", "import", file, *given, env=other)
        self.assertIn(b"1 session imported from", outcome.out, outcome)
        self.expect_logins(self.get(env=other), 1)
        outcome = self.run_host("store", "import", file, *given, env=other)
        self.assertIn(b"0 sessions imported from", outcome.out)
        self.assertIn(b"1 session already stored and left unchanged", outcome.out)
        self.assertIn(b"1 session imported", self.run_host("store", "import", "--replace", file, *given, env=other).out)


class PostgreSQLServer:
    """A server in a new folder, on a Unix socket only, as a user that PostgreSQL accepts."""

    QUIET = {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}

    def __init__(self):
        self.folder, user, programs = self.place()
        data = self.folder / "data"
        # Creating an empty database takes longer than starting a server.
        subprocess.run(["cp", "-a", built_once("postgresql", self.make), data], check=True, timeout=PATIENCE)
        self.process = subprocess.Popen(
            [*user, programs / "postgres", "-D", data, "-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}"],
            **self.QUIET)
        wait_until(lambda: (self.folder / ".s.PGSQL.5432").exists(), "the socket of PostgreSQL")
        self.url = f"postgresql://ada@/postgres?host={self.folder}"

    @staticmethod
    def place():
        """A new folder, the arguments that run a program as its owner, and the folder of PostgreSQL's programs."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-pg-", dir="/tmp"))
        user = []
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
            user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        folder.chmod(0o755)
        return folder, user, sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]

    def make(self, path):
        folder, user, programs = self.place()
        subprocess.run(
            [*user, programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "ada", "-N"], check=True, timeout=PATIENCE,
            **self.QUIET)
        shutil.move(folder / "data", path)
        folder.rmdir()

    def query(self, statement):
        command = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement, self.url]
        return subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, text=True).stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class OnAServer(SessionTestCase):
    """PostgreSQL instead of the file: the same commands, with one session for all machines."""

    def setUp(self):
        super().setUp()
        self.database = PostgreSQLServer()
        self.addCleanup(self.database.stop)

    def env(self, **more):
        return super().env(**{"NEVOD_HOST_STORE": self.database.url, **more})

    def test_the_same_commands(self):
        outcome = self.run_host("store", "where")
        self.expect(outcome, 0, f"sessions are kept in {self.database.url}, sealed by the key file {self.key_file}\n")
        outcome = self.logged_in()
        self.assertNotIn("sessions are kept", outcome.err)
        self.assertIn(f"kept in {self.database.url}, sealed by the key file {self.key_file}", outcome.out.decode())
        self.assertFalse(self.store.exists())
        self.expect_logins(self.get(), 1)
        self.server.expire()
        outcomes = [None] * 4

        def run(index):
            outcomes[index] = self.get(*self.ALONE)

        self.expect(self.login(*self.ALONE), 0)
        self.server.expire()
        threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for outcome in outcomes:
            self.expect_logins(outcome, 3)
        self.assertEqual(len(self.sessions()), 2)
        outcome = self.run_host("store", "verify")
        self.expect(outcome, 0)
        self.assertIn(b"all 2 values open", outcome.out)
        exported = self.folder / "export"
        self.expect(self.run_host("store", "export", exported, "--answer", "passphrase=env:NEVOD_TEST_PASSPHRASE"), 0)
        words = ["--store", self.store, "--answer", "passphrase=env:NEVOD_TEST_PASSPHRASE"]
        self.expect(self.run_host("store", "import", exported, *words), 0)
        self.expect(self.run_host("logout", *self.scheme()), 0)
        self.assertEqual(len(self.sessions()), 1)

    def test_a_server_that_is_away(self):
        self.logged_in()
        self.database.stop()
        self.expect(self.get(), 114, str(self.database.folder))

    def test_no_password_in_argv(self):
        for url in (
                "postgresql://ada:hunter2@/postgres", "postgresql://ada:\u0301hunter2@/postgres",
                "postgres://ada@/postgres?password=hunter2"):
            outcome = self.run_host("store", "where", "--store", url)
            self.expect(outcome, 2, "--store contains a password", "PGPASSFILE")
            self.assertNotIn("hunter2", outcome.err)
            outcome = self.run_host("store", "where", env={"NEVOD_HOST_STORE": url})
            self.expect(outcome, 2, "NEVOD_HOST_STORE contains a password")
            self.assertNotIn("hunter2", outcome.err)


class Faults(SessionTestCase):
    """Each problem has its own message and code. None looks like an empty store."""

    def test_key_of_another(self):
        self.logged_in()
        self.key_file.write_text("ab" * 32 + "\n")
        for outcome in (self.get(), self.run_host("sessions"), self.login()):
            self.expect_failure(outcome, 114, "does not open with the key file")
            self.assertEqual(outcome.out, b"")

    def test_key_that_is_gone(self):
        """The key is not created again, and no other key replaces it."""
        self.logged_in()
        self.key_file.unlink()
        self.expect_failure(self.login(env={"NEVOD_HOST_STORE_KEY": "ab" * 32}), 114, "key file of this store is missing")
        self.assertFalse(self.key_file.exists())

    @cases({"database": "store", "key": "key_file"})
    def test_readable_by_others(self, name):
        self.logged_in()
        path = getattr(self, name)
        path.chmod(0o644)
        self.expect_failure(self.get(), 114, str(path))

    @cases({"not_a_database": b"hello" * 1000, "flipped": None})
    def test_damaged(self, content):
        self.logged_in()
        # The last writes may only be in the log beside the database.
        with contextlib.closing(sqlite3.connect(self.store)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        data = bytearray(self.store.read_bytes())
        for page in range(0, len(data), 4096):
            data[page + 20 : page + 120] = b"\xff" * 100
        self.store.write_bytes(content or data)
        for outcome in (self.get(), self.run_host("sessions"), self.run_host("store", "verify")):
            self.expect_failure(outcome, 115, str(self.store))

    def test_requests_without_a_login_open_nothing(self):
        """They work with a broken store, and start as fast."""
        self.store.parent.mkdir(parents=True)
        self.store.write_bytes(b"no database")
        words = ["--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET"]
        with RecordingServer() as server:
            self.expect(self.run_host(server.http), 0)
            self.expect(self.run_host(*words, server.http), 0)
            self.expect(self.run_host("sign", *words, server.http), 0)
        self.assertEqual(sorted(path.name for path in self.store.parent.iterdir()), ["sessions.db"])

    def test_requests_without_a_login_need_no_library_of_a_store(self):
        for name in ("libsqlite3.so.0", "libpq.so.5", "libsecret-1.so.0"):
            self.file(name, "")
        env = {"LD_LIBRARY_PATH": os.pathsep.join([str(self.folder), os.environ.get("LD_LIBRARY_PATH", "")])}
        with RecordingServer() as server:
            self.expect(self.run_host(server.http, env=env), 0)
        self.expect(self.run_host("sessions", env=env), 0)
        reasons = ("libsqlite3.so.0: can't be loaded", "apt install libsqlite3-0")
        self.expect(self.get(*self.ALONE, env=env), 0, "this session can't be stored", *reasons)
        self.expect(self.run_host("login", *self.scheme(*self.ALONE), env=env), 114, *reasons)
        self.assertFalse(self.store.exists())


class AsNobody(TestCase):
    """Access that the system denies to other users. Root is denied nothing, so the command runs as another user."""

    def setUp(self):
        self.user = {} if os.getuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        self.uid = os.getuid() or 65534
        self.public = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-"))
        self.addCleanup(shutil.rmtree, self.public, ignore_errors=True)
        self.public.chmod(0o755)
        self.host = self.public / "nevod-host"
        shutil.copy(HOST, self.host)
        self.host.chmod(0o755)

    def plugin(self, path):
        copied = self.public / path.name
        shutil.copy(path, copied)
        copied.chmod(0o755)
        return copied

    def test_others_see_nothing_of_the_process(self):
        """Before the first secret is read, core files are turned off, and only root can read the memory."""
        arrived = threading.Event()

        def respond(seen):
            arrived.set()
            self.server.stopped.wait(PATIENCE)
            return reply()

        with RecordingServer(respond) as self.server:
            process = subprocess.Popen(
                [self.host, "-u", "env:NEVOD_USER", self.server.http], env=environment(NEVOD_USER=f"ada:{SECRET}"), cwd="/",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **self.user)
            with process:
                try:
                    wait_until(arrived.is_set, "the request")
                    folder = pathlib.Path(f"/proc/{process.pid}")
                    status = (folder / "status").read_text()
                    self.assertEqual(re.search(r"^Uid:\t(\d+)", status, re.M)[1], str(self.uid))
                    for name in ("mem", "maps", "environ"):
                        self.assertEqual((folder / name).stat().st_uid, 0, name)
                    limits = (folder / "limits").read_text()
                    self.assertRegex(limits, r"Max core file size +0 +0 ")
                    reader = subprocess.run(
                        ["/bin/sh", "-c", f"exec 3< /proc/{process.pid}/mem"], env={"LC_ALL": "C"}, capture_output=True, cwd="/",
                        timeout=PATIENCE, **self.user)
                    self.assertIn(b"Permission denied", reader.stderr)
                    # No handler catches a crash's signals, because it would print memory.
                    caught = int(re.search(r"^SigCgt:\t(\w+)", status, re.M)[1], 16)
                    for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL):
                        self.assertFalse(caught >> (number - 1) & 1, number)
                    process.send_signal(signal.SIGABRT)
                    _, wait_status = os.waitpid(process.pid, 0)
                    process.returncode = -signal.SIGABRT
                    self.assertFalse(os.WCOREDUMP(wait_status))
                finally:
                    process.kill()

    def test_store_that_cannot_be_seen(self):
        """The store isn't mistaken for a missing one."""
        folder = self.public / "closed"
        folder.mkdir(mode=0o000)
        self.addCleanup(folder.chmod, 0o700)
        path = folder / "sessions.db"
        for words in (["sessions"], ["sessions", "--json"], ["store", "where"]):
            done = subprocess.run(
                [self.host, *words, "--store", path], cwd="/", stdin=subprocess.DEVNULL,
                env=environment(HOME=str(self.public / "home")), capture_output=True, timeout=PATIENCE, start_new_session=True,
                **self.user)
            self.assertEqual((done.returncode, done.stdout), (114, b""), done)
            self.assertIn(f"nevod-host: {path}", done.stderr.decode())

    def test_store_that_cannot_be_written(self):
        folder = self.public / "home/.local/share/nevod-host"
        folder.mkdir(parents=True)
        plugin = self.plugin(login_plugin())
        for path in (self.public / "home", *(self.public / "home").rglob("*")):
            path.chmod(0o700)
            os.chown(path, self.uid, -1)
        folder.chmod(0o500)
        done = subprocess.run(
            [self.host, "login", "--plugin", plugin, "--set", "mode=token"], cwd="/", stdin=subprocess.DEVNULL,
            env=environment(HOME=str(self.public / "home"), NEVOD_HOST_STORE=""), capture_output=True, timeout=PATIENCE,
            start_new_session=True, **self.user)
        self.assertEqual(done.returncode, 114, done)
        self.assertIn(str(folder), done.stderr.decode())


class Keyring(SessionTestCase):
    """With a session bus and a keyring for the test."""

    PASSWORD = b"correct horse"

    def setUp(self):
        super().setUp()
        run = self.folder / "run"
        run.mkdir(mode=0o700)
        self.address = f"unix:path={run}/bus"
        self.session = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(run), "LC_ALL": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": self.address}
        configuration = self.file("bus.conf", f"""
            <busconfig><type>session</type><listen>{self.address}</listen><auth>EXTERNAL</auth><policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>""")
        self.start(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={configuration}"])
        wait_until((run / "bus").exists, "the bus")
        self.keyring = self.start(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], self.PASSWORD)
        wait_until(self.is_open, "the keyring")

    def start(self, command, content=b""):
        process = subprocess.Popen(
            command, env=self.session, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process.stdin.write(content)
        process.stdin.close()
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.kill)
        return process

    def is_open(self):
        done = subprocess.run(
            ["secret-tool", "store", "--label", "ready", "test", "ready"], env=self.session, input=b"x", capture_output=True,
            timeout=PATIENCE)
        return done.returncode == 0

    def test_goes_first(self):
        env = {"DBUS_SESSION_BUS_ADDRESS": self.address}
        outcome = self.login(env=env)
        self.expect(outcome, 0, "sealed by the desktop's keyring (Secret Service)\n")
        self.assertFalse(self.key_file.exists())
        self.expect_logins(self.get(env=env), 1)
        self.expect_nothing_in_clear()

    def test_nothing_weaker_in_its_place(self):
        """If the bus or the keyring is missing, no other key replaces the keyring's."""
        env = {"DBUS_SESSION_BUS_ADDRESS": self.address}
        self.logged_in(env=env)
        self.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.key_file.write_text("ab" * 32)
        self.key_file.chmod(0o600)
        self.keyring.kill()
        self.keyring.wait(PATIENCE)
        for env in (env, {}, {"NEVOD_HOST_STORE_KEY": "ab" * 32}):
            outcome = self.get(*self.ALONE, env=env)
            self.expect_failure(outcome, 114)
            self.assertEqual(outcome.out, b"")

    def test_rekey(self):
        """Moves the key to the keyring and back."""
        env = {"DBUS_SESSION_BUS_ADDRESS": self.address}
        self.logged_in()
        self.expect(self.run_host("store", "rekey", "--key", "secret-service", env=env), 0)
        self.expect_logins(self.get(env=env), 1)
        self.expect(self.get(), 114)
        self.expect(self.run_host("store", "rekey", "--key", "secret-service", env=env), 0)
        self.expect_logins(self.get(env=env), 1)
        self.expect(self.run_host("store", "rekey", "--key", f"file:{self.key_file}", env=env), 0)
        self.expect_logins(self.get(), 1)
