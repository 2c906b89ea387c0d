"""-L: which redirects are followed, with which method and body, and which origins get credentials."""

import base64
import functools
import itertools
import re
import urllib.parse

from support import (
    API_KEY, SECRET, RecordingServer, TestCase, authority, cases, compile_plugin, reply, shared_folder, signature, swift_plugin)

STATUSES = {301: "Moved Permanently", 302: "Found", 303: "See Other", 307: "Temporary Redirect", 308: "Permanent Redirect"}

# Characters that are percent-encoded in a query. An echo may encode them differently.
QUERY_SECRET = "q-" + SECRET + "/+~ é&="
USER = "user-4711x:" + SECRET

# If any of these arrives in any spelling, it has leaked.
SECRETS = [SECRET, API_KEY, "user-4711x", base64.b64encode(USER.encode()).decode(), base64.b64encode(USER.encode()).decode()[4:20]]
SECRET_HEADERS = {"x-signature", "x-timestamp", "x-api-key", "authorization", "cookie"}


@functools.cache
def plugin(name, **pieces):
    return compile_plugin(shared_folder() / f"lib{name}.so", **pieces)


def key_plugin():
    return plugin("redirects-header", AUTHORIZE=f'SET("X-Api-Key", TEXT("{SECRET}")); ADD("X-Api-Key", TEXT("{API_KEY}"))')


def query_plugin():
    return plugin("redirects-query", AUTHORIZE=f'QUERY("key", TEXT("{QUERY_SECRET}"))')


def cookie_plugin():
    return plugin("redirects-cookie", AUTHORIZE=f'COOKIE("session", TEXT("{SECRET}"))')


# Flags, and a function that gets the test and a request and checks the credential at its own origin.
def expect_signed(test, seen):
    (timestamp,), (given,) = seen.values("X-Timestamp"), seen.values("X-Signature")
    test.assertEqual(seen.values("X-API-Key"), [API_KEY])
    test.assertEqual(given, signature(seen.method, seen.target, timestamp, seen.body), f"not signed for this target\n{seen}")


def expect_headers(name, *values):
    return lambda test, seen: test.assertEqual(seen.values(name), list(values), seen)


def expect_query(test, seen):
    given = urllib.parse.parse_qs(seen.query, keep_blank_values=True)
    test.assertEqual(given.get("key"), [QUERY_SECRET], seen)


CREDENTIALS = {
    "hmac": (lambda: ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET"], expect_signed),
    "key_in_header": (lambda: ["--plugin", key_plugin()], expect_headers("X-Api-Key", SECRET, API_KEY)),
    "key_in_query": (lambda: ["--plugin", query_plugin()], expect_query),
    "key_in_cookie": (lambda: ["--plugin", cookie_plugin()], expect_headers("Cookie", f"session={SECRET}")),
    "authorization": (lambda: ["-H", f"Authorization: Bearer {SECRET}"], expect_headers("Authorization", f"Bearer {SECRET}")),
    "cookie": (lambda: ["-H", f"Cookie: a={SECRET}"], expect_headers("Cookie", f"a={SECRET}")),
    "user": (
        lambda: ["-u", "env:NEVOD_TEST_USER"],
        expect_headers("Authorization", "Basic " + base64.b64encode(USER.encode()).decode())),
}

# The targets of the first request and of its redirect, as names of servers. See `Matrix.base`.
LEADS = {
    "same_origin": ("http", "http"),
    "same_secure_origin": ("https", "https"),
    "other_host": ("http", "http_other_host"),
    "other_secure_host": ("https", "https_other_host"),
    "other_name": ("http", "http_localhost"),
    "other_port": ("http", "http_other_port"),
    "to_https": ("http", "https"),
    "to_http": ("https", "http"),
}
SAME = {"same_origin", "same_secure_origin"}


class Redirects(TestCase):
    """Two servers on one port of two hosts, and one on another port; each speaks both plain HTTP and TLS."""

    @classmethod
    def setUpClass(cls):
        tls = authority().context()
        cls.here = cls.enterClassContext(RecordingServer(cls.route, tls=tls))
        cls.host = cls.enterClassContext(RecordingServer(cls.route, host="127.0.0.2", port=cls.here.port, tls=tls))
        cls.port = cls.enterClassContext(RecordingServer(cls.route, tls=tls))
        cls.responses = {}

    def setUp(self):
        self.responses.clear()
        for server in (self.here, self.host, self.port):
            server.requests.clear()

    @classmethod
    def base(cls, name):
        scheme, _, rest = name.partition("_")
        host = {"": cls.here.authority, "other_host": cls.host.authority, "other_port": cls.port.authority,
                "localhost": f"localhost:{cls.here.port}"}[rest]
        return f"{scheme}://{host}"

    @classmethod
    def route(cls, seen):
        response = cls.responses.get(seen.path)
        return (response(seen) if callable(response) else response) or reply(body=b"the end")

    def redirect(self, path, location, status=302):
        """A location may be a function that gets the request."""
        def respond(seen):
            where = location(seen) if callable(location) else location
            return reply(f"{status} {STATUSES.get(status, 'Odd')}", f"Location: {where}", body=b"moved")
        self.responses[path] = respond

    def follow(self, *words, url=None, **options):
        env = {"NEVOD_TEST_USER": USER}
        return self.run_host("-L", "--cacert", authority().path("ca.pem"), *words, url or self.here.http + "/start", env=env, **options)

    def all(self):
        return [seen for server in (self.here, self.host, self.port) for seen in server.requests]

    def at(self, path):
        found = [seen for seen in self.all() if seen.path == path]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def expect_end(self, outcome):
        self.expect(outcome, 0)
        # The scheme hmac leaves the query out by default, and says so.
        told = re.sub(r"nevod-host: warning: HMACAuth: the signature covers the path .*\n", "", outcome.err)
        self.assertEqual((outcome.out, told), (b"the end", ""), outcome)

    def expect_no_credential(self, seen):
        text = urllib.parse.unquote(seen.head + seen.body.decode("latin-1"))
        for secret in SECRETS:
            self.assertNotIn(secret, text)
        self.assertEqual({name.lower() for name, _ in seen.headers} & SECRET_HEADERS, set(), seen)
        self.assertNotIn("key=", seen.query)

    def expect_nothing_leaked(self, outcome):
        for secret in SECRETS:
            self.assertNotIn(secret, outcome.err, outcome)


# ----------------------------------------------------------------------------------------------------------------------
# Credentials


class CredentialsOnRedirects(Redirects):
    @cases({f"{lead}_{status}_{name}": (lead, status, name)
            for lead, status, name in itertools.product(LEADS, STATUSES, CREDENTIALS)})
    def test(self, lead, status, name):
        flags, expect_credential = CREDENTIALS[name]
        start, end = (self.base(place) for place in LEADS[lead])
        self.redirect("/start", lambda seen: f"{end}/end?a=1&{seen.query}&b=2", status)
        self.expect_end(self.follow(*flags(), "-H", "X-Trace: 1", url=start + "/start?x=%2f"))
        first, last = self.at("/start"), self.at("/end")
        expect_credential(self, first)
        self.assertEqual((last.is_secure, last.values("Host")), (end.startswith("https"), [end.partition("://")[2]]))
        self.assertEqual((first.values("X-Trace"), last.values("X-Trace")), (["1"], ["1"]))
        if lead in SAME:
            expect_credential(self, last)
        else:
            self.expect_no_credential(last)
        if name != "key_in_query":
            self.assertEqual(last.query, "a=1&x=%2f&b=2")

    @cases({f"{lead}_{name}": (lead, name) for lead, name in itertools.product(LEADS.keys() - SAME, CREDENTIALS)})
    def test_there_and_back(self, lead, name):
        flags, _ = CREDENTIALS[name]
        start, away = (self.base(place) for place in LEADS[lead])
        self.redirect("/start", lambda seen: f"{away}/away?{seen.query}")
        self.redirect("/away", lambda seen: f"{start}/end?{seen.query}")
        self.expect_end(self.follow(*flags(), "-H", "X-Trace: 1", url=start + "/start"))
        for path in ("/away", "/end"):
            self.expect_no_credential(self.at(path))
            self.assertEqual(self.at(path).values("X-Trace"), ["1"])

    @cases({name: name for name in CREDENTIALS})
    def test_three_hops_at_home_then_away(self, name):
        flags, expect_credential = CREDENTIALS[name]
        for number, path in enumerate(("/start", "/2", "/3")):
            self.redirect(path, lambda seen, number=number: f"/{number + 2}?{seen.query}")
        self.redirect("/4", lambda seen: f"{self.base('http_other_host')}/end?{seen.query}")
        self.expect_end(self.follow(*flags()))
        for path in ("/start", "/2", "/3", "/4"):
            expect_credential(self, self.at(path))
        self.expect_no_credential(self.at("/end"))

    @cases({f"{spelling}_{place}": (spelling, place)
            for spelling in ("other_case", "plus_for_space", "needlessly", "sparingly", "decoded_name")
            for place in ("http", "http_other_host")})
    def test_query_echoed_in_another_spelling(self, spelling, place):
        """Servers decode a query and encode it again, each in a different way."""
        spell = {
            "other_case": lambda query: re.sub("%..", lambda match: match[0].lower(), query),
            "plus_for_space": lambda query: query.replace("%20", "+"),
            "needlessly": lambda query: query.replace("key=q", "key=%71"),
            "sparingly": lambda query: query.replace("%2F", "/"),
            "decoded_name": lambda query: query.replace("key=", "%6Bey="),
        }[spelling]
        self.redirect("/start", lambda seen: f"{self.base(place)}/end?{spell(seen.query)}")
        self.expect_end(self.follow("--plugin", query_plugin()))
        seen = self.at("/end")
        if place == "http":
            expect_query(self, seen)
        else:
            self.expect_no_credential(seen)

    NESTED = {
        "plain": lambda url: url.replace("&", "%26"),
        "once": lambda url: urllib.parse.quote(url, safe=""),
        "twice": lambda url: urllib.parse.quote(urllib.parse.quote(url, safe=""), safe=""),
        "three_times": lambda url: urllib.parse.quote(urllib.parse.quote(urllib.parse.quote(url, safe=""), safe=""), safe=""),
        **{f"base64_{shift}": lambda url, shift=shift: urllib.parse.quote(base64.b64encode(b"x" * shift + url.encode())) for shift in range(3)},
        **{f"base64url_{shift}": lambda url, shift=shift: base64.urlsafe_b64encode(b"x" * shift + url.encode()).decode().rstrip("=") for shift in range(3)},
    }

    @cases({f"{name}_{place}": (name, place) for name in NESTED for place in ("http", "http_other_host", "https")})
    def test_key_in_a_url_within_a_url(self, name, place):
        """Servers redirect a client to a login with their own URL in it, as in ?next=…, including the key."""
        self.redirect("/start", lambda seen: f"{self.base(place)}/end?a=1&next={self.NESTED[name](self.here.http + seen.target)}&b=2")
        outcome = self.follow("-v", "--plugin", query_plugin())
        self.expect(outcome, 0)
        self.expect_nothing_leaked(outcome)
        seen = self.at("/end")
        if place == "http":
            self.assertIn("&next=", seen.query)
        else:
            self.assertEqual(seen.query, "a=1&b=2")

    @cases({"path": "/end/{}", "fragment_of_a_path": "/end;{}"})
    def test_key_in_a_path_is_refused(self, path):
        self.redirect("/start", lambda seen: self.base("http_other_host") + path.format(urllib.parse.quote(QUERY_SECRET, safe="")))
        outcome = self.follow("--plugin", query_plugin())
        self.expect_failure(outcome, 3, "repeats a credential")
        self.expect_nothing_leaked(outcome)
        self.assertEqual([seen.path for seen in self.all()], ["/start"])

    @cases({name: name for name in ("X-API-Key", "x-auth-token", "X-JWT", "Cookie")})
    def test_secrets_of_the_caller_by_name(self, name):
        self.redirect("/start", f"{self.base('http_other_host')}/end")
        self.expect_end(self.follow("-H", f"{name}: {SECRET}", "-H", "X-Trace: 1"))
        self.assertEqual(self.at("/start").values(name), [SECRET])
        self.assertEqual((self.at("/end").values(name), self.at("/end").values("X-Trace")), ([], ["1"]))

    def test_items_of_the_caller_stay(self):
        self.redirect("/start", lambda seen: f"{self.base('http_other_host')}/end?{seen.query}")
        self.expect_end(self.follow("--plugin", query_plugin(), url=self.here.http + "/start?key=mine&&x=1"))
        self.assertEqual(self.at("/end").query, "key=mine&&x=1")

    def test_host_line_of_the_caller_stays_at_its_origin(self):
        self.redirect("/start", f"{self.base('http_other_host')}/end")
        self.expect_end(self.follow("-H", "Host: virtual.test"))
        self.assertEqual(self.at("/start").values("Host"), ["virtual.test"])
        self.assertEqual(self.at("/end").values("Host"), [self.host.authority])

    def test_authority_that_a_scheme_sees_is_the_host_line_that_is_sent(self):
        """On the first request, and after a redirect within the same origin."""
        plugin = compile_plugin(self.folder / "libAuthority.so", AUTHORIZE='SET("X-Authority", view->authority)')
        self.redirect("/start", "/middle")
        self.redirect("/middle", f"{self.base('http_other_host')}/end")
        self.expect_end(self.follow("-H", "Host: Virtual.test:80", "--plugin", plugin))
        for path in ("/start", "/middle"):
            seen = self.at(path)
            self.assertEqual((seen.values("Host"), seen.values("X-Authority")), (["Virtual.test:80"], ["Virtual.test:80"]))
        self.assertEqual(self.at("/end").values("Host"), [self.host.authority])

    def test_default_port_is_no_other_origin(self):
        """A URL with an explicit default port, or in another letter case, has the same origin."""
        self.redirect("/start", f"HTTP://127.0.0.1:0{self.here.port}/end")
        flags, expect_credential = CREDENTIALS["hmac"]
        self.expect_end(self.follow(*flags()))
        expect_credential(self, self.at("/end"))

    def test_verbose_redacts_every_hop(self):
        self.redirect("/start", "/end")
        for name, (flags, _) in CREDENTIALS.items():
            with self.subTest(name):
                outcome = self.follow("-v", *flags())
                self.expect(outcome, 0, "> GET /end")
                self.expect_nothing_leaked(outcome)


# ----------------------------------------------------------------------------------------------------------------------
# Method and body


class MethodOnRedirects(Redirects):
    BODY = "a=1&b=2"
    POST = ("-d", BODY)
    PUT = ("-X", "PUT", *POST)

    @cases({f"{name}_{status}": (words, status, method)
            for name, words, methods in [
                ("post", POST, ("GET", "GET", "GET", "POST", "POST")),
                ("put", PUT, ("PUT", "PUT", "GET", "PUT", "PUT")),
                ("patch", ("-X", "PATCH", *POST), ("PATCH", "PATCH", "GET", "PATCH", "PATCH")),
                ("delete", ("-X", "DELETE"), ("DELETE", "DELETE", "GET", "DELETE", "DELETE")),
                ("head", ("-X", "HEAD"), ("HEAD",) * 5),
                ("get", (), ("GET",) * 5),
            ]
            for status, method in zip(STATUSES, methods)})
    def test(self, words, status, method):
        self.redirect("/start", "/end", status)
        outcome = self.follow(*words, *CREDENTIALS["hmac"][0](), "-H", "Content-Language: da", "-H", "X-Trace: 1")
        self.expect(outcome, 0)
        seen = self.at("/end")
        first = self.at("/start")
        self.assertEqual(seen.method, method)
        expect_signed(self, seen)
        self.assertEqual(seen.values("X-Trace"), ["1"])
        if method == first.method:
            self.assertEqual(seen.body, first.body)
            for name in ("Content-Type", "Content-Length", "Content-Language"):
                self.assertEqual(seen.values(name), first.values(name), name)
        else:
            self.assertEqual(seen.body, b"")
            self.assertEqual([name for name, _ in seen.headers if name.lower().startswith(("content-", "transfer-"))], [])

    @cases({f"{name}_{status}": (name, status) for name in ("file", "form", "json") for status in (307, 308)})
    def test_streams_that_can_be_read_again(self, name, status):
        path = self.file("data", b"0123456789" * 30000)
        words = {"file": ["-T", path], "form": ["-F", f"a=@{path}"], "json": ["--json", f"@{path}"]}[name]
        self.redirect("/start", "/end", status)
        self.expect_end(self.follow(*words, *CREDENTIALS["hmac"][0]()))
        self.assertEqual(self.at("/end").body, self.at("/start").body)
        self.assertGreaterEqual(len(self.at("/end").body), 300000)
        expect_signed(self, self.at("/end"))

    @cases({"301": 301, "302": 302, "307": 307, "308": 308})
    def test_a_body_that_can_be_read_once_is_not_sent_again(self, status):
        self.redirect("/start", "/end", status)
        outcome = self.follow("-i", "-T", "-", stdin=b"only once")
        self.expect(outcome, 0)
        self.assertIn(b"\r\nLocation: /end\r\n", outcome.out)
        self.assertEqual([(seen.path, seen.body) for seen in self.all()], [("/start", b"only once")])

    def test_303_after_such_a_body(self):
        self.redirect("/start", "/end", 303)
        self.expect_end(self.follow("-T", "-", stdin=b"only once"))
        seen = self.at("/end")
        self.assertEqual((seen.method, seen.body, seen.values("Transfer-Encoding")), ("GET", b"", []))

    def test_body_goes_to_another_origin_too(self):
        """RFC 9110 §15.4.8: a body may contain a credential that the host doesn't know of."""
        self.redirect("/start", f"{self.base('http_other_host')}/end", 307)
        self.expect_end(self.follow(*self.POST))
        self.assertEqual((self.at("/end").method, self.at("/end").body), ("POST", self.BODY.encode()))

    @cases({f"{name}_{status}": (words, status)
            for name, words in [("post", POST), ("put", PUT)] for status in (307, 308)})
    def test_body_is_not_sent_unencrypted(self, words, status):
        self.redirect("/start", f"{self.here.http}/end", status)
        outcome = self.follow(*words, url=self.here.https + "/start")
        self.expect_failure(outcome, 3, "unencrypted")
        self.assertEqual([seen.path for seen in self.all()], ["/start"])

    def test_no_body_may_go_on_unencrypted(self):
        self.redirect("/start", f"{self.here.http}/end", 307)
        self.expect_end(self.follow(url=self.here.https + "/start"))


# ----------------------------------------------------------------------------------------------------------------------
# Locations


class Locations(Redirects):
    @cases({
        "path": ("/end", "/end"),
        "path_and_query": ("/end?x=1&&y", "/end?x=1&&y"),
        "query_alone": ("?x=1", "/a/b/start?x=1"),
        "empty_query": ("?", "/a/b/start?"),
        "sibling": ("end", "/a/b/end"),
        "sibling_with_query": ("end?x=/../1", "/a/b/end?x=/../1"),
        "dot": (".", "/a/b/"),
        "dot_and_name": ("./end", "/a/b/end"),
        "parent": ("../end", "/a/end"),
        "parents_beyond_root": ("../../../../end", "/end"),
        "dots_in_the_middle": ("/x/./y/../end", "/x/end"),
        "parent_at_the_end": ("..", "/a/"),
        "double_slashes_within": ("/x//end", "/x//end"),
        "colon_in_a_path": ("./a:b", "/a/b/a:b"),
        "fragment": ("/end#part?no", "/end"),
        "fragment_in_query": ("/end?x#part", "/end?x"),
        "encoded": ("/%2F%2e%2E/end", "/%2F%2e%2E/end"),
        "space": ("/with space", "/with%20space"),
        "non_ascii": ("/grüße".encode().decode("latin-1"), "/gr%C3%BC%C3%9Fe"),
        # A bare CR in a line becomes a space (RFC 9110 §5.5).
        "carriage_return": ("/end\rX-Injected: 1", "/end%20X-Injected:%201"),
        "white_space_around": ("  /end \t", "/end"),
    })
    def test_relative(self, location, target):
        self.redirect("/a/b/start", location)
        redirect = self.responses["/a/b/start"]
        self.responses["/a/b/start"] = lambda seen: redirect(seen) if seen.query == "old=1" else None
        self.expect_end(self.follow(url=self.here.http + "/a/b/start?old=1"))
        self.assertEqual([seen.target for seen in self.all()], ["/a/b/start?old=1", target])

    def test_authority(self):
        self.redirect("/start", f"//{self.host.authority}/end")
        self.expect_end(self.follow(*CREDENTIALS["authorization"][0]()))
        self.assertEqual([seen.path for seen in self.host.requests], ["/end"])
        self.expect_no_credential(self.at("/end"))

    def test_authority_keeps_the_scheme(self):
        self.redirect("/start", f"//{self.host.authority}/end")
        self.expect_end(self.follow(url=self.here.https + "/start"))
        self.assertTrue(self.at("/end").is_secure)

    @cases({
        "no_path": ("http://{}", "/"),
        "query_without_path": ("http://{}?x=1", "/?x=1"),
        "carriage_return": ("http://{}/end\rX-Injected: 1", "/end%20X-Injected:%201"),
        "capitals": ("HTTP://{}/end", "/end"),
        "dots_of_an_absolute_one_stay": ("http://{}/a/../end", "/a/../end"),
    })
    def test_absolute(self, location, target):
        self.redirect("/start", location.format(self.host.authority))
        self.expect_end(self.follow())
        self.assertEqual([seen.target for seen in self.host.requests], [target])

    def test_fragment_alone_is_a_circle(self):
        self.redirect("/start", "#part")
        outcome = self.follow("--max-redirs", "2")
        self.expect_failure(outcome, 47)
        self.assertEqual([seen.target for seen in self.all()], ["/start"] * 3)

    @cases({
        "ftp": "ftp://127.0.0.1/end",
        "file": "file:///etc/passwd",
        "javascript": "javascript:alert(1)",
        "data": "data:text/plain,x",
        "user": "http://name:{password}@{host}/end",
        "user_without_scheme": "//name:{password}@{host}/end",
        "no_host": "http:///end",
        "one_slash": "http:/end",
        "port": "http://127.0.0.1:99999/end",
        "port_zero": "http://127.0.0.1:0/end",
        "brackets": "http://[::1/end",
        "space_in_host": "http://127.0.0.1 {host}/end",
        "backslash": "http:\\\\{host}/end",
        "nul": "/end\0x",
        "escape": "/end\x1b[2J",
        "percent_in_host": "http://127%2e0.0.2:80/end",
        "garbage": "http://\xff\xfe{host}/end",
    })
    def test_unusable(self, location):
        """The error contains neither the location nor the request, which may hold secrets."""
        password = "hunter2-x"
        where = location.format(host=self.host.authority, password=password)
        self.redirect("/start", where)
        outcome = self.follow(*CREDENTIALS["key_in_query"][0]())
        self.assertGreater(outcome.code, 0, outcome)
        self.expect_failure(outcome, outcome.code)
        self.assertIn(outcome.code, (1, 3, 8), outcome)
        self.assertNotIn(password, outcome.err)
        self.expect_nothing_leaked(outcome)
        self.assertEqual([seen.path for seen in self.all()], ["/start"])

    def test_location_of_100_000_bytes(self):
        self.redirect("/start", "/" + "a" * 100_000)
        self.expect_end(self.follow())

    def test_folded_location(self):
        """An obsolete line folding (RFC 9112 §5.2) doesn't make a second header."""
        self.redirect("/start", f"http://{self.host.authority}/en\r\n d")
        outcome = self.follow()
        self.assertEqual([seen for seen in self.all() if seen.values("d")], [], outcome)
        self.assertNotIn("\n d", outcome.err)

    def test_two_locations(self):
        """Either may be followed, but they are not joined."""
        self.responses["/start"] = reply("302 Found", "Location: /one", "Location: /two")
        self.follow()
        self.assertIn([seen.path for seen in self.all()], (["/start"], ["/start", "/one"], ["/start", "/two"]))

    def test_unreachable(self):
        self.redirect("/start", f"http://127.0.0.3:{self.here.port}/end")
        self.expect_failure(self.follow(*CREDENTIALS["hmac"][0]()), 7)


# ----------------------------------------------------------------------------------------------------------------------
# Limits


class HowFar(Redirects):
    def chain(self, count):
        """A chain of this many redirects and a final response."""
        for number in range(count):
            self.redirect(f"/{number}", f"/{number + 1}")

    def follow_chain(self, count, *words):
        self.chain(count)
        return self.follow(*words, url=self.here.http + "/0")

    @cases({
        "ten": (10, ()), "none_allowed_none_needed": (0, ("--max-redirs", "0")), "one_of_one": (1, ("--max-redirs", "1")),
        "many": (50, ("--max-redirs", "50")),
    })
    def test_far_enough(self, count, words):
        self.expect_end(self.follow_chain(count, *words))
        self.assertEqual(len(self.all()), count + 1)

    @cases({"eleven": (11, ()), "none": (1, ("--max-redirs", "0")), "one": (2, ("--max-redirs", "1"))})
    def test_too_far(self, count, words):
        outcome = self.follow_chain(count, *words)
        self.expect_failure(outcome, 47, "redirects")
        self.assertEqual(len(self.all()), count)

    @cases({"itself": {"/start": "/start"}, "two": {"/start": "/other", "/other": "/start"}})
    def test_circle(self, leads):
        for path, location in leads.items():
            self.redirect(path, location)
        self.expect_failure(self.follow(), 47, "circle")
        self.assertEqual(len(self.all()), 11)

    def test_circle_between_hosts(self):
        self.redirect("/start", lambda seen: (self.host if seen.values("Host") == [self.here.authority] else self.here).http + "/start")
        self.expect_failure(self.follow(*CREDENTIALS["hmac"][0]()), 47, "circle")
        self.assertEqual((len(self.here.requests), len(self.host.requests)), (6, 5))
        for seen in self.all()[1:]:
            self.expect_no_credential(seen)

    @cases({"300": 300, "304": 304, "305": 305, "306": 306, "201": 201, "200": 200, "399": 399, "401": 401})
    def test_other_statuses_are_answers(self, status):
        self.redirect("/start", "/end", status)
        self.expect(self.follow(), 0)
        self.assertEqual([seen.path for seen in self.all()], ["/start"])

    @cases({str(status): status for status in STATUSES})
    def test_without_location(self, status):
        self.responses["/start"] = reply(f"{status} Odd", body=b"moved")
        outcome = self.follow()
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"moved")

    @cases({str(status): status for status in STATUSES})
    def test_not_without_the_flag(self, status):
        self.redirect("/start", "/end", status)
        outcome = self.run_host("--max-redirs", "5", self.here.http + "/start")
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"moved")
        self.assertEqual([seen.path for seen in self.all()], ["/start"])

    def test_only_the_last_body_is_printed(self):
        """With -i, the heads of all earlier responses come before it, as with curl."""
        self.redirect("/start", "/end")
        path = self.folder / "file"
        self.expect(self.follow("-i", "-o", path), 0)
        self.assertTrue(path.read_bytes().startswith(b"HTTP/1.1 302 Found\r\nLocation: /end\r\n"), path.read_bytes())
        self.assertTrue(path.read_bytes().endswith(b"\r\n\r\n" + reply(body=b"the end")), path.read_bytes())

    def test_fail_looks_at_the_last_answer(self):
        self.redirect("/start", "/end")
        self.responses["/end"] = reply("404 Not Found", body=b"gone")
        self.expect_failure(self.follow("-f"), 22, "404")

    @cases({"ten_bytes": 10, "a_mebibyte": 1 << 20})
    def test_body_of_a_redirect_is_passed_over(self, count):
        self.responses["/start"] = reply("302 Found", "Location: /end", body=b"x" * count)
        self.expect_end(self.follow())

    def test_endless_body_of_a_redirect_is_not_waited_for(self):
        head = b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 1000000000000\r\n\r\n"
        self.responses["/start"] = head + b"x" * (1 << 20)
        self.expect_end(self.follow("-m", "20"))

    def test_time_limit_is_for_all_of_it(self):
        """--max-time limits the whole operation, as curl's does, and not each hop of an endless chain."""
        def slowly(seen):
            self.here.stopped.wait(0.3)
            return reply("302 Found", f"Location: /{len(self.all())}")
        for number in range(60):
            self.responses[f"/{number}"] = slowly
        outcome = self.follow("-m", "1", "--max-redirs", "50", url=self.here.http + "/0")
        self.expect_failure(outcome, 28)
        self.assertLess(len(self.all()), 10)

    @cases({"not_a_number": "many", "negative": "-1", "too_large": "51", "fraction": "1.5"})
    def test_count_that_is_none(self, count):
        self.expect_failure(self.follow("--max-redirs", count), 2, "--max-redirs")
        self.assertEqual(self.all(), [])
