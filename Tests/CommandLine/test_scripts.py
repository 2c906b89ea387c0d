"""What a script gets: rejected credentials, heads, failures, and the output that -s and -S let through."""

import json
import os
import shlex
import socket
import struct
import subprocess
import threading

from support import API_KEY, HOST, PATIENCE, SECRET, RecordingServer, SocketServer, TestCase, cases, login_plugin, reply, swift_plugin

BEARER = 'WWW-Authenticate: Bearer realm="orders", error="invalid_token", error_description="The access token expired"'
SCOPE = 'WWW-Authenticate: Bearer error="insufficient_scope", error_description="Needs more", scope="orders:write admin"'
HMAC = ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET"]
AUTHORIZATION = ["-H", "Authorization: Bearer tok-1234567"]


class RespondingTestCase(TestCase):
    """A server whose response each test sets, as a function of the request."""

    def setUp(self):
        self.respond = lambda seen: reply(body=b"hello")
        self.server = RecordingServer(lambda seen: self.respond(seen))
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)

    def get(self, *words, path="/a", **options):
        return self.run_host(*words, self.server.http + path, **options)


class Refusals(RespondingTestCase):
    """A response of 401 or 403 to a request with a credential."""

    def refused(self, *lines, status="401 Unauthorized", body=b"no"):
        self.respond = lambda seen: reply(status, *lines, body=body)

    @cases({
        "scheme": (HMAC, 'the credential of the scheme "hmac" of ', 'check the settings "api-key" and "secret"'),
        "user": (["-u", "env:PASSWORD"], "the name and password of -u", "check both"),
        "line": (AUTHORIZATION, 'the line "Authorization"', "check its value"),
        "named_line": (["-H", "X-API-Key: tok-1234567"], 'the line "X-API-Key"', "check its value"),
    })
    def test_names_the_credential_and_the_way_out(self, words, name, way):
        self.refused(BEARER)
        env = {"PASSWORD": "ada:pass-4711"}
        outcome = self.get(*words, env=env)
        self.expect(outcome, 0, "nevod-host: warning: the server responded with 401 Unauthorized and refused ", name, way)
        self.assertIn(": invalid_token (The access token expired); ", outcome.err)
        self.assertEqual((outcome.out, outcome.err.count("\n")), (b"no", 1), outcome)
        failed = self.get("--fail", *words, env=env)
        self.expect_failure(failed, 119, "the server responded with 401 Unauthorized and refused ", name, way)
        for secret in (SECRET, "tok-1234567", "pass-4711"):
            self.assertNotIn(secret, outcome.err + failed.err)

    def test_session_says_how_to_log_in_again(self):
        self.respond = lambda seen: reply(body=b"hello") if seen.method == "POST" else reply("401 Unauthorized")
        words = ["--plugin", login_plugin(), "--set", "mode=token", "--store", self.folder / "store",
                 "--store-key", f"file:{self.folder / 'key'}"]
        outcome = self.get("-f", *words)
        self.assertEqual(outcome.code, 119, outcome)
        self.assertIn("; log in again: nevod-host login --plugin ", outcome.err)
        outcome = self.get("-f", *words[:-4], "--no-store")
        self.expect(outcome, 119, "; check the answers and the settings")

    @cases({"fail": (["-f"], 119), "fail_with_body": (["--fail-with-body"], 119), "neither": ([], 0)})
    def test_forbidden(self, words, code):
        self.refused(SCOPE, status="403 Forbidden")
        outcome = self.get(*words, *HMAC)
        self.expect(
            outcome, code, "responded with 403 Forbidden and does not let the credential", "insufficient_scope (Needs more)",
            'it needs the scope "orders:write admin"')

    @cases({
        "several_in_one_line": (['WWW-Authenticate: Basic realm="a b", Digest realm="x", nonce="n"'], 'Basic (realm "a b"), Digest (realm "x")'),
        "several_lines": (["WWW-Authenticate: Negotiate", 'WWW-Authenticate: Basic realm="x"'], 'Negotiate, Basic (realm "x")'),
        "token68": (["WWW-Authenticate: Negotiate a87421==, Bearer"], "Negotiate, Bearer"),
        "broken": (['WWW-Authenticate: Basic realm="x'], None),
        "none": ([], None),
    })
    def test_challenges(self, lines, schemes):
        self.refused(*lines)
        outcome = self.get("-f", *HMAC)
        self.expect_failure(outcome, 119)
        self.assertEqual(": it asks for " in outcome.err, schemes is not None, outcome)
        if schemes:
            self.assertIn(f": it asks for {schemes}; ", outcome.err)
        bare = self.get()
        self.expect(bare, 0, "warning: the server responded with 401 Unauthorized and asks for a credential", "--plugin")
        self.assertEqual(f": {schemes}; " in bare.err, schemes is not None, bare)

    def test_without_a_credential(self):
        self.refused(BEARER)
        self.expect_failure(self.get("-f"), 22, "asks for a credential: Bearer (realm \"orders\"); give one with --plugin")
        self.refused(status="403 Forbidden")
        outcome = self.get()
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        self.expect_failure(self.get("-f"), 22, "the server responded with 403 Forbidden\n")

    def test_other_statuses_say_nothing_of_it(self):
        self.refused(BEARER, status="404 Not Found")
        self.assertEqual(self.get(*AUTHORIZATION).err, "")
        self.expect_failure(self.get("-f", *AUTHORIZATION), 22, "the server responded with 404 Not Found\n")

    def test_credential_left_out_of_a_redirect(self):
        with RecordingServer(lambda seen: reply("401 Unauthorized")) as other:
            self.respond = lambda seen: reply("302 Found", f"Location: {other.http}/b")
            outcome = self.get("-f", "-L", *HMAC)
        self.expect_failure(outcome, 22, "the credential was left out, since a redirect led to another origin")

    @cases({
        "problem": ("application/problem+json", {"title": "Gone stale", "detail": "Key 7 was retired"}, "Key 7 was retired"),
        "oauth": ("application/json", {"error": "invalid_client", "error_description": "Unknown client"}, "Unknown client"),
        "message": ("application/json", {"message": "Bad credentials"}, "Bad credentials"),
        "nested": ("application/json; charset=utf-8", {"error": {"code": 401, "message": "Expired key"}}, "Expired key"),
        "no_text": ("application/json", {"code": 7}, None),
        "another_type": ("text/plain", {"message": "Bad credentials"}, None),
    })
    def test_reason_in_the_body(self, kind, body, text):
        self.refused(f"Content-Type: {kind}", body=json.dumps(body).encode())
        outcome = self.get("-f", *HMAC)
        self.expect_failure(outcome, 119, f": {text}; " if text else 'libHMACAuth.so; check')
        # Otherwise, it is printed.
        self.assertNotIn("credentials", self.get("--fail-with-body", *HMAC).err)

    def test_body_that_does_not_come(self):
        head = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"

        def converse(connection):
            connection.recv(65536)
            connection.sendall(head)
            while connection.recv(65536):
                pass

        with SocketServer(converse) as server:
            outcome = self.run_host("-f", *HMAC, server.http + "/a")
        self.expect_failure(outcome, 119)

    def test_what_the_server_says_is_made_safe_redacted_and_short(self):
        self.refused('WWW-Authenticate: Bearer error="x", error_description="\x9b31m tok-1234567 ' + "y" * 3000 + '"')
        outcome = self.get("-f", *AUTHORIZATION)
        self.expect_failure(outcome, 119, "[redacted]")
        self.assertNotIn("tok-1234567", outcome.err)
        self.assertNotIn("\x9b", outcome.err)
        self.assertLess(len(outcome.err), 1000)

    @cases({
        "plain": ([], True), "silent": (["-s"], False), "silent_with_errors": (["-sS"], False), "silent_fail": (["-s", "-f"], False),
        "silent_fail_with_errors": (["-s", "-S", "-f"], True), "fail": (["-f"], True), "show_error_alone": (["-S"], True),
    })
    def test_silence(self, words, speaks):
        """It is a warning without --fail, and an error with it."""
        self.refused(BEARER)
        outcome = self.get(*words, *HMAC)
        self.assertEqual("invalid_token" in outcome.err, speaks, outcome)
        self.assertEqual(outcome.code, 119 if "f" in "".join(words) else 0)


class Silence(RespondingTestCase):
    @cases({
        "usage": (["-sS", "--max-time", "soon"], 2, True), "usage_silent": (["-s", "--max-time", "soon"], 2, False),
        "output": (["-sS", "-o", "/nonexistent/file"], 23, True), "status": (["-sSf"], 22, True), "long": (["--silent", "--show-error", "-f"], 22, True),
    })
    def test_errors(self, words, code, speaks):
        self.respond = lambda seen: reply("500 Oh")
        outcome = self.get(*words)
        self.assertEqual((outcome.code, outcome.err.count("\n"), outcome.err.startswith("nevod-host: ")), (code, int(speaks), speaks), outcome)

    def test_warnings_stay_hidden(self):
        secret = self.file("secret", SECRET, mode=0o644)
        words = ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", f"secret=file:{secret}"]
        self.assertIn("warning: ", self.get(*words).err)
        self.assertEqual(self.get("-sS", *words).err, "")

    def test_retries_stay_hidden(self):
        self.respond = lambda seen: reply("503 Busy", "Retry-After: 0") if len(self.server.requests) % 2 else reply(body=b"ok")
        self.assertIn("503", self.get("--retry", "1").err)
        outcome = self.get("--retry", "1", "-sS")
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"ok", ""))


class Heads(RespondingTestCase):
    CHAIN = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\nX-End: yes\r\nContent-Length: 5\r\n\r\n"

    def setUp(self):
        super().setUp()
        self.respond = lambda seen: reply("302 Found", "Location: /b", body=b"" if seen.method == "HEAD" else b"abc") if seen.path == "/a" \
            else reply("200 OK", "X-End: yes", body=b"" if seen.method == "HEAD" else b"hello")

    def test_of_each_hop(self):
        self.assertEqual(self.get("-i", "-L").out, self.CHAIN + b"hello")
        self.assertEqual(self.get("-L").out, b"hello")

    @cases({"file": "file", "standard_output": "-", "name": "/dev/stdout"})
    def test_dumped(self, name):
        path = self.folder / "heads" if name == "file" else name
        outcome = self.get("-D", path, "-L")
        self.expect(outcome, 0)
        if name == "file":
            self.assertEqual((path.read_bytes(), outcome.out), (self.CHAIN, b"hello"))
        else:
            self.assertEqual(outcome.out, self.CHAIN + b"hello")

    def test_dumped_beside_a_file(self):
        outcome = self.get("-D", self.folder / "heads", "-o", self.folder / "body", "-L")
        self.expect(outcome, 0)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}, {"heads": self.CHAIN, "body": b"hello"})

    def test_dumped_by_several_requests(self):
        path = self.file("heads", b"old")
        outcome = self.run_host("-D", path, "-L", self.server.http + "/a", self.server.http + "/b")
        self.expect(outcome, 0)
        self.assertEqual((path.read_bytes(), outcome.out), (self.CHAIN + self.CHAIN[self.CHAIN.index(b"HTTP/1.1 200") :], b"hellohello"))

    def test_dumped_with_a_retry(self):
        """All attempts' heads."""
        self.respond = lambda seen: reply("503 Busy", "Retry-After: 0") if len(self.server.requests) == 1 else reply(body=b"ok")
        outcome = self.get("-D", "-", "--retry", "1")
        self.assertEqual([line for line in outcome.out.split(b"\r\n") if line.startswith(b"HTTP")], [b"HTTP/1.1 503 Busy", b"HTTP/1.1 200 OK"])

    @cases({"fail": "-f", "fail_with_body": "--fail-with-body"})
    def test_with_a_failure(self, flag):
        self.respond = lambda seen: reply("404 Not Found", body=b"hello")
        head = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n"
        body = b"hello" if flag != "-f" else b""
        outcome = self.get(flag, "-i", "-D", self.folder / "heads")
        self.expect(outcome, 22, "404 Not Found")
        self.assertEqual((outcome.out, (self.folder / "heads").read_bytes()), (head + body, head))
        self.assertEqual(self.get(flag).out, body)

    @cases({
        "fail": (["-f"], "401 Unauthorized", 119, "refused the line"), "fail_with_body": (["--fail-with-body"], "401 Unauthorized", 119, "refused the line"),
        "neither": ([], "401 Unauthorized", 33, "the rest from byte 5 on was not sent: the server responded with 401 Unauthorized and refused the line"),
        "forbidden": ([], "403 Forbidden", 33, "does not let the line"),
        "not_found": (["-f"], "404 Not Found", 22, "404 Not Found"), "not_found_without_fail": ([], "404 Not Found", 33, "(404) is not the rest"),
        "complete": (["-f"], "416 Range Not Satisfiable", 0, ""),
    })
    def test_of_a_part(self, words, status, code, text):
        """-C hides no refusal, and no head."""
        self.respond = lambda seen: reply(status, "X-End: yes", body=b"no")
        part = self.file("part", b"01234")
        for place in ("-", "5"):
            heads = self.folder / f"heads{place}"
            outcome = self.get("-C", place, *words, *AUTHORIZATION, "-o", part, "-D", heads)
            self.expect(outcome, code, text)
            self.assertEqual(heads.read_bytes(), f"HTTP/1.1 {status}\r\nX-End: yes\r\nContent-Length: 2\r\n\r\n".encode())
            self.assertEqual(part.read_bytes(), b"01234")
            outcome = self.get("-C", "5", *words, *AUTHORIZATION, "-i")
            self.assertEqual((outcome.code, outcome.out), (code, heads.read_bytes()), outcome)

    @cases({"body_wins": (["-f", "--fail-with-body"], b"hello"), "fail_wins": (["--fail-with-body", "-f"], b"")})
    def test_last_failure_flag_counts(self, flags, body):
        self.respond = lambda seen: reply("404 Not Found", body=b"hello")
        outcome = self.get(*flags)
        self.assertEqual((outcome.code, outcome.out), (22, body))

    def test_fail_after_a_redirect(self):
        self.respond = lambda seen: reply("302 Found", "Location: /b") if seen.path == "/a" else reply("404 Not Found", body=b"no")
        self.expect_failure(self.get("-f", "-L"), 22, "404")
        self.assertEqual((self.get("-f").code, self.get("-f", "-L", "-s").err), (0, ""))

    def test_when_the_chain_breaks(self):
        self.respond = lambda seen: reply("302 Found", f"Location: http://127.0.0.1:{self.closed_port()}/")
        path = self.folder / "heads"
        outcome = self.get("-i", "-L", "-D", path)
        self.expect(outcome, 7)
        self.assertTrue(outcome.out.startswith(b"HTTP/1.1 302 Found\r\n") and outcome.out.endswith(b"\r\n\r\n"), outcome)
        self.assertEqual(path.read_bytes(), outcome.out)

    @cases({"plain": ([], "HEAD"), "with_include": (["-i"], "HEAD"), "other_method": (["-X", "GET"], "GET"), "query": (["-G", "-d", "q=1"], "HEAD")})
    def test_head_only(self, words, method):
        outcome = self.get("-I", *words, path="/b")
        self.expect(outcome, 0)
        self.assertTrue(outcome.out.startswith(b"HTTP/1.1 200 OK\r\nX-End: yes\r\n") and outcome.out.endswith(b"\r\n\r\n"), outcome)
        self.assertEqual([seen.method for seen in self.server.requests], [method])
        self.assertEqual(self.server.requests[0].query, "q=1" if "-G" in words else "")

    def test_head_only_of_each_hop(self):
        outcome = self.get("-I", "-L")
        self.assertEqual([seen.method for seen in self.server.requests], ["HEAD", "HEAD"])
        self.assertEqual(outcome.out.count(b"\r\n\r\n"), 2)

    def test_head_only_in_a_file(self):
        path = self.folder / "file"
        outcome = self.get("-I", "-o", path, path="/b")
        self.assertEqual((outcome.code, outcome.out, path.read_bytes()[:15]), (0, b"", b"HTTP/1.1 200 OK"))

    @cases({"data": ("-d", "x"), "json": ("--json", "{}"), "form": ("-F", "a=b"), "upload": ("-T", __file__)})
    def test_head_only_has_no_content(self, *words):
        self.expect_failure(self.get("-I", *words), 2, "-I sends no content")
        self.assertEqual(self.server.requests, [])

    def test_write_out_that_fails_hides_no_failure(self):
        with open("/dev/full", "wb") as full:
            self.respond = lambda seen: reply("404 Not Found")
            outcome = self.get("-f", "-w", "%{http_code}", stdout=full)
            self.expect(outcome, 22, "the server responded with 404 Not Found")
            self.expect(self.get("-w", "%{http_code}", path="/b", stdout=full), 23)

    def test_connection_reset_behind_the_head(self):
        """A server that has sent a head speaks HTTP there and doesn't expect TLS."""
        def converse(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na")
            seen.wait(PATIENCE)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        seen = threading.Event()
        with SocketServer(converse) as server, self.running(
                "-N", server.http, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(os.read(process.stdout.fileno(), 10), b"a")
            seen.set()
            err = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 56, err)
        self.assertIn(b"the connection broke", err)
        self.assertNotIn(b"TLS", err)

    def test_head_that_cannot_be_dumped(self):
        outcome = self.get("-D", "/nonexistent/heads")
        self.expect_failure(outcome, 23, "/nonexistent/heads")
        self.expect(self.get("-D", "/dev/full"), 23)

    def test_signed_head(self):
        outcome = self.run_host("sign", "-I", *HMAC, self.server.http + "/a")
        self.assertTrue(outcome.out.startswith(b"HEAD /a HTTP/1.1\r\n"), outcome)
