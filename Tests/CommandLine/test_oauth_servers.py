"""The scheme oauth2 against other projects' authorization servers: each grant at each server that has it, from the login to the
request.

A row is a grant or a related feature, and a column is a server. A cell without a test says why. Each run prints the table, and a
test compares it with Docs/schemes/oauth2.md. Another client tries each cell first (oauth_reference.py): if that fails, the fault
is the server's and not the scheme's.
"""

import ast
import contextlib
import json
import os
import re
import subprocess
import time

from oauth_reference import Client, Refused
from oauth_servers import CLIENT_SECRET, PASSWORD, SERVERS, USER, Authlib, Glewlwyd, Idpy, Toolkit, browsing, visit
from support import BUILD, FOLDER, PATIENCE, ROOT, TestCase, environment, wait_until

# The NAME in the methods `try_NAME` and `reference_NAME` below, and the text in the table's first column.
ROWS = {
    "code": "code with PKCE, loopback redirect",
    "refused": "code, refused by the person",
    "par": "code, pushed request",
    "device": "device grant",
    "client_credentials": "client credentials, Basic",
    "form": "client credentials, secret in the form",
    "private_key_jwt": "client credentials, `private_key_jwt`",
    "client_secret_jwt": "client credentials, `client_secret_jwt`",
    "password": "password",
    "token_exchange": "token exchange",
    "jwt_bearer": "JWT bearer",
    "refresh": "refresh with rotation",
    "refresh_token": "start with a refresh token",
    "revocation": "revocation at logout",
    "openid": "account from the ID token",
    "dpop": "DPoP",
    "forbidding": "a resource that answers 403 at expiry",
}
NONE, NO_MACHINES, CHALLENGES = "has none", "has no grant for machines", "answers 401"
WITHOUT = {
    (Toolkit, "par"): NONE, (Toolkit, "device"): "this version has none", (Toolkit, "private_key_jwt"): NONE,
    (Toolkit, "client_secret_jwt"): NONE, (Toolkit, "token_exchange"): NONE, (Toolkit, "jwt_bearer"): NONE, (Toolkit, "dpop"): NONE,
    (Authlib, "par"): NONE, (Authlib, "token_exchange"): NONE, (Authlib, "dpop"): NONE, (Authlib, "forbidding"): CHALLENGES,
    (Idpy, "refused"): "never asks", (Idpy, "device"): NONE, (Idpy, "client_credentials"): NO_MACHINES, (Idpy, "form"): NO_MACHINES,
    (Idpy, "private_key_jwt"): NO_MACHINES, (Idpy, "client_secret_jwt"): NO_MACHINES, (Idpy, "password"): NONE,
    (Idpy, "jwt_bearer"): NONE, (Idpy, "revocation"): "its endpoint fails", (Idpy, "forbidding"): CHALLENGES,
    (Glewlwyd, "refused"): "its page needs JavaScript", (Glewlwyd, "token_exchange"): NONE, (Glewlwyd, "jwt_bearer"): NONE,
    (Glewlwyd, "forbidding"): CHALLENGES,
}
PAGE = ROOT / "Docs/schemes/oauth2.md"
SCOPE = {Idpy: "openid offline_access orders:read", Glewlwyd: "openid orders:read"}


def table(cell):
    lines = ["| | " + " | ".join(server.name for server in SERVERS) + " |", "| --- " * (len(SERVERS) + 1) + "|"]
    for row, title in ROWS.items():
        lines.append("| " + " | ".join([title, *(cell(server, row) for server in SERVERS)]) + " |")
    return "\n".join(lines) + "\n"


class OAuthTestCase(TestCase):
    """With a new home for each test, and servers shared by the tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.servers = {}

    @classmethod
    def server_of(cls, kind):
        if kind not in cls.servers:
            cls.servers[kind] = kind()
            cls.addClassCleanup(cls.servers[kind].stop)
        return cls.servers[kind]

    def setUp(self):
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)

    def run_host(self, *words, env=None, **options):
        home = {"HOME": str(self.home), "NEVOD_HOST_STORE": "", "CLIENT_SECRET": CLIENT_SECRET, "PASSWORD": PASSWORD}
        return super().run_host(*words, env={**home, **(env or {})}, **options)

    def settings(self, server, client, **more):
        """--plugin and --set; an underscore stands for a hyphen."""
        values = {"issuer": server.issuer, "client-id": client, **server.settings()}
        values.update({name.replace("_", "-"): value for name, value in more.items()})
        values.setdefault("scope", SCOPE.get(type(server), "orders:read"))
        if values["scope"] is None:
            del values["scope"]
        return ["--plugin", BUILD / "libOAuth2Auth.so", *(word for item in values.items() for word in ("--set", "=".join(item)))]

    def login(self, words, *more):
        outcome = self.run_host("login", *words, *more, env=browsing())
        self.expect(outcome, 0)
        return outcome

    def expect_api(self, words, server, user, client, path=None):
        outcome = self.run_host("-f", *words, path or server.api)
        self.expect(outcome, 0)
        seen = json.loads(outcome.out)
        self.assertEqual((seen["user"], seen["client"]), (user, client), outcome)
        return outcome

    def granted(self, server, grant):
        """How many tokens a server has issued for a grant."""
        return sum(entry[0] == grant and entry[2] in (200, 201) for entry in server.log())


class Matrix(OAuthTestCase):
    @classmethod
    def tearDownClass(cls):
        print(table(lambda server, row: cls.seen.get((server, row), "not run")), flush=True)

    seen = {}

    def cell(self, kind, row):
        if (kind, row) in WITHOUT:
            self.seen[kind, row] = WITHOUT[kind, row]
            return
        server = self.server_of(kind)
        getattr(self, "reference_" + row)(server)
        self.seen[kind, row] = "FAILED"
        getattr(self, "try_" + row)(server)
        self.seen[kind, row] = "yes"

    # The code grant.

    def reference_code(self, server):
        client = Client(server, "app")
        response = client.code(SCOPE.get(type(server), "orders:read"))
        self.assertEqual(client.api(response)["user"], USER)

    def try_code(self, server):
        words = self.settings(server, "app")
        before = self.granted(server, "authorization_code")
        self.login(words)
        for _ in range(2):
            self.expect_api(words, server, USER, "app")
        self.assertEqual(self.granted(server, "authorization_code"), before + 1)

    def reference_refused(self, server):
        with self.assertRaisesRegex(Refused, "access_denied"):
            Client(server, "app").code(SCOPE.get(type(server), "orders:read"), denies=True)

    def try_refused(self, server):
        before = len(server.log())
        outcome = self.run_host("login", *self.settings(server, "app"), env=browsing("--deny"))
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.err, "refused|denied|not allow", outcome)
        self.assertEqual(server.log()[before:], [])

    def reference_par(self, server):
        client = Client(server, "app")
        self.assertEqual(client.api(client.code(SCOPE[type(server)], pushes=True))["user"], USER)

    def try_par(self, server):
        words = self.settings(server, "app", par="always")
        before = self.granted(server, "par")
        self.login(words)
        self.expect_api(words, server, USER, "app")
        self.assertEqual(self.granted(server, "par"), before + 1)

    # The device grant.

    def reference_device(self, server):
        client = Client(server, "app")
        self.assertEqual(client.api(client.device(SCOPE.get(type(server), "orders:read")))["user"], USER)

    def try_device(self, server):
        words = self.settings(server, "app", grant="device")
        home = environment(HOME=str(self.home), NEVOD_HOST_STORE="")
        with subprocess.Popen(
                self.command("login", *words), env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True, text=True) as process:
            with contextlib.ExitStack() as stack:
                stack.callback(process.kill)
                shown, address = [], None
                while address is None and (line := process.stderr.readline()):
                    shown.append(line)
                    address = re.search(r"http://127\.0\.0\.1:\d+/\S*code=\S+", line)
                self.assertTrue(address, shown)
                self.assertTrue(visit(address[0].rstrip(".,")), address)
                process.communicate(timeout=PATIENCE)
                stack.pop_all()
        self.assertEqual(process.returncode, 0, shown)
        self.expect_api(words, server, USER, "app")

    # Clients without a person.

    def reference_client_credentials(self, server, client="machine", method="basic"):
        other = Client(server, client, method)
        self.assertEqual(other.api(other.token("client_credentials", scope="orders:read"))["client"], client)

    def try_client_credentials(self, server, client="machine", secret=("client-secret", "env:CLIENT_SECRET"), **settings):
        words = self.settings(server, client, grant="client-credentials", scope="orders:read", **dict([secret]), **settings)
        self.expect_api(words, server, None, client)

    def reference_form(self, server):
        self.reference_client_credentials(server, method="form")

    def try_form(self, server):
        self.try_client_credentials(server, client_auth="post")

    def reference_private_key_jwt(self, server):
        self.reference_client_credentials(server, "key", "key")

    def try_private_key_jwt(self, server):
        self.try_client_credentials(
            server, "key", ("client-key", server.key_file()), client_auth="private-key-jwt",
            **self.audience(server))

    def reference_client_secret_jwt(self, server):
        self.reference_client_credentials(server, "mac", "mac")

    def try_client_secret_jwt(self, server):
        self.try_client_credentials(server, "mac", client_auth="client-secret-jwt", **self.audience(server))

    def audience(self, server):
        """The issuer is the scheme's default anyway."""
        audience = server.assertion_audience()
        return {} if audience == server.issuer else {"client_assertion_audience": audience}

    def reference_password(self, server):
        client = Client(server, "legacy", "basic")
        response = client.token("password", username=USER, password=PASSWORD, scope="orders:read")
        self.assertEqual(client.api(response)["user"], USER)

    def try_password(self, server):
        words = self.settings(
            server, "legacy", grant="password", client_secret="env:CLIENT_SECRET", username=USER, password="env:PASSWORD",
            scope="orders:read")
        self.expect_api(words, server, USER, "legacy")

    def reference_jwt_bearer(self, server):
        client = Client(server, "key", "key")
        grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        response = client.token(grant, assertion=client.assertion("key", USER), scope="orders:read")
        self.assertEqual(client.api(response)["user"], USER)

    def try_jwt_bearer(self, server):
        words = self.settings(
            server, "key", grant="jwt-bearer", client_auth="none", assertion_key=server.key_file(), assertion_issuer="key",
            assertion_subject=USER, scope="orders:read")
        self.expect_api(words, server, USER, "key")

    def reference_token_exchange(self, server):
        gateway = Client(server, "gateway", "basic")
        subject = Client(server, "app").code(SCOPE[type(server)])
        kind = "urn:ietf:params:oauth:token-type:access_token"
        response = gateway.token(
            "urn:ietf:params:oauth:grant-type:token-exchange", subject_token=subject["access_token"], subject_token_type=kind,
            scope="orders:read")
        self.assertEqual(gateway.api(response)["client"], "gateway")

    def try_token_exchange(self, server):
        subject = Client(server, "app").code(SCOPE[type(server)])["access_token"]
        words = self.settings(
            server, "gateway", grant="token-exchange", client_secret="env:CLIENT_SECRET", scope="orders:read",
            subject_token=f"file:{self.file('subject', subject)}", subject_token_type="access-token")
        self.expect_api(words, server, USER, "gateway")

    # The life of a session.

    def reference_refresh(self, server):
        client = Client(server, "app")
        first = client.code(SCOPE.get(type(server), "orders:read"))
        second = client.token("refresh_token", refresh_token=first["refresh_token"])
        self.assertNotEqual(second["refresh_token"], first["refresh_token"])
        self.assertEqual(client.api(second)["user"], USER)
        # A second use is rejected. If the server supports that, it ends the family.
        with self.assertRaises(Refused):
            client.token("refresh_token", refresh_token=first["refresh_token"])
        if server.revokes_families:
            with self.assertRaises(Refused):
                client.token("refresh_token", refresh_token=second["refresh_token"])

    def try_refresh(self, server):
        words = self.settings(server, "app")
        self.login(words)
        for _ in range(3):
            before = self.granted(server, "refresh_token")
            server.control("expire")
            self.expect_api(words, server, USER, "app")
            self.assertEqual(self.granted(server, "refresh_token"), before + 1)

    def reference_refresh_token(self, server):
        pass  # as above

    def try_refresh_token(self, server):
        token = Client(server, "app").code(SCOPE.get(type(server), "orders:read"))["refresh_token"]
        words = self.settings(server, "app", grant="refresh-token", refresh_token=f"file:{self.file('token', token)}", scope=None)
        self.expect_api(words, server, USER, "app")

    def reference_revocation(self, server):
        client = Client(server, *server.revoking)
        response = client.code(SCOPE.get(type(server), "orders:read"))
        endpoint = client.metadata.get("revocation_endpoint") or server.settings()["revocation-url"]
        client.post(endpoint, {"token": response["refresh_token"], "token_type_hint": "refresh_token"})
        with self.assertRaises(Refused):
            client.token("refresh_token", refresh_token=response["refresh_token"])

    def try_revocation(self, server):
        name, method = server.revoking
        words = self.settings(server, name, **({"client_secret": "env:CLIENT_SECRET"} if method else {}))
        self.login(words)
        before = server.control()["living"]
        outcome = self.run_host("logout", *words)
        self.expect(outcome, 0)
        self.assertEqual(server.control()["living"], before - 1, outcome)

    def reference_openid(self, server):
        response = Client(server, "app").code("openid")
        self.assertIn("id_token", response)

    def try_openid(self, server):
        outcome = self.login(self.settings(server, "app", scope="openid"))
        self.assertRegex(outcome.out.decode(), f"logged in as {server.account} ")

    def reference_dpop(self, server):
        client = Client(server, "app", makes_proofs=True)
        response = client.code(SCOPE[type(server)])
        self.assertEqual((response["token_type"], client.api(response)["user"]), ("DPoP", USER))
        if server.renews_bound_tokens:
            renewed = client.token("refresh_token", refresh_token=response["refresh_token"])
            self.assertEqual((renewed["token_type"], client.api(renewed)["user"]), ("DPoP", USER))
        # Without the key the token is worthless.
        with self.assertRaises(Refused):
            client.get(server.api, Authorization="Bearer " + response["access_token"])

    def try_dpop(self, server):
        words = self.settings(server, "app", dpop="required")
        self.login(words)
        self.expect_api(words, server, USER, "app")
        if server.renews_bound_tokens:
            server.control("expire")
            self.expect_api(words, server, USER, "app")

    def reference_forbidding(self, server):
        client = Client(server, "app")
        response = client.code("orders:read")
        self.assertEqual(client.api(response, server.url + "/forbidding")["user"], USER)
        server.control("expire")
        with self.assertRaisesRegex(Refused, "403"):
            client.api(response, server.url + "/forbidding")

    def try_forbidding(self, server):
        """There is no challenge, so the expiry must trigger the renewal."""
        words = self.settings(server, "app")
        server.control("brief")
        self.addCleanup(server.control, "long")
        self.login(words)
        path = server.url + "/forbidding"
        first = self.run_host("header", *words, path)
        self.expect(first, 0)
        # The command counts the token's two seconds, rounded up, from the response: on a busy machine later than the server.
        expiry = time.monotonic() + 3
        token = first.out.decode().split()[-1]
        server.control("long")
        wait_until(lambda: time.monotonic() > expiry and self.status(path, token) == 403, "the expiry")
        before = self.granted(server, "refresh_token")
        self.expect_api(words, server, USER, "app", path)
        self.assertEqual(self.granted(server, "refresh_token"), before + 1)

    def status(self, url, token):
        done = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-K", "-", url],
            input=f'header = "Authorization: Bearer {token}"', capture_output=True, text=True, timeout=PATIENCE,
            env={"PATH": os.environ["PATH"]})
        return int(done.stdout)


def add_cells():
    for kind in SERVERS:
        for row in ROWS:
            setattr(Matrix, f"test_{row}_{kind.__name__.lower()}", lambda self, kind=kind, row=row: self.cell(kind, row))


add_cells()


class Documentation(TestCase):
    def test_table(self):
        expected = table(lambda server, row: WITHOUT.get((server, row), "yes"))
        self.assertIn(expected, PAGE.read_text())

    def test_named_tests(self):
        """The tests for the rules of RFC 9700 exist: `FILE.CLASS`, or `FILE.CLASS.TEST`."""
        names = re.findall(r"`(test_oauth_\w+)\.(\w+)(?:\.(\w+))?`", PAGE.read_text())
        self.assertGreater(len(names), 20)
        for file, group, test in names:
            tree = ast.parse((FOLDER / f"{file}.py").read_text())
            classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == group]
            self.assertTrue(classes, f"{file} has no {group}")
            tests = [node.name for node in classes[0].body if isinstance(node, ast.FunctionDef)]
            self.assertTrue(not test or test in tests, f"{file}.{group} has no {test}")
