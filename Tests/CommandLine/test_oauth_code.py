"""OAuth 2.0 logins by people: the authorization code grant with a scripted browser or a pasted address, pushed requests, and the
device grant. The server is strict: it checks the client, the redirect URI, that a code is used once, and its proof."""

import base64
import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

from support import BUILD, PATIENCE, SECRET, RecordingServer, TestCase, cases, environment, reply, wait_until
from test_terminal import TerminalSession

PLUGIN = BUILD / "libOAuth2Auth.so"
CALLBACK = re.compile(r"http://127\.0\.0\.1:\d+/callback")

# Opens the address, and then what the page lists: addresses, some with a form to post.
BROWSER = """#!/usr/bin/env python3
import json, sys, urllib.error, urllib.request
log, address = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def visit(url, form=None):
    try:
        with opener.open(urllib.request.Request(url, form and form.encode()), timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, b""
    except OSError:
        return 0, b""
status, page = visit(address)
statuses = [visit(*step)[0] for step in json.loads(page)] if page.startswith(b"[") else []
with open(log, "a") as file:
    print(status, *statuses, file=file)
"""


def encoded(**fields):
    return urllib.parse.urlencode({name: value for name, value in fields.items() if value is not None})


class AuthorizationServer(RecordingServer):
    """An authorization server and its API. `consent`, which tests replace, acts for a person and the server's page."""

    def __init__(self):
        super().__init__(self.route)
        self.secret, self.methods = None, ("none",)
        self.codes, self.pushed, self.devices, self.tokens = {}, {}, {}, []
        self.consent = self.agree
        self.polls = []
        self.metadata = {}

    # What a test looks at.

    def of(self, path):
        return [seen for seen in self.requests if seen.path == path]

    def forms(self, path):
        return [dict(urllib.parse.parse_qsl(seen.body.decode(), keep_blank_values=True)) for seen in self.of(path)]

    def queries(self):
        return [dict(urllib.parse.parse_qsl(seen.query, keep_blank_values=True)) for seen in self.of("/authorize")]

    # What the server does.

    def route(self, seen):
        handler = {
            "/authorize": self.authorize, "/par": self.push, "/token": self.token, "/device": self.device, "/api": self.api,
            "/.well-known/openid-configuration": self.describe, "/.well-known/oauth-authorization-server": self.describe,
        }.get(seen.path)
        return handler(seen) if handler else reply("404 Not Found")

    def describe(self, seen):
        endpoints = {
            "issuer": self.http, "authorization_endpoint": self.http + "/authorize", "token_endpoint": self.http + "/token",
            "device_authorization_endpoint": self.http + "/device", "code_challenge_methods_supported": ["S256"],
            "response_types_supported": ["code"], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"]}
        return self.json(endpoints | self.metadata)

    def json(self, value, status="200 OK"):
        return reply(status, "Content-Type: application/json", "Cache-Control: no-store", body=json.dumps(value).encode())

    def error(self, code, description=None, status="400 Bad Request"):
        return self.json({"error": code} | ({"error_description": description} if description else {}), status)

    def fields(self, text):
        """The fields. Each may occur only once (RFC 6749 §3.1)."""
        fields = urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=True)
        names = [name for name, _ in fields if name not in ("resource", "audience")]
        assert len(names) == len(set(names)), names
        return dict(fields)

    def client(self, seen, form):
        """The client's authentication method, or None if it isn't authenticated."""
        lines = seen.values("Authorization")
        if lines:
            name, _, secret = base64.b64decode(lines[0].removeprefix("Basic ")).decode().partition(":")
            found = ("basic", urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(secret))
        elif "client_secret" in form:
            found = ("post", form["client_id"], form["client_secret"])
        else:
            found = ("none", form.get("client_id"), self.secret)
        return found[0] if found[0] in self.methods and found[1:] == ("app", self.secret) else None

    def check(self, fields):
        assert fields["response_type"] == "code" and fields["client_id"] == "app", fields
        assert fields["state"] and fields["redirect_uri"], fields
        assert "client_secret" not in fields, fields
        if "code_challenge" in fields:
            assert fields["code_challenge_method"] == "S256" and len(fields["code_challenge"]) == 43, fields

    def push(self, seen):
        form = self.fields(seen.body.decode())
        if not self.client(seen, form):
            return self.error("invalid_client", status="401 Unauthorized")
        form.pop("client_secret", None)
        self.check(form)
        reference = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(16)
        self.pushed[reference] = form
        return self.json({"request_uri": reference, "expires_in": 60}, "201 Created")

    def authorize(self, seen):
        fields = self.fields(seen.query)
        if "request_uri" in fields:
            assert set(fields) == {"client_id", "request_uri"}, fields
            fields = self.pushed.pop(fields["request_uri"])
        self.check(fields)
        return self.consent(fields)

    def code(self, fields):
        code = secrets.token_urlsafe(24)
        self.codes[code] = fields
        return code

    def agree(self, fields):
        return self.redirect(fields, code=self.code(fields), state=fields["state"])

    def redirect(self, fields, **query):
        uri = fields["redirect_uri"]
        return reply("302 Found", f"Location: {uri}{'&' if '?' in uri else '?'}{encoded(**query)}")

    def page(self, *steps):
        """Makes the browser visit each of these: an address, or an address and a form."""
        return reply(body=json.dumps([step if isinstance(step, list) else [step] for step in steps]).encode())

    def token(self, seen):
        form = self.fields(seen.body.decode())
        assert seen.values("Content-Type") == ["application/x-www-form-urlencoded"], seen
        if not self.client(seen, form):
            return self.error("invalid_client", status="401 Unauthorized")
        if form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code":
            return self.poll(form)
        assert form["grant_type"] == "authorization_code", form
        asked = self.codes.pop(form["code"], None)
        if not asked or form["redirect_uri"] != asked["redirect_uri"]:
            return self.error("invalid_grant", "The code is unknown")
        verifier = form.get("code_verifier", "")
        assert bool(verifier) == ("code_challenge" in asked), form
        if verifier:
            assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", verifier), verifier
            challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
            if challenge != asked["code_challenge"]:
                return self.error("invalid_grant", "The proof is wrong")
        return self.issue()

    def issue(self):
        self.tokens.append(secrets.token_urlsafe(24))
        return self.json({"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 3600})

    def device(self, seen):
        form = self.fields(seen.body.decode())
        assert form["client_id"] == "app", form
        if not self.client(seen, form):
            return self.error("invalid_client", status="401 Unauthorized")
        code = secrets.token_urlsafe(24)
        self.devices[code] = list(self.polls)
        return self.json({
            "device_code": code, "user_code": "WDJB-MJHT", "verification_uri": self.http + "/activate", "expires_in": 60, "interval": 1,
        } | self.metadata)

    def poll(self, form):
        answers = self.devices[form["device_code"]]
        return answers.pop(0)() if answers else self.issue()

    def api(self, seen):
        if seen.values("Authorization") != [f"Bearer {token}" for token in self.tokens[-1:]]:
            return reply("401 Unauthorized", "WWW-Authenticate: Bearer")
        return reply(body=b"hello")


class OAuthTestCase(TestCase):
    GRANT = "code"

    def setUp(self):
        self.server = self.enterContext(AuthorizationServer())
        self.script = self.file("browser", BROWSER, mode=0o755)
        self.log = self.folder / "log"
        self.browser = {"BROWSER": f"{self.script} {self.log}"}

    def words(self, *settings, words=()):
        given = [
            f"grant={self.GRANT}", f"token-url={self.server.http}/token", f"authorization-url={self.server.http}/authorize",
            f"device-url={self.server.http}/device", "client-id=app", *settings]
        flags = [word for setting in given for word in ("--set", setting)]
        return ["-f", "--no-store", "--plugin", PLUGIN, *flags, *words, self.server.http + "/api"]

    def login(self, *settings, words=(), env=None):
        return self.run_host(*self.words(*settings, words=words), env=self.browser if env is None else env)

    def visits(self, count=1):
        """Waits until the browser has ended that often. Returns its statuses: the authorization endpoint's, and one for each
        later visit."""
        lines = wait_until(
            lambda: self.log.exists() and len(found := self.log.read_text().splitlines()) >= count and found, "the browser's end")
        return [[int(word) for word in line.split()] for line in lines]

    def expect_login(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello", outcome)
        self.expect_secrets_kept(outcome)

    def expect_secrets_kept(self, outcome):
        for form in self.server.forms("/token"):
            for name in ("code", "code_verifier", "client_secret", "device_code"):
                if name in form:
                    self.assertNotIn(form[name], outcome.err)
        for token in [*self.server.tokens, SECRET]:
            self.assertNotIn(token, outcome.err)

    def expect_refusal(self, outcome, code, *fragments):
        """The login ends without a token request, and nothing is sent to the API."""
        self.expect(outcome, code, *fragments)
        self.assertEqual((outcome.out, self.server.of("/token"), self.server.of("/api")), (b"", [], []), outcome)


class Code(OAuthTestCase):
    def test_login(self):
        self.expect_login(self.login("scope=read write", words=["-v"]))
        [query], [form] = self.server.queries(), self.server.forms("/token")
        self.assertEqual(
            set(query), {"response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "scope"})
        self.assertRegex(query["redirect_uri"], CALLBACK)
        self.assertEqual(query["scope"], "read write")
        self.assertEqual(set(form), {"grant_type", "code", "redirect_uri", "code_verifier", "client_id"})
        self.assertEqual(form["redirect_uri"], query["redirect_uri"])
        self.assertEqual(self.visits(), [[200]])

    def test_each_login_has_its_own_values(self):
        for _ in range(2):
            self.expect_login(self.login("scope=openid"))
        first, second = self.server.queries()
        for name in ("state", "nonce", "code_challenge"):
            self.assertRegex(first[name], r"^[A-Za-z0-9_-]{43}$")
            self.assertNotEqual(first[name], second[name])
        self.assertEqual(len({first["state"], first["nonce"], first["code_challenge"]}), 3)

    @cases({"basic": "basic", "post": "post"})
    def test_client_with_a_secret(self, method):
        self.server.secret, self.server.methods = SECRET, (method,)
        self.expect_login(self.login(f"client-auth={method}", "client-secret=env:NEVOD_TEST_SECRET", words=["-v"]))

    def test_client_with_a_wrong_secret(self):
        self.server.secret, self.server.methods = "another", ("basic",)
        outcome = self.login("client-auth=basic", "client-secret=env:NEVOD_TEST_SECRET")
        self.assertNotEqual(outcome.code, 0)
        self.expect(outcome, outcome.code, "invalid_client")
        self.assertEqual((len(self.server.of("/token")), self.server.of("/api")), (1, []))

    def test_without_pkce(self):
        self.server.secret, self.server.methods = SECRET, ("basic",)
        self.expect_login(self.login("pkce=false", "client-auth=basic", "client-secret=env:NEVOD_TEST_SECRET"))
        self.assertNotIn("code_challenge", self.server.queries()[0])
        self.assertNotIn("code_verifier", self.server.forms("/token")[0])

    def test_what_the_request_asks_for(self):
        self.expect_login(self.login(
            "audience=api", "resource=https://api.example.com/", "authorization-parameter=prompt=login", words=["--account", "ada"]))
        [query], [form] = self.server.queries(), self.server.forms("/token")
        self.assertEqual(
            [query[name] for name in ("audience", "resource", "prompt", "login_hint")],
            ["api", "https://api.example.com/", "login", "ada"])
        self.assertEqual(form["resource"], "https://api.example.com/")

    def test_form_post(self):
        self.server.consent = lambda fields: self.server.page(
            [fields["redirect_uri"] + "?code=evil&state=" + fields["state"]],
            [fields["redirect_uri"], encoded(code=self.server.code(fields), state=fields["state"])])
        self.expect_login(self.login("response-mode=form-post", words=["-v"]))
        self.assertEqual(self.server.queries()[0]["response_mode"], "form_post")
        # In this mode, a redirect with a query doesn't count.
        self.assertEqual(self.visits(), [[200, 404, 200]])

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]

    @cases({
        "path": "http://127.0.0.1:{}/a/b", "localhost": "http://localhost:{}/cb", "root": "http://127.0.0.1:{}", "any_port": "http://localhost/cb"})
    def test_registered_redirect(self, uri):
        uri = uri.format(self.free_port())
        self.expect_login(self.login(f"redirect-uri={uri}"))
        sent = self.server.queries()[0]["redirect_uri"]
        self.assertEqual(re.sub(r":\d+/cb", "/cb", sent) if uri.endswith("localhost/cb") else sent, uri)

    def test_port_that_is_taken(self):
        port = self.closed_port()
        outcome = self.login(f"redirect-uri=http://127.0.0.1:{port}/cb")
        self.expect_refusal(outcome, 112, f"can't listen at 127.0.0.1:{port} for the browser's redirect: another program uses the port")
        self.assertEqual(self.server.of("/authorize"), [])


class HostileRedirects(OAuthTestCase):
    """Each is rejected or ignored. Only this login's own code goes to the token endpoint."""

    @cases({
        "refused": (
            {"error": "access_denied", "error_description": "Ada said\r\nno"}, "the login was refused in the browser (Ada said no)"),
        "unavailable": ({"error": "temporarily_unavailable"}, "the server can't log anybody in now: temporarily_unavailable"),
        "other_error": (
            {"error": "unauthorized_client", "error_description": "\x1b[2Jeyes only: " + "A1b2" * 12},
            "the server refused the login: unauthorized_client ([2Jeyes only: ...)"),
        "no_code": ({}, "the browser's redirect has neither a code nor an error"),
        "empty_code": ({"code": ""}, "the browser's redirect has an invalid code"),
        "code_with_control_characters": ({"code": "a\r\nb"}, "the browser's redirect has an invalid code"),
        "other_issuer": (
            {"code": "c", "iss": "https://evil.example"}, "the browser's redirect is from the issuer https://evil.example, but the login was started at "),
        "error_of_another_issuer": (
            {"error": "access_denied", "iss": "https://evil.example"}, "the browser's redirect is from the issuer https://evil.example"),
        "issuer_with_a_slash": ({"code": "c", "iss": "{}/"}, "the browser's redirect is from the issuer "),
    })
    def test_refused(self, query, fragment):
        query = {name: value.format(self.server.http) if name == "iss" else value for name, value in query.items()}
        self.server.consent = lambda fields: self.server.redirect(fields, state=fields["state"], **query)
        outcome = self.login(f"issuer={self.server.http}")
        self.expect_refusal(outcome, 112, fragment)
        self.assertNotIn("\x1b", outcome.err)
        self.assertNotIn("A1b2", outcome.err)

    @cases({"code": "code=a&code=b", "issuer": "iss=a&iss=b&code=c", "error": "error=access_denied&error=x"})
    def test_parameter_twice(self, query):
        self.server.consent = lambda fields: reply("302 Found", f"Location: {fields['redirect_uri']}?state={fields['state']}&{query}")
        self.expect_refusal(self.login(f"issuer={self.server.http}"), 112, "the browser's redirect has 2 values of \"")

    def test_right_issuer(self):
        self.server.consent = lambda fields: self.server.redirect(
            fields, code=self.server.code(fields), state=fields["state"], iss=self.server.http)
        self.expect_login(self.login(f"issuer={self.server.http}"))

    def test_strangers_are_ignored(self):
        """Other states, paths and ports are ignored. The browser is opened once, and its own redirect counts."""
        other = self.closed_port()

        def consent(fields):
            uri, state = fields["redirect_uri"], fields["state"]
            return self.server.page(
                f"{uri}?code=evil&state=x", f"{uri}?error=access_denied", f"{uri}?code=evil&state={state}&state={state}",
                f"{uri}2?code=evil&state={state}", f"{uri}/?code=evil&state={state}", re.sub(r":\d+/", f":{other}/", uri) + f"?code=evil&state={state}",
                [uri, f"code=evil&state={state}"], f"{uri}?code={self.server.code(fields)}&state={state}")

        self.server.consent = consent
        self.expect_login(self.login())
        self.assertEqual(self.visits(), [[200, 200, 200, 200, 404, 404, 0, 404, 200]])
        self.assertEqual(len(self.server.of("/authorize")), 1)

    def test_strangers_are_not_ignored_for_ever(self):
        self.server.consent = lambda fields: self.server.page(*[fields["redirect_uri"] + "?code=evil&state=x"] * 100)
        self.expect_refusal(self.login(), 112, "20 redirects arrived that don't belong to this login; close other login windows")
        self.assertEqual(len(self.server.of("/authorize")), 1)

    def test_second_redirect(self):
        """A code is redeemed once, however often the browser brings it, and a later redirect changes nothing."""
        def consent(fields):
            good = f"{fields['redirect_uri']}?code={self.server.code(fields)}&state={fields['state']}"
            return self.server.page(good, good, f"{fields['redirect_uri']}?error=access_denied&state={fields['state']}")

        self.server.consent = consent
        self.expect_login(self.login())
        self.assertEqual(len(self.server.of("/token")), 1)

    def test_code_of_another_login(self):
        """An attacker's code, injected with this login's state. The server finds that the proof belongs to another login."""
        self.server.consent = lambda fields: self.server.redirect(
            fields, code=self.server.code(fields | {"code_challenge": "A" * 43}), state=fields["state"])
        outcome = self.login()
        self.assertNotEqual(outcome.code, 0, outcome)
        self.expect(outcome, outcome.code, "invalid_grant")
        self.assertEqual((outcome.out, self.server.tokens, self.server.of("/api")), (b"", [], []))

    def test_code_that_is_used(self):
        """The server has given the same code to two logins."""
        self.expect_login(self.login())
        used = self.server.forms("/token")[0]["code"]
        self.server.consent = lambda fields: self.server.redirect(fields, code=used, state=fields["state"])
        outcome = self.login()
        self.assertNotEqual(outcome.code, 0, outcome)
        self.expect(outcome, outcome.code, "invalid_grant", "The code is unknown")
        self.assertEqual(len(self.server.tokens), 1)


class Pushed(OAuthTestCase):
    def test_reference_alone_is_in_the_address(self):
        self.expect_login(self.login(f"par-url={self.server.http}/par", "scope=read", "authorization-parameter=prompt=login"))
        [query], [form] = self.server.queries(), self.server.forms("/par")
        self.assertEqual(set(query), {"client_id", "request_uri"})
        self.assertEqual((form["client_id"], form["scope"], form["prompt"]), ("app", "read", "login"))
        self.assertNotIn("request_uri", form)

    @cases({"basic": "basic", "post": "post"})
    def test_client_proves_who_it_is(self, method):
        self.server.secret, self.server.methods = SECRET, (method,)
        self.expect_login(self.login(
            f"par-url={self.server.http}/par", "par=always", f"client-auth={method}", "client-secret=env:NEVOD_TEST_SECRET"))
        self.assertEqual(self.server.forms("/par")[0]["client_id"], "app")

    def test_never(self):
        self.expect_login(self.login(f"par-url={self.server.http}/par", "par=never"))
        self.assertEqual(self.server.of("/par"), [])

    def test_always_needs_an_endpoint(self):
        self.expect_refusal(self.login("par=always"), 111, "par-url is needed for pushed requests")

    def test_long_request(self):
        """A request that is too long for an address."""
        long = "authorization-parameter=claims=" + "x" * 9000
        self.expect_refusal(self.login(long), 111, "makes the login's address longer than 8192 bytes", "par=always")
        self.expect_login(self.login(long, f"par-url={self.server.http}/par"))

    @cases({
        "refused": (lambda server: server.error("invalid_request", "No such resource"), 112, "invalid_request"),
        "unavailable": (lambda server: reply("503 Service Unavailable", body=b"<html>"), 112, "503"),
        "no_reference": (lambda server: server.json({"expires_in": 60}, "201 Created"), 112, "has no valid request_uri"),
        "hostile_reference": (lambda server: server.json({"request_uri": "a b&x=\n"}, "201 Created"), 112, "has no valid request_uri"),
    })
    def test_failure(self, response, code, fragment):
        self.server.push = lambda seen: response(self.server)
        self.expect_refusal(self.login(f"par-url={self.server.http}/par"), code, fragment)
        self.assertEqual(self.server.of("/authorize"), [])


class Pasted(OAuthTestCase):
    """Without a browser, a person pastes the address where it ended."""

    def ended(self, err):
        """Logs in at the shown address, and returns the address where the browser would end."""
        address = next(line.removeprefix("nevod-host: ") for line in err.splitlines() if "/authorize?" in line)

        class Staying(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({}), Staying).open(address, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            return error.headers["Location"]

    @contextlib.contextmanager
    def pasting(self, *settings):
        """A login whose answers come through a pipe. Yields the address where the browser ended, and a function that finishes the
        login."""
        pipe = self.folder / "answer"
        os.mkfifo(pipe)
        process = subprocess.Popen(
            self.command(*self.words(*settings, words=["--answer", f"redirect=file:{pipe}"])), env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        with process:
            self.addCleanup(process.kill)
            err = []

            def read():
                for line in process.stderr:
                    err.append(line.decode())

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            wait_until(lambda: any("/authorize?" in line for line in err), "the address")

            def paste(text):
                pipe.write_text(text + "\n")
                out = process.stdout.read()
                process.wait(PATIENCE)
                reader.join(PATIENCE)
                return process.returncode, out, "".join(err)

            yield self.ended("".join(err)), paste

    @cases({"any_port": (), "elsewhere": ("redirect-uri=https://app.example.com/cb?x=1",), "own_scheme": ("redirect-uri=com.example.app:/cb",)})
    def test_address(self, *settings):
        with self.pasting(*settings) as (address, paste):
            code, out, err = paste(f"  {address} ")
        self.assertEqual((code, out), (0, b"hello"), err)
        self.assertIn("Log in with a browser at this address, then copy the address where it ended:", err)

    def test_code(self):
        with self.pasting() as (address, paste):
            code, out, err = paste(urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["code"][0])
        self.assertEqual((code, out), (0, b"hello"), err)

    @cases({
        "other_state": (r"state=[^&]+", "state=x", "the last one does not belong to this login"),
        "other_port": (r":\d+/", ":1/", "the last one does not begin with http://127.0.0.1:"),
        "other_path": (r"/callback", "/callback/x", "the last one does not begin with http://127.0.0.1:"),
        "empty": (r".*", "", "the last one is neither an address nor a code"),
    })
    def test_refused(self, pattern, replacement, fragment):
        with self.pasting() as (address, paste):
            code, out, err = paste(re.sub(pattern, replacement, address, count=1))
        self.assertEqual((code, out, self.server.of("/token"), self.server.of("/api")), (113, b"", [], []), err)
        self.assertIn(fragment, err)

    def test_refused_in_the_browser(self):
        self.server.consent = lambda fields: self.server.redirect(fields, error="access_denied", state=fields["state"])
        with self.pasting() as (address, paste):
            code, _, err = paste(address)
        self.assertEqual((code, self.server.of("/token")), (112, []), err)
        self.assertIn("the login was refused in the browser", err)

    def test_nobody_to_paste_it(self):
        self.expect_refusal(self.login(env={}), 113, 'asks for "redirect" (Address where the browser ended', "--answer redirect=env:VARIABLE")

    def test_form_needs_a_browser(self):
        self.expect_refusal(self.login("response-mode=form-post", env={}), 113, "set BROWSER to a command that opens addresses")

    def test_at_a_terminal(self):
        """With a browser on another machine."""
        with contextlib.closing(TerminalSession(self.words("paste-redirect=true"))) as terminal:
            def answer(prompt, text):
                terminal.read_until(lambda: prompt in terminal.shown, prompt)
                terminal.type(text.encode() + b"\n")

            terminal.read_until(lambda: b"it shows: " in terminal.shown, "the question")
            address = self.ended(terminal.shown.decode().replace("\r\n", "\n"))
            terminal.type(b"https://example.com/\n")
            answer(b"(the last one does not begin with http://127.0.0.1/callback): ", address)
            code, out, err = terminal.finish()
        self.assertEqual((code, out), (0, b"hello"), err)
        self.assertEqual(self.server.queries()[0]["redirect_uri"], "http://127.0.0.1/callback")


class Device(OAuthTestCase):
    GRANT = "device"

    def pending(self):
        return self.server.error("authorization_pending")

    def test_login(self):
        self.server.polls = [self.pending]
        outcome = self.login("scope=read", words=["-v"])
        self.expect_login(outcome)
        self.expect(
            outcome, 0, f"nevod-host: Enter the code WDJB-MJHT at this address, on any device:\nnevod-host: {self.server.http}/activate\n")
        self.assertEqual(self.server.forms("/device"), [{"scope": "read", "client_id": "app"}])
        self.assertEqual(len(self.server.of("/token")), 2)
        self.assertEqual(len({form["device_code"] for form in self.server.forms("/token")}), 1)

    def test_address_with_the_code(self):
        self.server.metadata = {"verification_uri_complete": self.server.http + "/activate?user_code=WDJB-MJHT"}
        self.expect(
            self.login(), 0,
            f"nevod-host: Enter the code WDJB-MJHT at {self.server.http}/activate, or open this address and compare the code:\n"
            f"nevod-host: {self.server.http}/activate?user_code=WDJB-MJHT\n")

    @cases({"basic": "basic", "post": "post"})
    def test_client_with_a_secret(self, method):
        self.server.secret, self.server.methods = SECRET, (method,)
        self.expect_login(self.login(f"client-auth={method}", "client-secret=env:NEVOD_TEST_SECRET", words=["-v"]))

    def test_code_reaches_the_person_exactly(self):
        self.server.metadata = {"user_code": "a  B-" + "0O1l" * 14 + "%s"}
        self.expect(self.login(), 0, f"Enter the code {self.server.metadata['user_code']} at this address")

    @cases({
        "refused": ("access_denied", "Not\r\nyou", "the login was refused on the other device (Not you)"),
        "expired": ("expired_token", None, "the code WDJB-MJHT expired before it was confirmed; log in again for a new one"),
        "other": ("invalid_grant", None, "invalid_grant"),
    })
    def test_failure(self, error, description, fragment):
        self.server.polls = [lambda: self.server.error(error, description)]
        outcome = self.login()
        self.expect(outcome, 112, fragment)
        self.assertEqual((outcome.out, len(self.server.of("/token")), self.server.of("/api")), (b"", 1, []), outcome)

    def test_form_with_the_status_200(self):
        """GitHub's older responses."""
        self.server.polls = [
            lambda: reply(body=b"error=authorization_pending&error_description=not+yet"),
            lambda: (self.server.issue(), reply(body=f"access_token={self.server.tokens[-1]}&token_type=bearer".encode()))[1]]
        self.expect_login(self.login())

    def test_server_that_is_away_for_a_moment(self):
        self.server.polls = [lambda: reply("503 Service Unavailable", body=b"<html>away")]
        self.expect_login(self.login())

    @cases({
        "control_characters": {"user_code": "AB\x1b[2JCD"}, "too_long": {"user_code": "A" * 65}, "none": {"user_code": None},
        "script": {"verification_uri": "javascript:alert(1)"}, "with_a_line": {"verification_uri": "https://a.example/\nnevod-host: done"},
        "no_code_for_the_device": {"device_code": ""},
    })
    def test_hostile_response(self, members):
        self.server.metadata = members
        outcome = self.login()
        self.expect_refusal(outcome, 112, "the server's response to the request for a device code has no valid " + next(iter(members)))
        self.assertNotIn("\x1b", outcome.err)

    def test_server_without_the_grant(self):
        self.server.device = lambda seen: self.server.error("unauthorized_client", "No device grant for you")
        outcome = self.login()
        self.expect_refusal(outcome, outcome.code, "unauthorized_client")
        self.assertNotEqual(outcome.code, 0)


class Settings(OAuthTestCase):
    @cases({
        "parameter": (["authorization-parameter=state=x"], 'must not set "state": the login itself does'),
        "scope": (["authorization-parameter=scope=x"], 'must not set "scope": the setting scope does'),
        "pkce": (["pkce=false"], "must be true without client-secret"),
        "redirect": (["redirect-uri=/callback"], "must be an absolute address without a fragment"),
        "form": (["redirect-uri=https://app.example.com/", "response-mode=form-post"], "must be query if the browser's address is pasted"),
    })
    def test_refused_before_anything_is_sent(self, settings, fragment):
        self.expect_refusal(self.login(*settings), 111, fragment)
        self.assertEqual(self.server.requests, [])

    @cases({"code": "code", "device": "device"})
    def test_client_is_needed(self, grant):
        words = self.words()
        index = words.index("client-id=app")
        words[words.index("grant=code")] = f"grant={grant}"
        del words[index - 1:index + 1]
        outcome = self.run_host(*words, env=self.browser)
        self.expect_refusal(outcome, 111, "client-id is needed: the identifier that the server gave this program")
