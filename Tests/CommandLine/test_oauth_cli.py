"""A new user's path with the scheme oauth2: log in at a provider with discovery, send requests, give the token to other programs,
and log out. The server is Examples/demo-server/oauth_server.py; test_oauth_servers.py uses other projects' servers."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from support import BUILD, PATIENCE, ROOT, SECRET, TestCase, cases
from test_terminal import TerminalSession

BROWSER = ROOT / "Examples/demo-server/browser.py"
PLUGIN = ["-p", "oauth2"]
# Matches the texts that must not be seen anywhere: codes, verifiers and tokens. The server's have 32 base64url characters.
TOKEN = re.compile(r"(?<![\w-])[\w-]{32}(?![\w-])")


class DemoServer:
    """Examples/demo-server/oauth_server.py in its own process."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-oauth-"))
        self.log_path = self.folder / "log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, ROOT / "Examples/demo-server/oauth_server.py", "--parent-pid", str(os.getpid())],
                env={"PATH": os.environ["PATH"], "DEMO_SECRET": SECRET}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log)
        self.url = self.process.stdout.readline().decode().removeprefix("listening on ").strip()

    def log(self):
        """The outcome of each of a client's requests: `granted authorization_code`, `REFUSED refresh_token: invalid_grant`."""
        return self.log_path.read_text().splitlines()

    def tokens(self):
        """The same without the pushed requests, to which the browser's request refers (RFC 9126)."""
        return [line for line in self.log() if line != "granted par"]

    def post(self, path):
        urllib.request.urlopen(self.url + path, data=b"", timeout=PATIENCE).read()

    def expire(self):
        self.post("/expire")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class WayTestCase(TestCase):
    """With a server, and a home for each test."""

    def setUp(self):
        self.server = DemoServer()
        self.addCleanup(self.server.stop)
        self.url = self.server.url
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.store = self.home / ".local/share/nevod-host/sessions.db"

    def env(self, **more):
        return {
            "HOME": str(self.home), "NEVOD_HOST_STORE": "", "NEVOD_PLUGIN_PATH": str(BUILD), "BROWSER": str(BROWSER),
            "DEMO_SECRET": SECRET, **more}

    def run_host(self, *words, env=None, **options):
        return super().run_host(*words, env=self.env(**(env or {})), **options)

    def scheme(self, *words, client="demo"):
        settings = [f"issuer={self.url}", f"client-id={client}", *words]
        return [*PLUGIN, *(word for setting in settings for word in ("--set", setting))]

    def service(self, *words):
        return self.scheme("client-secret=env:DEMO_SECRET", *words, client="service")

    def logged_in(self, *words):
        outcome = self.run_host("login", *self.scheme(*words))
        self.expect(outcome, 0)
        return outcome

    def get(self, *words, path="/orders", scheme=None):
        return self.run_host("-f", *words, *(scheme or self.scheme()), self.url + path)

    def expect_user(self, outcome, user="ada", **values):
        self.expect(outcome, 0)
        seen = json.loads(outcome.out)
        self.assertEqual({name: seen[name] for name in ("user", *values)}, {"user": user, **values}, outcome)

    def profile(self, text):
        folder = self.home / ".config/nevod"
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        (self.home / ".config").chmod(0o700)
        path = folder / "config"
        path.write_text(text)
        path.chmod(0o600)

    def work(self):
        self.profile(f"[work]\nurl = {self.url}\nplugin = oauth2\nset = issuer={self.url}\nset = client-id=demo\nfail\n")

    def expect_nothing_secret(self, *outcomes):
        for outcome in outcomes:
            for text in (outcome.err, outcome.out.decode()):
                self.assertNotIn(SECRET, text)
                self.assertIsNone(TOKEN.search(self.without_addresses(text)), outcome)

    @staticmethod
    def without_addresses(text):
        """The address for the browser, which a person must see, has a state and a challenge."""
        return re.sub(r"http://\S+/authorize\?\S+", "", text)


class Way(WayTestCase):
    def test_login_and_requests(self):
        """A user types only two settings, and the second request needs no login."""
        outcome = self.logged_in()
        self.assertRegex(
            outcome.out.decode(), rf'^logged in .*with "OAuth 2.0" at {re.escape(self.url)}, until 20\d\d-.*\n'
            rf"kept in {self.store}, sealed by .*\n$")
        self.assertIn(f'logging in with "OAuth 2.0", which sends to {self.url}', outcome.err)
        for _ in range(2):
            seen = self.get()
            self.expect_user(seen, scope="read", logins=1, refreshes=0)
            self.assertEqual(seen.err, "")
        self.assertEqual(self.server.tokens(), ["granted authorization_code"])

    def test_request_without_login(self):
        """A request logs in by itself if there is a browser, and keeps the session."""
        self.expect_user(self.get(), logins=1)
        self.expect_user(self.get(), logins=1)

    def test_nobody_to_ask(self):
        """Without a browser and a terminal, the command ends at once and says what to run."""
        outcome = self.run_host("-f", *self.scheme(), self.url + "/orders", env={"BROWSER": ""})
        self.expect(outcome, 113)
        self.assertRegex(outcome.err, "nevod-host login|BROWSER", outcome)
        self.assertEqual((outcome.out, self.server.tokens()), (b"", []))

    def test_refused_in_the_browser(self):
        outcome = self.run_host("login", *self.scheme(), env={"BROWSER": f"{BROWSER} --deny"})
        self.assertNotEqual(outcome.code, 0)
        self.assertRegex(outcome.err, "refused|denied", outcome)
        self.assertEqual((self.server.tokens(), self.run_host("sessions", "--json").code), ([], 0))

    def test_expired_token(self):
        self.logged_in()
        for refreshes in (1, 2):
            self.server.expire()
            self.expect_user(self.get(), logins=1, refreshes=refreshes)
        self.assertEqual(self.server.tokens(), ["granted authorization_code", "granted refresh_token", "granted refresh_token"])

    def test_processes_at_once(self):
        """Eight processes meet an expired token, and one of them renews it for all."""
        self.logged_in()
        self.server.expire()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for outcome in pool.map(lambda _: self.get(), range(8)):
                self.expect_user(outcome, logins=1, refreshes=1)
        self.expect_user(self.get(), refreshes=1)

    def test_ended_session(self):
        """If the server no longer knows the refresh token, the session ends, once. The error says what to do."""
        self.logged_in()
        self.server.post("/forget")
        for _ in range(2):
            outcome = self.run_host("-f", *self.scheme(), self.url + "/orders", env={"BROWSER": ""})
            self.assertNotEqual(outcome.code, 0)
            self.assertIn("nevod-host login", outcome.err, outcome)
            self.expect_nothing_secret(outcome)
        self.assertEqual(self.server.tokens(), ["granted authorization_code", "REFUSED refresh_token: invalid_grant"])

    def test_logout(self):
        """The server is told, and nothing stays here."""
        self.logged_in()
        header = self.run_host("header", *self.scheme(), self.url + "/orders").out.decode().strip()
        outcome = self.run_host("logout", *self.scheme())
        self.expect(outcome, 0)
        self.assertIn(b"logged out", outcome.out)
        self.assertEqual(self.server.tokens(), ["granted authorization_code", "granted revoke", "granted revoke"])
        self.assertEqual(json.loads(self.run_host("sessions", "--json").out)["sessions"], [])
        self.expect(self.run_host("-f", "-H", header, self.url + "/orders"), 119)

    def test_status_and_scope(self):
        """403 with insufficient_scope doesn't renew the token. The error names the scope."""
        self.logged_in()
        outcome = self.get(path="/admin")
        self.expect(outcome, 119, "admin")
        self.assertEqual(self.server.tokens(), ["granted authorization_code"])


class Secrets(WayTestCase):
    def test_sealed(self):
        self.logged_in()
        token = self.run_host("header", *self.scheme(), self.url + "/orders").out.decode().split()[-1]
        self.assertRegex(token, TOKEN)
        files = [path for path in self.home.rglob("*") if path.is_file()]
        self.assertTrue(files)
        for path in files:
            self.assertNotIn(token.encode(), path.read_bytes(), path)
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_verbose(self):
        """-v shows each hop, and nothing secret of it."""
        outcomes = [
            self.run_host("login", "-v", *self.scheme()), self.get("-v"), self.run_host("sessions"),
            self.run_host("sessions", "show", "1"), self.run_host("login", "-v", *self.service("grant=client-credentials"))]
        self.server.expire()
        outcomes += [self.get("-v"), self.get("-v", path="/admin"), self.run_host("logout", "-v", *self.scheme())]
        self.assertIn("/token", outcomes[0].err)
        self.assertIn("/orders", outcomes[1].err)
        self.expect_nothing_secret(*outcomes)

    @cases({"client_secret": "client-secret=hunter2", "password": "password=hunter2", "refresh_token": "refresh-token=hunter2"})
    def test_on_the_command_line(self, setting):
        outcome = self.run_host("login", *self.scheme(setting))
        self.expect_failure(outcome, 111, "is a secret")
        self.assertNotIn("hunter2", outcome.err)
        self.assertEqual(self.server.tokens(), [])

    def test_wrong_secret(self):
        outcome = self.run_host("login", *self.service("grant=client-credentials"), env={"DEMO_SECRET": "wr0ng-secret"})
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("client-secret", outcome.err, outcome)
        self.assertNotIn("wr0ng-secret", outcome.err)


class Scopes(WayTestCase):
    def test_token_for_each_set(self):
        """Each set of scopes has its own token, which is kept."""
        for scope in ("read", "write", "read write"):
            for _ in range(2):
                self.expect_user(self.get("--param", f"scope={scope}"), scope=scope)
        self.expect_user(self.get(), scope="read")
        self.assertEqual(self.server.tokens(), ["granted authorization_code"] * 4)

    def test_renewed_alone(self):
        self.expect_user(self.get("--param", "scope=read"), scope="read")
        self.expect_user(self.get("--param", "scope=write"), scope="write")
        self.server.expire()
        self.expect_user(self.get("--param", "scope=write"), scope="write", refreshes=1)
        self.expect_user(self.get("--param", "scope=read"), scope="read", refreshes=2)

    def test_scope_of_the_settings(self):
        words = self.scheme("scope=read admin")
        self.expect_user(self.get(scheme=words, path="/admin"), scope="read admin")

    def test_unknown_scope(self):
        outcome = self.run_host("login", *self.scheme("scope=everything"))
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("scope", outcome.err.splitlines()[-1], outcome)


class OtherPrograms(WayTestCase):
    def test_header(self):
        self.logged_in()
        outcome = self.run_host("header", *self.scheme(), self.url + "/orders")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out.decode(), r"^Authorization: Bearer [\w-]{32}\n$")
        outcome = self.run_host("header", "--format", "json", *self.scheme(), self.url + "/orders")
        self.assertRegex(json.loads(outcome.out)["expires_at"], r"^20\d\d-")

    def test_run(self):
        self.logged_in()
        code = "import os, urllib.request as u; lines = {'Authorization': 'Bearer ' + os.environ['NEVOD_TOKEN']}; " \
            "print(u.urlopen(u.Request(os.environ['URL'], headers=lines)).read().decode())"
        outcome = self.run_host("run", *self.scheme(), "--", sys.executable, "-c", code, env={"URL": self.url + "/orders"})
        self.expect_user(outcome, logins=1)

    def test_git(self):
        self.work()
        self.expect(self.run_host("login", "--profile", "work"), 0)
        asked = f"protocol=http\nhost={self.url.removeprefix('http://')}\n\n"
        outcome = self.run_host("credential", "git", "get", stdin=asked.encode())
        self.expect(outcome, 0)
        answer = dict(line.split("=", 1) for line in outcome.out.decode().split("\n") if line)
        self.assertEqual(answer["username"], "oauth2")
        self.assertRegex(answer["password"], TOKEN)
        other = self.run_host("credential", "git", "get", stdin=b"protocol=https\nhost=elsewhere.example\n\n")
        self.assertEqual((other.code, other.out), (0, b""))

    def test_kubectl(self):
        self.work()
        self.expect(self.run_host("login", "--profile", "work"), 0)
        info = json.dumps({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {"interactive": False}})
        outcome = self.run_host("credential", "kubectl-exec", "--profile", "work", env={"KUBERNETES_EXEC_INFO": info})
        self.expect(outcome, 0)
        self.assertRegex(json.loads(outcome.out)["status"]["token"], TOKEN)

    def test_not_for_another_server(self):
        """A session's token goes to its own origins only, typed or by redirect."""
        self.work()
        self.expect(self.run_host("login", "--profile", "work"), 0)
        outcome = self.run_host("--profile", "work", "http://127.0.0.1:1/")
        self.expect(outcome, 120)


class Profiles(WayTestCase):
    def test_profile(self):
        self.expect(self.run_host(
            "profile", "add", "work", "--url", self.url, *self.scheme()), 0)
        self.expect(self.run_host("login", "--profile", "work"), 0)
        self.expect_user(self.run_host("--profile", "work", "/orders"), logins=1)
        self.assertIn(b"work", self.run_host("sessions").out)
        self.expect(self.run_host("profile", "check", "work"), 0)
        self.expect(self.run_host("logout", "--profile", "work"), 0)
        self.assertEqual(json.loads(self.run_host("sessions", "--json").out)["sessions"], [])

    def test_two_accounts(self):
        """--account keeps the sessions of two people apart."""
        for account in ("ann", "bob"):
            self.expect(self.run_host("login", *self.scheme(), "--account", account), 0)
        self.expect_user(self.get("--account", "bob"), logins=2)
        self.expect(self.run_host("logout", *self.scheme(), "--account", "ann"), 0)
        self.expect_user(self.get("--account", "bob"), logins=2)


class Grants(WayTestCase):
    """A login that needs no person happens by itself, even without a terminal and a browser."""

    def alone(self, *words):
        return self.run_host("-f", *self.service(*words), self.url + "/orders", env={"BROWSER": ""})

    def test_client_credentials(self):
        for _ in range(2):
            self.expect_user(self.alone("grant=client-credentials", "scope=read write"), "service", scope="read write")
        self.assertEqual(self.server.tokens(), ["granted client_credentials"])
        self.server.expire()
        self.expect_user(self.alone("grant=client-credentials", "scope=read write"), "service")
        self.assertEqual(self.server.tokens(), ["granted client_credentials"] * 2)

    def test_password(self):
        words = ("grant=password", "username=ada", "password=env:DEMO_SECRET")
        self.expect_user(self.alone(*words), logins=0)
        self.server.expire()
        self.expect_user(self.alone(*words), refreshes=1)

    def test_token_exchange(self):
        self.logged_in()
        token = self.run_host("header", *self.scheme(), self.url + "/orders").out.decode().split()[-1]
        words = ("grant=token-exchange", f"subject-token=file:{self.file('subject', token)}", "scope=write")
        self.expect_user(self.alone(*words), scope="write")

    def test_device(self):
        """The address and the code are on standard error. The command waits until a person has confirmed them."""
        with self.running(
                "login", *self.scheme("grant=device"), env=self.env(BROWSER=""), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as process:
            shown = ""
            while not (code := re.search(r"\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b", shown)):
                line = process.stderr.readline().decode()
                self.assertTrue(line, shown)
                shown += line
            subprocess.run(
                [BROWSER, f"{self.url}/device?code={code[0]}"], env={"DEMO_SECRET": SECRET, "PATH": os.environ["PATH"]}, check=True,
                timeout=PATIENCE)
            out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn(b'with "OAuth 2.0"', out)
        self.expect_user(self.get(scheme=self.scheme("grant=device")), logins=1)

    def test_pushed_request(self):
        self.logged_in("par=always")
        self.assertEqual(self.server.log(), ["granted par", "granted authorization_code"])

    def test_pasted_address(self):
        """A person opens the address in a browser on another machine, and pastes the address where it ended."""
        words = self.scheme("paste-redirect=true")
        with contextlib.closing(TerminalSession(["login", *words], env=self.env(BROWSER=""))) as terminal:
            terminal.read_until(lambda: re.search(rb"/authorize\?\S+\s", terminal.shown), "the address")
            address = re.search(rb"http://\S+/authorize\?\S+", terminal.shown)[0].decode()
            terminal.read_until(lambda: terminal.shown.rstrip(b" ").endswith(b":"), "the question")
            terminal.type(self.ended_at(address).encode() + b"\n")
            code, _, err = terminal.finish()
        self.assertEqual(code, 0, err)
        self.expect_user(self.get(scheme=words), logins=1)

    def ended_at(self, address):
        """Logs in as ada, and returns the address to which the browser is redirected. Nothing listens there."""
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        form = f"username=ada&password={SECRET}&allow=yes".encode()
        try:
            urllib.request.build_opener(Stay).open(urllib.request.Request(address, form), timeout=PATIENCE)
        except urllib.error.HTTPError as response:
            with response:
                return response.headers["Location"]
        raise AssertionError("the server redirected nobody")


class Mistakes(WayTestCase):
    @cases({"no_server": ["client-id=x"], "unknown_grant": ["issuer={url}", "client-id=demo", "grant=wish"]})
    def test_settings(self, settings):
        words = [word for setting in settings for word in ("--set", setting.format(url=self.url))]
        outcome = self.run_host("login", *PLUGIN, *words)
        self.expect(outcome, 111)
        self.assertEqual(self.server.tokens(), [])
