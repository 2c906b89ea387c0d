"""Requests on the wire, and their responses."""

import hashlib
import json
import random
import subprocess

from support import (
    API_KEY, PATIENCE, CannedServer, ServerTestCase, TestCase, canned, cases, header_lines, streamed, with_both_plugins)

EVERY_BYTE = bytes(range(256))


class VerifiedRequest:
    """The server computes the signature from the received bytes."""

    def expect_seen(self, outcome, method, target, body=b""):
        self.expect_verified(outcome)
        seen = self.the_request()
        self.assertEqual((seen["method"], seen["target"]), (method, target))
        self.assertEqual(seen["body_sha256"], hashlib.sha256(body).hexdigest() if body else "")
        self.assertIn(["X-API-Key", API_KEY], seen["headers"])

    @cases({
        "plain": ("/orders", "/orders"),
        "empty": ("", "/"),
        "encoded_slash": ("/a%2Fb/c", "/a%2Fb/c"),
        "encoded_lower_case": ("/a%2fb", "/a%2fb"),
        "encoded_space": ("/a%20b?c%20d", "/a%20b?c%20d"),
        "encoded_needlessly": ("/%61%7E", "/%61%7E"),
        "percent_alone": ("/100%?x=%zz", "/100%?x=%zz"),
        "space": ("/a b?c d", "/a%20b?c%20d"),
        "non_ascii": ("/grüße/日本?q=é", "/gr%C3%BC%C3%9Fe/%E6%97%A5%E6%9C%AC?q=%C3%A9"),
        "combining_mark_first": ("/\u0301a?\u0301b", "/%CC%81a?%CC%81b"),
        "invalid_utf8": (b"/a\xffb", "/a%FFb"),
        "double_slashes": ("//a//b//", "//a//b//"),
        "dots": ("/a/../b/./c/..", "/a/../b/./c/.."),
        "encoded_dots": ("/%2e%2e/a", "/%2e%2e/a"),
        "query_repeated_and_empty": ("/a?x=1&x=1&&=&y=&z", "/a?x=1&x=1&&=&y=&z"),
        "query_mark_alone": ("/a?", "/a?"),
        "query_without_path": ("?x=1", "/?x=1"),
        "query_of_question_marks": ("/a??b?c", "/a??b?c"),
        "query_with_url": ("/a?u=http://b/c", "/a?u=http://b/c"),
        "brackets": ("/[a]?b[]=1", "/[a]?b[]=1"),
        "forbidden": ("/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
        "allowed": ("/!$&'()*+,;=:@-._~", "/!$&'()*+,;=:@-._~"),
        "fragment": ("/a?b#c?d", "/a?b"),
        "long": ("/" + "a" * 30000, "/" + "a" * 30000),
    })
    def test_target(self, typed, sent):
        url = self.server.url.encode() + typed if isinstance(typed, bytes) else self.url(typed)
        self.expect_seen(self.run_host(*self.credentials(), url), "GET", sent)

    def test_post_json(self):
        body = '{"name": "Zoë", "n": 1}'
        outcome = self.run_host(
            *self.credentials(), "-X", "POST", "-H", "Content-Type: application/json", "-d", body, self.url("/orders?x=1"))
        self.expect_seen(outcome, "POST", "/orders?x=1", body.encode())
        self.assertIn(["Content-Type", "application/json"], self.the_request()["headers"])

    def test_binary_body_of_5_mib(self):
        body = random.Random(5).randbytes(5 << 20)
        path = self.file("body", body)
        outcome = self.run_host(*self.credentials(), "--data-binary", f"@{path}", self.url("/upload"))
        self.expect_seen(outcome, "POST", "/upload", body)
        self.assertEqual(json.loads(outcome.out)["body_bytes"], 5 << 20)

    def test_body_of_zero_bytes(self):
        self.expect_seen(self.run_host(*self.credentials(), "-d", "", self.url("/a")), "POST", "/a")

    @cases({"unknown": "PURGE", "lower_case": "get", "punctuation": "M-SEARCH", "put": "PUT", "delete": "DELETE"})
    def test_method(self, method):
        self.expect_seen(self.run_host(*self.credentials(), "-X", method, self.url("/a")), method, "/a")

    def test_get_with_body(self):
        self.expect_seen(self.run_host(*self.credentials(), "-X", "GET", "-d", "a=b", self.url("/a")), "GET", "/a", b"a=b")

    def test_head(self):
        outcome = self.run_host(*self.credentials(), "-X", "HEAD", "-i", self.url("/a"))
        self.expect(outcome, 0)
        self.assertTrue(outcome.out.startswith(b"HTTP/1.1 200 ") and outcome.out.endswith(b"\r\n\r\n"), outcome)
        self.assertTrue(self.the_request()["verified"])

    def test_wrong_secret(self):
        outcome = self.run_host(
            *self.credentials("env:WRONG"), self.url("/a"), env={"WRONG": "not the secret"})
        self.expect(outcome, 0)
        self.assertEqual(json.loads(outcome.out)["reason"], "signature does not match", outcome)

    def test_wrong_secret_with_fail(self):
        outcome = self.run_host(
            *self.credentials("env:WRONG"), "--fail", self.url("/a"), env={"WRONG": "not the secret"})
        self.expect_failure(outcome, 119, "401")
        self.assertIs(self.the_request()["verified"], False)


with_both_plugins(VerifiedRequest, globals())


class Body(ServerTestCase):
    """Only the response's body is on standard output."""

    def test_stream(self):
        outcome = self.run_host(self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, streamed(300000))
        self.assertEqual(outcome.err, "")

    def test_echo(self):
        body = EVERY_BYTE * 1000
        outcome = self.run_host("--data-binary", "@-", self.url("/echo"), stdin=body)
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (body, ""))

    def test_verbose_goes_to_standard_error(self):
        outcome = self.run_host("-v", "--data-binary", "@-", self.url("/echo"), stdin=EVERY_BYTE)
        self.expect(outcome, 0, "> POST /echo", "< HTTP/1.1 200")
        self.assertEqual(outcome.out, EVERY_BYTE)

    def test_content_encoding_is_left_alone(self):
        with CannedServer(canned(b"\x1f\x8b not really", "Content-Encoding: gzip")) as server:
            outcome = self.run_host(server.url)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"\x1f\x8b not really")

    def test_body_until_the_connection_ends(self):
        with CannedServer(b"HTTP/1.0 200 OK\r\n\r\n" + EVERY_BYTE) as server:
            outcome = self.run_host(server.url)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, EVERY_BYTE)

    def test_include(self):
        lines = ["Set-Cookie: a=1", "X-Twice: 1", "Set-Cookie: b=2", "x-tWiCe: 2"]
        with CannedServer(canned(EVERY_BYTE, *lines, status="299 Odd")) as server:
            outcome = self.run_host("-i", server.url)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, canned(EVERY_BYTE, *lines, status="299 Odd"))

    def test_include_passes_over_interim_answers(self):
        with CannedServer(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + canned(b"body")) as server:
            outcome = self.run_host("-i", server.url)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, canned(b"body"))

    def test_redirect_is_returned(self):
        with CannedServer(canned(b"moved", f"Location: {self.url('/elsewhere')}", status="302 Found")) as server:
            outcome = self.run_host("-i", "--fail", server.url)
            self.assertEqual(len(server.requests), 1)
        self.expect(outcome, 0)
        self.assertIn(b"\r\nLocation: http://127.0.0.1:", outcome.out)
        self.expect_nothing_sent()

    @cases({"302": 302, "404": 404, "503": 503})
    def test_status(self, status):
        outcome = self.run_host(self.url(f"/status/{status}"))
        self.expect(outcome, 0)
        self.assertEqual(json.loads(outcome.out), {"status": status})

    @cases({"302": (302, 0), "399": (399, 0), "400": (400, 22), "503": (503, 22)})
    def test_fail(self, status, code):
        outcome = self.run_host("-f", self.url(f"/status/{status}"))
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.out == b"", code != 0, outcome)

    @cases({"204": 204, "304": 304, "205": 205})
    def test_answer_without_body(self, status):
        outcome = self.run_host(self.url(f"/status/{status}"))
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"")

    def test_head_of_a_stream(self):
        outcome = self.run_host("-X", "HEAD", self.url("/stream?bytes=1000"))
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"")

    def test_reader_that_leaves(self):
        with self.running(self.url(f"/stream?bytes={2**40}"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE), 23)
            self.assertEqual(process.stderr.read(), b"")

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            outcome = self.run_host(self.url("/status/200"), stdout=full)
        self.expect(outcome, 23, "nevod-host: can't write to standard output")


class Data(ServerTestCase):
    """-d and --data-binary. /echo sends back what it received."""

    FORM = "application/x-www-form-urlencoded"
    FILE = b"a=1\r\nb=2\n\nc\0d=\xff\r"

    def expect_sent(self, body, *words, **options):
        outcome = self.run_host(*words, self.url("/echo"), **options)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, body, outcome)
        self.assertEqual(self.the_request()["method"], "POST")
        return dict(self.the_request()["headers"])

    def test_one(self):
        headers = self.expect_sent(b"a=1", "-d", "a=1")
        self.assertEqual((headers["Content-Type"], headers["Content-Length"]), (self.FORM, "3"))

    def test_several_are_joined(self):
        self.expect_sent(b"a=1&b=2&c=3", "-d", "a=1", "--data", "b=2", "--data-binary", "c=3")

    def test_file_loses_its_line_breaks(self):
        self.expect_sent(b"a=1b=2cd=\xff", "-d", f"@{self.file('data', self.FILE)}")

    def test_binary_file_keeps_them(self):
        self.expect_sent(self.FILE, "--data-binary", f"@{self.file('data', self.FILE)}")

    def test_standard_input(self):
        self.expect_sent(b"x=0&a=1b=2cd=\xff", "-d", "x=0", "-d", "@-", stdin=self.FILE)

    def test_binary_standard_input(self):
        self.expect_sent(self.FILE, "--data-binary", "@-", stdin=self.FILE)

    def test_line_breaks_on_the_command_line_stay(self):
        self.expect_sent(b"a\r\nb", "-d", "a\r\nb")

    def test_non_ascii(self):
        self.expect_sent("\u0301é=日".encode(), "-d", "\u0301é=日")

    def test_bytes_that_are_no_utf8(self):
        """They are sent unchanged or rejected, never silently changed."""
        outcome = self.run_host("-d", b"a=\xff\xfe", self.url("/echo"))
        if outcome.code == 0:
            self.assertEqual(outcome.out, b"a=\xff\xfe", outcome)
        else:
            self.expect_nothing_sent()

    def test_missing_file(self):
        self.expect_failure(self.run_host("-d", "@/nonexistent/data", self.url("/echo")), 26, "/nonexistent/data")
        self.expect_nothing_sent()

    def test_folder(self):
        self.expect_failure(self.run_host("-d", f"@{self.folder}", self.url("/echo")), 26, str(self.folder))
        self.expect_nothing_sent()


class Header(TestCase):
    """-H, on the wire."""

    def sent(self, *words, **options):
        with CannedServer(canned()) as server:
            outcome = self.run_host(*words, server.url, **options)
            self.expect(outcome, 0)
            self.assertEqual(len(server.requests), 1)
            self.host = f"127.0.0.1:{server.port}"
            return header_lines(server.requests[0][0])

    def test_none(self):
        lines = self.sent()
        self.assertEqual(lines[0], f"Host: {self.host}")
        self.assertEqual({line.split(":")[0] for line in lines}, {"Host", "User-Agent", "Accept"})

    def test_added(self):
        self.assertIn("X-A: b: c", self.sent("-H", "X-A:  b: c"))

    def test_replaced(self):
        lines = self.sent("-H", "user-agent: me", "-H", "Accept: text/plain", "-H", "HOST: other.test")
        self.assertEqual(sorted(line.lower() for line in lines), ["accept: text/plain", "host: other.test", "user-agent: me"])

    @cases({"user_agent": "User-Agent", "accept": "Accept", "content_type": "Content-Type"})
    def test_removed(self, name):
        lines = self.sent("-d", "a", "-H", f"{name}:")
        self.assertEqual([line for line in lines if line.startswith(name)], [])

    def test_empty(self):
        self.assertIn("X-Empty:", [line.rstrip() for line in self.sent("-H", "X-Empty;")])

    def test_repeated(self):
        lines = self.sent("-H", "X-A: 1", "-H", "X-B: 2", "-H", "x-a: 3")
        self.assertEqual([line for line in lines if line.startswith(("X-", "x-"))], ["X-A: 1", "X-B: 2", "x-a: 3"])

    def test_file(self):
        path = self.file("headers", "X-A: 1\r\n\r\nX-B: 2\nUser-Agent:\n")
        lines = self.sent("-H", f"@{path}", "-H", "X-C: 3")
        self.assertEqual([line for line in lines if line.startswith("X-")], ["X-A: 1", "X-B: 2", "X-C: 3"])
        self.assertFalse(any(line.startswith("User-Agent") for line in lines))

    def test_file_lines_end_at_line_feeds_only(self):
        path = self.file("headers", "X-A: 1\u2028X-B: 2\n")
        self.assertIn("X-A: 1\u2028X-B: 2".encode().decode("latin-1"), self.sent("-H", f"@{path}"))

    def test_standard_input(self):
        self.assertIn("X-A: 1", self.sent("-H", "@-", stdin=b"X-A: 1\n"))

    def test_non_ascii(self):
        self.assertIn("X-A: \u0301é".encode().decode("latin-1"), self.sent("-H", "X-A: \u0301é"))


class RefusedHeader(ServerTestCase):
    @cases({
        "line_break": "A: b\r\nC: d",
        "line_feed": "A: b\nC: d",
        "carriage_return": "A: b\rC: d",
        "control": "A: b\x01",
        "break_in_name": "A\r\nC: d",
        "space_in_name": "A B: c",
        "space_before_colon": "A : c",
        "no_name": ": c",
        "non_ascii_name": "É: c",
        "length": "Content-Length: 5",
        "coding": "transfer-encoding: chunked",
    })
    def test_refused(self, line):
        self.expect_failure(self.run_host("-H", line, self.url("/a")), 3)
        self.expect_nothing_sent()

    def test_no_colon(self):
        self.expect_failure(self.run_host("-H", "Name", self.url("/a")), 2, "Name")
        self.expect_nothing_sent()

    def test_missing_file(self):
        self.expect_failure(self.run_host("-H", "@/nonexistent/lines", self.url("/a")), 26, "/nonexistent/lines")
        self.expect_nothing_sent()

    def test_method(self):
        """The help documents: 3 is for "the URL, a header or the method can't be used"."""
        self.expect_failure(self.run_host("-X", "GET /", self.url("/a")), 3, "GET /")
        self.expect_nothing_sent()
