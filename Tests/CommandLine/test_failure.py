"""Failures and their exit codes."""

from support import CannedServer, ServerTestCase, cases


class Failure(ServerTestCase):
    def test_time_out(self):
        # The server would only respond after the test's timeout.
        self.expect_failure(self.run_host("--max-time", "0.3", self.url("/slow?ms=60000")), 28)

    def test_time_out_while_the_body_comes(self):
        outcome = self.run_host("-m", "0.3", "-o", "/dev/null", self.url(f"/stream?bytes={2**40}"))
        self.expect_failure(outcome, 28)

    def test_no_time_out(self):
        self.expect(self.run_host("-m", "60", self.url("/slow?ms=50")), 0)

    def test_connection_refused(self):
        port = self.closed_port()
        self.expect_failure(self.run_host(f"http://127.0.0.1:{port}/"), 7, str(port))

    @cases({"label_too_long": "a" * 64 + ".invalid", "never_resolved": "nevod.onion"})
    def test_unresolved(self, name):
        """Names that a resolver rejects without a query (RFC 1035 §2.3.4, RFC 7686)."""
        self.expect_failure(self.run_host("-m", "30", f"http://{name}/"), 6)

    def test_connection_closed_without_answer(self):
        self.expect_failure(self.run_host(self.url("/close")), 52)

    @cases({
        "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
        "without_header": b"<html>HTTP/0.9 had no header</html>\n",
        "smtp": b"220 mail.example.com ESMTP\r\n",
        "binary": bytes(range(256)) * 4,
        "other_version": b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "no_status": b"HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n",
        "two_lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    })
    def test_answer_that_is_not_http(self, answer):
        with CannedServer(answer) as server:
            self.expect_failure(self.run_host(server.url), 8)

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
        "control": "http://user:hunter2-x@127.0.0.1/\x01",
        "slash_in_password": "http://user:hunter/2-x@127.0.0.1/",
        "question_mark_in_password": "http://user:hunter2-x?@127.0.0.1/",
        "hash_in_password": "http://user:hunter2-x#@127.0.0.1/",
        "without_host": "http://user:hunter2-x",
        "without_host_with_path": "http://user:hunter2-x/path",
    })
    def test_password_in_url_is_not_repeated(self, url):
        outcome = self.run_host("-v", url)
        self.expect_failure(outcome, 3)
        self.assertNotIn("2-x", outcome.err, outcome)

    def test_password_in_relative_url_is_not_repeated(self):
        outcome = self.run_host("-v", "//user:hunter2-x@127.0.0.1/")
        self.expect_failure(outcome, 2, "is relative")
        self.assertNotIn("2-x", outcome.err, outcome)

    def test_password_in_second_url_is_not_repeated(self):
        outcome = self.run_host(self.url("/a"), "http://user:hunter2-x@127.0.0.1/")
        self.expect(outcome, 3, "can't be used")
        self.assertNotIn("2-x", outcome.err, outcome)


class Usage(ServerTestCase):
    @cases({
        "unknown": (["--nope"], "--nope"),
        "unknown_letter": (["-W"], "-W"),
        "unknown_among_letters": (["-vWs"], "-W"),
        "missing_value": (["--max-time"], "--max-time"),
        "missing_value_of_letter": (["-so"], "-o"),
        "value_too_many": (["--include=yes"], "--include"),
        "other_commands_flag": (["--curl"], "sign"),
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

    @cases({"request": ("http://127.0.0.1/", "--help"), "all": ("help", "all"), "sign": ("sign", "--help"), "inspect": ("inspect", "--help")})
    def test_help(self, *words):
        outcome = self.run_host(*words)
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")
        for text in ("--version", "Exit codes:", "exit-codes"):
            self.assertIn(text, outcome.out.decode())

    def test_version(self):
        outcome = self.run_host("-V")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out, rb"\Anevod-host \d+\.\d+\.\d+(-dev)?\n\Z")
