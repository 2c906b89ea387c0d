"""Where a credential may go: what each kind of credential does at each kind of URL. The servers keep every byte that they
receive, and the tests search all of it for the secrets."""

import base64
import contextlib
import functools
import json
import socket
import ssl
import urllib.parse

from support import (
    BUILD, SECRET, RecordingServer, TestCase, authority, cases, login_plugin, reply)
from test_upload import Proxy

USER = "user-4711x:" + SECRET
BASIC = base64.b64encode(USER.encode()).decode()
# A credential in any form that a row of the matrix uses.
SECRETS = [SECRET.encode(), BASIC.encode(), BASIC[4:20].encode(), b"user-4711x"]
OTHER_ORIGIN = 120


class Tee:
    """Keeps what is read from a stream."""

    def __init__(self, stream, server):
        self.stream, self.server = stream, server

    def read(self, count):
        return self.keep(self.stream.read(count))

    def readline(self, limit):
        return self.keep(self.stream.readline(limit))

    def keep(self, piece):
        self.server.received += piece
        return piece


class EveryByte(RecordingServer):
    received = b""

    def receive(self, stream, connection):
        return super().receive(Tee(stream, self), connection)


class RecordingProxy(Proxy):
    """Keeps what comes through its tunnels as well."""

    received = b""

    def receive(self, stream, connection):
        return super().receive(Tee(stream, self), connection)

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self.received += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)


KEY_FLAGS = ["--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET"]


def session_flags(origin):
    """A scheme whose token holds the secret; its settings name an origin."""
    words = ["--plugin", login_plugin(), "--set", "mode=all", "--set", f"url={origin}/login"]
    answers = ["user=me", "password=env:NEVOD_TEST_SECRET", "method=app", "code=1"]
    return words, [word for answer in answers for word in ("--answer", answer)]


def lines(words):
    """Flags as the lines of a profile."""
    return "".join(f"{name[2:]} = {value}\n" for name, value in zip(map(str, words[::2]), map(str, words[1::2])))


# Credentials that have origins: a profile's, and a stored session's.
BOUND = ["profile_plugin", "profile_session", "profile_user", "profile_header", "profile_header_file", "session"]
# Credentials that are typed beside a URL.
TYPED = ["plugin", "user", "header", "header_file", "flag_file"]

# The typed URL's origin, for a credential for "http" or "https" on one host and port.
ELSEWHERE = {
    "other_port": ("http", "http_port"), "other_host": ("http", "http_host"), "other_name": ("http", "http_localhost"),
    "without_tls": ("https", "http"), "with_tls": ("http", "https"), "other_secure_port": ("https", "https_port"),
}


def product(rows, columns):
    return {f"{row}_{column}": (row, *value) for row in rows for column, value in columns.items()}


class OriginTestCase(TestCase):
    """Servers on two ports of one host, and on another host; each speaks both plain HTTP and TLS."""

    @classmethod
    def setUpClass(cls):
        tls = authority().context()
        cls.here = cls.enterClassContext(EveryByte(cls.route, tls=tls))
        cls.host = cls.enterClassContext(EveryByte(cls.route, host="127.0.0.2", port=cls.here.port, tls=tls))
        cls.port = cls.enterClassContext(EveryByte(cls.route, tls=tls))
        cls.servers = [cls.here, cls.host, cls.port]
        cls.redirects = {}

    def setUp(self):
        self.redirects.clear()
        self.forget()
        self.home = self.folder / "home"
        (self.home / ".config/nevod").mkdir(mode=0o700, parents=True)
        for folder in (self.home, self.home / ".config"):
            folder.chmod(0o700)
        self.config = self.home / ".config/nevod/config"

    def forget(self):
        for server in self.servers:
            server.requests.clear()
            server.received = b""

    @classmethod
    def route(cls, seen):
        if location := cls.redirects.get(seen.path):
            return reply("302 Found", f"Location: {location}", body=b"moved")
        return reply(body=b"hello")

    def origin(self, name):
        scheme, _, place = name.partition("_")
        authority = {"": self.here.authority, "host": self.host.authority, "port": self.port.authority,
                     "localhost": f"localhost:{self.here.port}"}[place]
        return f"{scheme}://{authority}"

    def run_host(self, *words, env=None, **options):
        env = {"HOME": str(self.home), "NEVOD_HOST_STORE": "", "NEVOD_TEST_USER": USER, **(env or {})}
        return super().run_host(*words, env=env, **options)

    def send(self, *words, **options):
        return self.run_host("--cacert", authority().path("ca.pem"), *words, **options)

    def profile(self, text):
        self.config.write_text(text)
        self.config.chmod(0o600)

    def credential(self, row, origin, extra=""):
        """Prepares a credential for an origin, and returns the flags that use it."""
        scheme, answers = session_flags(origin)
        bound = {
            "profile_plugin": lambda: lines(KEY_FLAGS), "profile_session": lambda: lines(scheme + answers),
            "profile_user": lambda: "user = env:NEVOD_TEST_USER\n",
            "profile_header": lambda: f"header = X-Acme: {SECRET}\n",
            "profile_header_file": lambda: f"header = @{self.file('lines', f'Authorization: Bearer {SECRET}')}\n",
            "profile_without_credential": lambda: "header = Accept: text/plain\ncompressed\n",
        }
        if row in bound:
            self.profile(f"# A comment.\n[work]\nurl = {origin}/v1\n{bound[row]()}{extra}")
            if row == "profile_session":
                self.expect(self.run_host("login", "--profile", "work"), 0)
            return ["--profile", "work"]
        if row == "session":
            self.expect(self.run_host("login", *scheme, *answers), 0)
            return scheme
        return {"plugin": KEY_FLAGS, "user": ["-u", "env:NEVOD_TEST_USER"], "header": ["-H", f"X-Api-Key: {SECRET}"],
                "header_file": ["-H", f"@{self.file('typed', f'X-Acme: {SECRET}')}"],
                "flag_file": ["-K", self.file("flags", f'header = "X-Acme: {SECRET}"\n')]}[row]

    def carries(self, seen):
        return any(secret in seen.head.encode("latin-1") for secret in SECRETS)

    def expect_received(self, server, target, carries=True):
        (seen,) = [seen for seen in server.requests if seen.target == target]
        self.assertEqual(self.carries(seen), carries, seen)
        return seen

    def expect_nothing_arrived(self, *servers):
        for server in servers or self.servers:
            self.assertEqual((server.requests, server.received), ([], b""))

    def expect_no_secret(self, *servers):
        for server in servers:
            for text in (server.received, urllib.parse.unquote_to_bytes(server.received)):
                for secret in SECRETS:
                    self.assertNotIn(secret, text)

    def expect_other_origin(self, outcome, *fragments):
        self.expect_failure(outcome, OTHER_ORIGIN, *fragments)
        self.expect_nothing_arrived()
        for secret in SECRETS:
            self.assertNotIn(secret.decode(), outcome.err)


class Typed(OriginTestCase):
    """The origin of the URL that is typed."""

    @cases(product(BOUND + TYPED, {"http": ("http",), "https": ("https",)}))
    def test_its_own(self, row, scheme):
        words = self.credential(row, self.origin(scheme))
        self.expect(self.send(*words, f"{self.origin(scheme)}/a?b"), 0)
        self.assertEqual(self.expect_received(self.here, "/a?b").is_secure, scheme == "https")
        self.expect_nothing_arrived(self.host, self.port)

    @cases(product(BOUND, ELSEWHERE))
    def test_another(self, row, its, other):
        words = self.credential(row, self.origin(its))
        self.forget()
        outcome = self.send(*words, self.origin(other) + "/a")
        self.expect_other_origin(outcome, f"is for {self.origin(its)}, ", f" not sent to {self.origin(other)}",
                                 f"--origin {self.origin(other)}")
        self.assertEqual("which is not encrypted" in outcome.err, (its, other) == ("https", "http"), outcome)
        self.assertEqual(f'write "origins = {self.origin(other)}" below line 2 of {self.config}' in outcome.err, row != "session")

    @cases({row: row for row in [*TYPED, "profile_without_credential"]})
    def test_another_of_what_is_typed(self, row):
        """A typed credential is beside the URL, which is the only origin that it knows."""
        words = self.credential(row, self.origin("http"))
        self.expect(self.send(*words, self.origin("http_port") + "/a"), 0)
        self.expect_received(self.port, "/a", carries=row != "profile_without_credential")
        self.expect_nothing_arrived(self.here, self.host)

    @cases({row: row for row in BOUND})
    def test_allowed_by_a_flag(self, row):
        words = self.credential(row, self.origin("http"))
        self.expect(self.send(*words, "--origin", self.origin("http_port"), self.origin("http_port") + "/a"), 0)
        self.expect_received(self.port, "/a")
        self.forget()
        # Only for one command, and not for any origin.
        self.expect_other_origin(self.send(*words, self.origin("http_port") + "/a"))
        self.expect_other_origin(self.send(*words, "--origin", self.origin("http_port"), self.origin("http_host") + "/a"))

    @cases({row: row for row in BOUND if row != "session"})
    def test_listed(self, row):
        extra = f"origins = {self.origin('http_port')} {self.origin('https')}/\norigins = {self.origin('http_localhost')}\n"
        words = self.credential(row, self.origin("http"), extra)
        for number, (name, server) in enumerate(
                {"http": self.here, "http_port": self.port, "https": self.here, "http_localhost": self.here}.items()):
            self.expect(self.send(*words, f"{self.origin(name)}/{number}"), 0)
            self.expect_received(server, f"/{number}")
        self.forget()
        self.expect_other_origin(self.send(*words, self.origin("http_host")), self.origin("http_localhost"))

    @cases({row: row for row in BOUND})
    def test_among_several(self, row):
        """Nothing is sent even to the right origin."""
        words = self.credential(row, self.origin("http"))
        self.forget()
        for urls in ([], ["-Z"], ["--next"]):
            with self.subTest(urls):
                more = ["--next", *(words if row == "session" else [])] if urls == ["--next"] else urls
                self.expect_other_origin(
                    self.send(*words, self.origin("http") + "/a", *more, self.origin("http_port") + "/b"), self.origin("http_port"))

    def test_several_that_are_typed_with_a_plugin(self):
        outcome = self.send(*KEY_FLAGS, self.origin("http") + "/a", self.origin("http_port") + "/b")
        self.expect(outcome, 0)
        self.expect_received(self.here, "/a")
        self.expect_received(self.port, "/b")

    @cases({"relative": "/a", "without_a_scheme": "127.0.0.2/a"})
    def test_relative(self, operand):
        """A relative operand always resolves below the profile's URL."""
        self.expect(self.send(*self.credential("profile_plugin", self.origin("http")), operand), 0)
        self.assertEqual([seen.path.startswith("/v1/") for seen in self.here.requests], [True])
        self.expect_nothing_arrived(self.host, self.port)

    @cases({
        "a_user": "http://{here}@{port}/a", "a_backslash": "http://{port}\\@{here}/a", "a_fragment": "http://{port}#@{here}/",
        "a_query": "http://{port}?@{here}/", "a_subdomain": "http://localhost.{here}/",
        "a_dot": "http://localhost.:{number}/", "capitals_of_another": "HTTP://LOCALHOST:{number}/",
    })
    def test_lookalikes(self, url):
        words = self.credential("profile_plugin", self.origin("http"))
        url = url.format(here=self.here.authority, port=self.port.authority, number=self.here.port)
        outcome = self.send(*words, url)
        self.assertIn(outcome.code, (3, OTHER_ORIGIN), outcome)
        self.expect_nothing_arrived()

    def test_the_same_in_another_spelling(self):
        words = self.credential("profile_plugin", f"http://LocalHost:{self.here.port}")
        self.expect(self.send(*words, f"HTTP://lOCALHOST:0{self.here.port}/a"), 0)
        self.expect_received(self.here, "/a")

    def test_before_anything_is_read_or_asked(self):
        for line in ("user = ada", "plugin = /nonexistent.so", "user = file:/nonexistent",
                     lines(KEY_FLAGS).replace("env:NEVOD_TEST_SECRET", "file:/nonexistent")):
            self.profile(f"[work]\nurl = {self.origin('http')}\n{line}\n")
            self.expect_other_origin(self.send("--profile", "work", self.origin("http_port")))

    @cases({"plugin": lines(KEY_FLAGS), "user": "user = env:NEVOD_TEST_USER\n"})
    def test_profile_that_names_no_origin(self, text):
        self.profile(f"[work]\n{text}")
        outcome = self.send("--profile", "work", self.origin("http"))
        self.expect_other_origin(outcome, 'the profile "work" names no origin', f'write "origins = {self.origin("http")}" below line 1')
        self.expect(self.send("--profile", "work", "--origin", self.origin("http"), self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")

    def test_taken_back(self):
        words = self.credential("profile_user", self.origin("http"))
        self.expect(self.send(*words, "--no-user", self.origin("http_port") + "/a"), 0)
        self.expect_received(self.port, "/a", carries=False)

    @cases({"by_its_url": ([], {}), "by_a_variable": ([], {"NEVOD_PROFILE": "work"})})
    def test_chosen_without_being_typed(self, words, env):
        """The profile is used for its own origins only."""
        self.credential("profile_plugin", self.origin("http"))
        self.expect(self.send(*words, self.origin("http") + "/a", env=env), 0)
        self.expect_received(self.here, "/a")
        for name in ("http_port", "https", "http_localhost"):
            self.forget()
            self.expect(self.send(*words, self.origin(name) + "/a", env=env), 0)
            self.expect_no_secret(*self.servers)

    def test_with_a_typed_credential(self):
        """A typed credential is for its URL, even with a profile without credentials."""
        self.credential("profile_without_credential", self.origin("http"))
        self.expect(self.send("--profile", "work", "-u", "env:NEVOD_TEST_USER", self.origin("http_port") + "/a"), 0)
        self.expect_received(self.port, "/a")

    @cases({row: row for row in ["profile_plugin", "profile_session", "session"]})
    def test_header_for_another_program(self, row):
        words = self.credential(row, self.origin("http"))
        self.forget()
        outcome = self.run_host("header", *words, self.origin("http_port") + "/a")
        self.expect_other_origin(outcome)
        outcome = self.run_host("header", *words, self.origin("http") + "/a")
        self.expect(outcome, 0)
        self.assertIn(SECRET.encode(), outcome.out)

    @cases({row: row for row in BOUND})
    def test_sign(self, row):
        words = self.credential(row, self.origin("http"))
        if "plugin" not in row and "session" not in row:
            words = [*words, *KEY_FLAGS]
        self.forget()
        self.expect_other_origin(self.run_host("sign", *words, self.origin("http_port") + "/a"))
        outcome = self.run_host("sign", *words, self.origin("http") + "/a")
        self.expect(outcome, 0)
        self.assertIn(b"GET /a HTTP/1.1", outcome.out)

    def test_query_of_a_file(self):
        """A part of a profile's query may be a key."""
        query = f"url-query = api_key@{self.file('key', SECRET)}"
        self.profile(f"[work]\nurl = {self.origin('http')}\n{query}\n")
        self.expect_other_origin(self.send("--profile", "work", self.origin("http_port") + "/a"), "its url-query is not sent")
        self.expect(self.send("--profile", "work", self.origin("http") + "/a"), 0)
        self.expect_received(self.here, f"/a?api_key={SECRET}")

    def test_query_without_a_file(self):
        self.profile(f"[work]\nurl = {self.origin('http')}\nurl-query = page=1@2\n")
        self.expect(self.send("--profile", "work", self.origin("http_port") + "/a"), 0)
        self.assertEqual(len(self.port.requests), 1)

    def test_record(self):
        words = self.credential("profile_plugin", self.origin("http"))
        path = self.folder / "recording"
        self.expect_other_origin(self.run_host("record", path, *words, self.origin("http_port") + "/a"))
        self.assertFalse(path.exists())


class Certificates(OriginTestCase):
    """The certificate of --cert identifies the client."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for server in cls.servers:
            server.tls.verify_mode = ssl.CERT_OPTIONAL
            server.tls.load_verify_locations(authority().path("ca.pem"))

    def setUp(self):
        super().setUp()
        self.shown = []
        for server in self.servers:
            server.converse = functools.partial(self.converse, server)

    def converse(self, server, connection):
        with connection.makefile("rb") as stream:
            while seen := server.receive(stream, connection):
                self.shown.append((server.port, seen.path, connection.getpeercert() is not None))
                connection.sendall(self.route(seen))

    @property
    def certificate(self):
        return ["--cert", authority().path("client.pem"), "--key", authority().path("client.key")]

    def test_elsewhere_in_a_profile(self):
        self.profile(f"[work]\nurl = {self.origin('https')}\n{lines(self.certificate)}")
        self.expect_other_origin(self.send("--profile", "work", self.origin("https_port") + "/a"), "its cert is not sent")
        self.expect(self.send("--profile", "work", self.origin("https") + "/a"), 0)
        self.assertEqual(self.shown, [(self.here.port, "/a", True)])

    def test_redirects(self):
        self.redirects |= {"/1": "/2", "/2": self.origin("https_port") + "/3", "/3": self.origin("https") + "/4"}
        self.expect(self.send("-L", *self.certificate, self.origin("https") + "/1"), 0)
        here, port = self.here.port, self.port.port
        self.assertEqual(self.shown, [(here, "/1", True), (here, "/2", True), (port, "/3", False), (here, "/4", False)])


class Redirected(OriginTestCase):
    ALL = BOUND + TYPED

    @cases(product(ALL, {
        "other_port": ("http_port",), "other_host": ("http_host",), "with_tls": ("https",), "other_name": ("http_localhost",)}))
    def test_elsewhere(self, row, other):
        words = self.credential(row, self.origin("http"))
        self.redirects["/start"] = self.origin(other) + "/there"
        self.expect(self.send("-L", *words, self.origin("http") + "/start"), 0)
        self.expect_received(self.here, "/start")
        (there,) = [seen for server in self.servers for seen in server.requests if seen.path == "/there"]
        self.assertFalse(self.carries(there), there)
        self.expect_no_secret(self.host, self.port)

    def test_item_of_a_file(self):
        """The value of an item is protected like a line from -H @FILE."""
        self.redirects["/start"] = self.origin("http_port") + "/there"
        item = f"X-Acme:@{self.file('value', SECRET)}"
        self.expect(self.send("-L", self.origin("http") + "/start", item), 0)
        self.expect_received(self.here, "/start")
        self.expect_received(self.port, "/there", carries=False)
        self.expect_no_secret(self.port)

    def test_what_is_no_secret_is_sent_on(self):
        self.redirects["/start"] = self.origin("http_port") + "/there"
        flags = self.file("flags", 'header = "Accept: text/csv"\n')
        self.expect(self.send("-L", "-K", flags, self.origin("http") + "/start", "X-Trace:7"), 0)
        seen = self.expect_received(self.port, "/there", carries=False)
        self.assertEqual((seen.values("Accept"), seen.values("X-Trace")), (["text/csv"], ["7"]))

    @cases({row: row for row in ALL})
    def test_to_plain_http(self, row):
        words = self.credential(row, self.origin("https"))
        self.redirects["/start"] = self.origin("http") + "/there"
        self.expect(self.send("-L", *words, self.origin("https") + "/start"), 0)
        self.expect_received(self.here, "/start")
        self.expect_received(self.here, "/there", carries=False)

    @cases({row: row for row in ALL})
    def test_there_and_back(self, row):
        words = self.credential(row, self.origin("http"))
        self.redirects |= {"/start": self.origin("http_port") + "/there", "/there": self.origin("http") + "/back"}
        self.expect(self.send("-L", *words, self.origin("http") + "/start"), 0)
        self.expect_received(self.here, "/start")
        self.expect_received(self.here, "/back", carries=False)
        self.expect_no_secret(self.port)

    @cases({row: row for row in ALL})
    def test_within_its_origin(self, row):
        words = self.credential(row, self.origin("http"))
        self.redirects["/start"] = "/there"
        self.expect(self.send("-L", *words, self.origin("http") + "/start"), 0)
        for target in ("/start", "/there"):
            self.expect_received(self.here, target)

    @cases({row: row for row in BOUND})
    def test_to_an_allowed_origin(self, row):
        """The server chose that URL, not the user, so the credential stays behind."""
        extra = f"origins = {self.origin('http_port')}\n"
        words = self.credential(row, self.origin("http"), extra)
        self.redirects["/start"] = self.origin("http_port") + "/there"
        self.expect(self.send("-L", *words, "--origin", self.origin("http_port"), self.origin("http") + "/start"), 0)
        self.expect_received(self.here, "/start")
        self.expect_received(self.port, "/there", carries=False)
        self.expect_no_secret(self.port)


class ThroughProxies(OriginTestCase):
    def setUp(self):
        super().setUp()
        self.proxy = self.enterContext(RecordingProxy())

    def through(self, *words, **options):
        return self.send("-x", self.proxy.http, *words, **options)

    @cases({row: row for row in Redirected.ALL})
    def test_tunnel(self, row):
        words = self.credential(row, self.origin("https"))
        self.expect(self.through(*words, self.origin("https") + "/a"), 0)
        self.expect_received(self.here, "/a")
        self.assertIn(b"CONNECT", self.proxy.received)
        self.expect_no_secret(self.proxy)

    @cases({row: row for row in Redirected.ALL})
    def test_plain(self, row):
        """The proxy passes on what is for the origin, and learns nothing more."""
        words = self.credential(row, self.origin("http"))
        self.expect(self.through(*words, self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")
        (seen,) = self.proxy.requests
        self.assertTrue(self.carries(seen))
        self.assertEqual(seen.values("Proxy-Authorization"), [])

    @cases(product(BOUND, {"tunnel": ("https",), "plain": ("http",)}))
    def test_another_origin(self, row, scheme):
        words = self.credential(row, self.origin("http"))
        self.forget()
        self.expect_other_origin(self.through(*words, self.origin(f"{scheme}_port") + "/a"))
        self.expect_nothing_arrived(self.proxy)

    @cases({row: row for row in Redirected.ALL})
    def test_redirect_through_a_proxy(self, row):
        words = self.credential(row, self.origin("https"))
        self.redirects["/start"] = self.origin("http_port") + "/there"
        self.expect(self.through("-L", *words, self.origin("https") + "/start"), 0)
        self.expect_received(self.port, "/there", carries=False)
        self.expect_no_secret(self.proxy, self.port)


class ProxyUser(OriginTestCase):
    """The password for a proxy is for the proxy that it is given with."""

    def setUp(self):
        super().setUp()
        self.own, self.other = (self.enterContext(RecordingProxy()) for _ in range(2))

    def work(self, *lines):
        self.profile("\n".join(["[work]", f"url = {self.origin('http')}", "proxy-user = env:NEVOD_TEST_USER", *lines, ""]))

    def get(self, *words, **options):
        return self.send("--profile", "work", *words, self.origin("http") + "/a", **options)

    def of_environment(self):
        return {"http_proxy": self.other.http, "https_proxy": self.other.http}

    def test_its_own(self):
        self.work(f"proxy = {self.own.http}")
        self.expect(self.get(env=self.of_environment()), 0)
        self.assertEqual(self.own.requests[0].values("Proxy-Authorization"), [f"Basic {BASIC}"])
        self.expect_nothing_arrived(self.other)
        self.expect_no_secret(*self.servers)

    @cases({"beside": True, "alone": False})
    def test_another_that_is_typed(self, has_own):
        self.work(*([f"proxy = {self.own.http}"] if has_own else []))
        self.expect(self.get("-x", self.other.http), 0)
        self.assertEqual(len(self.other.requests), 1)
        self.expect_nothing_arrived(self.own)
        self.expect_no_secret(self.other, *self.servers)

    def test_another_with_a_user_that_is_typed(self):
        self.work(f"proxy = {self.own.http}")
        self.expect(self.get("-x", self.other.http, "-U", "env:TYPED", env={"TYPED": "me:typed"}), 0)
        typed = base64.b64encode(b"me:typed").decode()
        self.assertEqual(self.other.requests[0].values("Proxy-Authorization"), [f"Basic {typed}"])
        self.expect_no_secret(self.other, self.own)

    def test_that_of_the_environment(self):
        """The profile's proxy is removed."""
        self.work(f"proxy = {self.own.http}")
        self.expect(self.get("--no-proxy", env=self.of_environment()), 0)
        self.assertEqual(len(self.other.requests), 1)
        self.expect_no_secret(self.other)

    def test_without_a_proxy_of_its_own(self):
        self.work()
        outcome = self.get(env=self.of_environment())
        self.expect_failure(outcome, 2, f"{self.config}:3 ([work]): --proxy-user", "names no proxy", "proxy = URL")
        self.expect_nothing_arrived(self.own, self.other, *self.servers)
        self.assertIn(b"names no proxy", self.run_host("profile", "check", "work").out)
        self.expect(self.get("--no-proxy-user", env=self.of_environment()), 0)
        self.expect_no_secret(self.other)


class Resolved(OriginTestCase):
    """The URL names an origin, wherever its name resolves to. With TLS, the server must prove the name."""

    def flags(self, name, server):
        number = self.here.port
        return {"--resolve": ["--resolve", f"{name}:{number}:{server.host}"],
                "--connect-to": ["--connect-to", f"{name}:{number}:{server.authority}"]}

    CASES = product(Redirected.ALL, {"resolve": ("--resolve",), "connect_to": ("--connect-to",)})

    @cases(CASES)
    def test_its_own_name(self, row, flag):
        origin = f"http://api.test:{self.here.port}"
        words = self.credential(row, origin)
        self.expect(self.send(*words, *self.flags("api.test", self.host)[flag], origin + "/a"), 0)
        self.assertEqual(self.expect_received(self.host, "/a").values("Host"), [f"api.test:{self.here.port}"])
        self.expect_nothing_arrived(self.here, self.port)

    @cases(product(BOUND, {"resolve": ("--resolve",), "connect_to": ("--connect-to",)}))
    def test_another_name_at_the_same_address(self, row, flag):
        words = self.credential(row, self.origin("http"))
        self.forget()
        self.expect_other_origin(
            self.send(*words, *self.flags("api.test", self.here)[flag], f"http://api.test:{self.here.port}/a"), "http://api.test:")

    @cases(CASES)
    def test_server_that_can_not_prove_the_name(self, row, flag):
        origin = f"https://api.test:{self.here.port}"
        words = self.credential(row, origin)
        self.forget()
        self.expect_failure(self.send(*words, *self.flags("api.test", self.here)[flag], origin + "/a"), 60)
        self.expect_nothing_arrived()

    @cases({row: row for row in Redirected.ALL})
    def test_redirect_to_another_name(self, row):
        words = self.credential(row, self.origin("http"))
        self.redirects["/start"] = f"http://api.test:{self.here.port}/there"
        self.expect(self.send("-L", *words, *self.flags("api.test", self.here)["--resolve"], self.origin("http") + "/start"), 0)
        self.expect_received(self.here, "/start")
        self.expect_received(self.here, "/there", carries=False)


class Sessions(OriginTestCase):
    """What a session without a profile is for."""

    def listed(self):
        outcome = self.run_host("sessions", "--json")
        self.expect(outcome, 0)
        return json.loads(outcome.out)["sessions"]

    def test_login_for_another_origin(self):
        """An issuer is seldom the server for which its tokens are."""
        scheme, answers = session_flags(self.origin("http_host"))
        self.expect(self.run_host("login", *scheme, *answers), 0)
        outcome = self.send(*scheme, self.origin("http") + "/a")
        self.expect_other_origin(outcome, f"the stored session is for {self.origin('http_host')}, ", f"--origin {self.origin('http')}",
                                 "log in for it: nevod-host login ", f" --origin {self.origin('http')}\n")
        outcome = self.run_host("login", *scheme, *answers, "--origin", self.origin("http"))
        self.expect(outcome, 0)
        self.assertIn(f", for {self.origin('http')}", outcome.out.decode())
        (session,) = self.listed()
        self.assertEqual((session["origins"], session["also_for"]), ([self.origin("http_host")], [self.origin("http")]))
        shown = self.run_host("sessions", "show", "1").out.decode()
        self.assertIn(f"more origins  {self.origin('http')}\n", shown)
        self.expect(self.send(*scheme, self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")
        self.forget()
        self.expect_other_origin(self.send(*scheme, self.origin("http_port") + "/a"))

    def test_made_by_a_request(self):
        scheme, answers = session_flags(self.origin("http_host"))
        self.expect(self.send(*scheme, *answers, self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")
        self.expect(self.send(*scheme, self.origin("http") + "/b"), 0)
        self.expect_received(self.here, "/b")
        self.forget()
        self.expect_other_origin(self.send(*scheme, self.origin("http_port") + "/a"))
        self.assertEqual([session["also_for"] for session in self.listed()], [[self.origin("http")]])

    def test_made_by_a_command_with_several_urls(self):
        scheme, answers = session_flags(self.origin("http_host"))
        urls = [self.origin("http") + "/a", self.origin("http_port") + "/b"]
        self.expect(self.send(*scheme, *answers, *urls), 0)
        self.forget()
        self.expect(self.send(*scheme, *urls), 0)
        self.expect_received(self.here, "/a")
        self.expect_received(self.port, "/b")

    def test_the_suggested_login_is_enough(self):
        scheme, answers = session_flags(self.origin("http_host"))
        outcome = self.send(*scheme, self.origin("http") + "/a")
        self.expect(outcome, 113, f"--origin {self.origin('http')}")
        outcome = self.send(*scheme, self.origin("http_host") + "/a")
        self.expect(outcome, 113)
        self.assertNotIn("--origin", outcome.err)

    def test_without_any_known_origin(self):
        """The scheme's settings name no origin, so only the URL beside its plugin says where the credential may go."""
        scheme = ["--plugin", login_plugin(), "--set", "mode=all"]
        answers = session_flags("")[1]
        self.expect(self.run_host("login", *scheme, *answers), 0)
        self.expect(self.send(*scheme, self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")
        self.expect(self.run_host("login", *scheme, *answers, "--origin", self.origin("http")), 0)
        self.forget()
        self.expect_other_origin(self.send(*scheme, self.origin("http_port") + "/a"))

    def test_without_a_profile_on_purpose(self):
        """`none` means no profile, so the session has its own origins."""
        scheme, answers = session_flags(self.origin("http"))
        self.expect(self.run_host("login", "--profile", "none", *scheme, *answers), 0)
        self.expect_other_origin(self.send("--profile", "none", *scheme, self.origin("http_port") + "/a"))
        self.expect(self.send(*scheme, self.origin("http") + "/a"), 0)
        self.expect_received(self.here, "/a")

    def test_logout_ends_all_of_an_account(self):
        scheme, answers = session_flags(self.origin("http"))
        for more in ([], ["--origin", self.origin("http_port")], []):
            self.expect(self.run_host("login", *scheme, *answers, *more), 0)
            self.assertEqual(len(self.listed()), 1)
        outcome = self.run_host("logout", *scheme)
        self.expect(outcome, 0)
        self.assertEqual(self.listed(), [])
        self.assertIn(b"no session", self.run_host("logout", *scheme).out)

    def test_profile_says_where(self):
        """The config file decides, in its state when the session is used."""
        scheme, answers = session_flags(self.origin("http_host"))
        text = f"[work]\nurl = {self.origin('http')}\n{lines(scheme + answers)}"
        self.profile(text)
        self.expect(self.run_host("login", "--profile", "work"), 0)
        self.expect_other_origin(self.send("--profile", "work", self.origin("http_host") + "/a"))
        self.profile(text + f"origins = {self.origin('http_host')}\n")
        self.expect(self.send("--profile", "work", self.origin("http_host") + "/a"), 0)
        self.expect_received(self.host, "/a")
        self.expect_failure(
            self.run_host("login", "--profile", "work", "--origin", self.origin("http")), 2, "write a line origins = URL")


class Settings(OriginTestCase):
    @cases({
        "a_path": ("https://a.test/v1", "write https://a.test"), "a_name": ("a.test", "no scheme"),
        "a_scheme": ("ftp://a.test", "its scheme is not"), "a_port": ("https://a.test:0", "port"),
        "a_user": ("https://u:hunter2@a.test", "credentials"), "nothing": ("", "origins needs a value"),
        "the_second": ("https://a.test https://b.test/?q", "write https://b.test"), "a_wildcard": ("https://*.a.test", ""),
        "any": ("*", ""),
    })
    def test_of_a_profile(self, value, fragment):
        self.profile(f"[work]\nurl = {self.origin('http')}\norigins = {value}\n")
        outcome = self.send("--profile", "work", self.origin("http"))
        self.expect_failure(outcome, 2, f"{self.config}:3: origins", fragment)
        self.assertNotIn("hunter2", outcome.err)
        self.expect_nothing_arrived()

    @cases({"path": "https://a.test/v1", "name": "a.test", "user": "https://u:hunter2@a.test", "any": "*"})
    def test_of_the_flag(self, value):
        outcome = self.send(*KEY_FLAGS, "--origin", value, self.origin("http"))
        self.expect_failure(outcome, 2, "--origin needs an origin such as https://")
        self.assertNotIn("hunter2", outcome.err)
        self.expect_nothing_arrived()

    @cases({"a_host": "http://a b", "a_user": "http://u:hunter2@h/", "a_port": "http://h:x"})
    def test_url_that_no_request_can_have(self, url):
        self.profile(f"[work]\nurl = {url}\n")
        outcome = self.send("--profile", "work", "/a")
        self.expect_failure(outcome, 2, f"{self.config}:2: url ")
        self.assertNotIn("hunter2", outcome.err)

    def test_mistyped(self):
        self.profile(f"[work]\nurl = {self.origin('http')}\norigin = {self.origin('http')}\n")
        self.expect_failure(self.send("--profile", "work", "/"), 2, ':3: unknown option "origin"; did you mean origins?')
