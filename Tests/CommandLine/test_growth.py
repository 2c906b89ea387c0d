"""The growth of the contract: hosts and plugins built with different revisions of the header work together.

Tests/Growth/run.py runs these tests and others with hosts and plugins built with a grown header."""

import base64
import hashlib
import json
import os
import platform
import re
import subprocess

from support import (
    BUILD, INCLUDE, PATIENCE, ROOT, SECRET, RecordingServer, ServerTestCase, TestCase, c_example, c_plugin, cases, compile_c,
    compile_plugin, reply, swift_plugin)
from test_sessions import SessionServer

SOURCES = ROOT / "Tests/Growth"
# The header of the hosts. A grown one has the same draft.
HEADER = (ROOT / "Sources/NevodPluginABI/include/nevod_plugin.h").read_text()
DRAFT = int(re.search(r"define NEVOD_ABI_DRAFT (\d+)u", HEADER)[1])


class Work(ServerTestCase):
    """A request, a login, a refresh, a challenge and `on_response`, through plugins of each kind."""

    def serve(self, respond):
        server = RecordingServer(respond)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    @cases({"swift": swift_plugin, "c": c_plugin})
    def test_signature(self, plugin):
        self.plugin = plugin
        self.expect_verified(self.run_host(*self.credentials(), self.url("/a?b=c")))

    def test_api_key(self):
        server = self.serve(lambda seen: reply())
        plugin = BUILD / "libAPIKeyAuth.so"
        words = ["--plugin", plugin, "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET"]
        self.expect(self.run_host(*words, server.http + "/a"), 0)
        self.assertEqual([seen.values("X-API-Key") for seen in server.requests], [[SECRET]])

    def flow_server(self):
        """A server for FlowProbe, which postpones the first login, and rejects tokens until they are renewed."""

        def respond(seen):
            if seen.path == "/login":
                first = sum(other.path == "/login" for other in server.requests) == 1
                return reply("503 Wait") if first else reply(body=b'{"token":"tok","expires_in":3600}')
            if seen.path == "/refresh":
                return reply(body=b"renewed")
            if seen.path != "/challenge" and seen.values("X-Token") != ["renewed"]:
                return reply("401 Unauthorized")
            return {
                ("/plain", ()): reply(),
                ("/challenge", ()): reply("401 Unauthorized", 'WWW-Authenticate: Probe nonce="one"'),
                ("/challenge", ("one",)): reply(),
                ("/stale", ("one",)): reply("401 Unauthorized", "WWW-Authenticate: Stale nonce=two"),
                ("/stale", ()): reply("401 Unauthorized", "WWW-Authenticate: Stale nonce=two"),
                ("/stale", ("two",)): reply(),
            }[seen.path, tuple(seen.values("X-Nonce"))]

        server = self.serve(respond)
        return server

    @cases({
        "refresh": ("/plain", ["/plain tok-1 -", "/refresh - -", "/plain renewed -"]),
        "challenge": ("/challenge", ["/challenge tok-1 -", "/challenge tok-1 one"]),
        "on_response": ("/stale", ["/stale tok-1 -", "/refresh - -", "/stale renewed -", "/stale renewed two"]),
    })
    def test_flows_of_the_kit(self, path, expected):
        server = self.flow_server()
        outcome = self.run_host(
            "-f", "--no-store", "--plugin", BUILD / "libFlowProbe.so", "--set", f"server={server.http}",
            "--answer", "user=ada", "--answer", "password=env:NEVOD_TEST_SECRET", server.http + path)
        self.expect(outcome, 0, "Logged in")
        seen = [" ".join([seen.path, *(seen.values("X-Token") or "-"), *(seen.values("X-Nonce") or "-")]) for seen in server.requests]
        self.assertEqual(seen, ["/login - -", "/login - -", *expected], outcome)

    def test_session_in_c(self):
        server = SessionServer()
        self.addCleanup(server.stop)
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        env = {"HOME": str(home), "NEVOD_HOST_STORE": ""}
        words = ["--plugin", c_example("c-session/session.c"), "--set", f"server={server.url}"]
        answers = ["--answer", "user=ada", "--answer", "password=env:NEVOD_TEST_SECRET"]
        self.expect(self.run_host("login", *words, *answers, env=env), 0)
        for renewals in (0, 1):
            outcome = self.run_host("-f", *words, server.url + "/orders", env=env)
            self.expect(outcome, 0)
            self.assertEqual(json.loads(outcome.out), {"user": "ada", "logins": 1, "renewals": renewals})
            server.expire()
        self.expect(self.run_host("logout", *words, env=env), 0)

    def test_digest(self):
        """`on_response` keeps the challenge, and the request is sent again."""
        plugin = self.folder / "libDigest.so"
        probes = ROOT / "Tests/NevodHostTests/Probes"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", probes / "digest.c", "-lcrypto", "-o", plugin])

        def respond(seen):
            if not seen.values("Authorization"):
                return reply("401 Unauthorized", 'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth"')
            given = dict(re.findall(r'(\w+)="?([^",]*)', seen.values("Authorization")[0].removeprefix("Digest ")))
            digest = lambda *parts: hashlib.sha256(":".join(parts).encode()).hexdigest()
            expected = digest(
                digest("ada", "r", SECRET), "n", given["nc"], given["cnonce"], "auth", digest("GET", seen.target))
            return reply("200 OK" if given["response"] == expected else "403 Forbidden")

        server = self.serve(respond)
        outcome = self.run_host(
            "-f", "--plugin", plugin, "--set", "username=ada", "--set", "password=env:NEVOD_TEST_SECRET", server.http + "/a?b")
        self.expect(outcome, 0)
        self.assertEqual(len(server.requests), 2)


class Edge(TestCase):
    """Structs that end where memory ends, so a reader that goes beyond a struct's size crashes."""

    def server(self):
        server = RecordingServer(
            lambda seen: reply(body=b"first") if seen.path == "/login" else reply("200 OK", "X-Next: third"))
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def compiled(self, source, *flags):
        path = self.folder / source.removesuffix(".c")
        compile_c(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, SOURCES / source, "-o", path])
        return path

    def test_plugin(self):
        """The host reads no more of a plugin's structs than their size."""
        plugin = self.compiled("edge_plugin.c", f"-I{INCLUDE}", "-fPIC", "-shared")
        self.expect(self.run_host("inspect", plugin), 0)
        server = self.server()
        outcome = self.run_host(
            "--no-store", "--plugin", plugin, "--set", f"server={server.http}", "--answer", "user=ada", server.http + "/a")
        self.expect(outcome, 0)
        self.assertEqual([seen.path for seen in server.requests], ["/login", "/a"])
        self.assertEqual(server.requests[1].values("X-Token"), ["second"])

    @cases({
        "plugin": ("SHORT_PLUGIN", "nevod_plugin has struct_size 8"),
        "scheme": ("SHORT_SCHEME", "nevod_scheme schemes[0] has struct_size 8"),
        "needs": ("SHORT_NEEDS", "nevod_needs of edge has struct_size 8"),
        "token": ("SHORT_TOKEN", "nevod_token has struct_size 8"),
    })
    def test_too_short(self, fault, fragment):
        plugin = self.compiled("edge_plugin.c", f"-I{INCLUDE}", "-fPIC", "-shared", f"-D{fault}")
        server = self.server()
        outcome = self.run_host(
            "--no-store", "--plugin", plugin, "--set", f"server={server.http}", "--answer", "user=ada", server.http + "/a")
        self.expect(outcome, 110, str(plugin), fragment)

    @cases({
        "hmac": ("libHMACAuth.so hmac api-key=k secret=s", ["header X-API-Key: k", "authorize 0"]),
        "api_key": ("libAPIKeyAuth.so api-key key=k", ["header X-API-Key: k", "authorize 0"]),
        "cookies": (
            "libCookieAuth.so cookie login=http://h/login username=u password=p",
            ["send POST http://h/login username=u&password=p", "flow_step 4", "flow 7: 5", "event 77: 5"]),
        "flow_probe": ("libFlowProbe.so flow-probe server=http://h fault=nothing", [
            "ask user", "ask password", "send POST http://h/login password=answered&user=answered", "keep tok-1-1",
            "show Logged in http://h/welcome", "token tok-1-1 of answered", "header X-Token: tok-1-1", "authorize 0", "state two",
            "on_response 2", "flow 7: 5", "event 77: 5"]),
    })
    def test_host(self, words, expected):
        """The kit reads no more of a host's structs than the contract's minimum, and rejects unknown kinds."""
        library, *words = words.split()
        # Always with today's header, whose structs have the minimum sizes.
        host = self.compiled("edge_host.c", f"-I{ROOT / 'Sources/NevodPluginABI/include'}", "-ldl")
        done = subprocess.run(
            [host, BUILD / library, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        lines = done.stdout.splitlines()
        for line in ["create 0", *expected, "target 7: 5", "body 7: 5", "done"]:
            self.assertIn(line, lines)

    def test_later_field(self):
        """NEVOD_HAS is true for an appended field if and only if the host has it."""
        if "grown_1" not in (INCLUDE / "nevod_plugin.h").read_text():
            self.skipTest("needs a grown header: Tests/Growth/run.py has one")
        plugin = compile_plugin(
            self.folder / "libTest.so",
            CREATE='host->log(host->host, NEVOD_LOG_WARNING, NEVOD_HAS(host, nevod_host, grown_1) ? TEXT("has") : TEXT("lacks"))')
        outcome = self.run_host("sign", "--plugin", plugin, "http://127.0.0.1/")
        self.expect(outcome, 0, "has" if os.environ.get("NEVOD_GROWN_HOST") else "lacks")


class Kept(TestCase):
    """Plugins that were built with the header of earlier drafts; see Tests/Growth/kept/README.md."""

    KEPT = sorted((SOURCES / "kept").glob("draft-*.base64"))

    def test_one_of_this_draft(self):
        self.assertTrue([path for path in self.KEPT if path.name.startswith(f"draft-{DRAFT}-")], "run Tests/Growth/kept/keep")

    @cases({path.name.removesuffix(".base64").replace("-", "_"): path for path in KEPT})
    def test_binary(self, path):
        draft, machine = re.fullmatch(r"draft-(\d+)-(.*)\.base64", path.name).groups()
        if machine != platform.machine():
            self.skipTest(f"it was built for {machine}, and this is {platform.machine()}")
        plugin = self.file("libKept.so", base64.b64decode(path.read_bytes()), mode=0o755)
        if int(draft) == DRAFT:
            self.expect_served(plugin)
        else:
            named = lambda draft: f"version 1 draft {draft}" if int(draft) else "version 1"
            self.expect_failure(
                self.run_host("inspect", plugin), 110, str(plugin), f"for {named(draft)} of", f"serves {named(DRAFT)};")

    def test_source(self):
        """As far as a host can tell, the binary was built from this source."""
        plugin = self.folder / "libKept.so"
        compile_c(["cc", "-std=c11", "-O2", "-fPIC", "-shared", f"-I{INCLUDE}", SOURCES / "kept/kept.c", "-o", plugin])
        self.expect_served(plugin)

    def expect_served(self, plugin):
        def respond(seen):
            if seen.path == "/login":
                return reply(body=b"the first token")
            fresh = "X-Nonce: " + ("second" if seen.values("X-State") == ["first"] else "first")
            return reply("200 OK" if seen.values("X-State") == ["first"] else "401 Unauthorized", fresh)

        with RecordingServer(respond) as server:
            outcome = self.run_host(
                "-f", "--no-store", "--plugin", plugin, "--set", "word=w", "--set", f"server={server.http}",
                "--answer", "user=ada", "--answer", "color=blue", "-H", "X-Mine: m", "-d", "body", server.http + "/a?b")
        self.expect(outcome, 0, "made by NevodHost 1.0")
        login, first, second = server.requests
        self.assertEqual((login.method, login.path, login.values("X-Flow"), login.body), ("POST", "/login", ["w"], b"color=blue;user=ada;"))
        for attempt, (seen, state) in enumerate([(first, "from the login"), (second, "first")], start=1):
            self.assertEqual((seen.target, seen.body), ("/a?b&kept=a%20b", b"body"))
            self.assertEqual({name: seen.values(name) for name in (
                "X-Word", "X-Line", "X-Digest", "X-Numbers", "X-State", "X-Token", "X-Seen", "Cookie")}, {
                    "X-Word": ["w"], "X-Line": [f"POST http {server.authority} /a?b"],
                    "X-Digest": [f"sha-256 {hashlib.sha256(b'body').hexdigest()}"],
                    "X-Numbers": [f"attempt {attempt}, uses 0, body 4, length 4, kind 1, random 32, after 2020 1"],
                    "X-State": [state], "X-Token": ["the last token"], "X-Seen": ["m"], "Cookie": ["kept=1"]})
        self.expect(
            self.run_host("--no-store", "--plugin", plugin, "--set", "word=wrong", "--set", f"server={server.http}", server.http),
            111, "word is the wrong one")

