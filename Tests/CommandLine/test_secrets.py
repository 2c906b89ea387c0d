"""Secrets stay out of standard error and of everything that other processes can read."""

import base64
import pathlib
import urllib.parse

from support import (
    API_KEY, INCLUDE, ROOT, SECRET, CannedServer, RecordingServer, TestCase, canned, cases, compile_c, compile_plugin, reply, wait_until, with_both_plugins)


class Redaction:
    def expect_no_secret(self, outcome):
        seen = dict(self.the_request()["headers"])
        for what in (SECRET, seen["X-Signature"], API_KEY):
            self.assertNotIn(what, outcome.err, outcome)

    @cases({"answered": ("/a", 0), "refused": ("/status/401", 119), "closed": ("/close", 52), "late": ("/slow?ms=60000", 28)})
    def test_verbose(self, target, code):
        outcome = self.run_host("-v", "-f", "-m", "30" if code != 28 else "0.5", *self.credentials(), self.url(target))
        # The names prove that the request was traced.
        self.expect(outcome, code, "> X-API-Key: [redacted", "> X-Timestamp: ", "> X-Signature: [redacted")
        self.expect_no_secret(outcome)

    def test_not_verbose(self):
        outcome = self.run_host("-f", *self.credentials(), self.url("/status/401"))
        self.expect_failure(outcome, 119)
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
                    # Only processes that may trace any process can read the environment of an undumpable process.
                    self.assertEqual(name, "environ")
                    continue
                self.assertNotIn(SECRET.encode(), content)
                self.assertNotIn(dict(seen["headers"])["X-Signature"].encode(), content)


with_both_plugins(Redaction, globals())


class RedactedLog(TestCase):
    """A secret setting that a plugin writes to its log."""

    @cases({
        "short": ("Kq7Zp", 3), "cut": (1619 * "K7", 3), "repetitive": (300 * "K7", 5), "at_the_limit": (1023 * "K", 2),
    })
    def test_setting(self, secret, times):
        source = (ROOT / "Examples/c-hmac/hmac.c").read_text()
        start = "    if (api_key.count == 0)\n"
        self.assertEqual(source.count(start), 1)
        line = """
    char *line = malloc(%d * (secret.count + 1));
    size_t size = 0;
    for (int i = 0; i < %d; i++) {
        memcpy(line + size, secret.data, secret.count);
        size += secret.count;
        line[size++] = ' ';
    }
    host->log(host->host, NEVOD_LOG_WARNING, (nevod_bytes){(const uint8_t *)line, size});
    free(line);
""" % (times, times)
        file, library = self.file("log.c", source.replace(start, line + start)), self.folder / "liblog.so"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", file, "-lcrypto", "-o", library])
        outcome = self.run_host(
            "sign", "-p", library, "--set", f"api-key={API_KEY}", "--set", "secret=env:LOGGED", "https://api.example.com/",
            env={"LOGGED": secret})
        self.expect(outcome, 0, "warning: HMACAuthC: [redacted]")
        self.assertNotIn(secret[:4], outcome.err)


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


class Repetition(TestCase):
    """Servers repeat the request, and errors repeat the command line."""

    KEY = "s3cret key/4711+x"

    def expect_redacted(self, outcome, *secrets):
        for secret in secrets:
            for text in (secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret)):
                self.assertNotIn(text, outcome.err, outcome)

    ECHOES = {
        "location": lambda url: f"Location: https://other.test/?next={urllib.parse.quote(url, safe='')}",
        "location_twice": lambda url: f"Location: /?next={urllib.parse.quote(urllib.parse.quote(url, safe=''), safe='')}",
        "location_base64": lambda url: f"Location: /?state={base64.b64encode(url.encode()).decode()}",
        "link": lambda url: f'Link: <{url}&page=2>; rel="next"',
        "echo": lambda url: f"X-Echo: you asked for {urllib.parse.unquote(url)}",
        "content_location": lambda url: f"Content-Location: {url}",
    }

    @cases(ECHOES)
    def test_echo_of_a_plugins_key(self, echo):
        path = compile_plugin(self.folder / "libTest.so", AUTHORIZE=f'QUERY("key", TEXT("{self.KEY}"))')
        with RecordingServer(lambda seen: reply("200 OK", echo(f"http://{seen.values('Host')[0]}{seen.target}"))) as server:
            outcome = self.run_host("-v", "--plugin", path, server.http + "/a")
        self.expect(outcome, 0, "> GET /a?key=[redacted", "[redacted]")
        self.expect_redacted(outcome, self.KEY, base64.b64encode(server.http.encode()).decode()[:20])

    @cases({"access_token": "access_token", "api_key": "api_key", "key": "key", "X-Amz-Signature": "X-Amz-Signature"})
    def test_typed_query(self, name):
        with RecordingServer(lambda seen: reply("302 Found", f"Location: /other{seen.target}")) as server:
            outcome = self.run_host("-v", f"{server.http}/a?x=1&{name}=tok-123456&y=2")
        self.expect(outcome, 0, f"> GET /a?x=1&{name}=[redacted]&y=2", "< Location: /other/a?x=1&")
        self.expect_redacted(outcome, "tok-123456")

    def test_header_file(self):
        """People put anything that the command line would show into a file, under any name."""
        path = self.file("headers", "X-Who: tok-123456\nX-API-Key: tok-abcdef\nAccept: text/html\n")
        with RecordingServer(lambda seen: reply("200 OK", f"X-Echo: hello {seen.values('X-Who')[0]}", "Content-Type: text/html")) as server:
            outcome = self.run_host("-v", "-H", f"@{path}", server.http)
        self.expect(outcome, 0, "> X-Who: [redacted]", "> X-API-Key: [redacted]", "< X-Echo: hello [redacted]", "< Content-Type: text/html")
        self.expect_redacted(outcome, "tok-123456", "tok-abcdef")

    @cases({"token_alone": "tok-123456", "bearer": "Bearer tok-123456", "spaces": "tok-123456 : x", "second": "A: b\ntok-123456"})
    def test_file_that_holds_no_header_lines(self, content):
        path = self.file("token", content + "\n")
        outcome = self.run_host("-v", "-H", f"@{path}", "http://127.0.0.1:1/")
        self.expect_failure(outcome, 2, f"@{path}: line {2 if 'A: b' in content else 1} is not a header line")
        self.expect_redacted(outcome, "tok-123456")

    def test_typed_header_that_is_none(self):
        outcome = self.run_host("-H", "Bearer tok-123456", "http://127.0.0.1:1/")
        self.expect_failure(outcome, 2, "is not a header line")
        self.expect_redacted(outcome, "tok-123456")

    @cases({
        "unresolved": "http://bob:HUNTER2@{long}.invalid:3128",
        "broken_address": "http://bob:HUNTER2@[bad",
        "broken_port": "http://bob:HUNTER2@127.0.0.1:port",
        "without_scheme": "bob:HUNTER2@[bad",
        "unknown_scheme": "gopher://bob:HUNTER2@127.0.0.1:1",
        "refused": "http://bob:HUNTER2@127.0.0.1:1",
        "slash_in_password": "http://bob:HUNTER2/x@127.0.0.1:1",
        "encoded": "http://bob:HUNT%45R2@[bad",
        "without_host": "http://bob:HUNTER2",
    })
    def test_proxy(self, url):
        url = url.format(long="a" * 64)
        outcome = self.run_host("-v", "http://nevod.test/", env={"http_proxy": url})
        self.assertGreater(outcome.code, 0, outcome)
        self.expect_redacted(outcome, "HUNTER2", "HUNT%45R2")

    def test_reason(self):
        """--fail repeats the reason phrase."""
        with CannedServer(canned(b"", status="401 no tok-123456 here")) as server:
            outcome = self.run_host("-f", "-H", "Authorization: Bearer tok-123456", server.url)
        self.expect_failure(outcome, 119, "401 no [redacted] here")

    @cases({"user": "http://bob:HUNTER2@127.0.0.1/", "broken": "http://bob:HUNTER2"})
    def test_setting(self, url):
        outcome = self.run_host("--plugin", "CookieAuth", "--set", f"login={url}", "--no-store", "http://127.0.0.1:1/")
        self.expect(outcome, 111, '"login"', *(["userinfo"] if "@" in url else []))
        self.expect_redacted(outcome, "HUNTER2")
