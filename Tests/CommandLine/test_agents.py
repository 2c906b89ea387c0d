"""Credentials for other programs: `header`, `run`, and the protocols of git, docker, kubectl and netrc. Also short names of
plugins, and shells' requests for completions."""

import base64
import concurrent.futures
import contextlib
import functools
import http.server
import json
import netrc
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import unittest

from support import (
    BUILD, FOLDER, HOST, PATIENCE, ROOT, SECRET, RecordingServer, TestCase, authority, c_source_plugin, cases, environment, reply,
    wait_until)
from test_terminal import TerminalSession

NOT_FOUND = b"credentials not found in native keychain"


@functools.cache
def bearer_plugin():
    return c_source_plugin("libBearerAuth.so", FOLDER / "bearer.c")


def judged(code, *words, **env):
    """Runs a program with Debian's Python packages. Returns its output."""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code, *map(str, words)], env=environment(**env), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(done)
    return done.stdout


class TokenServer(http.server.ThreadingHTTPServer):
    """Issues tokens for bearer.c, counts the exchanges, and passes all other requests to `respond`."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.host = f"127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        self.seconds, self.delay = 3600, threading.Event()
        self.delay.set()
        self.issued, self.logins, self.renewals, self.seen = [], 0, 0, []
        self.respond = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()

    def issue(self, is_login, body):
        with self.lock:
            if is_login:
                if body != SECRET:
                    return None
                self.logins += 1
            else:
                if body not in self.issued[-1:]:
                    return None
                self.renewals += 1
            self.issued.append(f"tok-{len(self.issued) + 1}")
            return f"{self.issued[-1]} {self.seconds}"

    def is_valid(self, authorization):
        """Accepts the last token, as Bearer or as a password."""
        scheme, _, value = (authorization or "").partition(" ")
        if scheme == "Basic":
            value = base64.b64decode(value).decode().partition(":")[2]
        with self.lock:
            return bool(self.issued) and value == self.issued[-1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            self.server.seen.append((self.command, self.path, dict(self.headers)))
        if self.path in ("/login", "/renew"):
            self.server.delay.wait(PATIENCE)
            text = self.server.issue(self.path == "/login", body.decode())
            return self.answer(200 if text else 403, (text or "").encode())
        if self.server.respond:
            return self.server.respond(self, body)
        self.answer(200 if self.server.is_valid(self.headers.get("Authorization")) else 401, b"{}")

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class AgentTestCase(TestCase):
    """With a server that issues tokens, a home, and the profile "work" for that server."""

    def setUp(self):
        self.server = TokenServer()
        self.addCleanup(self.server.stop)
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.profiles(f"[work]\nurl = {self.server.url}/api\nplugin = {bearer_plugin()}\nset = url={self.server.url}\n")

    def profiles(self, text):
        folder = self.home / ".config/nevod"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "config"
        path.write_text(text)
        path.chmod(0o600)

    def env(self, **more):
        return {"HOME": str(self.home), "NEVOD_HOST_STORE": "", **more}

    def run_host(self, *words, env=None, **options):
        return super().run_host(*words, env=self.env(**(env or {})), **options)

    def log_in(self, *words):
        self.expect(self.run_host("login", "--profile", "work", "--answer", "password=env:NEVOD_TEST_SECRET", *words), 0)
        return self.server.issued[-1]

    def api_key(self, *words, scheme="api-key"):
        return ["-p", "apikey", "--scheme", scheme, "--set", "key=env:NEVOD_TEST_SECRET", *words]

    BEARER = ["--set", "header=Authorization", "--set", "prefix=Bearer"]


class Header(AgentTestCase):
    def test_of_a_session(self):
        token = self.log_in()
        for words in (["/x"], [], [self.server.url + "/y"]):
            outcome = self.run_host("header", "--profile", "work", *words)
            self.assertEqual((outcome.code, outcome.out, outcome.err), (0, f"Authorization: Bearer {token}\n".encode(), ""), outcome)
        self.assertEqual([path for _, path, _ in self.server.seen], ["/login"])

    def test_json(self):
        self.log_in()
        outcome = self.run_host("header", "--profile", "work", "--format", "json", "/x?a=b")
        found = json.loads(outcome.out)
        self.assertRegex(found.pop("expires_at"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(found, {"url": self.server.url + "/api/x?a=b", "headers": {"Authorization": "Bearer tok-1"}})

    def test_only_what_the_scheme_wrote(self):
        outcome = self.run_host("header", *self.api_key(), "-H", "X-Own: 1", "http://h/")
        self.assertEqual((outcome.code, outcome.out), (0, f"X-API-Key: {SECRET}\n".encode()), outcome)

    def test_signature_of_this_request(self):
        words = ["-p", "hmac", "--set", "api-key=me", "--set", "secret=env:NEVOD_TEST_SECRET", "http://h/x"]
        first, second = (self.run_host("header", "-d", text, *words) for text in ("a", "b"))
        self.expect(first, 0)
        self.assertEqual(re.findall(rb"^([\w-]+):", first.out, re.M)[:1], [b"X-API-Key"], first)
        self.assertNotEqual(first.out, second.out)

    def test_user(self):
        outcome = self.run_host("header", "-u", "env:PAIR", "http://h/", env={"PAIR": "ada:pass word"})
        self.assertEqual(outcome.out, b"Authorization: Basic " + base64.b64encode(b"ada:pass word") + b"\n", outcome)

    def test_curl_reads_it(self):
        """From a descriptor, so that the credential is in no file and no command line."""
        token = self.log_in()
        config = self.folder / "config"
        with open(config, "wb") as file:
            outcome = self.run_host("header", "--profile", "work", "--format", "curl", "--fd", str(file.fileno()), pass_fds=[file.fileno()])
        self.assertEqual((outcome.code, outcome.out), (0, b""), outcome)
        self.assertEqual(subprocess.run(["curl", "-sS", "-K", config, self.server.url + "/z"], capture_output=True, timeout=PATIENCE).stdout, b"{}")
        self.assertEqual(self.server.seen[-1][2]["Authorization"], f"Bearer {token}")

    @cases({"quotes": 'a"b\\c', "spaces": "a b", "plain": "abc", "hash": "#abc"})
    def test_curl_and_netrc_quote(self, secret):
        with RecordingServer(lambda seen: reply()) as server:
            words = ["-p", "apikey", "--scheme", "api-key", "--set", "key=env:ODD", *self.BEARER, server.http + "/"]
            config = self.file("curl.conf", self.run_host("header", "--format", "curl", *words, env={"ODD": secret}).out)
            entry = self.file("netrc", self.run_host("header", "--format", "netrc", *words, env={"ODD": secret}).out)
            subprocess.run(["curl", "-sS", "-K", config, server.http], check=True, capture_output=True, timeout=PATIENCE)
            self.assertEqual(server.requests[-1].values("Authorization"), [f"Bearer {secret}"])
            subprocess.run(["curl", "-sS", "--netrc-file", entry, server.http], check=True, capture_output=True, timeout=PATIENCE)
            self.assertEqual(server.requests[-1].values("Authorization"), ["Basic " + base64.b64encode(f"oauth2:{secret}".encode()).decode()])
        self.assertEqual(netrc.netrc(entry).authenticators("127.0.0.1"), ("oauth2", "", secret))

    def test_key_in_the_url(self):
        words = self.api_key("http://h/", scheme="api-key-query")
        self.expect_failure(self.run_host("header", *words), 112, "writes its credential into the URL", "--format json")
        self.assertEqual(json.loads(self.run_host("header", "--format", "json", *words).out)["url"], f"http://h/?api_key={SECRET}")
        self.assertEqual(self.run_host("header", "--format", "curl", *words).out.decode(), f'url = "http://h/?api_key={SECRET}"\n')

    def test_mistakes(self):
        for words, code, text in (
                (["header", *self.api_key()], 2, "needs a URL"), (["header", "http://h/"], 2, "needs a --plugin"),
                (["header", "--format", "yaml", *self.api_key("http://h/")], 2, "lines, json, netrc, curl"),
                (["header", "--fd", "77", *self.api_key("http://h/")], 2, "--fd 77"),
                (["header", "--fd", "x", *self.api_key("http://h/")], 2, "--fd x"),
                (["header", "--fd", "0", *self.api_key("http://h/")], 2, "--fd 0"),
                (["header", "--format", "netrc", *self.api_key("http://h/")], 112, "X-API-Key")):
            with self.subTest(words=words):
                self.expect_failure(self.run_host(*words), code, text)

    def test_no_session_and_no_terminal(self):
        outcome = self.run_host("header", "--profile", "work")
        self.expect(outcome, 113, "nevod-host login --profile work")
        self.assertEqual(outcome.out, b"")

    def test_terminal_gets_no_file_for_programs(self):
        for format, code in (("netrc", 2), ("curl", 2), ("lines", 0)):
            main, other = pty.openpty()
            try:
                outcome = self.run_host("header", "--format", format, *self.api_key("http://h/"), stdout=other)
                os.close(other)
                shown = b""
                with contextlib.suppress(OSError):
                    while piece := os.read(main, 4096):
                        shown += piece
            finally:
                os.close(main)
            self.assertEqual((outcome.code, SECRET.encode() in shown), (code, code == 0), (format, outcome, shown))


class Origins(AgentTestCase):
    """A credential is given for the profile's servers only."""

    def test_header_for_another_server(self):
        self.log_in()
        self.expect_failure(self.run_host("header", "--profile", "work", "https://other.example/"), 120, "https://other.example", "--origin")
        self.expect(self.run_host("header", "--profile", "work", "--origin", "https://other.example", "https://other.example/"), 0)

    def test_profile_of_the_url(self):
        token = self.log_in()
        self.assertEqual(self.run_host("header", self.server.url + "/x").out.decode(), f"Authorization: Bearer {token}\n")
        self.expect_failure(self.run_host("header", "https://other.example/"), 2, "needs a --plugin")

    def test_default_profile(self):
        token = self.log_in()
        for env in ({"NEVOD_PROFILE": "work"}, {}):
            for words in (["header"], ["credential", "netrc"], ["credential", "kubectl-exec"]):
                outcome = self.run_host(*words, env=env)
                self.assertIn(token.encode(), outcome.out, outcome) if env else self.expect_failure(outcome, 2)
        path = self.home / ".config/nevod/config"
        self.profiles("default = work\n" + path.read_text())
        for words in (["header"], ["credential", "netrc"], ["credential", "kubectl-exec"], ["header", "/x"]):
            self.assertIn(token.encode(), self.run_host(*words).out)
        self.expect_failure(self.run_host("header", "--no-profile"), 2, "needs a URL")

    def test_further_origins(self):
        self.log_in()
        asks = {
            "git": lambda *words: self.run_host("credential", "git", *words, "get", stdin=b"protocol=https\nhost=other.example\n\n"),
            "docker": lambda *words: self.run_host("credential", "docker", *words, "get", stdin=b"other.example\n"),
            "kubectl": lambda *words: self.run_host("credential", "kubectl-exec", *words, env={"KUBERNETES_EXEC_INFO": json.dumps({
                "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                "spec": {"interactive": False, "cluster": {"server": "https://other.example"}}})})}
        for name, ask in asks.items():
            self.assertNotIn(b"tok-", ask("--profile", "work").out, name)
            self.assertNotIn(b"tok-", ask().out, name)
            self.assertNotIn(b"tok-", self.run_host("credential", "netrc", "--profile", "none").out)
            self.assertIn(b"tok-1", ask("--profile", "work", "--origin", "https://other.example").out, name)
        self.profiles((self.home / ".config/nevod/config").read_text() + "origins = https://other.example\n")
        for name, ask in asks.items():
            self.assertIn(b"tok-1", ask().out, name)
            self.assertNotIn(b"tok-", ask("--profile", "none").out, name)

    def test_plugin_needs_an_origin(self):
        words = [*self.api_key(*self.BEARER), "get"]
        text = b"protocol=https\nhost=h.example\n"
        self.expect_failure(self.run_host("credential", "git", *words, stdin=text), 2, "credential needs a --profile", "--origin")
        self.assertEqual(self.run_host("credential", "git", "--origin", "https://other.example", *words, stdin=text).out, b"")
        self.assertIn(SECRET.encode(), self.run_host("credential", "git", "--origin", "https://h.example", *words, stdin=text).out)


    @cases({
        "bearer": (["--bearer", "env:NEVOD_TEST_SECRET"], "user = env:OWN"),
        "setting": (
            ["--set", "key=env:NEVOD_TEST_SECRET"],
            "plugin = apikey\nscheme = api-key\nset = key=env:OWN\nset = header=Authorization\nset = prefix=Bearer"),
    })
    def test_typed_credential_needs_an_origin(self, words, lines):
        """Even if a profile is for this server: the typed credential would replace the profile's."""
        self.profiles(f"[h]\nurl = https://h.example\n{lines}\n")
        for program, text in (("git", "protocol=https\nhost=h.example\n\n"), ("docker", "https://h.example")):
            ask = lambda *more: self.run_host(
                "credential", program, *words, *more, "get", stdin=text.encode(), env={"OWN": "a:b"})
            outcome = ask()
            self.expect(outcome, 2, "credential needs a --profile", "--origin")
            self.assertNotIn(SECRET.encode(), outcome.out)
            self.assertNotIn(SECRET.encode(), ask("--origin", "https://other.example").out)
            self.assertIn(SECRET.encode(), ask("--profile", "h").out)
            if "--bearer" in words:
                self.assertIn(SECRET.encode(), ask("--origin", "https://h.example").out)

    def test_disguised_server(self):
        """A client may parse such a host differently."""
        self.log_in()
        for mark in ("#", "?", "/", "@", "\\", "%", " ", "\t", "#@", "/../"):
            for host in (f"{self.server.host}{mark}.evil.example", f"evil.example{mark}{self.server.host}"):
                for words in ([], ["--profile", "work"]):
                    with self.subTest(host=host, words=words):
                        text = f"protocol=http\nhost={host}\n\n"
                        outcome = self.run_host("credential", "git", *words, "get", stdin=text.encode())
                        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)
                        if "/" in mark:
                            continue
                        outcome = self.run_host("credential", "docker", *words, "get", stdin=f"http://{host}".encode())
                        self.assertEqual((outcome.code, outcome.out), (1, NOT_FOUND + b"\n"), outcome)
                        outcome = self.run_host("credential", "kubectl-exec", *words, env={"KUBERNETES_EXEC_INFO": json.dumps({
                            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                            "spec": {"interactive": False, "cluster": {"server": f"http://{host}"}}})})
                        self.expect_failure(outcome, 2, "the cluster's server", "kubeconfig")


class Renewal(AgentTestCase):
    def test_fifty_at_once_across_an_expiry_make_one_exchange(self):
        self.server.seconds = 0
        self.log_in()
        self.server.seconds = 3600
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            outcomes = list(pool.map(lambda _: self.run_host("header", "--profile", "work"), range(50)))
        self.assertEqual({(outcome.code, outcome.out) for outcome in outcomes}, {(0, b"Authorization: Bearer tok-2\n")}, outcomes[0])
        self.assertEqual((self.server.logins, self.server.renewals), (1, 1))

    def test_helpers_renew(self):
        for words, stdin in (
                (["git", "get"], f"protocol=http\nhost={self.server.host}\n\n"), (["docker", "get"], self.server.url), (["kubectl-exec"], ""),
                (["netrc"], "")):
            with self.subTest(words=words):
                self.server.seconds = 0
                self.log_in()
                self.server.seconds = 3600
                outcome = self.run_host("credential", *words, "--profile", "work", stdin=stdin.encode())
                self.expect(outcome, 0)
                self.assertIn(self.server.issued[-1].encode(), outcome.out)
        self.assertEqual((self.server.logins, self.server.renewals), (4, 4))


class Run(AgentTestCase):
    def run_child(self, *words, **options):
        """The exit code is the child's own."""
        return subprocess.run(
            self.command("run", *words), env=environment(**self.env()), capture_output=True, timeout=PATIENCE,
            **({"stdin": subprocess.DEVNULL} | options))

    def python(self, code, *words, before=(), **options):
        return self.run_child(*(words or ["--profile", "work"]), *before, "--", sys.executable, "-c", code, **options)

    def test_token(self):
        token = self.log_in()
        done = self.python("import os, sys; print(os.environ['NEVOD_TOKEN'], sys.argv[1:])", before=())
        self.assertEqual(done.stdout.decode(), f"{token} []\n", done)

    def test_variables(self):
        token = self.log_in()
        code = "import os; print(sorted((k, v) for k, v in os.environ.items() if 'tok-' in v))"
        for words, expected in (
                (["--env", "GH_TOKEN"], [("GH_TOKEN", token)]), (["--env-header", "AUTH"], [("AUTH", f"Authorization: Bearer {token}")]),
                (["--env", "A", "--env-header", "B"], [("A", token), ("B", f"Authorization: Bearer {token}")])):
            done = self.python(code, "--profile", "work", *words)
            self.assertEqual(done.stdout.decode(), f"{expected}\n", done)

    def test_words_are_the_commands_own(self):
        self.log_in()
        done = self.run_child("--profile", "work", sys.executable, "-c", "import sys; print(sys.argv[1:])", "-v", "--", "--profile", "")
        self.assertEqual(done.stdout.decode(), "['-v', '--', '--profile', '']\n", done)

    def test_exit_code_and_signal(self):
        self.log_in()
        self.assertEqual(self.python("raise SystemExit(41)").returncode, 41)
        self.assertEqual(self.python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)").returncode, -signal.SIGTERM)

    def test_input_and_output_are_the_commands(self):
        self.log_in()
        done = self.run_child("--profile", "work", "--", "cat", stdin=None, input=b"hello")
        self.assertEqual((done.stdout, done.stderr), (b"hello", b""))

    STATE = """
import os, re, resource, ctypes
status = open('/proc/self/status').read()
print(re.findall(r'Sig(?:Ign|Blk):.*', status), resource.getrlimit(resource.RLIMIT_CORE), sorted(os.listdir('/proc/self/fd')),
    ctypes.CDLL(None).prctl(3))
"""

    def test_state_is_as_without_us(self):
        """The child's signals, descriptors, core file limit and memory protection are the same as in a process started directly,
        although the renewal before it opened a connection and the store."""
        self.server.seconds = 0
        self.log_in()
        with open(os.devnull) as extra:
            options = {"pass_fds": [extra.fileno()], "restore_signals": False}
            for ignored in ([], [signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1]):
                def prepare(ignored=ignored):
                    for number in ignored:
                        signal.signal(number, signal.SIG_IGN)
                    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

                direct = subprocess.run(
                    [sys.executable, "-c", self.STATE], env=environment(**self.env()), capture_output=True, timeout=PATIENCE,
                    stdin=subprocess.DEVNULL, preexec_fn=prepare, **options)
                ours = self.python(self.STATE, preexec_fn=prepare, **options)
                self.assertEqual((ours.stdout, ours.returncode), (direct.stdout, 0), ours)
                self.assertIn(b"SigBlk", direct.stdout)
        self.assertGreater(self.server.renewals, 0)

    def test_signals_reach_the_command(self):
        self.log_in()
        code = "import signal, sys; signal.signal(signal.SIGINT, lambda *_: sys.exit(7)); print('ready', flush=True); signal.pause()"
        with self.running("run", "--profile", "work", "--", sys.executable, "-c", code, env=self.env(), stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 7)

    def test_api_key(self):
        done = self.run_child(*self.api_key(), "--", "sh", "-c", 'echo "$NEVOD_TOKEN"')
        self.assertEqual(done.stdout.decode(), SECRET + "\n", done)

    @cases({
        "signature": (["-p", "hmac", "--set", "api-key=me", "--set", "secret=env:NEVOD_TEST_SECRET", "--", "true"], 112, "signs each request"),
        "cookie_or_pair": (["-u", "env:PAIR", "--", "true"], 112, "--env-header"),
        "in_url": (["-p", "apikey", "--scheme", "api-key-query", "--set", "key=env:NEVOD_TEST_SECRET", "--", "true"], 112, "into the URL"),
        "nothing": (["-p", "apikey"], 2, "run needs a command"), "no_plugin": (["true"], 2, "needs a --plugin"),
        "name": (["-u", "env:PAIR", "--env", "A=B", "--", "true"], 2, '"A=B"'),
        "no_session": (["--profile", "work", "--", "true"], 113, "nevod-host login --profile work"),
        "not_found": (["-u", "env:PAIR", "--env-header", "A", "--", "no-such-command"], 127, "no-such-command"),
        "not_executable": (["-u", "env:PAIR", "--env-header", "A", "--", "/etc/passwd"], 126, "/etc/passwd"),
    })
    def test_mistakes(self, words, code, text):
        outcome = self.run_host("run", *words, env={"PAIR": "ada:" + SECRET})
        self.expect(outcome, code, text)
        self.assertNotIn(SECRET, outcome.err)


class Git(AgentTestCase):
    def ask(self, operation, *lines, words=(), **options):
        text = "".join(f"{line}\n" for line in lines)
        return self.run_host("credential", "git", *words, operation, stdin=text.encode(), **options)

    def here(self, *lines):
        return ["protocol=http", f"host={self.server.host}", *lines]

    def test_password(self):
        token = self.log_in()
        outcome = self.ask("get", *self.here())
        lines = outcome.out.decode().splitlines()
        self.assertEqual(lines[:2], ["username=oauth2", f"password={token}"], outcome)
        self.assertRegex(lines[2], r"^password_expiry_utc=\d+$")
        self.assertEqual(self.ask("get", *self.here("username=ada")).out.splitlines()[0], b"username=ada")
        self.assertEqual(self.ask("get", *self.here(), words=["--username", "x-access-token"]).out.splitlines()[0], b"username=x-access-token")

    def test_scheme(self):
        """Git 2.46 and later sends the challenges, which decide."""
        token = self.log_in()
        new = ["capability[]=authtype", "capability[]=state"]
        for challenges, is_bearer in (
                ([], True), (['wwwauth[]=Bearer realm="x"'], True), (['wwwauth[]=Basic realm="x"'], False),
                (['wwwauth[]=Basic realm="x"', "wwwauth[]=bearer"], True), (["wwwauth[]=bearer", "wwwauth[]="], True)):
            lines = self.ask("get", *new, *self.here(*challenges)).out.decode().splitlines()
            expected = ["capability[]=authtype", "authtype=Bearer", f"credential={token}", "ephemeral=1"]
            self.assertEqual(lines[:-1], expected if is_bearer else ["username=oauth2", f"password={token}"], challenges)

    def test_silent_where_it_is_not_meant(self):
        """Then git asks its other helpers, and finally the person."""
        self.log_in()
        for lines in (
                ["protocol=http", "host=other.example"], ["protocol=https", f"host={self.server.host}"], ["protocol=ssh", f"host={self.server.host}"],
                ["protocol=http"], ["protocol=http", "host="], [], ["protocol=http", f"host={self.server.host}.evil.example"],
                ["protocol=http", f"host=evil.example\\@{self.server.host}"], ["protocol=http", "host=127.0.0.1"]):
            for words in ([], ["--profile", "work"]):
                outcome = self.ask("get", *lines, words=words)
                self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), (lines, words))

    def test_operations_without_effect(self):
        self.log_in()
        for operation in ("store", "capability", "something-new"):
            outcome = self.ask(operation, *self.here("username=a", "password=b"))
            self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), operation)

    def test_several_profiles(self):
        self.log_in()
        work = (self.home / ".config/nevod/config").read_text()
        self.profiles(work + work.replace("[work]", "[also]"))
        self.expect_failure(self.ask("get", *self.here()), 2, "work, also", "--profile")
        self.assertIn(b"tok-1", self.ask("get", *self.here(), env={"NEVOD_PROFILE": "work"}).out)
        self.assertIn(b"tok-1", self.ask("get", *self.here(), words=["--profile", "work"]).out)

    def test_pair(self):
        self.profiles(f"[pair]\nurl = {self.server.url}\nuser = env:PAIR\n")
        pair = {"PAIR": "ada:pass=word\"\u00e9"}
        self.assertEqual(self.ask("get", *self.here(), env=pair).out.decode(), "username=ada\npassword=pass=word\"\u00e9\n")
        self.assertEqual(self.ask("get", *self.here("username=bob"), env=pair).out, b"")

    @cases({"no_equals": b"protocol\n", "nul": b"host=a\0b\n", "not_utf8": b"host=\xff\n", "no_key": b"=x\n"})
    def test_malformed(self, text):
        self.expect_failure(self.run_host("credential", "git", "get", stdin=text), 2, "not git's description")

    def test_profile_that_reads_standard_input(self):
        self.profiles(f"[key]\nurl = {self.server.url}\nplugin = apikey\nscheme = api-key\nset = key=-\nset = header=Authorization\n")
        self.expect_failure(self.ask("get", *self.here()), 2, "--set can't read standard input")

    def test_refused_credential_is_renewed(self):
        token = self.log_in()
        outcome = self.ask("erase", *self.here(f"password={token}", "username=oauth2"))
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)
        self.assertEqual(self.server.renewals, 1)
        self.assertIn(b"password=tok-2\n", self.ask("get", *self.here()).out)
        # The session no longer has the rejected token.
        self.expect(self.ask("erase", *self.here(f"password={token}")), 0)
        self.expect(self.ask("erase", *self.here()), 0)
        self.assertEqual(self.server.renewals, 1)

    def test_refused_credential_starts_no_login(self):
        """Even if there is no session and the profile could log in."""
        path = self.home / ".config/nevod/config"
        self.profiles(path.read_text() + "answer = password=env:NEVOD_TEST_SECRET\n")
        for words in ([], ["--no-store"]):
            outcome = self.ask("erase", *self.here("password=x"), words=words)
            self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)
        self.assertEqual(self.server.logins, 0)

    @cases({"user": "user = ada", "setting": "plugin = apikey\nscheme = api-key\nset = header=Authorization\nset = prefix=Bearer"})
    def test_refused_credential_asks_nothing(self, lines):
        self.profiles(f"[asks]\nurl = {self.server.url}\n{lines}\n")
        outcome = self.ask("erase", *self.here("password=x"))
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)
        text = self.file("refused", "".join(f"{line}\n" for line in self.here("password=x")))
        with open(text, "rb") as stdin:
            session = TerminalSession(["credential", "git", "erase"], env=self.env(), stdin=stdin)
            with contextlib.closing(session):
                wait_until(lambda: session.process.poll() is not None or select.select([session.ours], [], [], 0)[0], "an end, or a question")
                self.assertEqual(session.process.poll(), 0)
                self.assertEqual((session.finish(), session.shown), ((0, b"", ""), b""))

    def test_nothing_is_refused(self):
        """Without a password, nothing is read."""
        self.profiles(f"[key]\nurl = {self.server.url}\nuser = file:/nonexistent\n")
        outcome = self.ask("erase", *self.here())
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)

    def test_refused_key_is_reported(self):
        self.profiles(
            f"[key]\nurl = {self.server.url}\nplugin = apikey\nscheme = api-key\nset = key=env:NEVOD_TEST_SECRET\nset = header=Authorization\n"
            "set = prefix=Bearer\n")
        outcome = self.ask("erase", *self.here(f"password={SECRET}"))
        self.expect(outcome, 0, "warning: the server refused the credential", "profile key")
        self.assertNotIn(SECRET, outcome.err)

    def test_mistakes(self):
        for words, text in (
                (["credential"], "git, docker, kubectl-exec, netrc"), (["credential", "svn"], "git, docker"), (["credential", "git"], "get, store, erase"),
                (["credential", "git", "get", "-p", "apikey", "--set", "key=-"], "can't read standard input"),
                (["credential", "kubectl-exec", "x"], "takes no operand"), (["credential", "netrc"], "--profile")):
            self.expect_failure(self.run_host(*words, stdin=b"protocol=http\nhost=h\n"), 2, text)
        outcome = self.run_host("credential", "git", "get", *self.api_key(), stdin=b"protocol=http\nhost=h\n")
        self.expect_failure(outcome, 2, "credential needs a --profile")


class GitServing(AgentTestCase):
    """Git itself and git's own server program, run by a server that requires the token."""

    def setUp(self):
        super().setUp()
        self.repositories = self.folder / "repositories"
        self.git("init", "-q", "--bare", "-b", "main", self.repositories / "a.git")
        self.git("-C", self.repositories / "a.git", "config", "http.receivepack", "true")
        self.challenges = ['Basic realm="git"']
        self.server.respond = self.respond

    def git(self, *words, check=True, **env):
        done = subprocess.run(
            ["git", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, cwd=self.folder, start_new_session=True,
            env=environment(
                **self.env(), GIT_TERMINAL_PROMPT="0", GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
                GIT_COMMITTER_EMAIL="a@b", **env))
        if check:
            self.assertEqual(done.returncode, 0, done)
        return done

    def respond(self, handler, body):
        if not self.server.is_valid(handler.headers.get("Authorization")):
            return handler.answer(401, b"", [("WWW-Authenticate", text) for text in self.challenges])
        path, _, query = handler.path.partition("?")
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, timeout=PATIENCE,
            env={
                "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.repositories), "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": handler.command,
                "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_TYPE": handler.headers.get("Content-Type", ""), "REMOTE_USER": "ada",
                "CONTENT_LENGTH": str(len(body)), "HOME": str(self.folder),
                **({"HTTP_CONTENT_ENCODING": handler.headers["Content-Encoding"]} if handler.headers.get("Content-Encoding") else {}),
                **({"GIT_PROTOCOL": handler.headers["Git-Protocol"]} if handler.headers.get("Git-Protocol") else {})})
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in lines if name == "Status"), 200)
        handler.answer(status, content, [(name, value) for name, value in lines if name != "Status"])

    def configured(self, *words):
        return ["-c", "credential.helper=", "-c", f"credential.helper=!{HOST} credential git {' '.join(words)}"]


class RealGit(GitServing):
    def test_clone_push_fetch(self):
        self.log_in()
        url = self.server.url + "/a.git"
        self.git(*self.configured(), "clone", "-q", url, "one")
        (self.folder / "one/file").write_text("hello")
        for words in (["add", "file"], ["commit", "-qm", "first"], [*self.configured(), "push", "-q", "origin", "HEAD:main"]):
            self.git("-C", self.folder / "one", *words)
        self.git(*self.configured("--profile", "work"), "clone", "-q", url, "two")
        self.assertEqual((self.folder / "two/file").read_text(), "hello")
        self.assertEqual((self.server.logins, self.server.renewals), (1, 0))

    def test_expired_session_is_renewed(self):
        self.server.seconds = 0
        self.log_in()
        self.server.seconds = 3600
        self.git(*self.configured(), "ls-remote", self.server.url + "/a.git")
        self.assertEqual((self.server.logins, self.server.renewals), (1, 1))

    def test_refused_token_is_replaced(self):
        """The server ends the token early: git reports that with `erase`, and the next command has a new one."""
        old = self.log_in()
        url = self.server.url + "/a.git"
        valid = self.server.is_valid
        self.server.is_valid = lambda line: valid(line) and self.server.issued[-1] != old
        self.assertNotEqual(self.git(*self.configured(), "ls-remote", url, check=False).returncode, 0)
        self.assertEqual(self.server.renewals, 1)
        self.git(*self.configured(), "ls-remote", url)
        self.assertEqual(self.server.renewals, 1)

    def test_other_helpers_are_asked_for_other_servers(self):
        other = self.folder / "other-helper"
        other.write_text("#!/bin/sh\n[ $1 = get ] && echo username=x && echo password=from-other\n")
        other.chmod(0o700)
        text = b"protocol=https\nhost=elsewhere.example\n\n"
        done = subprocess.run(
            ["git", *self.configured(), "-c", f"credential.helper={other}", "credential", "fill"], input=text, capture_output=True, timeout=PATIENCE,
            env=environment(**self.env(), GIT_CONFIG_NOSYSTEM="1"))
        self.assertIn(b"password=from-other", done.stdout, done)

    def test_session_is_missing(self):
        done = self.git(*self.configured(), "ls-remote", self.server.url + "/a.git", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"nevod-host login --profile work", done.stderr)


class Docker(AgentTestCase):
    def ask(self, operation, text, *words, **options):
        return self.run_host("credential", "docker", *words, operation, stdin=text.encode(), **options)

    @cases({"url": "{url}", "line": "{url}\n", "path": "{url}/v2/", "host": "{host}", "crlf": "{url}\r\n"})
    def test_get(self, form):
        token = self.log_in()
        text = form.format(url=self.server.url, host=self.server.host)
        outcome = self.ask("get", text)
        self.assertEqual(json.loads(outcome.out), {"ServerURL": text.strip(), "Username": "oauth2", "Secret": token}, outcome)

    @cases({"hub": "https://index.docker.io/v1/", "host": "registry.example.com", "odd": "::::", "other_scheme": "https://{host}"})
    def test_not_found(self, text):
        """Docker compares the text, the stream and the code (docker-credential-helpers, credentials/error.go)."""
        self.log_in()
        for words in ([], ["--profile", "work"]):
            outcome = self.ask("get", text.format(host=self.server.host), *words)
            self.assertEqual((outcome.code, outcome.out, outcome.err), (1, NOT_FOUND + b"\n", ""), outcome)

    def test_error_is_where_docker_reads_it(self):
        outcome = self.ask("get", self.server.url)
        self.expect(outcome, 113, "nevod-host login --profile work")
        self.assertIn(b"nevod-host login --profile work", outcome.out)

    def test_list(self):
        self.assertEqual(json.loads(self.ask("list", "").out), {})
        self.log_in()
        self.profiles((self.home / ".config/nevod/config").read_text() + "[other]\nurl = https://other.example\nplugin = x\n")
        self.assertEqual(json.loads(self.ask("list", "").out), {self.server.url: "oauth2"})

    def test_nothing_is_stored(self):
        self.log_in()
        for operation, text in (("store", json.dumps({"ServerURL": self.server.url, "Username": "a", "Secret": SECRET})), ("erase", self.server.url)):
            outcome = self.ask(operation, text)
            self.expect(outcome, 1, "no password is stored")
            self.assertIn(b"no password is stored", outcome.out)
            self.assertNotIn(SECRET, outcome.err + outcome.out.decode())
        self.assertIn(b"tok-1", self.ask("get", self.server.url).out)
        self.expect(self.ask("get", ""), 1, "no credentials server URL")

    JUDGE = """
import json, sys
from docker.credentials import CredentialsNotFound, Store, StoreError

store, url = Store("nevod"), sys.argv[1]
found = [store.get(url), store.list()]
try:
    found.append(store.get("https://index.docker.io/v1/"))
except CredentialsNotFound:
    found.append(None)
try:
    found.append(store.store(url, "a", "b"))
except StoreError as error:
    found.append(str(error))
print(json.dumps(found))
"""

    def test_judge(self):
        """docker-py's code for credential helpers, with a program named docker-credential-nevod."""
        token = self.log_in()
        program = self.folder / "bin/docker-credential-nevod"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {HOST} credential docker "$@"\n')
        program.chmod(0o755)
        found = json.loads(judged(self.JUDGE, self.server.url, **self.env(PATH=f"{program.parent}:{os.environ['PATH']}")))
        self.assertEqual(found[0], {"ServerURL": self.server.url, "Username": "oauth2", "Secret": token})
        self.assertEqual(found[1:3], [{self.server.url: "oauth2"}, None])
        self.assertIn("no password is stored", found[3])


@functools.cache
def exec_api():
    """The API version with which this kubectl asks for a credential. Debian 12 has kubectl 1.20, which doesn't know the version
    of 1.22."""
    done = subprocess.run(["kubectl", "version", "--client", "--output", "json"], capture_output=True, timeout=PATIENCE, check=True)
    minor = int(re.match(r"\d+", json.loads(done.stdout)["clientVersion"]["minor"])[0])
    return "client.authentication.k8s.io/" + ("v1" if minor >= 22 else "v1beta1")


class ClusterServing(AgentTestCase):
    def authorizations(self, users):
        """Runs kubectl as the user ada against a server that requires the token. Returns what it sent."""
        seen = []

        def respond(handler, body):
            seen.append(handler.headers.get("Authorization"))
            is_valid = self.server.is_valid(handler.headers.get("Authorization"))
            content = {"kind": "NamespaceList", "apiVersion": "v1", "items": [{"metadata": {"name": "of-ada"}}]}
            if not is_valid:
                content = {"kind": "Status", "apiVersion": "v1", "code": 401, "reason": "Unauthorized"}
            handler.answer(200 if is_valid else 401, json.dumps(content).encode(), [("Content-Type", "application/json")])

        self.server.respond = respond
        cluster = {"server": self.tls_front(), "certificate-authority": str(authority().path("here.pem"))}
        path = self.file("kubeconfig", "\n".join([
            "apiVersion: v1", "kind: Config", "current-context: c", 'contexts: [{"name": "c", "context": {"cluster": "c", "user": "ada"}}]',
            f'clusters: {json.dumps([{"name": "c", "cluster": cluster}])}', users]) + "\n")
        done = subprocess.run(
            ["kubectl", "--kubeconfig", path, "get", "--raw", "/api/v1/namespaces"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
            env=environment(**self.env(PATH=f"{BUILD}:{os.environ['PATH']}", GIT_TOKEN=SECRET)))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(b"of-ada", done.stdout)
        return set(seen)

    def tls_front(self):
        """Kubectl sends tokens only over TLS, so the same server has a second port."""
        front = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        for name in ("lock", "seen", "respond", "is_valid", "delay", "issue"):
            setattr(front, name, getattr(self.server, name))
        front.socket = authority().context().wrap_socket(front.socket, server_side=True)
        threading.Thread(target=front.serve_forever, daemon=True).start()
        self.addCleanup(lambda: (front.shutdown(), front.server_close()))
        return f"https://127.0.0.1:{front.server_port}"


class Kubectl(ClusterServing):
    def info(self, version="v1", **spec):
        return {"KUBERNETES_EXEC_INFO": json.dumps(
            {"apiVersion": f"client.authentication.k8s.io/{version}", "kind": "ExecCredential", "spec": {"interactive": False, **spec}})}

    @cases({"v1": "v1", "v1beta1": "v1beta1"})
    def test_response(self, version):
        token = self.log_in()
        outcome = self.run_host("credential", "kubectl-exec", "--profile", "work", env=self.info(version))
        found = json.loads(outcome.out)
        self.assertRegex(found["status"].pop("expirationTimestamp"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(
            found, {"apiVersion": f"client.authentication.k8s.io/{version}", "kind": "ExecCredential", "status": {"token": token}})

    def test_profile_of_the_cluster(self):
        self.log_in()
        outcome = self.run_host("credential", "kubectl-exec", env=self.info(cluster={"server": self.server.url}))
        self.assertEqual(json.loads(outcome.out)["status"]["token"], "tok-1", outcome)

    @cases({
        "other_server": ({"cluster": {"server": "https://k8s.example:6443"}}, "https://k8s.example:6443"), "no_profile": (None, "--profile"),
        "version": ("v1alpha1", "client.authentication.k8s.io/v1 "), "no_json": ("{", "not JSON"), "kind": ('{"kind": "Pod"}', "ExecCredential"),
        "server_is_no_url": ({"cluster": {"server": "no server at all"}}, '"no server at all"'),
        "server_without_a_scheme": ({"cluster": {"server": "//k8s.example"}}, "is not a URL"),
    })
    def test_mistakes(self, what, text):
        env = self.info(**what) if isinstance(what, dict) else self.info(what) if what == "v1alpha1" else {"KUBERNETES_EXEC_INFO": what or ""}
        words = ["--profile", "work"] if isinstance(what, dict) else []
        self.expect_failure(self.run_host("credential", "kubectl-exec", *words, env=env), 2, text)

    def test_asks_nothing_unless_it_may(self):
        """There is a terminal, but the client says that we may not use it."""
        main, other = pty.openpty()
        try:
            for interactive in (False, True):
                process = subprocess.Popen(
                    self.command("credential", "kubectl-exec", "--profile", "work"), stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=environment(**self.env(**self.info(interactive=interactive))), start_new_session=True,
                    preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
                with process:
                    try:
                        shown = b""
                        while interactive and b"Password" not in shown:
                            self.assertTrue(select.select([main], [], [], PATIENCE)[0], shown)
                            shown += os.read(main, 4096)
                        if interactive:
                            os.write(main, SECRET.encode() + b"\n")
                        out, err = process.communicate(timeout=PATIENCE)
                    finally:
                        process.kill()
                self.assertEqual((process.returncode, b"tok-" in out), (0, True) if interactive else (113, False), err)
        finally:
            os.close(main)
            os.close(other)

    def test_only_bearer(self):
        self.profiles(f"[pair]\nurl = {self.server.url}\nuser = env:PAIR\n")
        outcome = self.run_host("credential", "kubectl-exec", "--profile", "pair", env={"PAIR": "a:b"})
        self.expect_failure(outcome, 112, "no bearer token")

    def test_kubectl(self):
        token = self.log_in()
        users = [{"name": "ada", "user": {"exec": {
            "apiVersion": exec_api(), "command": str(HOST), "args": ["credential", "kubectl-exec", "--profile", "work"],
            "interactiveMode": "Never"}}}]
        self.assertEqual(self.authorizations(f"users: {json.dumps(users)}"), {f"Bearer {token}"})


class Netrc(AgentTestCase):
    def test_entry(self):
        token = self.log_in()
        entry = self.file("netrc", self.run_host("credential", "netrc", "--profile", "work").out)
        self.assertEqual(netrc.netrc(entry).authenticators("127.0.0.1"), ("oauth2", "", token))
        done = subprocess.run(["curl", "-sSf", "--netrc-file", entry, self.server.url], capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.stdout, b"{}", done)


class Documentation(GitServing, ClusterServing):
    """The lines of Docs/other-programs.md, with this server's address for git.example.com."""

    def setUp(self):
        super().setUp()
        self.profiles(self.block("ini"))
        self.server.is_valid = lambda line: line in (
            f"Bearer {SECRET}", "Basic " + base64.b64encode(f"oauth2:{SECRET}".encode()).decode())
        self.path = {"PATH": f"{self.folder / 'bin'}:{BUILD}:{os.environ['PATH']}", "GIT_TOKEN": SECRET}

    def block(self, language):
        text = (ROOT / "Docs/other-programs.md").read_text()
        found = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)[1]
        return found.replace("https://git.example.com", self.server.url).replace("git.example.com", self.server.host)

    def test_git_lines(self):
        self.home.joinpath(".gitconfig").write_text(self.block("gitconfig"))
        self.git("ls-remote", self.server.url + "/a.git", **self.path)

    def test_docker_lines(self):
        program = self.folder / "bin/docker-credential-nevod"
        program.parent.mkdir()
        program.write_text(self.block("sh"))
        program.chmod(0o755)
        self.home.joinpath(".docker").mkdir()
        self.home.joinpath(".docker/config.json").write_text(self.block("json"))
        code = "import docker.auth, json, sys; print(json.dumps(docker.auth.load_config().resolve_authconfig(sys.argv[1])))"
        found = json.loads(judged(code, self.server.host, **self.env(**self.path)))
        self.assertEqual((found["Username"], found["Password"]), ("oauth2", SECRET))

    def test_kubectl_lines(self):
        users = self.block("yaml").replace("client.authentication.k8s.io/v1", exec_api())
        self.assertEqual(self.authorizations(users), {f"Bearer {SECRET}"})


class ShortNames(TestCase):
    def header(self, name, *, env=None):
        return self.run_host("header", "-p", name, "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET", "http://h/", env=env or {})

    @cases({"lower": "apikey", "upper": "APIKEY", "plugin": "APIKeyAuth", "any_case": "apikeyauth", "file": "libAPIKeyAuth.so"})
    def test_found(self, name):
        self.assertEqual(self.header(name).out.decode(), f"X-API-Key: {SECRET}\n")

    def test_suggestion(self):
        self.expect_failure(self.header("apikye"), 110, "did you mean apikey?")
        self.expect_failure(self.header("zzzzzz"), 110, "found: ", "hmac")

    def test_ambiguous(self):
        folder = self.folder / "plugins"
        folder.mkdir(mode=0o700)
        for name in ("libApikeyAuth.so", "libAPIKEYAuth.so"):
            shutil.copy(BUILD / "libAPIKeyAuth.so", folder / name)
        env = {"NEVOD_PLUGIN_PATH": str(folder)}
        self.expect_failure(self.header("apikey", env=env), 110, "libApikeyAuth.so and ", "libAPIKEYAuth.so")
        self.assertEqual(self.header("libApikeyAuth.so", env=env).code, 0)


class Completions(AgentTestCase):
    def ask(self, kind, *words, **options):
        outcome = self.run_host("complete-for-shell", kind, *words, **options)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out.decode().splitlines()

    def test_settings(self):
        hmac = self.ask("setting", "-p", "hmac", "--set", "")
        self.assertEqual([name for name in ("api-key=", "secret=") if name not in hmac], [])
        self.assertEqual(self.ask("setting", "-p", "hmac", "--set", "secret="), ["secret=env:", "secret=file:"])
        self.assertEqual(self.ask("setting", "-p", "nothing", "--set", ""), [])
        self.assertEqual(self.ask("setting", "--set", ""), [])
        self.assertIn("parameter=", self.ask("setting", "-p", "apikey", "--scheme", "api-key-query", "--set", ""))
        self.assertNotIn("parameter=", self.ask("setting", "-p", "apikey", "--scheme", "api-key", "--set", ""))

    def test_choices(self):
        choices = self.ask("setting", "-p", "cookie", "--set", "csrf=")
        self.assertIn("csrf=input", choices)

    def test_of_the_profile(self):
        self.assertEqual(self.ask("setting", "--profile", "work", "--set", ""), ["url="])
        self.assertEqual(self.ask("scheme", "--profile", "work", "--scheme", ""), ["bearer"])

    def test_schemes(self):
        self.assertEqual(self.ask("scheme", "-p", "apikey", "--scheme", ""), ["api-key", "api-key-query", "api-key-cookie"])

    def test_accounts_and_sessions(self):
        self.assertEqual(self.ask("account", "--profile", "work", "--account", ""), [])
        self.log_in()
        self.assertEqual(self.ask("account", "--profile", "work", "--account", ""), ["ada"])
        self.assertEqual(self.ask("account", "--profile", "other", "--account", ""), [])
        self.assertEqual(self.ask("session", "sessions", "show", ""), ["ada", "work"])

    def test_asks_no_passphrase(self):
        self.expect(self.run_host(
            "login", "--profile", "work", "--answer", "password=env:NEVOD_TEST_SECRET", "--store-key", "passphrase", "--answer",
            "store-passphrase=env:NEVOD_TEST_SECRET"), 0)
        self.assertEqual(self.ask("account", "--profile", "work", "--account", ""), [])

    def script(self, shell):
        return self.file(f"nevod.{shell}", self.run_host("completions", shell).out)

    def path(self):
        return {"PATH": f"{BUILD}:{os.environ['PATH']}"}

    CASES = {
        ("sessions", "show", ""): {"ada", "work"}, ("--profile", "work", "--account", "a"): {"ada"}, ("-p", "hmac", "--set", "api-k"): {"api-key="},
        ("-p", "hmac", "--set=api-k"): {"--set=api-key=", "api-key="}, ("-p", "hmac", "--set", "secret=e"): {"secret=env:", "env:"},
        ("-p", "apikey", "--scheme", "api-key-"): {"api-key-cookie", "api-key-query"}, ("credential", "g"): {"git"}, ("credential", "git", "e"): {"erase"},
        ("header", "--format", "j"): {"json"}, ("hea",): {"header"},
    }

    def test_bash(self):
        self.log_in()
        for words, expected in self.CASES.items():
            line = " ".join(["nevod-host", *words])
            # Split like readline does.
            split = [piece for word in ["nevod-host", *words] for piece in (re.split(r"([=:]+)", word) if word else [""])]
            split = [piece for index, piece in enumerate(split) if piece or index == len(split) - 1]
            code = (
                f"source {self.script('bash')}; COMP_WORDS=({' '.join(json.dumps(word) for word in split)}); COMP_CWORD={len(split) - 1}; "
                f"COMP_LINE={json.dumps(line)}; COMP_POINT=${{#COMP_LINE}}; _nevod_host; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(
                ["bash", "-c", code], env=environment(**self.env(**self.path())), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
            found = set(done.stdout.decode().split())
            self.assertTrue(found and found <= expected, (words, found, done.stderr))

    @unittest.skipUnless(shutil.which("fish"), "fish is missing")
    def test_fish(self):
        self.log_in()
        for words, expected in self.CASES.items():
            done = subprocess.run(
                ["fish", "-N", "-c", f"source {self.script('fish')}; complete -C {json.dumps(' '.join(['nevod-host', *words]))}"],
                env=environment(**self.env(**self.path())), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
            found = {line.split("\t")[0] for line in done.stdout.decode().splitlines()}
            self.assertTrue(found & expected, (words, found, done.stderr))

    @unittest.skipUnless(shutil.which("zsh") and shutil.which("script"), "zsh is missing")
    def test_zsh(self):
        self.log_in()
        self.home.joinpath(".zshrc").write_text(
            f"PS1='$ '\nunset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; setopt noautolist\nsource {self.script('zsh')}\n"
            "nevod-host() { printf '\\nGOT'; printf '<%s>' \"$@\"; printf '\\n'; }\n")
        typed = {
            "sessions show w\t-": "<sessions><show><work><->", "--profile work --account a\t-": "<--profile><work><--account><ada><->",
            "-p hmac --set api-k\tx": "<-p><hmac><--set><api-key=x>", "-p hmac --set=secret=e\tx": "<-p><hmac><--set=secret=env:x>", "-p apikey --scheme api-key-q\t-": "<-p><apikey><--scheme><api-key-query><->",
            "credential git e\t-": "<credential><git><erase><->", "header --format j\t-": "<header><--format><json><->"}
        keys = "".join(f"nevod-host {line}\n" for line in typed) + "exit\n"
        done = subprocess.run(
            ["script", "-qec", "zsh -d -i", "/dev/null"], input=keys.encode(), capture_output=True, timeout=PATIENCE, start_new_session=True,
            env=environment(**self.env(**self.path()), ZDOTDIR=str(self.home), TERM="xterm"))
        found = re.findall(r"^GOT(.*?)\r?$", done.stdout.decode(errors="replace"), re.M)
        self.assertEqual(found, list(typed.values()), done.stdout)
