"""Secrets stay out of standard error and out of everything that other processes can read."""

import pathlib

from support import API_KEY, SECRET, CannedServer, TestCase, canned, cases, compile_plugin, wait_until, with_both_plugins


class Redaction:
    def expect_no_secret(self, outcome):
        seen = dict(self.the_request()["headers"])
        for what in (SECRET, seen["X-Signature"], API_KEY):
            self.assertNotIn(what, outcome.err, outcome)

    @cases({"answered": ("/a", 0), "refused": ("/status/401", 22), "closed": ("/close", 52), "late": ("/slow?ms=60000", 28)})
    def test_verbose(self, target, code):
        outcome = self.run_host("-v", "-f", "-m", "30" if code != 28 else "0.5", *self.credentials(), self.url(target))
        # The names show that the request was traced.
        self.expect(outcome, code, "> X-API-Key: [redacted", "> X-Timestamp: ", "> X-Signature: [redacted")
        self.expect_no_secret(outcome)

    def test_not_verbose(self):
        outcome = self.run_host("-f", *self.credentials(), self.url("/status/401"))
        self.expect_failure(outcome, 22)
        self.expect_no_secret(outcome)

    @cases({"file": "file", "standard_input": "-"})
    def test_other_processes(self, source):
        """All users can read /proc/PID/cmdline. The environment is not checked if it is the secret's source."""
        path = self.file("secret", SECRET)
        with open(path, "rb") as file, self.running(
                *self.credentials("-" if source == "-" else f"file:{path}"), self.url("/slow?ms=60000"),
                env={"NEVOD_TEST_SECRET": ""}, stdin=file) as process:
            (seen,) = wait_until(self.server.requests, "the request to arrive")
            self.assertIsNone(process.poll())
            for name in ("cmdline", "environ", "comm"):
                try:
                    content = pathlib.Path(f"/proc/{process.pid}/{name}").read_bytes()
                except PermissionError:
                    # Only processes that may trace any process can read the environment of one that can't be dumped.
                    self.assertEqual(name, "environ")
                    continue
                self.assertNotIn(SECRET.encode(), content)
                self.assertNotIn(dict(seen["headers"])["X-Signature"].encode(), content)


with_both_plugins(Redaction, globals())


class RedactedHeaders(TestCase):
    @cases({
        "authorization": "Authorization: Bearer tok-123",
        "lower_case": "authorization: Bearer tok-123",
        "proxy_authorization": "Proxy-Authorization: Basic tok-123",
        "cookie": "Cookie: session=tok-123",
    })
    def test_callers(self, line):
        with CannedServer(canned()) as server:
            outcome = self.run_host("-v", "-H", line, server.url)
            self.assertIn(line.encode(), server.requests[0][0])
        self.expect(outcome, 0, "> " + line.partition(":")[0] + ": [redacted]")
        self.assertNotIn("tok-123", outcome.err)

    def test_set_cookie(self):
        lines = ["Set-Cookie: a=tok-123; Path=/", "set-cookie: b=tok-123"]
        with CannedServer(canned(b"body", *lines)) as server:
            outcome = self.run_host("-v", server.url)
        self.expect(outcome, 0, "< Set-Cookie: [redacted]", "< set-cookie: [redacted]")
        self.assertNotIn("tok-123", outcome.err)

    def test_plugins_query_and_cookie(self):
        path = compile_plugin(
            self.folder / "libTest.so",
            AUTHORIZE='QUERY("token", TEXT("tok-123")); COOKIE("c", TEXT("tok-123")); SET("X-Any", TEXT("tok-123"))')
        with CannedServer(canned()) as server:
            outcome = self.run_host("-v", "--plugin", path, server.url + "/a?b=1")
            head = server.requests[0][0]
        self.assertEqual(head.count(b"tok-123"), 3)
        self.expect(outcome, 0, "> GET /a?b=1&token=[redacted", "> Cookie: [redacted", "> X-Any: [redacted")
        self.assertNotIn("tok-123", outcome.err)

    @cases({
        "verbose_reason": (["-v"], canned(b"", status="200 O\x1b[2JK"), 0),
        "verbose_header": (["-v"], canned(b"", "X-A: \x1b]0;title\x07"), 0),
        "fail": (["-f"], canned(b"", status="404 \x1b[2J"), 22),
    })
    def test_servers_escape_sequences_do_not_reach_the_terminal(self, words, response, code):
        with CannedServer(response) as server:
            outcome = self.run_host(*words, server.url)
        self.expect(outcome, code)
        self.assertNotIn("\x1b", outcome.err, outcome)
