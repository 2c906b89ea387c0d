"""`sign` prints the authorized request, and `inspect` a plugin's schemes. Neither sends anything."""

import json

from support import (
    API_KEY, SECRET, CannedServer, ServerTestCase, TestCase, c_plugin, canned, cases, compile_plugin, signature, swift_plugin,
    with_both_plugins)


class Sign:
    def signed(self, *words, secret="env:NEVOD_TEST_SECRET", **options):
        """Returns the first line, the header lines and the body of the printed request."""
        outcome = self.run_host("sign", *self.credentials(secret), *words, **options)
        self.expect(outcome, 0)
        self.expect_nothing_sent()
        head, _, body = outcome.out.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return first, dict(line.split(": ", 1) for line in lines), body

    def test_get(self):
        first, headers, body = self.signed(self.url("/a%2Fb?x=1"))
        self.assertEqual((first, body), ("GET /a%2Fb?x=1 HTTP/1.1", b""))
        self.assertEqual(headers["Host"], f"127.0.0.1:{self.server.port}")
        self.assertEqual(headers["X-API-Key"], API_KEY)
        self.assertEqual(headers["X-Signature"], signature("GET", "/a%2Fb?x=1", headers["X-Timestamp"]))

    def test_post(self):
        content = bytes(range(256)) * 4
        first, headers, body = self.signed("--data-binary", "@-", self.url("/a"), stdin=content)
        self.assertEqual((first, body), ("POST /a HTTP/1.1", content))
        self.assertEqual(headers["Content-Length"], "1024")
        self.assertEqual(headers["X-Signature"], signature("POST", "/a", headers["X-Timestamp"], content))

    def test_secret_of_any_bytes(self):
        secret = b"\x80\xff" + SECRET.encode()
        _, headers, _ = self.signed(self.url("/a"), secret=f"file:{self.file('secret', secret)}")
        self.assertEqual(headers["X-Signature"], signature("GET", "/a", headers["X-Timestamp"], secret=secret))

    def test_secret_is_not_printed(self):
        outcome = self.run_host("sign", "-v", *self.credentials(), self.url("/a"))
        self.expect(outcome, 0)
        self.assertNotIn(SECRET, outcome.out.decode() + outcome.err)


with_both_plugins(Sign, globals())


class SignedIsSent(TestCase):
    """`sign` prints exactly the request that would be sent, even where libcurl would add headers."""

    def test_host_line_of_the_caller_is_signed(self):
        plugin = compile_plugin(self.folder / "libAuthority.so", AUTHORIZE='SET("X-Authority", view->authority)')
        outcome = self.run_host("sign", "--plugin", plugin, "-H", "Host: virtual.test", "https://api.example.com/a")
        self.expect(outcome, 0)
        self.assertTrue(outcome.out.startswith(b"GET /a HTTP/1.1\r\nHost: virtual.test\r\n"), outcome)
        self.assertIn(b"\r\nX-Authority: virtual.test\r\n", outcome.out)

    @cases({
        "get": (),
        "form": ("-d", "a=b"),
        "no_content": ("-X", "POST"),
        "empty_form": ("-d", ""),
        "put_without_body": ("-X", "PUT"),
        "unknown_method_with_body": ("-X", "PURGE", "-d", "a"),
        "get_with_body": ("-X", "GET", "-d", "a"),
        "head": ("-X", "HEAD"),
        "large_body": ("--data-binary", "a" * 100_000),
        "several_large_bodies": ("-d", "a" * 120_000) * 12,  # past the size at which libcurl asks with Expect
        "header_lines": ("-H", "X-A: 1", "-H", "x-a: 2", "-H", "X-Empty;", "-H", "User-Agent:"),
        "no_accept": ("-H", "Accept:"),
        "no_content_type": ("-d", "a", "-H", "Content-Type:"),
        "other_host": ("-H", "Host: other.test"),
        "two_hosts": ("-H", "Host: a.test", "-H", "Host: b.test"),
        "empty_host": ("-H", "Host;"),
        "connection": ("-H", "Connection: close"),
        "expect": ("-d", "a", "-H", "Expect: 100-continue"),
        "encoding": ("-H", "Accept-Encoding: gzip"),
        "authorization": ("-H", "Authorization: Bearer x"),
        "cookie": ("-H", "Cookie: a=1", "-H", "Cookie: b=2"),
        "trailing_space": ("-H", "X-A: b "),
    })
    def test_same(self, *words):
        """Both commands reject the same input."""
        plugin = compile_plugin(self.folder / "libTest.so", AUTHORIZE='SET("X-Test", TEXT("1")); QUERY("k", TEXT("v"))')
        with CannedServer(canned()) as server:
            words = ("--plugin", plugin, *words, server.url + "/a?b")
            signed = self.run_host("sign", *words)
            sent = self.run_host(*words)
            self.assertEqual(signed.code, sent.code, (signed, sent))
            received = b"".join(head + b"\r\n\r\n" + body for head, body in server.requests)
        # "Name:" and "Name: " spell the same empty value.
        self.assertEqual(signed.out.replace(b": \r\n", b":\r\n"), received.replace(b": \r\n", b":\r\n"))


class SignUsage(ServerTestCase):
    @cases({
        "no_plugin": (["{}"], "--plugin"),
        "two_urls": (["--plugin", "HMACAuth", "{}", "{}"], "one"),
        "flag_of_a_request": (["--plugin", "HMACAuth", "-o", "file", "{}"], "request"),
    })
    def test_refused(self, words, fragment):
        outcome = self.run_host("sign", *(word.format(self.url("/a")) for word in words))
        self.expect_failure(outcome, 2, fragment)
        self.expect_nothing_sent()


class Inspect(TestCase):
    SETTINGS = [
        {"name": "api-key", "kind": "text", "required": True, "secret": False},
        {"name": "secret", "kind": "text", "required": True, "secret": True},
    ]

    def parsed(self, plugin):
        outcome = self.run_host("inspect", plugin, "--json")
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")
        return json.loads(outcome.out)

    @cases({"swift": (swift_plugin, "HMACAuth"), "c": (c_plugin, "HMACAuthC")})
    def test_json(self, plugin, name):
        answer = self.parsed(plugin())
        self.assertEqual((answer["name"], answer["path"]), (name, str(plugin())))
        (scheme,) = answer["schemes"]
        self.assertEqual(scheme["id"], "hmac")
        for expected, setting in zip(self.SETTINGS, scheme["settings"]):
            self.assertEqual(setting | expected, setting)
            self.assertEqual((setting["repeatable"], setting["choices"], setting["default"]), (False, [], None))
            self.assertNotEqual(setting["help"], "")

    @cases({"swift": (swift_plugin, "HMACAuth"), "c": (c_plugin, "HMACAuthC")})
    def test_text(self, plugin, name):
        outcome = self.run_host("inspect", plugin())
        self.expect(outcome, 0)
        text = outcome.out.decode()
        for fragment in (f"{name} ", str(plugin()), "scheme hmac", "--set api-key", "--set secret", "required, secret"):
            self.assertIn(fragment, text)

    def test_quoting(self):
        path = compile_plugin(
            self.folder / "libTest.so",
            SCHEME=r'.title = NEVOD_BYTES("a \"quote\", a \\, \xc3\xa9 \xe2\x80\xa8 \xf0\x9f\x94\x91")')
        self.assertEqual(self.parsed(path)["schemes"][0]["title"], 'a "quote", a \\, é \u2028 🔑')

    def test_every_kind_of_setting(self):
        path = compile_plugin(
            self.folder / "libTest.so",
            SETTING='.kind = NEVOD_SETTING_CHOICE, .flags = NEVOD_SETTING_REPEATABLE, .choice_count = 2,'
            ' .choices = (const nevod_bytes[]){NEVOD_BYTES("md5"), NEVOD_BYTES("sha-256")},'
            ' .default_value = NEVOD_BYTES("sha-256"), .help = NEVOD_BYTES("How to hash")')
        (setting,) = self.parsed(path)["schemes"][0]["settings"]
        self.assertEqual(setting, {
            "name": "word", "kind": "choice", "required": False, "secret": False, "repeatable": True, "issuer": False,
            "relative": False,
            "choices": ["md5", "sha-256"], "default": "sha-256", "help": "How to hash"})
        self.assertIn(b"one of md5, sha-256, repeatable, default sha-256", self.run_host("inspect", path).out)

    def test_parameters_and_flags(self):
        path = compile_plugin(
            self.folder / "libTest.so", SCHEME=".flags = NEVOD_SCHEME_BLOCKS", PARAMETERS="&parameter",
            PARAMETER='.flags = NEVOD_SETTING_REPEATABLE, .help = NEVOD_BYTES("What it may do")')
        (scheme,) = self.parsed(path)["schemes"]
        self.assertTrue(scheme["blocks"])
        self.assertEqual(scheme["parameters"], [{
            "name": "scope", "kind": "text", "required": False, "secret": False, "repeatable": True, "issuer": False,
            "relative": False,
            "choices": [], "default": None, "help": "What it may do"}])
        text = self.run_host("inspect", path).out.decode()
        self.assertIn("\n  may wait, for a device or another program\n", text)
        self.assertIn("\n  --param scope  What it may do (text, repeatable)\n", text)
        plain = compile_plugin(self.folder / "libPlain.so")
        (scheme,) = self.parsed(plain)["schemes"]
        self.assertEqual((scheme["blocks"], scheme["parameters"]), (False, []))
        self.assertNotIn(b"may wait", self.run_host("inspect", plain).out)

    def test_refused_scheme(self):
        path = compile_plugin(self.folder / "libTest.so", SCHEMES="&scheme, &other", SCHEME=".flags = 1u << 15")
        answer = self.parsed(path)
        reason = 'the scheme "test" needs the bits 0x8000 of flags, which this host doesn\'t support; use a newer host'
        self.assertEqual([scheme["id"] for scheme in answer["schemes"]], ["other"])
        self.assertEqual(answer["refused_schemes"], [{"id": "test", "reason": reason}])
        self.assertIn(f"\nscheme test: can't be used\n  {reason}\n", self.run_host("inspect", path).out.decode())
        self.assertEqual(self.parsed(compile_plugin(self.folder / "libPlain.so"))["refused_schemes"], [])

    def test_makes_no_instance(self):
        path = compile_plugin(self.folder / "libTest.so", CREATE="abort()", NEEDS_ANSWER="(abort(), NULL)")
        self.parsed(path)

    @cases({"nothing": (), "two": ("HMACAuth", "HMACAuth"), "flag_of_a_request": ("HMACAuth", "-i")})
    def test_refused(self, *words):
        self.expect_failure(self.run_host("inspect", *words), 2)

    def test_no_such_plugin(self):
        self.expect_failure(self.run_host("inspect", "nosuchplugin", "--json"), 110, "nosuchplugin", "NEVOD_PLUGIN_PATH")
