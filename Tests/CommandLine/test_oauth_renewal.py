"""OAuth 2.0 sessions that are renewed, ended by the server, and revoked: libOAuth2Auth.so against our own strict server, which
rotates refresh tokens and revokes a token's family if it is used twice (RFC 9700 §4.14.2)."""

import base64
import calendar
import email.utils
import hashlib
import json
import secrets
import threading
import time
import urllib.parse

from support import BUILD, PATIENCE, SECRET, RecordingServer, TestCase, cases, reply, wait_until

JSON = "Content-Type: application/json"
HTML = "Content-Type: text/html"
PAGE = b"<html><body>Down for maintenance &error=invalid_grant&error_description=x</body></html>"


def as_json(value, status="200 OK", *lines):
    return reply(status, JSON, "Cache-Control: no-store", *lines, body=json.dumps(value).encode())


def refusal(error, description=None, status="400 Bad Request", **more):
    return as_json({"error": error, **({"error_description": description} if description else {}), **more}, status)


class Cut:
    """The beginning of a response. Then the server closes the connection."""

    def __init__(self, data=b""):
        self.data = data


class RotatingServer(RecordingServer):
    """An authorization server and its API on one origin.

    The next renewals get `faults` instead of a response: bytes, a Cut, or a function of the server and the request."""

    def __init__(self, *, secret=None, lifetime=3600, rotates=True, issues_refresh_tokens=True, granted=None, response=None, **options):
        super().__init__(self.handle, **options)
        self.secret, self.lifetime, self.rotates = secret, lifetime, rotates
        self.issues_refresh_tokens, self.granted = issues_refresh_tokens, granted
        # Changes the members of a token response.
        self.response = response or (lambda members: members)
        self.faults, self.api_faults, self.revocations, self.problems = [], [], [], []
        # Responses to the next revocations, by kind of token.
        self.revoking = {}
        self.state = threading.Condition()
        self.codes, self.access, self.refresh, self.revoked = {}, {}, {}, set()
        self.reuses = self.crowd = self.refused = 0

    def converse(self, connection):
        with connection.makefile("rb") as stream:
            while seen := self.receive(stream, connection):
                seen.port = connection.getpeername()[1]
                response = self.respond(seen)
                if isinstance(response, Cut):
                    connection.sendall(response.data)
                    return
                connection.sendall(response)

    def handle(self, seen):
        if seen.path == "/authorize":
            return self.authorize(dict(urllib.parse.parse_qsl(seen.query, strict_parsing=True)))
        if seen.path.startswith("/api"):
            return self.api(seen)
        form = self.form(seen)
        if problem := self.client_problem(seen, form):
            return problem
        if seen.path == "/revoke":
            return self.revoke(form)
        if form["grant_type"] == "refresh_token" and self.faults:
            fault = self.faults.pop(0)
            return fault(self, seen) if callable(fault) else fault
        return self.token(form)

    def form(self, seen):
        fields = urllib.parse.parse_qsl(seen.body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
        if seen.values("Content-Type") != ["application/x-www-form-urlencoded"] or seen.method != "POST":
            self.problems.append(f"not a form: {seen.head}")
        names = [name for name, _ in fields]
        if any(names.count(name) > 1 for name in names if name not in ("resource", "audience")):
            self.problems.append(f"repeated fields: {names}")
        return dict(fields)

    def client_problem(self, seen, form):
        if self.secret is None:
            return None if form.get("client_id") == "cli" else refusal("invalid_client", "Unknown client", "401 Unauthorized")
        basic = base64.b64encode(f"cli:{self.secret}".encode()).decode()
        if seen.values("Authorization") != [f"Basic {basic}"] or "client_id" in form or "client_secret" in form:
            return refusal("invalid_client", "Wrong client or secret", "401 Unauthorized")
        return None

    def authorize(self, query):
        code = secrets.token_urlsafe(24)
        self.codes[code] = query
        place = query["redirect_uri"] + "?" + urllib.parse.urlencode({"code": code, "state": query["state"]})
        return reply("302 Found", f"Location: {place}")

    def token(self, form):
        with self.state:
            if form["grant_type"] == "authorization_code":
                asked = self.codes.pop(form["code"])
                challenge = asked.get("code_challenge")
                verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                if challenge and base64.urlsafe_b64encode(verifier).rstrip(b"=").decode() != challenge:
                    return refusal("invalid_grant", "Wrong code_verifier")
                if asked["redirect_uri"] != form["redirect_uri"]:
                    return refusal("invalid_grant", "Another redirect_uri")
                return as_json(self.issue(secrets.token_hex(4), asked.get("scope", "")))
            old = self.refresh.get(form["refresh_token"])
            if old is None:
                return refusal("invalid_grant", "Unknown refresh token")
            if old["spent"]:
                self.reuses += 1
                self.revoked.add(old["family"])
            if old["family"] in self.revoked:
                return refusal("invalid_grant", "Token has been revoked")
            if self.rotates:
                old["spent"] = True
            wanted = form.get("scope", old["scope"])
            if not set(wanted.split()) <= set(old["scope"].split()):
                return refusal("invalid_scope", "More than was granted")
            return as_json(self.issue(old["family"], wanted, isRenewal=True))

    def issue(self, family, scope, isRenewal=False):
        access, refresh = f"access-{secrets.token_urlsafe(24)}", f"refresh-{secrets.token_urlsafe(24)}"
        scope = scope if isRenewal or self.granted is None else self.granted
        self.access[access] = family
        members = {"access_token": access, "token_type": "Bearer", "expires_in": self.lifetime, "scope": scope}
        if self.issues_refresh_tokens and (self.rotates or not isRenewal):
            self.refresh[refresh] = {"family": family, "spent": False, "scope": scope}
            members["refresh_token"] = refresh
        return self.response(members)

    def api(self, seen):
        if self.api_faults:
            return self.api_faults.pop(0)
        token = (seen.values("Authorization") or [""])[0].removeprefix("Bearer ")
        with self.state:
            if self.access.get(token, None) not in {None, *self.revoked}:
                return reply(body=b"ok")
            self.refused += 1
            self.state.notify_all()
            if self.crowd and not self.state.wait_for(lambda: self.refused >= self.crowd, PATIENCE):
                self.problems.append(f"only {self.refused} requests of {self.crowd} arrived")
        return reply("401 Unauthorized", 'WWW-Authenticate: Bearer error="invalid_token"')

    def revoke(self, form):
        self.revocations.append(form.get("token_type_hint"))
        if replies := self.revoking.get(form["token_type_hint"]):
            return replies.pop(0)
        known = self.refresh.get(form["token"])
        family = known["family"] if known else self.access.get(form["token"])
        if family is None:
            self.problems.append("an unknown token was revoked")
        self.access.pop(form["token"], None)
        if known:
            self.revoked.add(family)
        return reply()

    def expire(self, crowd=0):
        """Expires all access tokens, and rejects them only when `crowd` requests with such a token have arrived."""
        with self.state:
            self.access.clear()
            self.crowd, self.refused = crowd, 0

    def exchanges(self):
        """The forms of the renewals so far."""
        forms = [urllib.parse.parse_qs(seen.body.decode()) for seen in list(self.requests) if seen.path == "/token"]
        return [form for form in forms if form["grant_type"] == ["refresh_token"]]

    def is_alive(self):
        return not self.revoked and self.reuses == 0


class RenewalTestCase(TestCase):
    """With a home of its own, and a browser that consents."""

    def setUp(self):
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.browser = self.file(
            "browser", "#!/usr/bin/env python3\nimport sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n", mode=0o755)

    def start(self, **rules):
        self.server = self.enterContext(RotatingServer(**rules))
        self.addCleanup(lambda: self.assertEqual(self.server.problems, []))
        return self.server

    def env(self, **more):
        return {"HOME": str(self.home), "NEVOD_HOST_STORE": "", **more}

    def run_host(self, *words, env=None, **options):
        return super().run_host(*words, env=self.env(**(env or {})), **options)

    def scheme(self, *words):
        url = self.server.http
        settings = [
            f"authorization-url={url}/authorize", f"token-url={url}/token", f"revocation-url={url}/revoke", "client-id=cli"]
        if self.server.secret:
            settings.append("client-secret=env:NEVOD_TEST_SECRET")
        return ["--plugin", BUILD / "libOAuth2Auth.so", *(word for text in settings for word in ("--set", text)), *words]

    def logged_in(self, *words):
        outcome = self.run_host("login", *self.scheme(*words), env={"BROWSER": str(self.browser)})
        self.expect(outcome, 0)
        return outcome

    def get(self, *words, **options):
        return self.run_host("-f", *self.scheme(*words), self.server.http + "/api", **options)

    def sessions(self):
        outcome = self.run_host("sessions", "--json")
        self.expect(outcome, 0)
        return json.loads(outcome.out)["sessions"]

    def expect_no_secret(self, outcome):
        text = outcome.out.decode("utf-8", "backslashreplace") + outcome.err
        for token in [*self.server.refresh, *self.server.access, SECRET]:
            self.assertNotIn(token, text)

    def expect_kept(self, outcome):
        """Nobody was logged out: the next request renews the token, and the family survives."""
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertEqual(len(self.sessions()), 1)
        self.assertNotIn("cleared", outcome.err)
        self.expect_no_secret(outcome)
        self.expect(self.get(), 0)
        self.assertTrue(self.server.is_alive())


class Refresh(RenewalTestCase):
    def test_rotation(self):
        """Each renewal spends the previous one's refresh token, and sends only what it needs."""
        self.start()
        self.logged_in("--set", "scope=read write")
        for number in range(3):
            self.server.expire()
            outcome = self.get("--set", "scope=read write")
            self.expect(outcome, 0)
            self.assertEqual((outcome.out, outcome.err), (b"ok", ""))
            self.assertEqual(len(self.server.exchanges()), number + 1)
        for form in self.server.exchanges():
            self.assertEqual(sorted(form), ["client_id", "grant_type", "refresh_token"])
        self.assertEqual(len({form["refresh_token"][0] for form in self.server.exchanges()}), 3)
        self.assertTrue(self.server.is_alive())

    def test_before_it_expires(self):
        """The server says how long the token lives; no request is sent with an expired one."""
        self.start(lifetime=1)
        self.logged_in()
        end = time.time() + 1
        self.server.lifetime = 3600
        wait_until(lambda: time.time() > end, "the expiry")
        self.expect(self.get(), 0)
        self.assertEqual((len(self.server.exchanges()), self.server.refused), (1, 0))

    def test_a_little_early(self):
        """The host treats the token as expired some seconds before the server does, and at a different moment for each client."""
        self.start(lifetime=1000)
        started = time.time()
        self.logged_in()
        (session,) = self.sessions()
        expiry = calendar.timegm(time.strptime(session["expires"], "%Y-%m-%dT%H:%M:%SZ"))
        self.assertLess(expiry, time.time() + 996)
        self.assertGreater(expiry, started + 988)

    @cases({"zero": 0, "negative": -1, "missing": None, "words": "never", "far": 10**18})
    def test_lifetime_that_is_none(self, lifetime):
        """Such a token is used until the server rejects it. Otherwise, each command would renew it."""
        self.start(response=lambda members: {
            key: value for key, value in (members | {"expires_in": lifetime}).items() if value is not None})
        self.logged_in()
        for _ in range(2):
            self.expect(self.get(), 0)
        self.assertEqual(self.server.exchanges(), [])

    @cases({
        "lower_case": {"token_type": "bearer"}, "upper_case": {"token_type": "BEARER"}, "number_as_string": {"expires_in": "3600"},
        "slack": {"ok": True, "token_type": "bot", "scope": "chat:write,channels:read"}})
    def test_shapes_of_servers(self, members):
        self.start(response=lambda known: known | members)
        self.logged_in()
        self.server.expire()
        self.expect(self.get(), 0)
        self.assertTrue(self.server.is_alive())

    def test_form_instead_of_json(self):
        """GitHub's default."""
        self.start()
        self.logged_in()
        self.server.expire()

        def as_form(server, seen):
            members = json.loads(server.token(server.form(seen)).partition(b"\r\n\r\n")[2])
            return reply("200 OK", "Content-Type: application/x-www-form-urlencoded", body=urllib.parse.urlencode(members).encode())

        self.server.faults = [as_form]
        self.expect(self.get(), 0)
        self.server.expire()
        self.expect(self.get(), 0)
        self.assertTrue(self.server.is_alive())

    def test_server_that_keeps_its_refresh_token(self):
        self.start(rotates=False)
        self.logged_in()
        for _ in range(2):
            self.server.expire()
            self.expect(self.get(), 0)
        first, second = self.server.exchanges()
        self.assertEqual(first["refresh_token"], second["refresh_token"])

    def test_client_with_a_secret(self):
        self.start(secret=SECRET)
        self.logged_in()
        self.server.expire()
        outcome = self.get("-v")
        self.expect(outcome, 0)
        self.expect_no_secret(outcome)

    @cases({"granted_as_asked": (None, None), "granted_more": ("read write admin", ["read write"]), "granted_less": ("read", None)})
    def test_scope(self, granted, sent):
        """Sent only if the server has granted more than this request's token is for. Other scopes would be an invalid_scope."""
        self.start(granted=granted)
        words = ["--param", "scope=read", "--param", "scope=write"]
        self.logged_in(*words)
        self.server.expire()
        self.expect(self.get(*words), 0)
        (form,) = self.server.exchanges()
        self.assertEqual(form.get("scope"), sent)

    def test_recipients(self):
        """RFC 8707 §2.2: the same resource as at the login."""
        self.start()
        words = ["--set", "audience=https://api.example", "--set", "resource=https://one.example", "--set", "resource=https://two.example"]
        self.logged_in(*words)
        self.server.expire()
        self.expect(self.get(*words), 0)
        (form,) = self.server.exchanges()
        self.assertEqual(form["audience"], ["https://api.example"])
        self.assertEqual(form["resource"], ["https://one.example", "https://two.example"])

    def test_without_a_refresh_token(self):
        """A person has to log in again, and the error says how."""
        self.start(issues_refresh_tokens=False)
        self.logged_in()
        self.server.expire()
        outcome = self.get()
        self.expect(outcome, 113, "at a terminal: nevod-host login --plugin")
        self.assertEqual(self.server.exchanges(), [])
        self.expect(self.get(env={"BROWSER": str(self.browser)}), 0)


class ServerInTrouble(RenewalTestCase):
    """Nobody is logged out."""

    OUTAGES = {
        "status_500": reply("500 Internal Server Error"),
        "status_502_page": reply("502 Bad Gateway", HTML, body=PAGE),
        "status_503": reply("503 Service Unavailable"),
        "status_503_json": refusal("temporarily_unavailable", "Maintenance", "503 Service Unavailable"),
        "error_in_a_500": refusal("invalid_grant", None, "500 Internal Server Error"),
        "too_many": reply("429 Too Many Requests"),
        "too_many_json": refusal("slow_down", None, "429 Too Many Requests"),
        "unavailable_with_400": refusal("temporarily_unavailable", "Try later"),
        "server_error_with_400": refusal("server_error"),
        "page_with_200": reply("200 OK", HTML, body=PAGE),
        "page_with_400": reply("400 Bad Request", HTML, body=PAGE),
        "page_with_401": reply("401 Unauthorized", HTML, body=PAGE),
        "page_with_404": reply("404 Not Found", HTML, body=PAGE),
        "redirect": reply("302 Found", "Location: /login"),
        "empty_200": reply(),
        "empty_403": reply("403 Forbidden"),
        "empty_404": reply("404 Not Found"),
        "half_of_json": reply("200 OK", JSON, body=b'{"access_token": "abc", "expires'),
        "no_token": as_json({"token_type": "Bearer"}),
        "invalid_token": as_json({"access_token": "a\nb", "token_type": "Bearer"}),
        "repeated_error": reply("400 Bad Request", JSON, body=b'{"error":"server_error","error":"invalid_grant"}'),
        "list": reply("400 Bad Request", JSON, body=b'["invalid_grant"]'),
        "unknown_code": refusal("hiccup_of_the_day", "Nobody knows"),
        "slack_ratelimited": as_json({"ok": False, "error": "ratelimited"}),
        "no_response": Cut(),
        "cut_head": Cut(b"HTTP/1.1 200 OK\r\nContent-Ty"),
        "cut_body": Cut(reply("200 OK", JSON, body=b'{"access_token":"abc","token_type":"Bearer"}')[:-5]),
        "cut_refusal": Cut(refusal("invalid_grant")[:-2]),
        "not_http": Cut(b"SSH-2.0-OpenSSH_9.2\r\n"),
    }

    @cases(OUTAGES)
    def test_during_the_renewal(self, response):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [response]
        outcome = self.get()
        self.expect_kept(outcome)
        self.assertEqual(len(self.server.exchanges()), 2)

    def test_what_it_says(self):
        self.start()
        self.logged_in()
        for response, *words in [
                (reply("503 Service Unavailable", "Retry-After: 3600"), "status 503", "it asks to wait for 3600 s", "try again later"),
                (refusal("temporarily_unavailable", "Back at 10"), "temporarily_unavailable (Back at 10)", "still stored"),
                (reply("200 OK", HTML, body=PAGE), "is not an OAuth response (status 200)"),
                (refusal("hiccup", "Odd"), "the server refused the renewal: hiccup (Odd)")]:
            self.server.expire()
            self.server.faults = [response]
            self.expect_failure(self.get(), 112, *words)

    def test_restarted(self):
        """The server is away for one command, and back for the next."""
        with RotatingServer() as server:
            self.server = server
            self.logged_in()
            server.expire()
        self.expect_failure(self.get(), 7, "Connection refused")
        self.assertEqual(len(self.sessions()), 1)
        self.server = RotatingServer(port=server.port)
        self.server.refresh = server.refresh
        with self.server:
            self.expect(self.get(), 0)
            self.assertTrue(self.server.is_alive())

    def test_client_that_is_not_accepted(self):
        """The refusal says nothing about the user: a secret that was changed at the server can be corrected in the settings."""
        self.start(secret=SECRET)
        self.logged_in()
        self.server.expire()
        self.server.secret = "another"
        outcome = self.get()
        self.expect_failure(
            outcome, 111, "client-secret was not accepted by the server", "invalid_client (Wrong client or secret)", "check client-id")
        self.expect_no_secret(outcome)
        self.server.secret = SECRET
        self.expect(self.get(), 0)

    @cases({"challenge": reply("401 Unauthorized", 'WWW-Authenticate: Basic realm="x"'), "unauthorized": refusal("unauthorized_client"),
            "github": as_json({"error": "incorrect_client_credentials", "error_description": "The client_id is incorrect."}),
            "auth0": refusal("access_denied", "Unauthorized", "401 Unauthorized")})
    def test_client_in_other_words(self, response):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [response]
        outcome = self.get()
        self.expect(outcome, 111, "client-id was not accepted by the server")
        self.expect_kept(outcome)

    @cases({
        "seconds": (lambda now: ["Retry-After: 1"], "503 Service Unavailable"),
        "zero": (lambda now: ["Retry-After: 0"], "429 Too Many Requests"),
        "date": (lambda now: ["Date: " + email.utils.formatdate(now - 9000, usegmt=True),
                              "Retry-After: " + email.utils.formatdate(now - 8999, usegmt=True)], "429 Too Many Requests"),
        "past": (lambda now: ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"], "503 Service Unavailable")})
    def test_short_wait(self, lines, status):
        """The server asks for a wait and gets it, and nobody notices. A date is relative to the server's own clock."""
        self.start()
        self.logged_in()
        self.server.expire()
        times = []

        def busy(server, seen):
            times.append(time.monotonic())
            return reply(status, *lines(time.time()))

        def free(server, seen):
            times.append(time.monotonic())
            return server.token(server.form(seen))

        self.server.faults = [busy, free]
        self.expect(self.get(), 0)
        self.assertGreaterEqual(times[1] - times[0], 0.99)
        self.assertLess(times[1] - times[0], 10)
        self.assertTrue(self.server.is_alive())

    def test_short_wait_is_granted_once(self):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [reply("429 Too Many Requests", "Retry-After: 1")] * 2
        outcome = self.get()
        self.assertEqual(len(self.server.exchanges()), 2)
        self.expect_kept(outcome)

    @cases({"long": "31", "endless": "9" * 40, "far": "Fri, 31 Dec 2260 23:59:59 GMT", "words": "soon", "negative": "-1", "empty": ""})
    def test_no_such_wait(self, value):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [reply("503 Service Unavailable", f"Retry-After: {value}")]
        outcome = self.get()
        self.assertEqual(len(self.server.exchanges()), 1)
        self.expect_kept(outcome)


class LostResponse(RenewalTestCase):
    """The server has rotated, and its response doesn't arrive."""

    def lose(self, data=b""):
        self.start()
        self.logged_in()
        self.server.expire()

        def renew(server, seen):
            server.token(server.form(seen))
            return Cut(data)

        self.server.faults = [renew]
        outcome = self.get()
        self.assertNotEqual(outcome.code, 0)
        self.assertNotIn("cleared", outcome.err)
        self.assertEqual(len(self.server.exchanges()), 1)
        self.assertEqual(self.server.reuses, 0)
        self.assertEqual(len(self.sessions()), 1)

    def test_grace(self):
        """If a server accepts the old refresh token a little longer, the session goes on."""
        self.lose()
        for token in self.server.refresh.values():
            token["spent"] = False
        self.expect(self.get(), 0)
        first, second = self.server.exchanges()
        self.assertEqual(first["refresh_token"], second["refresh_token"])

    @cases({"access_token": {"access_token": "a\nb"}, "type": {"token_type": "mac"}, "no_access_token": {"access_token": None}})
    def test_access_token_that_can_not_be_used(self, members):
        """The response arrives, and its refresh token is valid from now on."""
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.response = lambda known: known | members
        self.expect(self.get(), 112)
        self.server.response = lambda known: known
        self.expect(self.get(), 0)
        self.assertTrue(self.server.is_alive())

    @cases({"nothing": b"", "head": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"})
    def test_strict(self, data):
        """A strict server ends the session. The command says so once, with the reason, and doesn't ask the server again."""
        self.lose(data)
        outcome = self.get()
        self.expect(
            outcome, 112, "invalid_grant (Token has been revoked)", "the session is cleared; log in again: nevod-host login --plugin")
        self.assertEqual(self.sessions(), [])
        self.assertEqual(len(self.server.exchanges()), 2)
        self.expect(self.get(), 113)
        self.assertEqual(len(self.server.exchanges()), 2)

    def test_kept_connection(self):
        """The API's connection was kept, and closes when the renewal is sent on it. libcurl would send the renewal again on
        another one."""
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [Cut(), Cut()]
        outcome = self.get()
        self.assertEqual(len(self.server.exchanges()), 1)
        api = [seen.port for seen in self.server.requests if seen.path == "/api"]
        token = [seen.port for seen in self.server.requests if seen.path == "/token"]
        self.assertNotIn(token[-1], api)
        self.server.faults = []
        self.expect_kept(outcome)


class Refused(RenewalTestCase):
    """The server ends the session. The user is logged out once, with the reason and what to do."""

    @cases({
        "invalid_grant": (refusal("invalid_grant", "Refresh token has expired"), "invalid_grant (Refresh token has expired)"),
        "without_words": (refusal("invalid_grant"), "the server refused the renewal: invalid_grant"),
        "as_a_form": (reply("400 Bad Request", body=b"error=invalid_grant&error_description=Gone+away"), "invalid_grant (Gone away)"),
        "access_denied": (refusal("access_denied", "No", "403 Forbidden"), "access_denied (No)"),
        "with_a_mark": (reply("400 Bad Request", JSON, body=b'\xef\xbb\xbf{"error":"invalid_grant"}'), "invalid_grant"),
        "in_latin": (reply("400 Bad Request", JSON, body=b'{"error":"invalid_grant","error_description":"ung\xfcltig"}'), "invalid_grant (ung ltig)"),
        "github": (as_json({"error": "bad_refresh_token", "error_description": "The refresh token passed is incorrect or expired."}),
                   "bad_refresh_token (The refresh token passed is incorrect or expired.)"),
        "slack": (as_json({"ok": False, "error": "invalid_refresh_token"}), "invalid_refresh_token"),
        "google": (as_json({"error": "invalid_grant", "error_description": "Token has been expired or revoked."}, "400 Bad Request"),
                   "invalid_grant (Token has been expired or revoked.)"),
        "uaa": (refusal("invalid_token", "The token expired", "401 Unauthorized"), "invalid_token (The token expired)"),
        "openid": (refusal("interaction_required", "MFA"), "interaction_required (MFA)"),
        "empty_400": (reply("400 Bad Request"), "the server refused the renewal: status 400"),
        "empty_401": (reply("401 Unauthorized"), "the server refused the renewal: status 401"),
    })
    def test_by(self, response, words):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [response]
        outcome = self.get()
        command = f"nevod-host login --plugin {BUILD}/libOAuth2Auth.so --set 'authorization-url={self.server.http}/authorize'"
        self.expect(
            outcome, 112, f"warning: the session is cleared; log in again: {command}", ": the server refused to renew the token: ", words)
        self.assertEqual(outcome.err.count("cleared"), 1, outcome)
        self.assertEqual(self.sessions(), [])
        # Nothing remains that could be sent again.
        self.expect(self.get(), 113, "at a terminal: nevod-host login --plugin")
        self.assertEqual(len(self.server.exchanges()), 1)
        self.logged_in()
        self.expect(self.get(), 0)

    def test_expired_token(self):
        """No request is sent with an expired token, so the command fails without a response."""
        self.start(lifetime=1)
        self.logged_in()
        end = time.time() + 1
        wait_until(lambda: time.time() > end, "the expiry")
        self.server.faults = [refusal("invalid_grant", "Too late")]
        outcome = self.get()
        self.expect(outcome, 112, "the session is cleared", "invalid_grant (Too late)", "log in again: ")
        self.assertEqual(self.server.refused, 0)
        self.assertEqual(self.sessions(), [])

    @cases({"words": False, "secrets": True})
    def test_hostile_words(self, repeats):
        """The server's words are shown as printable ASCII, limited in length, and only if they repeat nothing that was sent to it."""
        self.start(secret=SECRET)
        self.logged_in()
        self.server.expire()

        def echo(server, seen):
            secrets = f"{server.form(seen)['refresh_token']} and {SECRET}, too" if repeats else ""
            return refusal(
                "invalid_grant", f"\x1b[2J\u202e{secrets}\r\nnevod-host: all is well eyJhbGciOi0123456789" + " long" * 500)

        self.server.faults = [echo]
        outcome = self.get("-vv")
        self.expect(outcome, 112, "invalid_grant" if repeats else "invalid_grant ([2J nevod-host: all is well ... long long")
        self.assertEqual("all is well" in outcome.err, not repeats)
        self.assertNotIn("eyJhbGci", outcome.err)
        self.assertNotIn("\x1b", outcome.err)
        self.assertLess(max(len(line) for line in outcome.err.splitlines() if "refused to renew" in line), 1500)
        self.expect_no_secret(outcome)

    def test_silent(self):
        self.start()
        self.logged_in()
        self.server.expire()
        self.server.faults = [refusal("invalid_grant")]
        outcome = self.get("-s")
        self.assertEqual((outcome.code, outcome.err), (112, ""))


class Logout(RenewalTestCase):
    def logged_out(self, *words):
        outcome = self.run_host("logout", *self.scheme(*words))
        self.assertEqual(self.sessions(), [])
        self.expect_no_secret(outcome)
        return outcome

    @cases({
        "both": ([], ["refresh_token", "access_token"]), "refresh_token": (["--set", "revoke=refresh-token"], ["refresh_token"])})
    def test_revokes(self, words, kinds):
        self.start()
        self.logged_in(*words)
        outcome = self.logged_out(*words)
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"logged out\n", ""), outcome)
        self.assertEqual(self.server.revocations, kinds)
        self.assertEqual(len(self.server.revoked), 1)

    @cases({"both": [], "refresh_token": ["--set", "revoke=refresh-token"]})
    def test_without_a_refresh_token(self, words):
        self.start(issues_refresh_tokens=False)
        self.logged_in(*words)
        self.expect(self.logged_out(*words), 0)
        self.assertEqual(self.server.revocations, ["access_token"])
        self.assertEqual(self.server.access, {})

    def test_never(self):
        self.start()
        words = ["--set", "revoke=never"]
        self.logged_in(*words)
        self.expect(self.logged_out(*words), 0, "cleared here, but nothing was sent to the server")
        self.assertEqual(self.server.revocations, [])

    def test_expired_access_token(self):
        self.start(lifetime=1)
        self.logged_in()
        end = time.time() + 1
        wait_until(lambda: time.time() > end, "the expiry")
        self.expect(self.logged_out(), 0)
        self.assertEqual(self.server.revocations, ["refresh_token"])

    def test_client_with_a_secret(self):
        self.start(secret=SECRET)
        self.logged_in()
        self.expect(self.logged_out(), 0)
        self.assertEqual(len(self.server.revoked), 1)

    @cases({
        "kind_not_supported": refusal("unsupported_token_type"), "gone": refusal("invalid_token", "Token expired or revoked"),
        "page": reply("200 OK", HTML, body=PAGE)})
    def test_access_token_that_went_with_the_other(self, response):
        self.start()
        self.logged_in()
        self.server.revoking = {"access_token": [response]}
        outcome = self.logged_out()
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)

    @cases({
        "kind_not_supported": (refusal("unsupported_token_type"), "unsupported_token_type"),
        "busy": (reply("503 Service Unavailable", "Retry-After: 120"), "it asks to wait for 120 s"),
        "refused": (refusal("invalid_request", "No"), "invalid_request (No)"),
        "empty_400": (reply("400 Bad Request"), "status 400"), "empty_401": (reply("401 Unauthorized"), "status 401"),
        "slack": (as_json({"ok": False, "error": "not_authed"}), "not_authed")})
    def test_refresh_token_that_stays_valid(self, response, words):
        """The session is cleared here. The server may still know it, but the access token is still revoked."""
        self.start()
        self.logged_in()
        self.server.revoking = {"refresh_token": [response]}
        outcome = self.logged_out()
        self.expect(outcome, 112, "the session is cleared here, but the server may not know", "the refresh token's revocation", words)
        self.assertEqual(outcome.out, b"")
        self.assertNotIn("try again", outcome.err)
        self.assertEqual(self.server.revocations, ["refresh_token", "access_token"])

    def test_short_wait(self):
        self.start()
        self.logged_in()
        self.server.revoking = {"refresh_token": [reply("503 Service Unavailable", "Retry-After: 1")]}
        self.expect(self.logged_out(), 0)
        self.assertEqual(self.server.revocations, ["refresh_token", "refresh_token", "access_token"])

    def test_server_that_is_away(self):
        self.start()
        self.logged_in()
        self.server.revoking = {"refresh_token": [Cut()]}
        outcome = self.logged_out()
        self.expect(outcome, 112, "cleared here, but the server may not know")
        # The command doesn't wait twice for an unreachable server.
        self.assertEqual(self.server.revocations, ["refresh_token"])

    def test_every_set_of_scopes(self):
        """Each set has its own token."""
        self.start()
        for scope in ("read", "write"):
            self.logged_in("--param", f"scope={scope}")
        self.expect(self.run_host("logout", *self.scheme()), 0)
        self.assertEqual(self.server.revocations, ["refresh_token", "access_token"] * 2)
        self.assertEqual(self.sessions(), [])
