"""OAuth 2.0: the metadata of authorization servers and APIs, ID tokens, and the challenges of APIs that reject a token.

The servers are in this file. PyJWT, jwcrypto and Authlib make the ID tokens.
"""

import base64
import hashlib
import json
import re
import time
import unittest
import urllib.parse

import jwt
from authlib.jose import JsonWebToken, OKPKey
from authlib.oidc.core.util import create_half_hash
from cryptography.hazmat.primitives import serialization
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from support import BUILD, SECRET, RecordingServer, TestCase, authority, cases, reply

BROWSER = """#!/usr/bin/env python3
# A browser without a person: follows the redirects of the login.
import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], context=ssl._create_unverified_context(), timeout=60).read()
"""

OPENID, OAUTH = "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"


def form(body):
    return dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))


def document(content, status="200 OK", *lines):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return reply(status, "Content-Type: application/json", *lines, body=body)


class AuthorizationServer(RecordingServer):
    """Logs everyone in immediately, but is strict about its codes. Tests replace the documents, and what else a token response
    has."""

    def __init__(self, path="", **options):
        super().__init__(self.handle, **options)
        self.issuer = (self.https if self.tls else self.http) + path
        self.path = path
        self.documents = {}
        self.codes, self.exchanges, self.issued = {}, [], 0
        self.extra = lambda authorization, access_token: {}
        self.refreshes = True
        self.tokens = "/token"

    def metadata(self, **members):
        base = self.issuer.rstrip("/")
        return {
            "issuer": self.issuer, "authorization_endpoint": base + "/authorize", "token_endpoint": base + self.tokens,
            "jwks_uri": base + "/keys", "authorization_response_iss_parameter_supported": True,
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"], **members}

    def publish(self, where=OPENID, **members):
        self.documents[self.place(where)] = document(self.metadata(**members))

    def place(self, where):
        return where + self.path if where == OAUTH else self.path + where

    def handle(self, seen):
        if seen.path in self.documents:
            return self.documents[seen.path]
        path = seen.path.removeprefix(self.path)
        if path == "/authorize":
            return self.authorize(dict(urllib.parse.parse_qsl(seen.query)))
        if path == self.tokens and seen.method == "POST":
            return self.exchange(form(seen.body))
        return reply("404 Not Found")

    def authorize(self, request):
        code = f"code{len(self.codes)}"
        self.codes[code] = request
        to = {"code": code, "state": request["state"], "iss": self.issuer}
        return reply("302 Found", f"Location: {request['redirect_uri']}?{urllib.parse.urlencode(to)}")

    def exchange(self, fields):
        self.exchanges.append(fields)
        request = {}
        if fields["grant_type"] == "authorization_code":
            request = self.codes.pop(fields["code"], None)
            verifier = hashlib.sha256(fields["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
            if request is None or request["code_challenge"] != challenge or request["redirect_uri"] != fields["redirect_uri"]:
                return document({"error": "invalid_grant"}, "400 Bad Request")
        elif not (fields["grant_type"] == "refresh_token" and fields["refresh_token"] == f"refresh-{self.issued}"):
            return document({"error": "invalid_grant"}, "400 Bad Request")
        self.issued += 1
        token = f"access-{self.issued}"
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
        if self.refreshes:
            answer["refresh_token"] = f"refresh-{self.issued}"
        return document(answer | self.extra(request, token))

    def count(self, place):
        return len([seen for seen in self.requests if seen.path == place])

    def places(self, method=None):
        return [seen.path.removeprefix(self.path) for seen in self.requests if method in (None, seen.method)]


class OAuthTestCase(TestCase):
    """With an authorization server at a path, and an API that accepts any token unless a test replaces `respond`."""

    path = "/tenant"

    def setUp(self):
        self.server = self.enterContext(AuthorizationServer(self.path))
        self.respond = lambda seen: reply(body=b"hello")
        self.api = self.enterContext(RecordingServer(lambda seen: self.respond(seen)))
        self.browser = self.file("browser", BROWSER, mode=0o700)

    def settings(self, *more):
        return ["issuer=" + self.server.issuer, "client-id=app", *more]

    def words(self, settings):
        return ["--plugin", BUILD / "libOAuth2Auth.so", *(word for text in settings for word in ("--set", text))]

    def get(self, *settings, url=None, words=(), issuer=True, **options):
        """Logs in, and sends a request to the API with the token."""
        settings = self.settings(*settings) if issuer else settings
        return self.run_host(
            "--no-store", *self.words(settings), *words, url or self.api.http + "/v1/orders", env={"BROWSER": str(self.browser)}, **options)

    def credentials(self):
        return [value for seen in self.api.requests for value in seen.values("Authorization")]

    def expect_served(self, outcome, *credentials):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello", outcome)
        self.assertEqual(self.credentials(), list(credentials), outcome)

    def expect_no_exchange(self, outcome, code, *fragments):
        self.expect(outcome, code, *fragments)
        self.assertEqual((self.server.exchanges, self.api.requests), ([], []), outcome)


class Metadata(OAuthTestCase):
    @cases({"openid": (OPENID, [OPENID]), "oauth": (OAUTH, [OPENID, OAUTH])})
    def test_found(self, where, requests):
        self.server.publish(where)
        self.expect_served(self.get(), "Bearer access-1")
        self.assertEqual([seen.path for seen in self.server.requests][: len(requests)], [self.server.place(place) for place in requests])
        self.assertEqual(self.server.places()[len(requests) :], ["/authorize", "/token"])

    def test_of_an_issuer_with_a_slash_at_its_end(self):
        self.server.issuer += "/"
        self.server.publish()
        self.expect_served(self.get(), "Bearer access-1")

    @cases({"null": None, "missing": ..., "not_a_url": "/token"})
    def test_first_document_lacks_an_endpoint(self, value):
        members = self.server.metadata(token_endpoint=value)
        if value is ...:
            del members["token_endpoint"]
        self.server.documents[self.server.place(OPENID)] = document(members)
        self.server.publish(OAUTH)
        self.expect_served(self.get(), "Bearer access-1")

    def test_settings_win(self):
        self.server.publish(authorization_endpoint=self.server.issuer + "/wrong")
        self.expect_served(self.get(f"authorization-url={self.server.issuer}/authorize"), "Bearer access-1")

    def test_not_read_if_settings_have_all(self):
        base = self.server.issuer
        self.expect_served(self.get(f"authorization-url={base}/authorize", f"token-url={base}/token"), "Bearer access-1")
        self.assertEqual(self.server.places(), ["/authorize", "/token"])

    def test_response_of_another_issuer_if_settings_have_all(self):
        """Without metadata, a response may lack its issuer (RFC 9207 §2.4), but must not name another one."""
        base = self.server.issuer
        outcome = self.get(
            f"issuer={base}/b", f"authorization-url={base}/authorize", f"token-url={base}/token", "client-id=app", issuer=False)
        self.expect_no_exchange(outcome, 112, f"is from the issuer {base}, but the login was started at {base}/b")
        self.assertEqual(self.server.places(), ["/authorize"])

    @cases({
        "other_issuer": (lambda s: s.metadata(issuer="https://evil.example"), ["issuer is", "/tenant", '"https://evil.example"']),
        "slash": (lambda s: s.metadata(issuer=s.issuer + "/"), ["issuer is", '/tenant/"']),
        "letter_case": (lambda s: s.metadata(issuer=s.issuer.upper()), ["issuer is", "TENANT"]),
        "issuer_for_a_terminal": (lambda s: s.metadata(issuer="x\x1b[2J" + "y" * 5000), ['"x?[2J' + "y" * 100, 'yyy..."']),
        "endpoint_missing": (lambda s: s.metadata(token_endpoint=None), ["token-url is needed", "no token_endpoint"]),
        "endpoint_is_a_number": (lambda s: s.metadata(token_endpoint=7), ["token-url is needed", "is not a text"]),
        "endpoint_is_relative": (lambda s: s.metadata(token_endpoint="/token"), ["token-url is needed", 'URL: "/token"']),
        "endpoint_is_a_script": (lambda s: s.metadata(authorization_endpoint="javascript:alert(1)"), ["authorization-url is needed"]),
        "endpoint_has_a_user": (lambda s: s.metadata(token_endpoint="http://a@127.0.0.1/"), ["token-url is needed"]),
        "endpoint_has_a_fragment": (lambda s: s.metadata(token_endpoint=s.issuer + "/token#x"), ["token-url is needed", "a fragment"]),
        "endpoint_without_tls_elsewhere": (
            lambda s: s.metadata(token_endpoint="http://elsewhere.example/token"), ["token-url is needed", "is not an https URL"]),
    })
    def test_refused(self, make, fragments):
        self.server.documents[self.server.place(OPENID)] = document(make(self.server))
        self.expect_no_exchange(self.get(), 111, *fragments)
        self.assertNotIn("/token", self.server.places())

    @cases({
        "no_issuer": (lambda s: {k: v for k, v in s.metadata().items() if k != "issuer"}, ["names no issuer"]),
        "issuer_is_a_list": (lambda s: s.metadata(issuer=[s.issuer]), ["names no issuer"]),
        "not_json": (lambda s: b"<html>Log in</html>", ["is not valid JSON", "at byte 0"]),
        "empty": (lambda s: b"", ["is not valid JSON"]),
        "array": (lambda s: b"[]", ["is not a JSON object"]),
        "repeated": (
            lambda s: json.dumps(s.metadata())[:-1].encode() + b',"issuer":"https://evil.example"}', ["repeated member name"]),
        "nested": (lambda s: b'{"x":' + b"[" * 100_000, ["nested too deeply"]),
        "not_utf8": (lambda s: b'{"issuer":"\xff"}', ["not UTF-8"]),
        "too_large": (lambda s: json.dumps(s.metadata(x="y" * (1 << 20))).encode(), ["is larger than 1 MiB"]),
    })
    def test_unreadable(self, make, fragments):
        self.server.documents[self.server.place(OPENID)] = document(make(self.server))
        self.expect_no_exchange(self.get(), 112, "can't be read", *fragments)
        self.assertNotIn("/token", self.server.places())

    def test_nearly_too_large(self):
        members = self.server.metadata(x="")
        members["x"] = "y" * ((1 << 20) - len(json.dumps(members)))
        self.server.documents[self.server.place(OPENID)] = document(members)
        self.expect_served(self.get(), "Bearer access-1")

    def test_with_a_byte_order_mark(self):
        self.server.documents[self.server.place(OPENID)] = document(b"\xef\xbb\xbf" + json.dumps(self.server.metadata()).encode())
        self.expect_served(self.get(), "Bearer access-1")

    @cases({
        "nothing": (111, "404 Not Found", [], "issuer has no metadata", "responds with status 404"),
        "redirect": (111, "302 Found", ["Location: /elsewhere"], "issuer has no metadata", "redirects elsewhere"),
        "in_trouble": (112, "503 Service Unavailable", [], "can't be read", "responds with status 503"),
        "busy": (112, "429 Too Many Requests", [], "can't be read", "responds with status 429"),
    })
    def test_not_there(self, code, status, lines, *fragments):
        self.server.documents["/elsewhere"] = document(self.server.metadata())
        for where in (OPENID, OAUTH):
            self.server.documents[self.server.place(where)] = reply(status, *lines)
        self.expect_no_exchange(self.get(), code, *fragments, self.server.issuer + OPENID, self.server.http + OAUTH + self.path)

    def test_server_is_not_there(self):
        outcome = self.get(f"issuer=http://127.0.0.1:{self.closed_port()}", "client-id=app", issuer=False)
        self.expect_no_exchange(outcome, 112, "127.0.0.1")

    @cases({
        "without_tls": ("issuer=http://id.example", "issuer", "must begin with https://"),
        "query": ("issuer=https://id.example/?tenant=1", "issuer", "must have neither a query nor a fragment"),
        "fragment": ("issuer=https://id.example/#x", "issuer", "must have neither a query nor a fragment"),
        "nothing": ("scope=read", "issuer", "or token-url is needed"),
        **{name: (f"{name}=http://id.example/x", name, "must begin with https://") for name in (
            "token-url", "authorization-url", "device-url", "par-url", "revocation-url", "keys-url")},
        "resource_without_tls": ("resource=http://api.example", "resource", "must begin with https://"),
        "resource_with_fragment": ("resource=https://api.example/#x", "resource", "must have no fragment"),
    })
    def test_settings_are_refused(self, setting, name, fragment):
        outcome = self.get(setting, issuer=False)
        self.expect_failure(outcome, 111, f"corrected settings: {name} {fragment}")

    def test_endpoints_of_another_origin(self):
        """The issuer decides its endpoints: the host allows them because the document names them."""
        with AuthorizationServer() as other:
            other.codes = self.server.codes
            self.server.publish(token_endpoint=other.http + "/token")
            self.expect_served(self.get(), "Bearer access-1")
            self.assertEqual(other.places(), ["/token"])
        self.assertNotIn("/token", self.server.places())


class OverTLS(OAuthTestCase):
    def setUp(self):
        super().setUp()
        self.plain = self.server
        self.server = self.enterContext(AuthorizationServer(tls=authority().context()))
        self.trust = ["--cacert", authority().path("ca.pem")]

    def test_login(self):
        self.server.publish()
        self.expect_served(self.get(words=self.trust), "Bearer access-1")

    @cases({"token": "token_endpoint", "authorization": "authorization_endpoint"})
    def test_endpoint_without_tls(self, name):
        """Not even on this machine, where an http issuer may have such an endpoint."""
        url = {"token_endpoint": "/token", "authorization_endpoint": "/authorize"}[name]
        self.server.publish(**{name: self.plain.issuer + url})
        self.expect_no_exchange(self.get(words=self.trust), 111, f"since {name} in", "is not an https URL", self.plain.issuer + url)
        self.assertEqual(self.plain.requests, [])


class Renewal(OAuthTestCase):
    """A token that the API rejects is renewed within the command."""

    def setUp(self):
        super().setUp()
        self.respond = lambda seen: (
            reply(body=b"hello") if seen.values("Authorization") == ["Bearer access-2"]
            else reply("401 Unauthorized", 'WWW-Authenticate: Bearer error="invalid_token"'))

    def test_with_the_endpoint_kept_with_the_token(self):
        self.server.publish()
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.server.places(), [OPENID, "/authorize", "/token", "/token"])
        self.assertEqual([fields["grant_type"] for fields in self.server.exchanges], ["authorization_code", "refresh_token"])

    def test_endpoint_of_another_origin_is_looked_up_again(self):
        """The host sends there only because the metadata says so, and has no earlier metadata."""
        with AuthorizationServer() as other:
            other.codes = self.server.codes
            self.server.publish(token_endpoint=other.http + "/token")
            self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
            self.assertEqual(other.places(), ["/token", "/token"])
        self.assertEqual(self.server.places(), [OPENID, "/authorize", OPENID])

    @cases({"gone": "410 Gone", "not_found": "404 Not Found", "redirected": "307 Temporary Redirect"})
    def test_endpoint_has_moved(self, status):
        self.server.publish()
        serve = self.respond

        def move(seen):
            if not self.server.path.endswith("moved") and self.server.issued == 1 and self.server.tokens == "/token":
                self.server.tokens = "/moved"
                self.server.publish()
                self.server.documents[self.server.path + "/token"] = reply(status, "Location: https://evil.example/")
            return serve(seen)

        self.respond = move
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.server.places()[-3:], ["/token", OPENID, "/moved"])

    def test_endpoint_is_not_sought_elsewhere_after_a_refusal(self):
        self.server.publish()
        serve = self.respond
        self.respond = lambda seen: self.server.documents.update({
            self.server.path + "/token": document({"error": "invalid_grant"}, "400 Bad Request")}) or serve(seen)
        outcome = self.get()
        self.assertEqual(self.credentials(), ["Bearer access-1"], outcome)
        self.assertEqual(self.server.places(), [OPENID, "/authorize", "/token", "/token"])


class Stored(OAuthTestCase):
    """Sessions that outlive a command."""

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)

    def env(self):
        return {"HOME": str(self.home), "NEVOD_HOST_STORE": "", "BROWSER": str(self.browser)}

    def stored(self, command, *settings, words=()):
        tail = [] if command else [self.api.http + "/v1/orders"]
        return self.run_host(
            *command, *self.words(self.settings(*settings)), "--origin", self.api.http, *words, *tail, env=self.env())

    def test_another_issuer_of_the_same_origin_gets_no_refresh_token(self):
        """Like two tenants of one server: one's session must not reach the other."""
        self.server.publish()
        self.expect(self.stored(["login"]), 0)
        self.server.path, self.server.issuer = "/other", self.server.http + "/other"
        self.server.publish()
        self.respond = lambda seen: (
            reply(body=b"hello") if seen.values("Authorization") == ["Bearer access-2"] else reply("401 Unauthorized"))
        outcome = self.stored([])
        self.assertEqual(outcome.out, b"hello", outcome)
        self.assertEqual([fields["grant_type"] for fields in self.server.exchanges], ["authorization_code"] * 2)

    @cases({"page": (112, b"<html>"), "other_issuer": (111, b'{"issuer":"https://evil.example"}'), "nothing": (111, None)})
    def test_metadata_that_fail_log_nobody_out(self, code, content):
        with AuthorizationServer() as other:
            other.codes = self.server.codes
            self.server.publish(token_endpoint=other.http + "/token")
            self.expect(self.stored(["login"]), 0)
            good = dict(self.server.documents)
            self.server.documents = {} if content is None else {self.server.place(OPENID): document(content)}
            self.respond = lambda seen: (
                reply(body=b"hello") if seen.values("Authorization") == ["Bearer access-2"] else reply("401 Unauthorized"))
            self.expect(self.stored([]), code)
            self.server.documents = good
            outcome = self.stored([])
            self.expect(outcome, 0)
            self.assertEqual(outcome.out, b"hello", outcome)
            self.assertEqual(other.places(), ["/token", "/token"])


# ----------------------------------------------------------------------------------------------------------------------
# ID tokens

RSA, EC, OTHER_RSA = (
    JWK.generate(kty="RSA", size=2048, kid="rsa"), JWK.generate(kty="EC", crv="P-256", kid="ec"),
    JWK.generate(kty="RSA", size=2048, kid="rsa"))
ED = OKPKey.generate_key("Ed25519", {"kid": "ed"}, is_private=True)
PUBLIC = [json.loads(key.export_public()) for key in (RSA, EC)] + [ED.as_dict(is_private=False)]
CLIENT_SECRET = "client-secret-of-more-than-32-bytes-9Tq"


def private_pem(key):
    return key.export_to_pem(private_key=True, password=None)


def rs256(claims, key=RSA, **header):
    return jwt.encode(claims, private_pem(key), "RS256", headers={"kid": "rsa", **header})


def es256(claims):
    token = JWT(header={"alg": "ES256", "kid": "ec"}, claims=claims)
    token.make_signed_token(EC)
    return token.serialize()


def eddsa(claims):
    return JsonWebToken(["EdDSA"]).encode({"alg": "EdDSA", "kid": "ed"}, claims, ED).decode()


def hs256(claims, key=CLIENT_SECRET):
    return jwt.encode(claims, key, "HS256")


def unsigned(claims):
    return jwt.encode(claims, None, "none")


def half_hash(token, algorithm):
    if algorithm == "EdDSA":
        digest = hashlib.sha512(token.encode()).digest()[:32]
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    found = create_half_hash(token, algorithm)
    return found.decode() if isinstance(found, bytes) else found


class IDTokens(OAuthTestCase):
    """The list of sessions shows the account's name."""

    def setUp(self):
        super().setUp()
        self.server.documents[self.server.path + "/keys"] = document({"keys": PUBLIC})
        self.server.publish()
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.make = rs256
        self.change = lambda claims, request, token: claims
        self.server.extra = self.extra

    def extra(self, request, token):
        now = int(time.time())
        claims = {"iss": self.server.issuer, "sub": "4711", "aud": "app", "exp": now + 600, "iat": now}
        if "nonce" in request:
            claims["nonce"] = request["nonce"]
        claims = self.change(claims, request, token)
        return {} if claims is None else {"id_token": claims if isinstance(claims, str) else self.make(claims)}

    def login(self, *settings):
        return self.run_host(
            "login", *self.words(self.settings("scope=openid email", *settings)),
            env={"HOME": str(self.home), "NEVOD_HOST_STORE": "", "BROWSER": str(self.browser)})

    def accounts(self):
        outcome = self.run_host("sessions", "--json", env={"HOME": str(self.home), "NEVOD_HOST_STORE": ""})
        self.expect(outcome, 0)
        return [session["account"] for session in json.loads(outcome.out)["sessions"]]

    def expect_account(self, account, *settings):
        self.expect(self.login(*settings), 0)
        self.assertEqual(self.accounts(), [account])

    def expect_refused(self, *fragments, settings=(), code=112):
        outcome = self.login(*settings)
        self.expect(outcome, code, *fragments)
        self.assertEqual(self.accounts(), [])
        self.assertIsNone(re.search(r"eyJ[\w-]+\.|access-\d|refresh-\d", outcome.err), outcome)

    @cases({"rs256": rs256, "es256": es256, "eddsa": eddsa})
    def test_signed_by_the_issuer(self, make):
        self.make = make
        algorithm = {rs256: "RS256", es256: "ES256", eddsa: "EdDSA"}[make]
        self.change = lambda claims, _, token: claims | {"at_hash": half_hash(token, algorithm)}
        self.expect_account("4711")

    @cases({
        "email": ({"email": "ada@example.com", "preferred_username": "ada"}, "ada@example.com"),
        "username": ({"preferred_username": "ada"}, "ada"), "subject": ({}, "4711"),
        "email_for_a_terminal": ({"email": "a\x1b[2J", "preferred_username": "ada"}, "ada"),
        "email_with_a_line": ({"email": "ada\nrefresh-token stolen"}, "4711"),
        "email_too_long": ({"email": "a" * 257}, "4711"), "email_of_another_kind": ({"email": ["ada"]}, "4711"),
        "audiences": ({"aud": ["app", "other"], "azp": "app"}, "4711"), "audience_in_an_array": ({"aud": ["app"]}, "4711"),
    })
    def test_account(self, claims, account):
        self.change = lambda good, *_: good | claims
        self.expect_account(account)

    def test_none_without_an_id_token(self):
        self.change = lambda *_: None
        self.expect_account("")

    def test_not_read_unless_it_was_asked_for(self):
        self.server.extra = lambda *_: {"id_token": "nonsense"}
        self.expect(self.run_host(
            "login", *self.words(self.settings("scope=email")),
            env={"HOME": str(self.home), "NEVOD_HOST_STORE": "", "BROWSER": str(self.browser)}), 0)
        self.assertEqual(self.accounts(), [""])

    def secret(self, value=CLIENT_SECRET):
        return ["client-secret=file:" + str(self.file("secret", value)), "client-auth=post"]

    def test_signed_with_the_client_s_secret(self):
        self.make = hs256
        self.change = lambda claims, _, token: claims | {"at_hash": half_hash(token, "HS256")}
        self.expect_account("4711", *self.secret())
        self.assertNotIn("/keys", self.server.places())

    @cases({
        "issuer": ({"iss": "https://evil.example"}, "(iss)"), "no_issuer": ({"iss": None}, "iss"),
        "audience": ({"aud": "other"}, "(aud)"), "no_audience": ({"aud": None}, "aud"),
        "party": ({"azp": "other"}, "(azp)"), "party_of_another_kind": ({"azp": 7}, "(azp)"),
        "audiences_without_party": ({"aud": ["app", "other"]}, "(azp)"),
        "expired": ({"exp": int(time.time()) - 3600}, "(exp)"), "no_expiry": ({"exp": None}, "exp"),
        "issued_later": ({"iat": int(time.time()) + 3600}, "(iat)"), "no_issue": ({"iat": None}, "iat"),
        "not_yet": ({"nbf": int(time.time()) + 3600}, "(nbf)"),
        "nonce": ({"nonce": "other"}, "(nonce)"), "no_nonce": ({"nonce": None}, "(nonce)"),
        "hash": ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "(at_hash)"), "hash_of_another_kind": ({"at_hash": 7}, "(at_hash)"),
        "no_subject": ({"sub": None}, "sub"), "empty_subject": ({"sub": ""}, "sub"),
        "long_subject": ({"sub": "a" * 256}, "sub"), "subject_with_a_line": ({"sub": "4711\nrefresh-token x"}, "sub"),
    })
    def test_wrong_claim(self, wrong, fragment):
        self.change = lambda good, *_: {name: value for name, value in (good | wrong).items() if value is not None}
        self.expect_refused("ID token is not valid", fragment)

    @cases({
        "no_signature": (unsigned, "no signature"), "another_key": (lambda claims: rs256(claims, OTHER_RSA), "signature is not valid"),
        "changed": (lambda claims: changed(rs256(claims)), "signature is not valid"),
        "unknown_key": (lambda claims: rs256(claims, kid="other"), "no key of 3 fits"),
        "secret_of_nobody": (hs256, "HS256", "no secret"),
        "public_key_as_secret": (lambda claims: confused(claims), "HS256", "no secret"),
        "key_in_the_header": (lambda claims: rs256(claims, OTHER_RSA, jwk=json.loads(OTHER_RSA.export_public())), "signature is not valid"),
        "critical": (lambda claims: rs256(claims, crit=["x"], x=1), "crit"), "nonsense": (lambda claims: "nonsense", "parts"),
        "too_large": (lambda claims: rs256(claims | {"x": "y" * 70_000}), "more than 65536 bytes"),
    })
    def test_wrong_signature(self, make, *fragments):
        self.make = make
        self.expect_refused("ID token is not valid", *fragments)

    def test_another_secret(self):
        self.make = lambda claims: hs256(claims, "x" * 40)
        self.expect_refused("signature is not valid", settings=self.secret())

    def test_short_secret(self):
        self.make = hs256
        self.expect_refused("client-secret", "too short", settings=self.secret("short"), code=111)

    def test_secret_key_that_everybody_knows(self):
        """A shared secret among the published keys: whoever reads it could sign with it."""
        known = {"kty": "oct", "kid": "known", "k": base64.urlsafe_b64encode(b"k" * 32).rstrip(b"=").decode()}
        self.server.documents[self.server.path + "/keys"] = document({"keys": [known]})
        self.make = lambda claims: jwt.encode(claims, b"k" * 32, "HS256", headers={"kid": "known"})
        self.expect_refused("HS256", "no secret")
        self.expect_refused("signature is not valid", settings=self.secret())

    @cases({
        "page": (document(b"<html>"), "not a JSON object"), "nothing": (reply("404 Not Found"), "status 404"),
        "in_trouble": (reply("503 Service Unavailable"), "status 503"), "no_keys": (document({}), "no array of keys"),
        "many_keys": (document({"keys": [{}] * 257}), "more than 256 keys"),
        "large": (document({"keys": [], "x": "y" * (1 << 20)}), "larger than 1 MiB"),
    })
    def test_keys_that_can_t_be_read(self, response, fragment):
        self.server.documents[self.server.path + "/keys"] = response
        self.expect_refused("the server's keys can't be read", fragment)

    def test_metadata_name_no_keys(self):
        self.server.publish(jwks_uri=None)
        self.expect_refused("keys-url is needed", code=111)
        self.expect_account("4711", f"keys-url={self.server.issuer}/keys")

    def test_metadata_that_can_t_be_read(self):
        self.server.documents[self.server.place(OPENID)] = reply("503 Service Unavailable")
        base = self.server.issuer
        self.expect_refused(
            "keys-url is needed", "or can't be read", code=111,
            settings=[f"authorization-url={base}/authorize", f"token-url={base}/token"])

    # A renewed token.

    def renew(self):
        """In one command, a login whose token the API rejects, and then a renewal."""
        self.respond = lambda seen: (
            reply(body=b"hello") if seen.values("Authorization") == ["Bearer access-2"] else reply("401 Unauthorized"))
        return self.get("scope=openid", words=["-v"])

    def renewed(self, **wrong):
        def change(claims, request, token):
            return claims if request else {name: value for name, value in (claims | wrong).items() if value is not None}
        self.change = change

    @cases({"same": {}, "expired": {"exp": 1}, "with_email": {"email": "ada@example.com"}})
    def test_renewed(self, claims):
        self.renewed(**claims)
        self.expect_served(self.renew(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.server.places().count("/keys"), 1)

    def test_renewed_without_an_id_token(self):
        self.change = lambda claims, request, _: claims if request else None
        self.expect_served(self.renew(), "Bearer access-1", "Bearer access-2")

    def test_renewed_with_nonsense(self):
        self.change = lambda claims, request, _: claims if request else "nonsense"
        self.expect_served(self.renew(), "Bearer access-1", "Bearer access-2")

    @cases({
        "subject": ({"sub": "4712"}, "(sub)"), "no_subject": ({"sub": None}, "(sub)"),
        "issuer": ({"iss": "https://evil.example"}, "(iss)"), "audience": ({"aud": "other"}, "(aud)"),
    })
    def test_renewed_for_another(self, wrong, fragment):
        self.renewed(**wrong)
        outcome = self.renew()
        self.expect(outcome, 112, "ID token is not valid", fragment)
        self.assertIn("> User-Agent: nevod-host/", outcome.err)
        self.assertEqual(self.credentials(), ["Bearer access-1"])


def changed(token):
    head, claims, signature = token.split(".")
    padded = base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)).replace(b'"4711"', b'"4712"')
    return ".".join([head, base64.urlsafe_b64encode(padded).rstrip(b"=").decode(), signature])


def confused(claims):
    """Signed with the public key as a secret, to fool a verifier that lets the token choose."""
    from jwcrypto.jws import JWS
    pem = RSA.export_to_pem()
    token = JWS(json.dumps(claims))
    token.add_signature(
        JWK(kty="oct", k=base64.urlsafe_b64encode(pem).rstrip(b"=").decode()), None, json.dumps({"alg": "HS256", "kid": "rsa"}))
    return token.serialize(compact=True)


# ----------------------------------------------------------------------------------------------------------------------
# Challenges


class Challenges(OAuthTestCase):
    def setUp(self):
        super().setUp()
        self.server.publish()

    def challenge(self, line, status="401 Unauthorized", until=2):
        """The API rejects tokens before the one with that number."""
        good = f"Bearer access-{until}"
        self.respond = lambda seen: (
            reply(body=b"hello") if seen.values("Authorization") == [good]
            else reply(status, *(["WWW-Authenticate: " + line] if line else []), body=b"refused"))

    def grants(self):
        return [fields["grant_type"] for fields in self.server.exchanges]

    @cases({
        "invalid_token": 'Bearer error="invalid_token"', "no_error": 'Bearer realm="x"', "another_scheme": 'Basic realm="x"',
        "nothing": "", "invalid_request": 'Bearer error="invalid_request"', "unknown_error": 'Bearer error="x"',
    })
    def test_renewed_once(self, line):
        self.challenge(line)
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.grants(), ["authorization_code", "refresh_token"])

    def test_renewed_once_in_vain(self):
        self.challenge('Bearer error="invalid_token"', until=99)
        outcome = self.get()
        self.assertEqual((outcome.code, outcome.out), (0, b"refused"), outcome)
        self.assertEqual(self.credentials(), ["Bearer access-1", "Bearer access-2"])

    @cases({
        "said": ('Bearer error="insufficient_scope", scope="orders:write"', '"orders:write"'),
        "unsaid": ('Bearer error="insufficient_scope"', "more scopes"),
        "after_others": ('Basic realm="x", Bearer realm="y", DPoP error="insufficient_scope", scope="w"', '"w"'),
        "for_a_terminal": ('Bearer error="insufficient_scope", scope="a\x9b2J' + "b" * 300 + '"', "?2J" + "b" * 100),
    })
    def test_insufficient_scope_is_no_renewal(self, line, fragment):
        self.challenge(line, "401 Unauthorized")
        outcome = self.get("scope=orders:read")
        self.expect(outcome, 116, "insufficient_scope", fragment, "scope")
        self.assertEqual((self.grants(), outcome.out), (["authorization_code"], b""))
        self.assertNotIn("\x9b", outcome.err)

    @cases({
        "scope": 'Bearer error="insufficient_scope", scope="w"', "other_scheme": 'Basic error="insufficient_scope"', "no_error": "Bearer", "other_error": 'Bearer error="x"', "nothing": "",
    })
    def test_403_is_the_caller_s(self, line):
        self.challenge(line, "403 Forbidden")
        outcome = self.get()
        self.assertEqual((outcome.code, outcome.out), (0, b"refused"), outcome)
        self.assertEqual(self.grants(), ["authorization_code"])

    # RFC 9470.

    STEP_UP = 'Bearer error="insufficient_user_authentication", acr_values="urn:gold urn:silver", max_age="300"'

    def authorizations(self):
        return [
            dict(urllib.parse.parse_qsl(seen.query)) for seen in self.server.requests if seen.path.endswith("/authorize")]

    def test_step_up(self):
        self.challenge(self.STEP_UP)
        self.expect_served(self.get("authorization-parameter=acr_values=urn:bronze"), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.grants(), ["authorization_code"] * 2)
        first, second = self.authorizations()
        self.assertEqual((first["acr_values"], first.get("max_age")), ("urn:bronze", None))
        self.assertEqual((second["acr_values"], second["max_age"]), ("urn:gold urn:silver", "300"))

    def test_step_up_once_for_each_request(self):
        self.challenge(self.STEP_UP, until=99)
        outcome = self.get()
        self.expect(outcome, 116, "still demands", '"urn:gold urn:silver"', "max_age=300")
        self.assertEqual(self.grants(), ["authorization_code"] * 2)

    def test_step_up_after_a_renewal(self):
        """An expired token first, and then one that isn't enough."""
        answers = iter(['Bearer error="invalid_token"', self.STEP_UP])
        good = "Bearer access-3"
        self.respond = lambda seen: (
            reply(body=b"hello") if seen.values("Authorization") == [good]
            else reply("401 Unauthorized", "WWW-Authenticate: " + next(answers)))
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2", good)
        self.assertEqual(self.grants(), ["authorization_code", "refresh_token", "authorization_code"])

    def test_step_up_never(self):
        self.challenge(self.STEP_UP)
        outcome = self.get("step-up=never")
        self.expect(outcome, 116, "step-up", '"urn:gold urn:silver"')
        self.assertEqual(self.grants(), ["authorization_code"])

    @cases({
        "another": (lambda token: token, 112), "unnamed": (lambda token: "4711" if token == "access-1" else None, 112),
        "same": (lambda token: "4711", 0)})
    def test_step_up_by_a_person(self, subject, code):
        """It must be the same person as before. Otherwise the session would silently become another's."""
        self.server.documents[self.server.path + "/keys"] = document({"keys": PUBLIC})
        now = int(time.time())
        self.server.extra = lambda request, token: {"id_token": rs256({
            "iss": self.server.issuer, "sub": subject(token), "aud": "app", "exp": now + 600, "iat": now, "nonce": request["nonce"]})
        } if subject(token) else {}
        self.challenge(self.STEP_UP)
        outcome = self.get("scope=openid")
        self.expect(outcome, code, *(["the same account", "openid"] if code else []))
        self.assertEqual(self.credentials(), ["Bearer access-1"] + (["Bearer access-2"] if code == 0 else []))

    @cases({
        "age_of_no_number": ('max_age="soon"', {}), "negative_age": ('max_age="-1"', {}), "endless_age": (f'max_age="{10**30}"', {}),
        "no_age_at_all": ('max_age="0"', {"max_age": "0"}), "values_for_a_terminal": ('acr_values="a\x9b"', {}),
        "long_values": (f'acr_values="{"a" * 2000}"', {}), "nothing": ('realm="x"', {}),
    })
    def test_step_up_with_odd_demands(self, parameter, sent):
        self.challenge('Bearer error="insufficient_user_authentication", ' + parameter)
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        second = self.authorizations()[1]
        self.assertEqual({name: second[name] for name in ("acr_values", "max_age") if name in second}, sent)


class ProtectedResource(OAuthTestCase):
    """RFC 9728."""

    WELL_KNOWN = "/.well-known/oauth-protected-resource"

    def setUp(self):
        super().setUp()
        self.server.publish()
        self.metadata = {"resource": self.api.http + "/v1", "authorization_servers": [self.server.issuer]}
        self.status, self.lines, self.until, self.at = "200 OK", [], 99, self.api.http + self.WELL_KNOWN + "/v1"
        self.respond = self.serve

    def serve(self, seen):
        if seen.path.startswith(self.WELL_KNOWN):
            if seen.path != self.WELL_KNOWN + "/v1":
                return reply("404 Not Found")
            return document(self.metadata, self.status, *self.lines)
        if seen.values("Authorization") == [f"Bearer access-{self.until}"]:
            return reply(body=b"hello")
        return reply(
            "401 Unauthorized", f'WWW-Authenticate: Bearer error="invalid_token", resource_metadata="{self.at}"', body=b"refused")

    def looks(self):
        return len([seen for seen in self.api.requests if seen.path.startswith(self.WELL_KNOWN)])

    def grants(self):
        return [fields["grant_type"] for fields in self.server.exchanges]

    def test_not_read_for_a_renewal(self):
        self.until = 2
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.looks(), 0)

    def test_names_another_issuer(self):
        self.metadata |= {"authorization_servers": ["https://id.example", "https://b.example"], "scopes_supported": ["read", "write"]}
        outcome = self.get()
        self.expect(outcome, 111, self.server.issuer, 'accepts only tokens of "https://id.example", "https://b.example"', '"read", "write"')
        self.assertEqual((self.looks(), outcome.out), (1, b""))

    def test_names_another_issuer_before_a_person_is_asked_again(self):
        self.server.refreshes = False
        self.metadata["authorization_servers"] = ["https://id.example"]
        self.expect(self.get(), 111, self.server.issuer, 'accepts only tokens of "https://id.example"')
        self.assertEqual(self.grants(), ["authorization_code"])

    def test_names_the_issuer_before_a_person_is_asked_again(self):
        self.server.refreshes = False
        self.until = 2
        self.expect_served(self.get(), "Bearer access-1", "Bearer access-2")
        self.assertEqual((self.grants(), self.looks()), (["authorization_code"] * 2, 1))

    @cases({
        "names_the_issuer": lambda self: None,
        "names_nothing": lambda self: self.metadata.pop("authorization_servers"),
        "other_path": lambda self: self.metadata.update(resource=self.api.http + "/v2", authorization_servers=["https://id.example"]),
        "part_of_a_segment": lambda self: self.metadata.update(resource=self.api.http + "/v", authorization_servers=["https://id.example"]),
        "other_origin": lambda self: self.metadata.update(resource="https://evil.example/v1", authorization_servers=["https://id.example"]),
        "no_resource": lambda self: self.metadata.update(resource=None, authorization_servers=["https://id.example"]),
        "not_there": lambda self: setattr(self, "status", "404 Not Found"),
        "in_trouble": lambda self: setattr(self, "status", "503 Service Unavailable"),
        "redirect": lambda self: (setattr(self, "status", "302 Found"), setattr(self, "lines", ["Location: https://id.example"])),
        "not_an_object": lambda self: setattr(self, "metadata", []),
        "no_url": lambda self: setattr(self, "at", "nonsense"),
    })
    def test_says_nothing(self, change):
        """The API's 401 reaches the caller, after one renewal."""
        change(self)
        outcome = self.get()
        self.assertEqual((outcome.code, outcome.out), (0, b"refused"), outcome)
        self.assertEqual(self.credentials(), ["Bearer access-1", "Bearer access-2"])

    @cases({"whole_origin": "", "slash": "/", "path": "/v1", "path_and_slash": "/v1/", "exact": "/v1/orders"})
    def test_is_for_a_part_of_the_origin(self, path):
        self.metadata |= {"resource": self.api.http + path, "authorization_servers": ["https://id.example"]}
        self.expect(self.get(), 111, 'accepts only tokens of "https://id.example"')

    def test_of_another_origin_is_not_fetched(self):
        with RecordingServer() as other:
            self.at = other.http + self.WELL_KNOWN + "/v1"
            outcome = self.get(words=["-v"])
            self.assertEqual((outcome.code, outcome.out, other.requests), (0, b"refused", []), outcome)
            self.expect(outcome, 0, "is not of the API's origin")

    # A resource instead of an issuer.

    def discover(self, *settings):
        return self.get("client-id=app", f"resource={self.api.http}/v1", *settings, issuer=False)

    def test_names_the_server_to_log_in_at(self):
        self.until = 2
        self.expect_served(self.discover(), "Bearer access-1", "Bearer access-2")
        self.assertEqual(self.server.exchanges[0]["resource"], self.api.http + "/v1")
        # Also looked up before a renewal: by then, the resource may name another server, which must not get the token.
        self.assertEqual((self.looks(), self.grants()), (2, ["authorization_code", "refresh_token"]))

    def test_names_another_server_at_a_renewal(self):
        serve = self.serve
        with AuthorizationServer() as other:
            other.publish()

            def change(seen):
                if "orders" in seen.path:
                    self.metadata["authorization_servers"] = [other.issuer]
                return serve(seen)

            self.respond = change
            self.browser.write_text(BROWSER)
            outcome = self.discover()
            self.assertNotIn("refresh-1", repr([seen.body for seen in other.requests]), outcome)

    @cases({
        "several": (lambda self: self.metadata.update(authorization_servers=["https://a.example", "https://b.example"]), '"https://a.example", "https://b.example"'),
        "none": (lambda self: self.metadata.update(authorization_servers=[]), "names no authorization server"),
        "without_tls": (lambda self: self.metadata.update(authorization_servers=["http://id.example"]), "is not an https URL"),
        "no_url": (lambda self: self.metadata.update(authorization_servers=["id"]), "is not an https URL"),
        "other_resource": (lambda self: self.metadata.update(resource="https://api.example/v1"), "is for", '"https://api.example/v1"'),
        "slash": (lambda self: self.metadata.update(resource=self.api.http + "/v1/"), "is for"),
        "not_there": (lambda self: setattr(self, "status", "404 Not Found"), "issuer is needed", "status 404"),
        "in_trouble": (lambda self: setattr(self, "status", "500 Internal Server Error"), "can't be read", "status 500"),
        "not_an_object": (lambda self: setattr(self, "metadata", 7), "can't be read", "not a JSON object"),
    })
    def test_names_no_server_to_log_in_at(self, change, *fragments):
        change(self)
        outcome = self.discover()
        self.expect(outcome, 112 if "can't be read" in fragments else 111, *fragments)
        self.assertEqual((self.server.requests, self.credentials()), ([], []))

    @cases({
        "client_secret": ["client-secret=env:NEVOD_TEST_SECRET"],
        "client_key": ["client-key=env:NEVOD_TEST_SECRET"],
        "platform_token": ["client-auth=private-key-jwt", "token-file=/nowhere"],
        "certificate": ["client-auth=tls"],
        "password": ["grant=password", "username=ada", "password=env:NEVOD_TEST_SECRET"],
        "refresh_token": ["grant=refresh-token", "refresh-token=env:NEVOD_TEST_SECRET"],
        "subject_token": ["grant=token-exchange", "subject-token=env:NEVOD_TEST_SECRET"],
        "actor_token": ["grant=token-exchange", "token-file=/nowhere", "actor-token=env:NEVOD_TEST_SECRET"],
        "assertion": ["grant=jwt-bearer", "assertion=env:NEVOD_TEST_SECRET"],
        "token_file": ["grant=jwt-bearer", "token-file=/nowhere"],
        # With these, another server's code would go to the server that the resource names.
        "authorization_url": ["authorization-url=https://id.example/authorize"],
        "device_url": ["grant=device", "device-url=https://id.example/device"],
        "par_url": ["par-url=https://id.example/par"],
    })
    def test_server_that_it_names_gets_no_secret(self, settings):
        outcome = self.discover(*settings)
        self.expect_failure(outcome, 111, "corrected settings: issuer or token-url is needed")
        self.assertNotIn(SECRET, outcome.err)
        self.assertEqual((self.server.requests, self.api.requests), ([], []))


if __name__ == "__main__":
    unittest.main()
