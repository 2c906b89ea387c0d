"""Schemes that log in: their questions, their requests, and their errors without a terminal. No session is stored here;
test_sessions.py has the stored ones."""

import contextlib
import hashlib
import json
import os
import re
import signal
import threading
import urllib.request

from support import (
    BUILD, INCLUDE, PATIENCE, ROOT, SECRET, RecordingServer, TestCase, authority, cases, compile_c, login_plugin, reply, wait_until)
from test_terminal import TerminalSession

NOTE = 'nevod-host: logging in with "A login for tests"'


class LoginTestCase(TestCase):
    """With a server that accepts everything, unless a test replaces `respond`."""

    def setUp(self):
        self.respond = lambda seen: reply(body=b"hello")
        self.server = self.enterContext(RecordingServer(lambda seen: self.respond(seen)))

    def words(self, mode, *words, url=None):
        return ["--no-store", "--plugin", login_plugin(), "--set", f"mode={mode}", *words, url or self.server.http + "/a"]

    def login(self, mode, *words, **options):
        return self.run_host(*self.words(mode, *words), **options)

    def targets(self):
        return [seen.target for seen in self.server.requests]

    def expect_token(self, outcome, token):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello", outcome)
        self.assertEqual(self.server.requests[-1].values("X-Token"), [token])

    def expect_unanswered(self, outcome, *fragments):
        """The command ends at once, without a request. Its last line says what is needed."""
        self.expect(outcome, 113, *fragments)
        self.assertEqual((outcome.out, self.targets()), (b"", []), outcome)
        self.assertEqual(len(outcome.err.splitlines()), 2, outcome)

    @contextlib.contextmanager
    def terminal(self, mode, *words, env=None):
        with contextlib.closing(TerminalSession(self.words(mode, *words), env)) as session:
            yield session

    def ask(self, terminal, prompt, answer):
        """Returns the text on the terminal between the last answer and the next prompt."""
        start = len(terminal.shown)
        terminal.read_until(lambda: prompt in terminal.shown[start:], prompt)
        before = terminal.shown[start : terminal.shown.index(prompt, start)]
        echoes = terminal.echoes()
        terminal.type(answer + b"\n")
        return before, echoes


class Answers(LoginTestCase):
    def test_of_every_kind(self):
        outcome = self.login(
            "all", "--answer", "user=me", "--answer", "password=env:NEVOD_TEST_SECRET", "--answer", "method=2",
            "--answer", "code=-", stdin=b"123456\n")
        self.expect_token(outcome, f"123456,app,{SECRET},me")
        self.assertEqual(outcome.err, NOTE + "\n")

    @cases({"plain": "me", "text": "text:me", "file": "file:{}", "environment": "env:NEVOD_ME"})
    def test_text(self, source):
        path = self.file("answer", "me\r\n")
        with self.terminal(
                "all", "--answer", f"user={source.format(path)}", "--answer", "password=env:NEVOD_ME", "--answer",
                "method=sms", "--answer", "code=text:env:1", env={"NEVOD_ME": "me"}) as terminal:
            code, _, err = terminal.finish()
            self.assertEqual((code, terminal.shown), (0, b""), err)
        self.assertEqual(self.server.requests[-1].values("X-Token"), ["env:1,sms,me,me"])

    @cases({"named_by_number": ("1", "sms"), "name_before_number": ("7", "7"), "number": ("3", "7")})
    def test_choice(self, given, chosen):
        self.expect_token(self.login("choice", "--answer", f"method={given}"), chosen)

    @cases({"unknown": "mail", "zero": "0", "too_large": "4", "empty": ""})
    def test_wrong_choice(self, given):
        outcome = self.login("choice", "--answer", f"method={given}")
        self.expect(outcome, 111, '"method"', "sms, app, 7")
        self.assertEqual(self.targets(), [])

    @cases({"plain": "hunter2", "text": "text:hunter2", "empty": ""})
    def test_secret_on_the_command_line(self, value):
        outcome = self.login("secret", "--answer", f"password={value}")
        self.expect(outcome, 111, '"password" is a secret', "--answer password=env:VARIABLE")
        self.assertNotIn("hunter2", outcome.err)
        self.assertEqual(self.targets(), [])

    def test_environment_variable_that_is_not_set(self):
        """The error comes before the login begins."""
        self.expect_failure(self.login("code", "--answer", "code=env:NEVOD_NOT_SET"), 111, "NEVOD_NOT_SET", '"code"')

    def test_file_that_is_not_there(self):
        self.expect(self.login("secret", "--answer", "password=file:/nonexistent"), 26, "/nonexistent")

    def test_file_is_read_when_it_is_asked_for(self):
        """A one-time code may come late: here, through a pipe that is written after the server refused the first code."""
        path = self.folder / "code"
        os.mkfifo(path)
        self.respond = lambda seen: reply(body=b"hello") if seen.body != b"1" else reply("401 Unauthorized")
        late = threading.Thread(target=lambda: (wait_until(self.targets, "the first code"), path.write_text("2\n")), daemon=True)
        late.start()
        outcome = self.login("code", "--set", f"url={self.server.http}", "--answer", "code=1", "--answer", f"code=file:{path}")
        late.join()
        self.expect_token(outcome, "coded")

    def test_each_serves_once(self):
        self.respond = lambda seen: reply("401 Unauthorized")
        outcome = self.login("code", "--set", f"url={self.server.http}", "--answer", "code=1")
        self.expect(outcome, 113, "the --answer for code is used up", "--answer code=env:VARIABLE")
        self.assertEqual([seen.body for seen in self.server.requests], [b"1"])

    def test_in_their_order(self):
        self.respond = lambda seen: reply(body=b"hello") if seen.body != b"1" else reply("401 Unauthorized")
        outcome = self.login("code", "--set", f"url={self.server.http}", "--answer", "code=1", "--answer", "code=2")
        self.expect_token(outcome, "coded")
        self.assertEqual([seen.body for seen in self.server.requests][:2], [b"1", b"2"])

    @cases({
        "near": ("choice", ["--answer", "method=sms", "--answer", "metod=app"], "--answer metod; did you mean method?"),
        "far": ("choice", ["--answer", "method=sms", "--answer", "zzz=app"], "--answer zzz; the questions were method"),
        "nothing_asked": ("token", ["--answer", "user=me"], "--answer user; there were no questions"),
    })
    def test_not_asked_for(self, mode, words, fragment):
        outcome = self.login(mode, *words)
        self.expect(outcome, 0, f"nevod-host: warning: no question asked for {fragment}\n")

    def test_not_asked_for_by_a_login_that_fails(self):
        outcome = self.login("all", "--answer", "usr=me")
        self.expect(outcome, 113, "warning: no question asked for --answer usr; did you mean user?")

    def test_of_a_scheme_that_asks_nothing(self):
        outcome = self.run_host(
            "--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET",
            "--answer", "user=me", self.server.http)
        self.expect(outcome, 0, "warning: no question asked for --answer user")

    @cases({
        "no_plugin": (["--answer", "a=b"], "--answer needs a --plugin"),
        "no_source": (["--plugin", "X", "--answer", "a"], "--answer"),
        "no_name": (["--plugin", "X", "--answer", "=a"], "--answer"),
        "standard_input_twice": (["--plugin", "X", "--answer", "a=-", "--answer", "b=-"], "standard input"),
        "standard_input_is_the_body": (["--plugin", "X", "--answer", "a=-", "-d", "@-"], "standard input"),
    })
    def test_usage(self, words, fragment):
        words = [login_plugin() if word == "X" else word for word in words]
        self.expect_failure(self.run_host(*words, self.server.http), 2, fragment)

    def test_in_a_profile(self):
        (self.folder / "nevod").mkdir(mode=0o700)
        path = self.folder / "nevod/config"
        path.write_text(f"[a]\norigins = {self.server.http}\nplugin = {login_plugin()}\nset = mode=choice\nanswer = method=app\nno-store\n")
        path.chmod(0o600)
        outcome = self.run_host("--profile", "a", self.server.http, env={"XDG_CONFIG_HOME": str(self.folder)})
        self.expect_token(outcome, "app")


class WithoutTerminal(LoginTestCase):
    def test_all(self):
        self.expect_unanswered(
            self.login("all"), str(login_plugin()), 'the login of the scheme "login"', '"user" (User)', "one of sms, app, 7",
            "--answer user=env:VARIABLE --answer password=env:VARIABLE --answer method=env:VARIABLE --answer code=env:VARIABLE")

    def test_only_what_is_missing(self):
        outcome = self.login("all", "--answer", "user=me", "--answer", "method=sms", "--answer", "code=1")
        self.expect_unanswered(outcome, "write --answer password=env:VARIABLE, or")
        self.assertNotIn("user", outcome.err)

    def test_what_it_says_can_be_pasted(self):
        outcome = self.login("hostile")
        self.expect_unanswered(outcome, "--answer 'x;$(id)'\\'''=env:VARIABLE", "a 2Jb")
        self.assertNotIn("\u009b", outcome.err)

    def test_sign(self):
        outcome = self.run_host("sign", *self.words("secret"))
        self.expect_unanswered(outcome, "--answer password=env:VARIABLE")

    def test_browser(self):
        outcome = self.login("browse", "--set", f"url={self.server.http}")
        self.expect_unanswered(outcome, f"{self.server.http}/authorize?to=http://127.0.0.1:", "BROWSER")


    def test_every_missing_thing_is_told(self):
        outcome = self.login("person", "--set", f"url={self.server.http}")
        self.expect_unanswered(
            outcome, 'asks for "password" (Password)', "--answer password=env:VARIABLE", f"asks to open {self.server.http} in a browser",
            "BROWSER")


class Fallback(LoginTestCase):
    """A login that tries a question of an unknown kind, then a browser, and then shows a device code."""

    def fall_back(self, *words, **options):
        return self.login("fallback", "-vv", "--set", f"url={self.server.http}", *words, **options)

    @cases({
        "without_display": {}, "browser_that_is_not_there": {"BROWSER": "/nonexistent:not-a-command"},
        "display_without_opener": {"DISPLAY": ":7", "PATH": "/nonexistent"},
    })
    def test_device_code(self, env):
        outcome = self.fall_back(env=env)
        self.expect_token(outcome, "device")
        self.expect(outcome, 0, "* Login: debug: ask 5, browse 5\n", "nevod-host: Enter ABCD\nnevod-host: http://127.0.0.1/device\n")

    def test_browser(self):
        self.respond = lambda seen: (
            reply("302 Found", "Location: " + seen.query.removeprefix("to=")) if seen.path == "/authorize" else reply(body=b"hello"))
        script = self.file(
            "browser", "#!/usr/bin/env python3\nimport sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n", mode=0o755)
        outcome = self.fall_back(env={"BROWSER": str(script)})
        self.expect_token(outcome, "browser")
        self.expect(outcome, 0, "* Login: debug: ask 5, browse 0\n")

    def test_kit(self):
        outcome = self.run_host(
            "--no-store", "--account", "ada", "--plugin", BUILD / "libFlowProbe.so", "--set", f"server={self.server.http}", "--set",
            "fault=browserless", self.server.http)
        self.expect(outcome, 0, "nevod-host: Enter ABCD at\n", f"nevod-host: {self.server.http}/device\n")
        self.assertEqual(self.server.requests[-1].values("X-Token"), ["device"])


class Account(LoginTestCase):
    @cases({"named": (["--account", "flows"], "flows"), "not_named": ([], "none"), "empty": (["--account", ""], "none")})
    def test_reaches_the_login(self, words, token):
        self.expect_token(self.login("account", *words), token)


class AtTheTerminal(LoginTestCase):
    def test_every_kind(self):
        with self.terminal("all", "-v") as terminal:
            seen = [
                self.ask(terminal, prompt, answer) for prompt, answer in [
                    (b"User: ", b"me"), (b"Password: ", SECRET.encode()),
                    (b"How to get a code\r\n  1  sms\r\n  2  app\r\n  3  7\r\nNumber or name: ", b"2"), (b"Code: ", b"123456")]]
            code, out, err = terminal.finish()
            self.assertEqual((code, out), (0, b"hello"), err)
            self.assertEqual([echoes for _, echoes in seen], [True, False, True, True])
            self.assertTrue(terminal.echoes())
            self.assertEqual(
                terminal.shown, b"User: me\r\nPassword: \r\nHow to get a code\r\n  1  sms\r\n  2  app\r\n  3  7\r\n"
                b"Number or name: 2\r\nCode: 123456\r\n")
        self.assertEqual(self.server.requests[-1].values("X-Token"), [f"123456,app,{SECRET},me"])
        self.assertNotIn(SECRET, err)
        self.assertNotIn("123456", err)

    def test_only_what_is_not_given(self):
        given = ["--answer", "user=me", "--answer", "method=sms", "--answer", "code=1"]
        with self.terminal("all", *given) as terminal:
            self.ask(terminal, b"Password: ", b"pw")
            self.assertEqual(terminal.finish()[0], 0)
            self.assertEqual(terminal.shown, b"Password: \r\n")
        self.assertEqual(self.server.requests[-1].values("X-Token"), ["1,sms,pw,me"])

    def test_choice_is_asked_again(self):
        with self.terminal("choice") as terminal:
            self.ask(terminal, b"Number or name: ", b"mail")
            self.ask(terminal, b"Not one of the choices. Number or name: ", b"app")
            code, _, err = terminal.finish()
        self.assertEqual((code, self.server.requests[-1].values("X-Token")), (0, ["app"]), err)

    def test_choice_is_not_asked_for_ever(self):
        with self.terminal("choice") as terminal:
            for answer in (b"mail", b"", b"0"):
                self.ask(terminal, b"Number or name: ", answer)
            code, _, err = terminal.finish()
        self.assertEqual((code, self.targets()), (113, []), err)
        self.assertIn("none of 3 answers was one of sms, app, 7", err)

    def test_wrong_code(self):
        """First the given answer is used, and then a person is asked."""
        self.respond = lambda seen: reply(body=b"hello") if seen.body in (b"", b"3") else reply("401 Unauthorized")
        with self.terminal("code", "--set", f"url={self.server.http}", "--answer", "code=1") as terminal:
            self.ask(terminal, b"Code: ", b"2")
            self.ask(terminal, b"Code: ", b"3")
            code, _, err = terminal.finish()
        self.assertEqual((code, [seen.body for seen in self.server.requests]), (0, [b"1", b"2", b"3", b""]), err)

    def test_escape_sequences(self):
        with self.terminal("hostile") as terminal:
            self.ask(terminal, b"a 2Jb: ", b"x")
            self.assertEqual(terminal.finish()[0], 0)

    def test_end_of_input(self):
        with self.terminal("secret") as terminal:
            terminal.read_until(lambda: b"Password: " in terminal.shown, "the question")
            terminal.type(b"\x04")
            code, _, err = terminal.finish()
            self.assertTrue(terminal.echoes())
        self.assertEqual((code, self.targets()), (113, []), err)

    @cases({"control_c": (None, signal.SIGINT), "terminated": (signal.SIGTERM,) * 2, "hung_up": (signal.SIGHUP,) * 2})
    def test_interrupted(self, sent, died_of):
        """The terminal echoes again, the flow is cancelled, and the process ends by the signal."""
        with self.terminal("secret", "-vv") as terminal:
            terminal.read_until(lambda: b"Password: " in terminal.shown, "the question")
            self.assertFalse(terminal.echoes())
            if sent is None:
                terminal.type(b"half\x03")
            else:
                terminal.process.send_signal(sent)
            code, out, err = terminal.finish()
            self.assertEqual((code, out), (-died_of, b""), err)
            self.assertTrue(terminal.echoes())
            self.assertNotIn(b"half", terminal.shown)
        self.assertIn("* Login: debug: the flow was cancelled\n", err)
        self.assertEqual(self.targets(), [])

    def test_interrupted_between_questions(self):
        with self.terminal("all", "-vv") as terminal:
            self.ask(terminal, b"User: ", b"me")
            terminal.read_until(lambda: b"Password: " in terminal.shown, "the second question")
            terminal.type(b"\x03")
            code, _, err = terminal.finish()
            self.assertTrue(terminal.echoes())
        self.assertEqual(code, -signal.SIGINT, err)
        self.assertIn("the flow was cancelled", err)

    @cases({"waiting": "waits", "sending": "sends", "during_a_step": "works"})
    def test_interrupted_while_nobody_is_asked(self, mode):
        arrived = threading.Event()

        def respond(seen):
            arrived.set()
            self.server.stopped.wait(60)
            return reply()

        self.respond = respond
        with self.terminal(mode, "-vv", "--set", f"url={self.server.http}") as terminal:
            if mode == "sends":
                wait_until(arrived.is_set, "the request")
            else:
                while f"the flow {mode}".encode() not in terminal.process.stderr.readline():
                    pass
            terminal.type(b"\x03")
            code, _, err = terminal.finish()
        self.assertEqual(code, -signal.SIGINT, err)
        self.assertIn("the flow was cancelled", err)

    def test_interrupted_in_a_renewal(self):
        """The renewal belongs to the request."""
        self.respond = lambda seen: reply("401 Unauthorized")
        with self.terminal("secret") as terminal:
            self.ask(terminal, b"Password: ", b"pw")
            terminal.read_until(lambda: terminal.shown.count(b"Password: ") == 2, "the question for the second login")
            self.assertFalse(terminal.echoes())
            terminal.type(b"\x03")
            code, _, err = terminal.finish()
            self.assertTrue(terminal.echoes())
        self.assertEqual((code, len(self.targets())), (-signal.SIGINT, 1), err)

    def test_silent(self):
        """Standard error stays empty, but questions are still asked."""
        with self.terminal("secret", "-s") as terminal:
            self.ask(terminal, b"Password: ", b"pw")
            self.assertEqual(terminal.finish()[::2], (0, ""))

    def test_time_for_thinking(self):
        """--max-time limits everything, the login before the request and its questions as well."""
        for words in (("--answer", "code=1"), ()):
            with self.terminal("code", "-m", "1", "--set", f"url={self.stalling().http}", *words) as terminal:
                code, out, err = terminal.finish()
                self.assertEqual((code, out), (28, b""), err)
                self.assertIn("--max-time was up after 1 s", err)
                self.assertTrue(terminal.echoes())

    def stalling(self):
        """A server whose login never responds."""
        waiting = threading.Event()
        server = self.enterContext(RecordingServer(lambda seen: waiting.wait(PATIENCE) and reply()))
        # Before stopping the server, which waits for its threads.
        self.addCleanup(waiting.set)
        return server


class Showing(LoginTestCase):
    LINES = "nevod-host: Enter  ABCD\nnevod-host: http://127.0.0.1/device\n"

    def test_without_terminal(self):
        outcome = self.login("show")
        self.expect_token(outcome, "shown")
        self.assertEqual(outcome.err, NOTE + "\n" + self.LINES)

    @cases({"standard_error_is_elsewhere": ([], NOTE + "\n" + LINES), "silent": (["-s"], "")})
    def test_on_the_terminal(self, words, expected):
        with self.terminal("show", *words) as terminal:
            code, _, err = terminal.finish()
            self.assertEqual((code, err), (0, expected))
            self.assertEqual(terminal.shown.decode().replace("\r\n", "\n"), self.LINES)


class Browsing(LoginTestCase):
    """The browser is a script that opens the address."""

    SCRIPT = """#!/usr/bin/env python3
import os, signal, sys, urllib.request
with open(sys.argv[1], "w") as log:
    ignored = [int(l.split()[1], 16) for l in open("/proc/self/status") if l.startswith(("SigBlk", "SigIgn"))]
    descriptors = [n for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n) and int(n) > 2 and int(n) != log.fileno()]
    print(sys.argv[2:], ignored[0], descriptors, os.getsid(0) == os.getpid(), file=log)
print("never seen")
print("never seen", file=sys.stderr)
urllib.request.urlopen(sys.argv[-1]).read()
"""

    def setUp(self):
        super().setUp()
        self.respond = lambda seen: (
            reply("302 Found", "Location: " + seen.query.removeprefix("to=") + "?code=$(id)&b=;c")
            if seen.path == "/authorize" else reply(body=b"hello"))
        self.script = self.file("browser", self.SCRIPT, mode=0o755)
        self.log = self.folder / "log"

    @cases({"appended": "{script} {log}", "in_place": "{script} {log} new=%s", "second": "/nonexistent:{script} {log}"})
    def test_followed(self, command):
        if "%s" in command:
            self.script.write_text(self.SCRIPT.replace("sys.argv[-1]", 'sys.argv[-1].removeprefix("new=")'))
        browser = command.format(script=self.script, log=self.log)
        outcome = self.login("browse", "--set", f"url={self.server.http}", env={"BROWSER": browser})
        self.expect_token(outcome, "code=$(id)&b=;c")
        self.expect(outcome, 0, f"{self.server.http}/authorize?to=http://127.0.0.1:")
        self.assertNotIn("never seen", outcome.err)
        address = next(line.removeprefix("nevod-host: ") for line in outcome.err.splitlines() if "/authorize" in line)
        word = ("new=" if "%s" in command else "") + address
        self.assertEqual(self.log.read_text(), f"{[word]} 0 [] True\n")

    def test_posted_form(self):
        """The server's page posts the form to the redirect URI."""
        self.script.write_text("""#!/usr/bin/env python3
import sys, urllib.parse, urllib.request
address = urllib.parse.parse_qs(urllib.parse.urlsplit(sys.argv[-1]).query)["to"][0]
assert address.startswith("http://localhost:"), address
urllib.request.urlopen(urllib.request.Request(address, b"code=c%20d&state=s", {"Origin": "https://server.example"})).read()
""")
        outcome = self.login("form", "-v", "--set", f"url={self.server.http}", env={"BROWSER": str(self.script)})
        self.expect_token(outcome, "code=c%20d&state=s")
        self.assertNotIn("c%20d", outcome.err)

    @cases({"without_display": {}, "browser_that_does_not_start": {"BROWSER": "/nonexistent"}})
    def test_printed(self, env):
        """A person opens the printed address."""
        with self.terminal("browse", "--set", f"url={self.server.http}", env=env) as terminal:
            terminal.read_until(lambda: b"/back\r\n" in terminal.shown, "the address")
            self.assertIn(b"open this address in a browser on this machine:", terminal.shown)
            address = terminal.shown.split()[-1].decode()
            urllib.request.urlopen(address, timeout=60).read()
            code, out, err = terminal.finish()
        self.assertEqual((code, out), (0, b"hello"), err)
        self.assertIn(address, err)


class WhereItSends(LoginTestCase):
    def test_shown(self):
        outcome = self.login("token", "--set", f"url={self.server.http}")
        self.expect_token(outcome, "token")
        self.assertEqual(outcome.err, f"{NOTE}, which sends to {self.server.http}\n")

    def test_silent(self):
        outcome = self.login("token", "-s", "--set", f"url={self.server.http}")
        self.assertEqual((outcome.code, outcome.err), (0, ""))

    def test_nowhere_else(self):
        outcome = self.login("foreign", "--set", f"url={self.server.http}")
        self.expect(outcome, 110, str(login_plugin()), 'login flow of the scheme "login"', "http://other.invalid", "-v")
        self.assertEqual(self.targets(), [])

    def test_what_the_metadata_names(self):
        with RecordingServer() as other:
            self.respond = lambda seen: reply(body=json.dumps(
                {"issuer": self.server.http, "token_endpoint": other.http + "/token"}).encode())
            outcome = self.login("metadata", "--set", f"url={self.server.http}")
            self.assertEqual([seen.target for seen in other.requests], ["/token"])
        self.expect(outcome, 0, f"{NOTE}, which sends to {self.server.http}\n", f"also sends to {other.http}, ")

    def test_verbose(self):
        outcome = self.login("code", "-v", "--set", f"url={self.server.http}", "--answer", "code=hunter2")
        self.expect(outcome, 0, f"* login: POST {self.server.http}/code: 200\n", "> X-Token: [redacted")
        for secret in ("hunter2", "tok-123"):
            self.assertNotIn(secret, outcome.err)

    def test_verbose_failure(self):
        outcome = self.login("code", "-v", "--set", "url=http://127.0.0.1:1", "--answer", "code=1")
        self.expect(outcome, 112, "* login: POST http://127.0.0.1:1/code: no connection")


class Failures(LoginTestCase):
    @cases({
        "denied": ("denied", 112, "was refused: no such user; check the answers"),
        "unavailable": ("unavailable", 112, "can't be done now: "),
        "no_action": ("no-action", 110, "it returned no action"),
    })
    def test_told(self, mode, code, fragment):
        outcome = self.login(mode)
        self.expect(outcome, code, f"nevod-host: {login_plugin()}: ", 'of the scheme "login"', fragment)
        self.assertEqual((outcome.out, self.targets()), (b"", []))

    def test_token_that_is_refused(self):
        """After a second login the server's response is final."""
        self.respond = lambda seen: reply("401 Unauthorized", body=b"no")
        outcome = self.login("token", "-f")
        self.expect(outcome, 119, "401")
        self.assertNotIn("token could", outcome.err)

    def test_answer_is_used_up_in_the_request(self):
        self.respond = lambda seen: reply("401 Unauthorized", body=b"no")
        outcome = self.login("secret", "--answer", "password=env:NEVOD_TEST_SECRET")
        self.expect(outcome, 113, "the --answer for password is used up")
        self.assertEqual(len(self.targets()), 1)

    def test_wrong_flag_is_told_before_the_login(self):
        self.expect_failure(self.login("secret", "-m", "soon"), 2, "--max-time")


class Kit(LoginTestCase):
    """A flow in Swift: one async function."""

    def test_session(self):
        def respond(seen):
            if seen.path == "/login":
                return reply("503 Service Unavailable") if len(self.server.requests) == 1 else reply(body=b'{"token": "T"}')
            if seen.path == "/refresh":
                return reply(body=b"renewed")
            return reply(body=b"hello") if seen.values("X-Token") == ["renewed"] else reply("401 Unauthorized")

        self.respond = respond
        outcome = self.run_host(
            "-f", "--no-store", "--plugin", BUILD / "libFlowProbe.so", "--set", f"server={self.server.http}", "--answer", "user=m&e",
            "--answer", "password=env:NEVOD_TEST_SECRET", self.server.http + "/a")
        self.expect(outcome, 0, "Logged in", self.server.http + "/welcome")
        self.assertEqual(outcome.out, b"hello")
        self.assertEqual(self.targets(), ["/login", "/login", "/a", "/refresh", "/a"])
        self.assertIn(b"m%26e", self.server.requests[1].body)

    def test_without_terminal(self):
        outcome = self.run_host("--no-store", "--plugin", BUILD / "libFlowProbe.so", "--set", f"server={self.server.http}", self.server.http)
        self.expect_unanswered(outcome, "--answer user=env:VARIABLE --answer password=env:VARIABLE")

    def test_suspended_outside_the_flow(self):
        outcome = self.run_host(
            "--no-store", "--plugin", BUILD / "libFlowProbe.so", "--set", f"server={self.server.http}", "--set", "fault=sleeps",
            self.server.http)
        self.expect(outcome, 112, "the login of the scheme", "suspended outside flow")


class Sign(LoginTestCase):
    def test_logs_in(self):
        outcome = self.run_host(
            "sign", *self.words("code", "--set", f"url={self.server.http}", "--answer", "code=1", "--connect-timeout", "9"))
        self.expect(outcome, 0, NOTE)
        self.assertIn(b"X-Token: coded\r\n", outcome.out)
        self.assertEqual(self.targets(), ["/code?secret=tok-123"])


    def test_flags_for_connections(self):
        """The flags of a request's connection apply to a login, so `sign` has them too."""
        with RecordingServer(tls=authority().context()) as server:
            words = ["sign", *self.words("code", "--set", f"url={server.https}", "--answer", "code=1")]
            self.expect(self.run_host(*words), 112)
            self.expect(self.run_host(*words, "--cacert", authority().path("ca.pem")), 0)
            self.expect(self.run_host(*words, "--cacert", authority().path("ca.pem"), "--pinnedpubkey", "sha256//AAAA"), 112)
            self.assertEqual([seen.target for seen in server.requests], ["/code?secret=tok-123"])


class Challenges(LoginTestCase):
    """HTTP Digest, a scheme without flows that responds to a server's challenge. The tests compute the response independently."""

    def setUp(self):
        super().setUp()
        self.plugin = self.folder / "libDigest.so"
        folder = ROOT / "Tests/NevodHostTests/Probes"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", folder / "digest.c", "-lcrypto", "-o", self.plugin])
        self.respond = lambda seen: (
            reply(body=b"hello") if self.is_right(seen)
            else reply("401 Unauthorized", 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256'))

    def is_right(self, seen):
        line = " ".join(seen.values("Authorization"))
        fields = dict(re.findall(r'(\w+)="?([^",]*)"?', line))

        def digest(*parts):
            return hashlib.sha256(":".join(parts).encode()).hexdigest()

        return line.startswith("Digest ") and fields["response"] == digest(
            digest("me", "r", SECRET), "n", fields["nc"], fields["cnonce"], "auth", digest(seen.method, seen.target))

    def digest(self, variable):
        return self.run_host(
            "-v", "--plugin", self.plugin, "--set", "username=me", "--set", f"password=env:{variable}", self.server.http + "/a?b",
            env={"WRONG": "wrong"})

    def test_answered(self):
        outcome = self.digest("NEVOD_TEST_SECRET")
        self.expect(outcome, 0, "> Authorization: [redacted")
        self.assertEqual((outcome.out, len(self.targets())), (b"hello", 2))

    def test_wrong_password(self):
        """The credential is sent once. Then the server's refusal is final."""
        outcome = self.digest("WRONG")
        self.expect(outcome, 0, "< HTTP/1.1 401 Unauthorized")
        self.assertEqual(len(self.targets()), 2)


class APIKeys(LoginTestCase):
    PLUGIN = ["--plugin", BUILD / "libAPIKeyAuth.so"]

    @cases({
        "header": (["--scheme", "api-key"], "/a?b=%20&b&=", [("X-API-Key", SECRET)]),
        "named": (["--scheme", "api-key", "--set", "header=X-Key"], "/a?b=%20&b&=", [("X-Key", SECRET)]),
        "prefix": (
            ["--scheme", "api-key", "--set", "header=Authorization", "--set", "prefix=Bearer"], "/a?b=%20&b&=",
            [("Authorization", f"Bearer {SECRET}")]),
        "prefix_with_a_separator": (
            ["--scheme", "api-key", "--set", "header=Authorization", "--set", "prefix=Token token="], "/a?b=%20&b&=",
            [("Authorization", f"Token token={SECRET}")]),
        "several": (
            ["--scheme", "api-key", "--set", "header=X-App-Id", "--set", "key=env:APP", "--set", "header=Authorization", "--set", "prefix=",
             "--set", "prefix=Bearer"], "/a?b=%20&b&=", [("X-App-Id", "app-1"), ("Authorization", f"Bearer {SECRET}")]),
        "cookie": (["--scheme", "api-key-cookie", "--set", "cookie=key[a]"], "/a?b=%20&b&=", [("Cookie", f"key[a]={SECRET}")]),
        "several_cookies": (
            ["--scheme", "api-key-cookie", "--set", "key=env:APP", "--set", "cookie=app", "--set", "cookie=key"], "/a?b=%20&b&=",
            [("Cookie", f"app=app-1; key={SECRET}")]),
        "query": (["--scheme", "api-key-query"], f"/a?b=%20&b&=&api_key={SECRET}", []),
        "several_query_items": (
            ["--scheme", "api-key-query", "--set", "key=env:APP", "--set", "parameter=app", "--set", "parameter=key"],
            f"/a?b=%20&b&=&app=app-1&key={SECRET}", []),
        "query_named": (["--scheme", "api-key-query", "--set", "parameter=k"], f"/a?b=%20&b&=&k={SECRET}", []),
    })
    def test_sent(self, words, target, lines):
        outcome = self.run_host(
            "-v", *self.PLUGIN, *words, "--set", "key=env:NEVOD_TEST_SECRET", self.server.http + "/a?b=%20&b&=", env={"APP": "app-1"})
        self.expect(outcome, 0, "[redacted")
        self.assertNotIn(SECRET, outcome.err)
        self.assertNotIn("app-1", outcome.err)
        self.assertNotIn("logging in", outcome.err)
        (seen,) = self.server.requests
        self.assertEqual(seen.target, target)
        for name, value in lines:
            self.assertEqual(seen.values(name), [value])

    @cases({
        "no_token": (["--set", "header=X-Key:"], "header must be a header's name"),
        "line_break": (["--set", "header=X-Key\r\nX-Evil"], "header must be a header's name"),
        "empty": (["--set", "header="], "header must not be empty"),
        "of_the_host": (["--set", "header=content-LENGTH"], "header must be another header: this one is the host's own"),
        "of_a_proxy": (["--set", "header=Proxy-Authorization"], "header must be another header"),
        "too_long": (["--set", "header=" + 257 * "x"], "header must not have more than 256 bytes"),
        "twice": (["--set", "key=env:KEY", "--set", "header=X-A", "--set", "header=x-a"], "header must not have the same name twice (number 2)"),
        "more_headers": (["--set", "header=A", "--set", "header=B"], "header must be given once for each key, in the keys' order: names 2, keys 1"),
        "more_keys": (["--set", "key=env:KEY"], "header must be given once for each key, in the keys' order: names 1, keys 2"),
        "more_prefixes": (["--set", "prefix=A", "--set", "prefix=B"], "prefix must be given once for each key"),
        "blank_before_prefix": (["--set", "prefix= Bearer"], "prefix must not begin with a space"),
        "cookie_name": (["--scheme", "api-key-cookie", "--set", "cookie=a b"], "cookie must be a cookie's name"),
        "cookie_sign": (["--scheme", "api-key-cookie", "--set", "cookie=a=b"], "cookie must be a cookie's name"),
        "no_cookie": (["--scheme", "api-key-cookie"], "cookie"),
        "query_name": (["--scheme", "api-key-query", "--set", "parameter="], "parameter must not be empty"),
    })
    def test_refused_names(self, words, message):
        """Rejected before anything is sent."""
        scheme = [] if "--scheme" in words else ["--scheme", "api-key"]
        outcome = self.run_host(*self.PLUGIN, *scheme, "--set", "key=env:KEY", *words, self.server.http, env={"KEY": "k-123"})
        self.expect_failure(outcome, 111, message)
        self.assertEqual(self.server.requests, [])

    @cases({
        "line_break": ("api-key", "s3cr3t\nX-Evil: 1", "key must not contain a control character"),
        "space": ("api-key", " s3cr3t", "key must not begin or end with a space"),
        "semicolon": ("api-key-cookie", "s3cr3t; a=b", "key must not contain a semicolon"),
        "empty": ("api-key-query", "", "key must not be empty"),
        "too_long": ("api-key", 65537 * "s3cr3t"[0], "key must not have more than 65536 bytes"),
    })
    def test_refused_keys(self, scheme, key, message):
        """The error doesn't contain the key."""
        cookie = ["--set", "cookie=a"] if scheme == "api-key-cookie" else []
        outcome = self.run_host(*self.PLUGIN, "--scheme", scheme, *cookie, "--set", "key=env:KEY", self.server.http, env={"KEY": key})
        self.expect_failure(outcome, 111, message)
        self.assertNotIn("s3cr3t", outcome.err)
        self.assertEqual(self.server.requests, [])

    def test_two_schemes(self):
        self.expect_failure(
            self.run_host(*self.PLUGIN, "--set", "key=env:NEVOD_TEST_SECRET", self.server.http), 110, "api-key, api-key-query, api-key-cookie")


class InspectLogins(TestCase):
    def test_json(self):
        outcome = self.run_host("inspect", "--json", login_plugin())
        (scheme,) = json.loads(outcome.out)["schemes"]
        self.assertEqual((scheme["logs_in"], scheme["interactive"]), (True, True))
        self.assertEqual([setting["issuer"] for setting in scheme["settings"]], [False, True])
        outcome = self.run_host("inspect", "--json", BUILD / "libAPIKeyAuth.so")
        self.assertEqual([scheme["logs_in"] for scheme in json.loads(outcome.out)["schemes"]], [False] * 3)

    def test_text(self):
        outcome = self.run_host("inspect", login_plugin())
        self.assertIn(b"scheme login: A login for tests\n  logs in, and asks a person\n", outcome.out)
        self.assertIn(b"(URL, issuer)", outcome.out)
        self.assertNotIn(b"logs in", self.run_host("inspect", BUILD / "libAPIKeyAuth.so").out)
