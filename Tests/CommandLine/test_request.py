"""What goes over the wire, what comes back, and the exit code."""

import hashlib
import json
import os
import random
import signal
import socket
import stat
import subprocess

from support import (
    API_KEY, PATIENCE, CannedServer, ServerTestCase, TestCase, canned, cases, header_lines, wait_until,
    with_both_plugins)

EVERY_BYTE = bytes(range(256))


class VerifiedRequest:
    """The server computes the signature anew from the bytes that it received."""

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
        self.expect_failure(outcome, 22, "401")
        self.assertIs(self.the_request()["verified"], False)


with_both_plugins(VerifiedRequest, globals())


class Body(ServerTestCase):
    """The answer's body, and nothing else, is on standard output."""

    STREAMED = EVERY_BYTE * 1171 + bytes(range(224))

    def test_stream(self):
        outcome = self.run_host(self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, self.STREAMED)
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


class OutputFile(ServerTestCase):
    """-o FILE: the file is complete under its name, or not there."""

    def names(self):
        return sorted(os.listdir(self.folder))

    def test_complete(self):
        path = self.folder / "file"
        outcome = self.run_host("-o", path, self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"", ""))
        self.assertEqual(path.read_bytes(), Body.STREAMED)
        self.assertEqual(self.names(), ["file"])

    @cases({"022": (0o022, 0o644), "077": (0o077, 0o600), "002": (0o002, 0o664)})
    def test_mode_by_umask(self, mask, mode):
        path = self.folder / "file"
        self.expect(self.run_host("-o", path, self.url("/status/200"), umask=mask), 0)
        self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode)), oct(mode))

    def test_relative_path(self):
        self.expect(self.run_host("-ofile", self.url("/stream?bytes=3"), cwd=self.folder), 0)
        self.assertEqual((self.folder / "file").read_bytes(), b"\0\1\2")

    def test_replaces_a_file_and_keeps_its_mode(self):
        path = self.file("file", "old and much longer", mode=0o640)
        self.expect(self.run_host("-o", path, self.url("/stream?bytes=3")), 0)
        self.assertEqual((path.read_bytes(), oct(stat.S_IMODE(path.stat().st_mode))), (b"\0\1\2", oct(0o640)))
        self.assertEqual(self.names(), ["file"])

    def test_symbolic_link_stays(self):
        """Or `-o /dev/stdout > file`, run by root, would replace /dev/stdout itself."""
        target = self.file("target", "old")
        link = self.folder / "link"
        link.symlink_to(target)
        self.expect(self.run_host("-o", link, self.url("/stream?bytes=3")), 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes(), b"\0\1\2")

    def test_include_goes_there_too(self):
        path = self.folder / "file"
        with CannedServer(canned(b"body", "X-A: 1")) as server:
            self.expect(self.run_host("-i", "-o", path, server.url), 0)
        self.assertEqual(path.read_bytes(), canned(b"body", "X-A: 1"))

    def test_dash_is_standard_output(self):
        outcome = self.run_host("-o", "-", self.url("/stream?bytes=3"), cwd=self.folder)
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, self.names()), (b"\0\1\2", []))

    def test_dev_null(self):
        outcome = self.run_host("-o", "/dev/null", self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"", ""))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    @cases({"no_such_folder": "none/file", "a_folder": "."})
    def test_unwritable(self, name):
        self.expect_failure(self.run_host("-o", self.folder / name, self.url("/status/200")), 23, str(self.folder / name))
        self.assertEqual(self.names(), [])

    def test_kernel_refuses(self):
        # Also for root, whom no mode keeps out.
        self.expect_failure(self.run_host("-o", "/proc/nevod-test", self.url("/status/200")), 23, "/proc/nevod-test")

    def test_full_device(self):
        self.expect_failure(self.run_host("-o", "/dev/full", self.url("/status/200")), 23, "/dev/full")

    CUT = {
        "by_length": (b"Content-Length: 1000\r\n\r\n" + b"x" * 10, (18,)),
        "chunked": (b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + b"x" * 10, (18, 56)),
    }

    @cases(CUT)
    def test_answer_cut_short(self, rest, codes):
        with CannedServer(b"HTTP/1.1 200 OK\r\n" + rest) as server:
            outcome = self.run_host("-o", self.folder / "file", server.url)
        self.assertIn(outcome.code, codes, outcome)
        self.assertEqual(self.names(), [], outcome)

    @cases(CUT)
    def test_answer_cut_short_keeps_the_old_file(self, rest, codes):
        path = self.file("file", "old")
        with CannedServer(b"HTTP/1.1 200 OK\r\n" + rest) as server:
            outcome = self.run_host("-o", path, server.url)
        self.assertIn(outcome.code, codes, outcome)
        self.assertEqual((self.names(), path.read_bytes()), (["file"], b"old"), outcome)

    def test_fail_keeps_the_old_file(self):
        path = self.file("file", "old")
        self.expect_failure(self.run_host("-f", "-o", path, self.url("/status/404")), 22)
        self.assertEqual((self.names(), path.read_bytes()), (["file"], b"old"))

    @cases({"interrupt": signal.SIGINT, "terminate": signal.SIGTERM})
    def test_signal_leaves_nothing(self, number):
        with self.running("-o", self.folder / "file", self.url(f"/stream?bytes={2**40}")) as process:
            wait_until(self.names, "the body to arrive")
            process.send_signal(number)
            self.assertNotEqual(process.wait(PATIENCE), 0)
        self.assertEqual(self.names(), [])

    def test_time_out_leaves_nothing(self):
        path = self.folder / "file"
        self.expect_failure(self.run_host("-m", "0.3", "-o", path, self.url(f"/stream?bytes={2**40}")), 28)
        self.assertEqual(self.names(), [])


class Data(ServerTestCase):
    """-d and --data-binary. /echo answers what it got."""

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
        """Sent as they are, or refused; never quietly others."""
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
        """The help says: 3 is for "the URL, a header or the method can't be used"."""
        self.expect_failure(self.run_host("-X", "GET /", self.url("/a")), 3, "GET /")
        self.expect_nothing_sent()


class Failure(ServerTestCase):
    def refusing_port(self):
        """Bound, so that nobody else gets it, and not listening."""
        bound = socket.socket()
        self.addCleanup(bound.close)
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]

    def test_time_out(self):
        # The server would answer after longer than the test waits.
        self.expect_failure(self.run_host("--max-time", "0.3", self.url("/slow?ms=60000")), 28)

    def test_time_out_while_the_body_comes(self):
        outcome = self.run_host("-m", "0.3", "-o", "/dev/null", self.url(f"/stream?bytes={2**40}"))
        self.expect_failure(outcome, 28)

    def test_no_time_out(self):
        self.expect(self.run_host("-m", "60", self.url("/slow?ms=50")), 0)

    def test_connection_refused(self):
        port = self.refusing_port()
        self.expect_failure(self.run_host(f"http://127.0.0.1:{port}/"), 7, str(port))

    @cases({"label_too_long": "a" * 64 + ".invalid", "never_resolved": "nevod.onion"})
    def test_unresolved(self, name):
        """Names that a resolver refuses without asking anybody (RFC 1035 §2.3.4, RFC 7686)."""
        self.expect_failure(self.run_host("-m", "30", f"http://{name}/"), 6)

    def test_connection_closed_without_answer(self):
        self.expect_failure(self.run_host(self.url("/close")), 52)

    def test_answer_that_is_not_http(self):
        with CannedServer(b"SSH-2.0-OpenSSH_9.6\r\n") as server:
            outcome = self.run_host(server.url)
        self.assertGreater(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, b"", outcome)

    @cases({
        "refused_status": (["-f", "/status/404"], 22),
        "closed": (["/close"], 52),
        "time_out": (["-m", "0.3", "/slow?ms=60000"], 28),
        "header": (["-H", "A: b\r\nC: d", "/a"], 3),
        "plugin": (["--plugin", "nosuchplugin", "/a"], 110),
        "setting": (["--plugin", "HMACAuth", "/a"], 111),
        "file": (["-d", "@/nonexistent/data", "/a"], 26),
        "output": (["-o", "/nonexistent/file", "/status/200"], 23),
    })
    def test_silent(self, words, code):
        for flags in (["-s"], ["-s", "-v"]):
            outcome = self.run_host(*flags, *words[:-1], self.url(words[-1]))
            self.assertEqual((outcome.code, outcome.err, outcome.out), (code, "", b""), outcome)

    def test_silent_success(self):
        outcome = self.run_host("-s", "-v", self.url("/stream?bytes=3"))
        self.assertEqual((outcome.code, outcome.err, outcome.out), (0, "", b"\0\1\2"), outcome)

    @cases({
        "nothing": ("", ""),
        "no_scheme": ("127.0.0.1/a", "scheme"),
        "dash": ("-", "scheme"),
        "ftp": ("ftp://127.0.0.1/a", "ftp"),
        "file": ("file:///etc/passwd", "file"),
        "one_slash": ("http:/127.0.0.1/", ""),
        "no_host": ("http:///a", "host"),
        "only_port": ("http://:80/a", "host"),
        "port_too_large": ("http://127.0.0.1:99999/", "99999"),
        "port_zero": ("http://127.0.0.1:0/", "port"),
        "port_negative": ("http://127.0.0.1:-1/", "port"),
        "port_with_plus": ("http://127.0.0.1:+80/", "port"),
        "port_word": ("http://127.0.0.1:http/", "port"),
        "open_bracket": ("http://[::1", "bracket"),
        "empty_brackets": ("http://[]/", ""),
        "behind_bracket": ("http://[::1]x/", ""),
        "not_ipv6": ("http://[example]/", ""),
        "ipv6_without_brackets": ("http://::1/", ""),
        "space_before": (" http://127.0.0.1/", ""),
        "space_in_host": ("http://127.0.0.1 /a", ""),
        "percent_in_host": ("http://127%2e0.0.1/", ""),
        "line_break": ("http://127.0.0.1/a\r\nX: y", "control"),
        "delete": ("http://127.0.0.1/\x7f", "control"),
    })
    def test_malformed_url(self, url, fragment):
        self.expect_failure(self.run_host(url), 3, fragment)

    @cases({
        "usual": "http://user:hunter2-x@127.0.0.1/",
        "only_user": "http://hunter2-x@127.0.0.1/",
        "other_scheme": "ftp://user:hunter2-x@127.0.0.1/",
        "no_scheme": "user:hunter2-x@127.0.0.1/",
        "no_scheme_slashes": "//user:hunter2-x@127.0.0.1/",
        "control": "http://user:hunter2-x@127.0.0.1/\x01",
        "slash_in_password": "http://user:hunter/2-x@127.0.0.1/",
        "question_mark_in_password": "http://user:hunter2-x?@127.0.0.1/",
        "hash_in_password": "http://user:hunter2-x#@127.0.0.1/",
    })
    def test_password_in_url_is_not_repeated(self, url):
        outcome = self.run_host("-v", url)
        self.expect_failure(outcome, 3)
        self.assertNotIn("2-x", outcome.err, outcome)

    def test_password_in_second_url_is_not_repeated(self):
        outcome = self.run_host(self.url("/a"), "http://user:hunter2-x@127.0.0.1/")
        self.expect_failure(outcome, 2)
        self.assertNotIn("2-x", outcome.err, outcome)
        self.expect_nothing_sent()


class Usage(ServerTestCase):
    @cases({
        "unknown": (["--nope"], "--nope"),
        "unknown_letter": (["-Z"], "-Z"),
        "unknown_among_letters": (["-vZs"], "-Z"),
        "missing_value": (["--max-time"], "--max-time"),
        "missing_value_of_letter": (["-so"], "-o"),
        "value_too_many": (["--include=yes"], "--include"),
        "two_urls": (["http://127.0.0.1/b"], "one"),
        "other_commands_flag": (["--json"], "inspect"),
        "time_no_number": (["-m", "soon"], "soon"),
        "time_negative": (["-m", "-1"], "-1"),
        "time_nan": (["-m", "nan"], "nan"),
        "scheme_without_plugin": (["--scheme", "hmac"], "--plugin"),
        "set_without_plugin": (["--set", "a=b"], "--plugin"),
    })
    def test_refused(self, words, fragment):
        self.expect_failure(self.run_host(self.url("/a"), *words), 2, fragment)
        self.expect_nothing_sent()

    def test_no_url(self):
        self.expect_failure(self.run_host(), 2, "--help")

    @cases({
        "words_after_url": (["{}", "-i"], b"HTTP/1.1 200"),
        "joined_letters": (["-sio-", "{}"], b"HTTP/1.1 200"),
        "attached_value": (["--request=PUT", "-i", "{}"], b"HTTP/1.1 200"),
        "end_of_flags": (["-i", "--", "{}"], b"HTTP/1.1 200"),
        "value_like_a_flag": (["-i", "-d", "-v", "{}"], b"HTTP/1.1 200"),
        "last_wins": (["-X", "PUT", "-X", "GET", "-i", "{}"], b"HTTP/1.1 200"),
    })
    def test_accepted(self, words, beginning):
        outcome = self.run_host(*(word.format(self.url("/status/200")) for word in words))
        self.expect(outcome, 0)
        self.assertTrue(outcome.out.startswith(beginning), outcome)

    @cases({"request": (), "sign": ("sign",), "inspect": ("inspect",)})
    def test_help(self, *command):
        outcome = self.run_host(*command, "--help")
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")
        for text in ("--version", "Exit codes:", "110"):
            self.assertIn(text, outcome.out.decode())

    def test_version(self):
        outcome = self.run_host("-V")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out, rb"\Anevod-host \d+\.\d+\.\d+\n\Z")
