"""OAuth 2.0 without a person: grants for machines, client authentication, and tokens issued by a platform. The servers here are
strict. PyJWT, jwcrypto and Authlib judge what is signed."""

import base64
import functools
import json
import os
import ssl
import time
import urllib.parse

import authlib.jose
import authlib.oauth2.rfc6749.errors
import authlib.oauth2.rfc7523
import jwcrypto.jwk
import jwcrypto.jwt
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from support import BUILD, SECRET, RecordingServer, TestCase, authority, cases, reply, wait_until

CLIENT = "machine-1"
# As long as HS256 requires, with characters that forms and headers encode.
CLIENT_SECRET = "p%2B:+ &=ü/" + SECRET + "-0123456789abcdef"
URN = "urn:ietf:params:oauth:"
ASSERTION_TYPE = URN + "client-assertion-type:jwt-bearer"
CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


@functools.cache
def private_key(algorithm):
    """A key for an algorithm, made once."""
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm in CURVES:
        return ec.generate_private_key(CURVES[algorithm])
    return rsa.generate_private_key(65537, 2048)


def pem(key, form=serialization.PrivateFormat.PKCS8):
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def public_pem(key):
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def jwk(key, **members):
    return json.dumps(jwcrypto.jwk.JWK.from_pem(pem(key).encode()).export(as_dict=True, private_key=True) | members)


def signed(key, algorithm, **claims):
    return jwt.encode(claims, key, algorithm)


class Refused(Exception):
    """An error of a token endpoint (RFC 6749 §5.2)."""

    def __init__(self, error, status="400 Bad Request", **members):
        super().__init__(error)
        self.status, self.members = status, {"error": error, **members}


def json_reply(members, status="200 OK"):
    return reply(status, "Content-Type: application/json", "Cache-Control: no-store", body=json.dumps(members).encode())


class JWTClients(authlib.oauth2.rfc7523.JWTBearerClientAssertion):
    """Authlib's verifier of a client's assertion."""

    class Client:
        @staticmethod
        def check_endpoint_auth_method(method, endpoint):
            return True

    def __init__(self, audience, key):
        super().__init__(audience)
        self.key, self.used = key, set()

    def validate_jti(self, claims, jti):
        is_new = jti not in self.used
        self.used.add(jti)
        return is_new

    def resolve_client_public_key(self, client, headers):
        return self.key

    def check(self, form):
        class Request:
            client = None

        Request.form = form
        self(lambda client_id: self.Client if client_id == CLIENT else None, Request)


def judge(token, key, algorithm, audience, issuer):
    """Returns the claims of an assertion that PyJWT and jwcrypto accept."""
    public = public_pem(key) if not isinstance(key, str) else key
    claims = jwt.decode(
        token, public, [algorithm], audience=audience, issuer=issuer,
        options={"require": ["iss", "sub", "aud", "exp", "iat", "jti"], "verify_signature": True})
    their_key = (
        jwcrypto.jwk.JWK.from_pem(public) if isinstance(public, bytes)
        else jwcrypto.jwk.JWK(kty="oct", k=base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")))
    theirs = jwcrypto.jwt.JWT(
        jwt=token, key=their_key, algs=[algorithm], check_claims={"iss": issuer, "aud": audience, "exp": None, "jti": None})
    assert json.loads(theirs.claims) == claims
    # One audience as text, because a list could contain another server's.
    assert isinstance(claims["aud"], str)
    return claims


class OAuthTestCase(TestCase):
    """With a server that issues tokens as `grant` says, and an API that accepts the last issued token."""

    def setUp(self):
        self.issued, self.accepted, self.forms = 0, set(), []
        self.server = self.enterContext(RecordingServer(self.respond))
        self.token_url = self.server.http + "/token"

    def respond(self, seen):
        if seen.path == "/token":
            return self.token(seen)
        if seen.path.startswith("/api"):
            return self.api(seen)
        return self.other(seen)

    def other(self, seen):
        if seen.path.startswith("/.well-known/"):
            return json_reply({"issuer": self.server.http, "token_endpoint": self.token_url})
        return reply("404 Not Found")

    def api(self, seen):
        if not set(seen.values("Authorization")) & {f"Bearer {token}" for token in self.accepted}:
            return reply("401 Unauthorized", 'WWW-Authenticate: Bearer error="invalid_token"')
        return reply(body=b"hello")

    def token(self, seen):
        self.assertEqual(seen.method, "POST")
        self.assertEqual(seen.values("Content-Type"), ["application/x-www-form-urlencoded"])
        pairs = urllib.parse.parse_qsl(seen.body.decode(), strict_parsing=True, keep_blank_values=True)
        # RFC 6749 §3.2: no parameter more than once. RFC 8707 and RFC 8693 except these.
        names = [name for name, _ in pairs if name not in ("resource", "audience")]
        self.assertEqual(len(names), len(set(names)), names)
        form = dict(pairs)
        self.forms.append(form)
        try:
            answer = self.grant(form, seen)
        except Refused as refusal:
            return json_reply(refusal.members, refusal.status)
        return answer if isinstance(answer, bytes) else json_reply(answer)

    def grant(self, form, seen):
        """Returns the members of a token response, or raises Refused."""
        self.check_client(form, seen)
        return self.new_token()

    def check_client(self, form, seen):
        self.assertEqual(form.get("client_id"), CLIENT)

    def new_token(self, **more):
        self.issued += 1
        token = f"token-{self.issued}"
        self.accepted = {token}
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600, **more}

    def settings(self, grant, settings, token_url=True):
        given = {"grant": grant, **({"token-url": self.token_url} if token_url else {}), **settings}
        return [word for name, value in given.items() for one in (value if isinstance(value, list) else [value])
                for word in ("--set", f"{name}={one}")]

    def words(self, grant, *words, token_url=True, **settings):
        settings = {name.replace("_", "-"): value for name, value in settings.items()}
        return ["--plugin", BUILD / "libOAuth2Auth.so", *self.settings(grant, settings, token_url), *words]

    def oauth(self, grant, *words, url=None, env=None, token_url=True, **settings):
        """Sends a request to the API, without a store."""
        env = {"CLIENT_SECRET": CLIENT_SECRET, **(env or {})}
        command = ["--no-store", *self.words(grant, *words, token_url=token_url, **settings), url or self.server.http + "/api"]
        outcome = self.run_host(*command, env=env)
        for secret in (CLIENT_SECRET, SECRET):
            self.assertNotIn(secret, outcome.err)
        return outcome

    def stored(self, **more):
        """An environment with a store of sessions."""
        return {"HOME": str(self.folder), "NEVOD_HOST_STORE": str(self.folder / "sessions.db"), **more}

    def client(self, **more):
        return {"client_id": CLIENT, "client_secret": "env:CLIENT_SECRET", **more}

    def expect_token(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello", outcome)

    def expect_refused_setting(self, name, grant, *fragments, token_url=True, **settings):
        """The settings are rejected before anything is sent."""
        outcome = self.oauth(grant, token_url=token_url, **settings)
        self.expect(outcome, 111, name, *fragments)
        self.assertEqual(self.server.requests, [])

    def key_file(self, key):
        return f"file:{self.file('key', key)}"


# ----------------------------------------------------------------------------------------------------------------------
# Client authentication


class Secrets(OAuthTestCase):
    """HTTP Basic and the form (RFC 6749 §2.3.1)."""

    def check_client(self, form, seen):
        given = (form.get("client_id"), form.get("client_secret"))
        basic = seen.values("Authorization")
        if basic:
            self.assertEqual(given, (None, None))
            scheme, _, text = basic[0].partition(" ")
            self.assertEqual(scheme, "Basic")
            given = tuple(urllib.parse.unquote_plus(part) for part in base64.b64decode(text, validate=True).decode().split(":"))
        self.method = "basic" if basic else "post"
        if given != (CLIENT, CLIENT_SECRET):
            raise Refused("invalid_client", "401 Unauthorized" if basic else "400 Bad Request")

    @cases({"auto": ("auto", "basic"), "basic": ("basic", "basic"), "post": ("post", "post")})
    def test_method(self, given, method):
        self.expect_token(self.oauth("client-credentials", **self.client(client_auth=given)))
        self.assertEqual(self.method, method)

    def test_identifier_with_a_colon(self):
        """It is encoded like a form's field, so that the first colon ends it."""
        seen = []
        self.check_client = lambda form, request: seen.extend(request.values("Authorization"))
        self.expect_token(self.oauth("client-credentials", client_id="a:b c", client_secret="env:CLIENT_SECRET"))
        self.assertTrue(base64.b64decode(seen[0].split(" ")[1]).startswith(b"a%3Ab%20c:"))

    @cases({
        "basic": ("basic", "HTTP Basic", "client-auth=post"),
        "post": ("post", "in the form", "client-auth=basic"),
    })
    def test_wrong(self, method, *fragments):
        outcome = self.oauth(
            "client-credentials", client_id=CLIENT, client_secret="env:OTHER", client_auth=method, env={"OTHER": "wr0ng-secret"})
        self.expect(outcome, 111, "invalid_client", "client-id", "client-secret", *fragments)
        self.assertNotIn("wr0ng-secret", outcome.err)
        self.assertEqual(len(self.forms), 1)

    @cases({
        "no_identifier": ("client-id", {"client_secret": "env:CLIENT_SECRET"}, "whose secret"),
        "empty_identifier": ("client-id", {"client_id": "", "client_secret": "env:CLIENT_SECRET"}, "must not be empty"),
        "no_secret": ("client-secret", {"client_id": CLIENT, "client_auth": "post"}, "is needed for client-auth=post"),
        "no_secret_for_basic": ("client-secret", {"client_id": CLIENT, "client_auth": "basic"}, "client-auth=basic"),
        "public": ("client-secret", {"client_id": CLIENT}, "grant=client-credentials", "client-auth=tls"),
        "explicitly_public": ("client-secret", {"client_id": CLIENT, "client_auth": "none"}, "grant=client-credentials"),
        "secret_of_a_public_client": (
            "client-secret", {"client_id": CLIENT, "client_secret": "env:CLIENT_SECRET", "client_auth": "none"},
            "client-auth=none"),
        "key_id_without_a_key": (
            "client-key-id", {"client_id": CLIENT, "client_secret": "env:CLIENT_SECRET", "client_key_id": "k"}, "client-key"),
    })
    def test_settings(self, name, settings, *fragments):
        self.expect_refused_setting(name, "client-credentials", *fragments, **settings)


class Assertions(OAuthTestCase):
    """private_key_jwt and client_secret_jwt (RFC 7523 §2.2, OpenID Connect Core §9)."""

    def setUp(self):
        super().setUp()
        self.key, self.algorithm, self.audience = private_key("RS256"), "RS256", self.token_url
        self.authlib, self.claims = None, []

    def check_client(self, form, seen):
        self.assertEqual(seen.values("Authorization"), [])
        self.assertNotIn("client_secret", form)
        self.assertEqual((form["client_id"], form["client_assertion_type"]), (CLIENT, ASSERTION_TYPE))
        token = form["client_assertion"]
        try:
            claims = judge(token, self.key, self.algorithm, self.audience, CLIENT)
            self.authlib = self.authlib or JWTClients(
                self.audience, self.key if isinstance(self.key, str) else authlib.jose.JsonWebKey.import_key(public_pem(self.key)))
            self.authlib.check(form)
        except (jwt.PyJWTError, authlib.oauth2.rfc6749.errors.OAuth2Error) as error:
            raise Refused("invalid_client", "401 Unauthorized") from error
        self.assertEqual(set(claims), {"iss", "sub", "aud", "jti", "iat", "exp"})
        self.assertEqual((claims["sub"], claims["exp"] - claims["iat"]), (CLIENT, 60))
        self.assertLess(abs(claims["iat"] - time.time()), 60)
        self.header = jwt.get_unverified_header(token)
        self.claims.append(claims)

    def assert_client(self, *words, **settings):
        return self.oauth("client-credentials", *words, client_id=CLIENT, client_auth="private-key-jwt", **settings)

    @cases({name: name for name in ("RS256", "ES256", "ES384", "ES512", "EdDSA")})
    def test_algorithm_of_the_key(self, algorithm):
        self.key, self.algorithm = private_key(algorithm), algorithm
        self.expect_token(self.assert_client(client_key=self.key_file(pem(self.key))))
        self.assertEqual(self.header, {"alg": algorithm, "typ": "JWT"})

    @cases({name: name for name in ("RS384", "RS512", "PS256", "PS384", "PS512")})
    def test_chosen_algorithm(self, algorithm):
        self.algorithm = algorithm
        self.expect_token(self.assert_client(client_key=self.key_file(pem(self.key)), client_key_alg=algorithm))

    @cases({
        "pkcs1": lambda key: pem(key, serialization.PrivateFormat.TraditionalOpenSSL),
        "jwk": jwk,
        "jwk_with_spaces": lambda key: "\n " + jwk(key),
    })
    def test_form_of_the_key(self, form):
        self.expect_token(self.assert_client(client_key=self.key_file(form(self.key)), client_key_id="k1"))
        self.assertEqual(self.header, {"alg": "RS256", "typ": "JWT", "kid": "k1"})

    def test_algorithm_of_the_metadata(self):
        self.algorithm = "PS256"
        self.other = lambda seen: json_reply({
            "issuer": self.server.http, "token_endpoint": self.token_url,
            "token_endpoint_auth_signing_alg_values_supported": ["ES512", "PS256"]})
        self.audience = self.server.http
        self.expect_token(
            self.assert_client(client_key=self.key_file(pem(self.key)), issuer=self.server.http, token_url=False))
        self.assertEqual(self.header["alg"], "PS256")

    def test_names_in_a_JWK(self):
        self.algorithm = "PS256"
        self.expect_token(self.assert_client(client_key=self.key_file(jwk(self.key, kid="own", alg="PS256"))))
        self.assertEqual(self.header, {"alg": "PS256", "typ": "JWT", "kid": "own"})

    def test_key_is_preferred_to_a_secret(self):
        self.expect_token(self.oauth("client-credentials", **self.client(client_key=self.key_file(pem(self.key)))))

    def test_secret(self):
        self.key, self.algorithm = CLIENT_SECRET, "HS256"
        self.expect_token(self.oauth("client-credentials", **self.client(client_auth="client-secret-jwt")))

    def test_chosen_audience(self):
        self.audience = "https://login.example/tenant"
        self.expect_token(
            self.assert_client(client_key=self.key_file(pem(self.key)), client_assertion_audience=self.audience))

    def test_issuer_is_the_audience(self):
        """The authors of RFC 9700 found that the token endpoint's address may be another server's."""
        self.audience = self.server.http
        self.expect_token(self.assert_client(client_key=self.key_file(pem(self.key)), issuer=self.server.http))

    def test_each_is_used_once(self):
        """A rejected token is renewed with another assertion. Authlib rejects an identifier that it has seen."""
        refuses = iter([True, True])
        self.api = lambda seen: (
            reply("401 Unauthorized", "WWW-Authenticate: Bearer") if next(refuses, False) else reply(body=b"hello"))
        self.assert_client(client_key=self.key_file(pem(self.key)))
        self.assertEqual(len(self.claims), 2)
        self.assertNotEqual(self.claims[0]["jti"], self.claims[1]["jti"])

    @cases({
        "other_key": lambda self: setattr(self, "key", private_key("RS384")),
        "other_algorithm": lambda self: setattr(self, "algorithm", "PS256"),
        "other_audience": lambda self: setattr(self, "audience", "https://elsewhere.test/token"),
    })
    def test_wrong(self, change):
        key = self.key_file(pem(self.key))
        change(self)
        outcome = self.assert_client(client_key=key)
        self.expect(outcome, 111, "invalid_client", "client-id", "client-key", self.token_url, "client-assertion-audience")

    def test_wrong_secret(self):
        self.key, self.algorithm = CLIENT_SECRET + "x", "HS256"
        outcome = self.oauth("client-credentials", **self.client(client_auth="client-secret-jwt"))
        self.expect(outcome, 111, "invalid_client", "client-secret", "client-assertion-audience")

    @cases({
        "no_key": ({}, "client-key", "private-key-jwt", "metadata-url"),
        "not_a_key": ({"client_key": "file:/etc/hostname"}, "client-key", "PEM"),
        "of_another_kind": ({"client_key": "RS256", "client_key_alg": "ES256"}, "client-key-alg", "ES256", "RS256, PS256"),
        "of_another_curve": ({"client_key": "ES384", "client_key_alg": "ES256"}, "client-key-alg", "ES384"),
        "for_a_secret": ({"client_key": "RS256", "client_key_alg": "HS256"}, "client-key-alg", "HS256"),
    })
    def test_settings(self, settings, name, *fragments):
        key = settings.get("client_key", "")
        if key and ":" not in key:
            settings = {**settings, "client_key": self.key_file(pem(private_key(key)))}
        self.expect_refused_setting(
            name, "client-credentials", *fragments, client_id=CLIENT, client_auth="private-key-jwt", **settings)

    @cases({
        "empty_object": "{}",
        "cut": '{"kty":"RSA"',
        "public": '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
        "other_alg": '{"kty":"OKP","crv":"Ed25519","alg":"RS256","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",'
                     '"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
    })
    def test_bad_JSON_key(self, text):
        outcome = self.assert_client(client_key=self.key_file(text))
        self.expect(outcome, 111, "client-key")
        self.assertNotIn("nWGxne_9", outcome.err)
        self.assertEqual(self.server.requests, [])

    def test_short_secret(self):
        self.expect_refused_setting(
            "client-secret", "client-credentials", "32 bytes", "RFC 7518", "client-auth=basic", client_id=CLIENT,
            client_secret="env:NEVOD_TEST_SECRET", client_auth="client-secret-jwt")


class MutualTLS(OAuthTestCase):
    """The certificate of the connection (RFC 8705 §2)."""

    class Server(RecordingServer):
        def receive(self, stream, connection):
            seen = super().receive(stream, connection)
            if seen:
                seen.certificate = connection.getpeercert(binary_form=True)
            return seen

    def setUp(self):
        super().setUp()
        tls = authority().context()
        tls.load_verify_locations(authority().path("ca.pem"))
        tls.verify_mode = ssl.CERT_OPTIONAL
        self.server = self.enterContext(self.Server(self.respond, tls=tls))
        self.token_url = self.server.https + "/token"

    def check_client(self, form, seen):
        self.assertEqual((form.get("client_id"), seen.values("Authorization")), (CLIENT, []))
        self.assertFalse({"client_secret", "client_assertion"} & set(form))
        expected = ssl.PEM_cert_to_DER_cert(authority().path("client.pem").read_text())
        if seen.certificate != expected:
            raise Refused("invalid_client", "401 Unauthorized")

    def tls(self, *words, **settings):
        return self.oauth(
            "client-credentials", "--cacert", authority().path("ca.pem"), *words, client_id=CLIENT, client_auth="tls",
            url=self.server.https + "/api", **settings)

    def test_certificate(self):
        self.expect_token(self.tls("--cert", authority().path("client.pem"), "--key", authority().path("client.key")))

    @cases({"only": {}, "beside_the_other": {"token_endpoint": "/elsewhere"}})
    def test_endpoint_for_certificates(self, members):
        """Servers have such an endpoint on another port, because browsers would ask people for a certificate (RFC 8705 §5)."""
        self.other = lambda seen: json_reply({
            "issuer": self.server.https, **{name: self.server.https + path for name, path in members.items()},
            "mtls_endpoint_aliases": {"token_endpoint": self.token_url}}) if "well-known" in seen.path else reply("404 Not Found")
        self.expect_token(
            self.tls(
                "--cert", authority().path("client.pem"), "--key", authority().path("client.key"), token_url=False,
                issuer=self.server.https))

    def test_without_a_certificate(self):
        self.expect(self.tls(), 111, "invalid_client", "client-id", "--cert")

    def test_settings(self):
        for more in ({"client_secret": "env:CLIENT_SECRET"}, {"client_key": self.key_file(pem(private_key("ES256")))}):
            self.expect_refused_setting(
                "client-" + list(more)[0].partition("_")[2], "client-credentials", "client-auth=tls", client_id=CLIENT,
                client_auth="tls", **more)


# ----------------------------------------------------------------------------------------------------------------------
# Grants


class ClientCredentials(OAuthTestCase):
    """RFC 6749 §4.4."""

    def check_client(self, form, seen):
        self.assertEqual(len(seen.values("Authorization")), 1)

    def test_fields(self):
        self.expect_token(self.oauth(
            "client-credentials", **self.client(
                scope="read write", audience="https://api.example/", resource=["https://a.example/x", "https://b.example/"],
                token_parameter="tenant=t 1")))
        pairs = urllib.parse.parse_qsl(self.server.requests[0].body.decode())
        self.assertEqual(pairs, [
            ("grant_type", "client_credentials"), ("scope", "read write"), ("audience", "https://api.example/"),
            ("resource", "https://a.example/x"), ("resource", "https://b.example/"), ("tenant", "t 1")])

    def test_asks_nobody_and_begins_again_when_the_token_is_refused(self):
        first = []

        def api(seen):
            if not first:
                first.append(seen)
                self.accepted.clear()
            return OAuthTestCase.api(self, seen)

        self.api = api
        self.expect_token(self.oauth("client-credentials", **self.client()))
        self.assertEqual(self.server.requests[-1].values("Authorization"), ["Bearer token-2"])

    def test_refresh_token_is_not_used(self):
        """RFC 6749 §4.4.3 says that there should be no refresh token."""
        self.grant = lambda form, seen: self.new_token(refresh_token="r", expires_in=0)
        self.oauth("client-credentials", **self.client())
        self.assertEqual({form["grant_type"] for form in self.forms}, {"client_credentials"})

    def test_refusal(self):
        def refuse(form, seen):
            raise Refused("unauthorized_client")

        self.grant = refuse
        self.expect(self.oauth("client-credentials", **self.client()), 111, "the client's credentials", "unauthorized_client")


class Password(OAuthTestCase):
    """RFC 6749 §4.3."""

    def grant(self, form, seen):
        if (form["username"], form["password"]) != ("ada", SECRET):
            raise Refused("invalid_grant")
        self.assertEqual((form["grant_type"], form["client_id"]), ("password", CLIENT))
        return self.new_token()

    def test_settings(self):
        self.expect_token(self.oauth("password", client_id=CLIENT, username="ada", password="env:NEVOD_TEST_SECRET"))

    def test_questions(self):
        self.expect_token(self.oauth(
            "password", "--answer", "username=ada", "--answer", "password=env:NEVOD_TEST_SECRET", client_id=CLIENT))

    def test_question_without_an_answer(self):
        outcome = self.oauth("password", client_id=CLIENT, username="ada")
        self.expect(outcome, 113, "Password", "--answer password=env:VARIABLE")
        self.assertEqual(self.server.requests, [])

    def test_wrong(self):
        outcome = self.oauth("password", client_id=CLIENT, username="ada", password="env:CLIENT_SECRET")
        self.expect(outcome, 112, "the user name and the password", "invalid_grant")

    def test_user_is_the_account(self):
        outcome = self.run_host(
            "login", *self.words("password", client_id=CLIENT, username="ada", password="env:NEVOD_TEST_SECRET"),
            env=self.stored())
        self.expect(outcome, 0)
        self.assertIn(b"logged in as ada", outcome.out + outcome.err.encode())

    @cases({
        "empty_user": ("username", "password", {"username": ""}),
        "user_of_another_grant": ("username", "client-credentials", {"username": "ada", "client_secret": "env:CLIENT_SECRET"}),
    })
    def test_bad_settings(self, name, grant, settings):
        self.expect_refused_setting(name, grant, client_id=CLIENT, **settings)


class GivenRefreshToken(OAuthTestCase):
    """A session that begins with a refresh token, whose server rotates it."""

    def setUp(self):
        super().setUp()
        self.current = "r-0"

    def grant(self, form, seen):
        self.assertEqual(form["grant_type"], "refresh_token")
        if form["refresh_token"] != self.current:
            raise Refused("invalid_grant")
        self.current = f"r-{self.issued + 1}"
        return self.new_token(refresh_token=self.current)

    def test_rotation(self):
        env = self.stored(FIRST="r-0")
        words = self.words("refresh-token", client_id=CLIENT, refresh_token="env:FIRST")
        for _ in range(3):
            self.expect_token(self.run_host(*words, self.server.http + "/api", env=env))
            self.accepted.clear()
        self.assertEqual([form["refresh_token"] for form in self.forms], ["r-0", "r-1", "r-2"])

    def test_without_rotation(self):
        self.grant = lambda form, seen: self.new_token() if form["refresh_token"] == "r-0" else self.fail(form)
        refuses = iter([True])
        self.api = lambda seen: (
            reply("401 Unauthorized", "WWW-Authenticate: Bearer") if next(refuses, False) else reply(body=b"hello"))
        self.expect_token(self.oauth("refresh-token", client_id=CLIENT, refresh_token="env:FIRST", env={"FIRST": "r-0"}))
        self.assertEqual(len(self.forms), 2)

    def test_session_that_has_ended(self):
        """The given token is spent. Using it again would look like theft (RFC 9700 §4.14.2)."""
        env = self.stored(FIRST="r-0")
        words = [*self.words("refresh-token", client_id=CLIENT, refresh_token="env:FIRST"), self.server.http + "/api"]
        self.expect_token(self.run_host(*words, env=env))
        self.accepted.clear()
        self.current = "another"
        self.expect(self.run_host("-f", *words, env=env), 112, "the session is cleared", "invalid_grant")
        self.assertEqual([form["refresh_token"] for form in self.forms], ["r-0", "r-1"])

    @cases({"line_break": "r-0\nscope admin", "control_character": "r\x01", "too_long": "r" * 16_385})
    def test_settings(self, text):
        path = self.file("refresh-token", text)
        path.chmod(0o600)
        outcome = self.oauth("refresh-token", client_id=CLIENT, refresh_token=f"file:{path}")
        self.expect(outcome, 111, "refresh-token", "is not a refresh token")
        self.assertNotIn("admin", outcome.err)
        self.assertEqual(self.forms, [])

    def test_answer_that_is_none(self):
        outcome = self.oauth(
            "refresh-token", "--answer", "refresh-token=env:FIRST", client_id=CLIENT, env={"FIRST": "r-0\nscope admin"})
        self.expect(outcome, 111, "refresh-token", "is not a refresh token")
        self.assertEqual(self.forms, [])

    def identified(self, **claims):
        """The arguments of a login that asks for the account, at a server whose keys can't be read."""
        now = int(time.time())
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        members = {"iss": self.server.http, "aud": CLIENT, "sub": "4711", "email": "ada@id.example", "exp": now + 600, "iat": now}
        renew = self.grant
        self.grant = lambda form, seen: renew(form, seen) | {"id_token": jwt.encode(members | claims, key, "RS256")}
        return self.words(
            "refresh-token", token_url=False, issuer=self.server.http, keys_url=self.server.http + "/keys", scope="openid",
            client_id=CLIENT, refresh_token="env:FIRST")

    @cases({
        "right": ({}, "ada@id.example"), "other_client": ({"aud": "other"}, ""),
        "other_issuer": ({"iss": "https://id.example"}, "")})
    def test_account(self, claims, account):
        """It depends on no request, which could fail before the new refresh token is stored."""
        words, env = self.identified(**claims), self.stored(FIRST="r-0")
        for _ in range(2):
            self.expect_token(self.run_host(*words, self.server.http + "/api", env=env))
        self.assertEqual([form["refresh_token"] for form in self.forms], ["r-0"])
        self.assertNotIn("/keys", [seen.path for seen in self.server.requests])
        (session,) = json.loads(self.run_host("sessions", "--json", env=env).out)["sessions"]
        self.assertEqual(session.get("account") or "", account)

    def test_account_of_a_renewal(self):
        """The account that the first response named."""
        words, env = self.identified(), self.stored(FIRST="r-0")
        self.expect_token(self.run_host(*words, self.server.http + "/api", env=env))
        del self.grant
        self.identified(sub="4712")
        self.accepted.clear()
        outcome = self.run_host("-f", *words, self.server.http + "/api", env=env)
        self.expect(outcome, 112, "ID token is not valid", "(sub)")

    def test_question(self):
        self.expect_token(self.oauth(
            "refresh-token", "--answer", "refresh-token=env:FIRST", client_id=CLIENT, env={"FIRST": "r-0"}))

    def test_spent(self):
        outcome = self.oauth("refresh-token", client_id=CLIENT, refresh_token="env:FIRST", env={"FIRST": "r-spent"})
        self.expect(outcome, 112, "the given refresh token", "invalid_grant")
        self.assertNotIn("r-spent", outcome.err)


class TokenExchange(OAuthTestCase):
    """RFC 8693."""

    SUBJECT = "accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC"

    def setUp(self):
        super().setUp()
        self.members = {"issued_token_type": URN + "token-type:access_token"}

    def grant(self, form, seen):
        return {**self.new_token(), **self.members}

    def exchange(self, *words, **settings):
        return self.oauth("token-exchange", *words, **{"subject_token": "env:SUBJECT", **settings}, env={"SUBJECT": self.SUBJECT})

    def test_example(self):
        """The request of §2.3, with the client in its Authorization line."""
        self.expect_token(self.oauth(
            "token-exchange", client_id="rs08", client_secret="env:RS08", subject_token="env:SUBJECT",
            resource="https://backend.example.com/api", env={"RS08": "long-secure-random-secret", "SUBJECT": self.SUBJECT}))
        example = (
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&resource=https%3A%2F%2Fbackend.example.com%2Fapi"
            "&subject_token=accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC"
            "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token")
        self.assertEqual(sorted(self.server.requests[0].body.decode().split("&")), sorted(example.split("&")))
        self.assertEqual(
            self.server.requests[0].values("Authorization"), ["Basic cnMwODpsb25nLXNlY3VyZS1yYW5kb20tc2VjcmV0"])

    @cases({
        "access_token": ("access-token", URN + "token-type:access_token"),
        "id_token": ("id-token", URN + "token-type:id_token"),
        "jwt": ("jwt", URN + "token-type:jwt"),
        "saml2": ("saml2", URN + "token-type:saml2"),
        "uri": ("https://example.com/type", "https://example.com/type"),
    })
    def test_subject_type(self, given, sent):
        self.expect_token(self.exchange(subject_token_type=given))
        self.assertEqual(self.forms[0]["subject_token_type"], sent)

    def test_actor(self):
        path = self.file("actor", "actor-token\n")
        self.expect_token(self.exchange(actor_token_file=path, actor_token_type="jwt"))
        self.assertEqual(
            (self.forms[0]["actor_token"], self.forms[0]["actor_token_type"]), ("actor-token", URN + "token-type:jwt"))

    def test_subject_file_is_read_for_each_token(self):
        path = self.file("subject", "first")
        original = self.api

        def api(seen):
            if len(self.forms) == 1:
                path.write_text("second\n")
                self.accepted.clear()
            return original(seen)

        self.api = api
        self.expect_token(self.oauth("token-exchange", subject_token_file=path))
        self.assertEqual([form["subject_token"] for form in self.forms], ["first", "second"])

    def test_requested_type(self):
        self.members = {"issued_token_type": URN + "token-type:id_token", "token_type": "N_A"}
        self.expect_token(self.exchange(requested_token_type="id-token"))
        self.assertEqual(self.forms[0]["requested_token_type"], URN + "token-type:id_token")

    def test_server_that_names_no_type(self):
        self.members = {}
        self.expect_token(self.exchange(requested_token_type="jwt"))

    @cases({
        "not_an_access_token": (
            {"issued_token_type": URN + "token-type:saml2", "token_type": "N_A"}, {}, "saml2", "requested-token-type"),
        "another_type": ({"issued_token_type": URN + "token-type:jwt"}, {"requested_token_type": "id-token"}, "token-type:jwt"),
        "unsafe_type": ({"issued_token_type": "\x1b[31m", "token_type": "N_A"}, {}, "can't be shown"),
        "unknown_token_type": ({"token_type": "mac"}, {}, "type"),
    })
    def test_other_token(self, members, settings, *fragments):
        self.members = members
        outcome = self.exchange(**settings)
        self.expect(outcome, 112, *fragments)
        self.assertNotIn("\x1b", outcome.err)
        self.assertEqual([seen.path for seen in self.server.requests], ["/token"])

    @cases({
        "no_subject": ("subject-token", {}, "subject-token-file", "metadata-url"),
        "two_subjects": ("subject-token-file", {"subject_token": "env:CLIENT_SECRET", "subject_token_file": "/a"}, "along with"),
        "relative_file": ("subject-token-file", {"subject_token_file": "a"}, "absolute"),
        "bad_type": ("subject-token-type", {"subject_token": "env:CLIENT_SECRET", "subject_token_type": "mac"}, "access-token"),
        "type_of_no_actor": ("actor-token-type", {"subject_token": "env:CLIENT_SECRET", "actor_token_type": "jwt"}, "actor-token"),
        "refresh_token_wanted": (
            "requested-token-type", {"subject_token": "env:CLIENT_SECRET", "requested_token_type": "refresh-token"}, "carry"),
    })
    def test_settings(self, name, settings, *fragments):
        self.expect_refused_setting(name, "token-exchange", *fragments, **settings)

    def test_subject_of_another_grant(self):
        self.expect_refused_setting(
            "subject-token", "client-credentials", "grant=token-exchange", **self.client(subject_token="env:CLIENT_SECRET"))


class JWTBearer(OAuthTestCase):
    """RFC 7523 §2.1."""

    class Grant(authlib.oauth2.rfc7523.JWTBearerGrant):
        """Authlib's verifier of an assertion."""

        def __init__(self, key):
            self.key = key

        def resolve_issuer_client(self, issuer):
            return issuer

        def resolve_client_key(self, client, headers, payload):
            return authlib.jose.JsonWebKey.import_key(public_pem(self.key))

    def setUp(self):
        super().setUp()
        self.key, self.algorithm, self.issuer, self.audience = private_key("RS256"), "RS256", CLIENT, self.token_url

    def grant(self, form, seen):
        self.assertEqual(form["grant_type"], URN + "grant-type:jwt-bearer")
        try:
            self.claims = judge_assertion(form["assertion"], self.key, self.algorithm, self.audience, self.issuer)
            self.Grant(self.key).process_assertion_claims(form["assertion"])
        except (jwt.PyJWTError, authlib.oauth2.rfc6749.errors.OAuth2Error) as error:
            raise Refused("invalid_grant", error_description=str(error)) from error
        self.header = jwt.get_unverified_header(form["assertion"])
        return self.new_token()

    def test_made(self):
        self.expect_token(self.oauth("jwt-bearer", client_id=CLIENT, assertion_key=self.key_file(pem(self.key))))
        self.assertEqual((self.claims["sub"], self.claims["exp"] - self.claims["iat"]), (CLIENT, 60))
        self.assertEqual(self.forms[0].get("client_id"), CLIENT)

    @cases({name: name for name in ("ES256", "EdDSA")})
    def test_algorithm(self, algorithm):
        self.key, self.algorithm = private_key(algorithm), algorithm
        self.expect_token(self.oauth("jwt-bearer", client_id=CLIENT, assertion_key=self.key_file(jwk(self.key))))

    def test_all_settings(self):
        self.algorithm, self.issuer, self.audience = "PS256", "https://issuer.example", "https://audience.example"
        self.expect_token(self.oauth(
            "jwt-bearer", assertion_key=self.key_file(pem(self.key)), assertion_key_id="k7", assertion_key_alg="PS256",
            assertion_issuer=self.issuer, assertion_subject="ada", assertion_audience=self.audience, assertion_lifetime="300",
            assertion_claim=["box_sub_type=enterprise", "x=a=ü"], scope="read"))
        self.assertEqual(self.header, {"alg": "PS256", "typ": "JWT", "kid": "k7"})
        self.assertEqual((self.claims["sub"], self.claims["exp"] - self.claims["iat"]), ("ada", 300))
        self.assertEqual((self.claims["box_sub_type"], self.claims["x"]), ("enterprise", "a=ü"))
        self.assertEqual((self.forms[0]["scope"], "scope" in self.claims), ("read", False))

    def test_google_service_account(self):
        """The claims that "Using OAuth 2.0 for Server to Server Applications" demands, from the console's key file."""
        self.issuer = "robot@project.iam.gserviceaccount.com"
        account = {
            "type": "service_account", "project_id": "project", "private_key_id": "abc123", "private_key": pem(self.key),
            "client_email": self.issuer, "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token"}
        scope = "https://www.googleapis.com/auth/devstorage.read_only https://www.googleapis.com/auth/pubsub"
        self.expect_token(self.oauth(
            "jwt-bearer", assertion_key=self.key_file(json.dumps(account)), assertion_scope="true", scope=scope,
            assertion_lifetime="3600"))
        self.assertEqual(self.header, {"alg": "RS256", "typ": "JWT", "kid": "abc123"})
        self.assertEqual(set(self.claims), {"iss", "aud", "jti", "iat", "exp", "scope"})
        self.assertEqual(self.claims["scope"], scope)
        self.assertEqual(set(self.forms[0]), {"grant_type", "assertion"})

    def test_google_delegation(self):
        self.issuer = "robot@project.iam.gserviceaccount.com"
        account = {"private_key": pem(self.key), "client_email": self.issuer}
        self.expect_token(self.oauth(
            "jwt-bearer", assertion_key=self.key_file(json.dumps(account)), assertion_subject="ada@example.com"))
        self.assertEqual(self.claims["sub"], "ada@example.com")

    def test_salesforce(self):
        """The claims of "OAuth 2.0 JWT Bearer Flow": consumer key, user, audience, at most three minutes."""
        self.issuer, self.audience = "3MVG99OxTyEMCQ3g", "https://login.salesforce.com"
        self.expect_token(self.oauth(
            "jwt-bearer", client_id=self.issuer, assertion_key=self.key_file(pem(self.key)), assertion_subject="ada@example.com",
            assertion_audience=self.audience))
        self.assertEqual(self.claims["sub"], "ada@example.com")
        self.assertLessEqual(self.claims["exp"] - time.time(), 180)

    def test_given(self):
        now = int(time.time())
        given = signed(
            self.key, "RS256", iss="elsewhere", sub="ada", aud=self.token_url, iat=now, exp=now + 60, jti="1")
        self.issuer = "elsewhere"
        self.expect_token(self.oauth("jwt-bearer", assertion="env:ASSERTION", env={"ASSERTION": given}))
        self.expect_token(self.oauth("jwt-bearer", assertion_file=self.file("assertion", given + "\n")))
        self.assertEqual([form["assertion"] for form in self.forms], [given, given])

    def test_refusal(self):
        self.audience = "https://elsewhere.test"
        outcome = self.oauth("jwt-bearer", client_id=CLIENT, assertion_key=self.key_file(pem(self.key)))
        self.expect(outcome, 112, "the assertion", "invalid_grant")

    @cases({
        "none": ("assertion-key", {}, "assertion-file", "metadata-url"),
        "two": ("assertion-file", {"assertion": "env:CLIENT_SECRET", "assertion_file": "/a"}, "along with assertion"),
        "no_issuer": ("assertion-issuer", {"assertion_key": "key"}, "client-id"),
        "claim_with_a_setting": (
            "assertion-claim", {"assertion_key": "key", "client_id": CLIENT, "assertion_claim": "aud=x"}, "aud"),
        "claim_twice": (
            "assertion-claim", {"assertion_key": "key", "client_id": CLIENT, "assertion_claim": ["a=1", "a=2"]}, "twice"),
        "lifetime": (
            "assertion-lifetime", {"assertion_key": "key", "client_id": CLIENT, "assertion_lifetime": "3601"}, "3600"),
        "claims_of_a_given_one": (
            "assertion-subject", {"assertion": "env:CLIENT_SECRET", "assertion_subject": "x"}, "assertion-key"),
    })
    def test_settings(self, name, settings, *fragments):
        if settings.get("assertion_key") == "key":
            settings = {**settings, "assertion_key": self.key_file(pem(self.key))}
        self.expect_refused_setting(name, "jwt-bearer", *fragments, **settings)


def judge_assertion(token, key, algorithm, audience, issuer):
    """Returns the claims of an assertion that PyJWT accepts. Google's have no subject."""
    return jwt.decode(
        token, public_pem(key), [algorithm], audience=audience, issuer=issuer, options={"require": ["iss", "aud", "exp", "iat"]})


# ----------------------------------------------------------------------------------------------------------------------
# Tokens from the platform


class MetadataServices(OAuthTestCase):
    """A platform's service, with the requests and responses that its documentation shows."""

    def setUp(self):
        super().setUp()
        self.metadata = lambda seen: reply("404 Not Found")

    def other(self, seen):
        return self.metadata(seen)

    def ask(self, path, *words, env=None, **settings):
        return self.oauth(
            "metadata", *words, token_url=False, env=env, metadata_url=self.server.http + path, **settings)

    def test_google_cloud(self):
        """"About VM metadata", "Authenticate workloads to Google Cloud APIs using service accounts"."""

        def metadata(seen):
            if seen.values("Metadata-Flavor") != ["Google"]:
                return reply("403 Forbidden")
            self.assertEqual(seen.method, "GET")
            return reply(
                "200 OK", "Content-Type: application/json", "Metadata-Flavor: Google",
                body=json.dumps(self.new_token(expires_in=3599)).encode())

        self.metadata = metadata
        path = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.expect_token(self.ask(path, metadata_header="Metadata-Flavor: Google"))
        self.assertEqual(self.server.requests[0].target, path)
        self.expect_token(self.ask(
            path, metadata_header="Metadata-Flavor: Google",
            scope="https://www.googleapis.com/auth/a https://www.googleapis.com/auth/b"))
        query = urllib.parse.parse_qs(self.server.requests[2].query)
        self.assertEqual(query, {"scopes": ["https://www.googleapis.com/auth/a,https://www.googleapis.com/auth/b"]})
        self.expect(self.ask(path), 112, "metadata-url", "403", "metadata-header")

    def test_google_cloud_identity(self):
        """An ID token as text, which contains its expiry."""
        key, token = private_key("RS256"), None

        def metadata(seen):
            nonlocal token
            query = urllib.parse.parse_qs(seen.query)
            self.assertEqual((query["audience"], query["format"]), (["https://run.example"], ["full"]))
            token = signed(key, "RS256", aud="https://run.example", exp=int(time.time()) + 3600)
            self.accepted = {token}
            return reply("200 OK", "Content-Type: text/html", body=(token + "\n").encode())

        self.metadata = metadata
        self.expect_token(self.ask(
            "/computeMetadata/v1/instance/service-accounts/default/identity?format=full",
            metadata_header="Metadata-Flavor: Google", audience="https://run.example"))

    def test_azure(self):
        """"How to use managed identities on a virtual machine to acquire access token": all numbers are strings."""

        def metadata(seen):
            query = urllib.parse.parse_qs(seen.query)
            self.assertEqual(seen.values("Metadata"), ["true"])
            self.assertEqual(query, {"api-version": ["2018-02-01"], "resource": ["https://management.azure.com/"]})
            end = str(int(time.time()) + 3599)
            return json_reply(self.new_token(
                refresh_token="", expires_in="3599", expires_on=end, not_before="1506480273",
                resource="https://management.azure.com/"))

        self.metadata = metadata
        self.expect_token(self.ask(
            "/metadata/identity/oauth2/token?api-version=2018-02-01", metadata_header="Metadata: true",
            resource="https://management.azure.com/"))

    def test_azure_without_an_identity(self):
        self.metadata = lambda seen: json_reply(
            {"error": "invalid_request", "error_description": "Identity not found"}, "400 Bad Request")
        self.expect(self.ask("/metadata/identity/oauth2/token"), 112, "400", "invalid_request", "identity")

    def test_an_error_that_repeats_the_proof(self):
        self.metadata = lambda seen: json_reply({"error": seen.values("Authorization")[0].split()[1]}, "403 Forbidden")
        outcome = self.ask("/identity", metadata_secret="env:PROOF", env={"PROOF": "hunter2-of-the-platform"})
        self.expect(outcome, 112, "metadata-url", "403")
        self.assertNotIn("hunter2", outcome.err)

    def test_azure_app_service(self):
        """A special header for the process's proof, and the expiry as a point in time."""

        def metadata(seen):
            self.assertEqual(seen.values("X-IDENTITY-HEADER"), [CLIENT_SECRET[-16:]])
            token = self.new_token(expires_on=str(int(time.time()) + 3599))
            del token["expires_in"]
            return json_reply(token)

        self.metadata = metadata
        self.expect_token(self.ask(
            "/msi/token?api-version=2019-08-01", metadata_secret="env:IDENTITY_HEADER", metadata_secret_header="X-IDENTITY-HEADER",
            resource="https://vault.azure.net", env={"IDENTITY_HEADER": CLIENT_SECRET[-16:]}))

    def github(self):
        """The service of a job of GitHub Actions: issues ID tokens for an audience."""

        def metadata(seen):
            self.assertEqual(seen.values("Authorization"), ["Bearer job-token"])
            query = urllib.parse.parse_qs(seen.query)
            self.assertEqual(query["api-version"], ["2.0"])
            now = int(time.time())
            token = signed(
                private_key("RS256"), "RS256", iss="https://token.actions.githubusercontent.com",
                sub="repo:o/r:ref:refs/heads/main", aud=query["audience"][0], iat=now, exp=now + 300, jti=str(now))
            self.accepted = {token}
            return json_reply({"count": len(token), "value": token})

        self.metadata = metadata
        env = {
            "ACTIONS_ID_TOKEN_REQUEST_URL": self.server.http + "/idtoken/1?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job-token"}
        settings = {
            "metadata_url": "env:ACTIONS_ID_TOKEN_REQUEST_URL", "metadata_secret": "env:ACTIONS_ID_TOKEN_REQUEST_TOKEN",
            "metadata_member": "value"}
        return env, settings

    def test_github_actions(self):
        env, settings = self.github()
        outcome = self.oauth("metadata", token_url=False, env=env, audience="https://api.example", **settings)
        self.expect_token(outcome)
        self.assertNotIn("job-token", outcome.err)

    def test_github_actions_to_google_cloud(self):
        """Workload identity federation: the job's token is the subject of an exchange."""
        env, settings = self.github()
        pool = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/github"

        def grant(form, seen):
            claims = jwt.decode(
                form.pop("subject_token"), public_pem(private_key("RS256")), ["RS256"], audience=f"https:{pool}")
            self.assertEqual(claims["sub"], "repo:o/r:ref:refs/heads/main")
            self.assertEqual(form, {
                "grant_type": URN + "grant-type:token-exchange", "audience": pool, "subject_token_type": URN + "token-type:jwt",
                "scope": "https://www.googleapis.com/auth/cloud-platform",
                "requested_token_type": URN + "token-type:access_token"})
            return self.new_token(issued_token_type=URN + "token-type:access_token")

        self.grant = grant
        self.expect_token(self.oauth(
            "token-exchange", env=env, audience=pool, scope="https://www.googleapis.com/auth/cloud-platform",
            requested_token_type="access-token", metadata_parameter=f"audience=https:{pool}", **settings))

    def test_github_actions_to_azure(self):
        """The job's token is the client's assertion."""
        env, settings = self.github()

        def grant(form, seen):
            claims = jwt.decode(
                form.pop("client_assertion"), public_pem(private_key("RS256")), ["RS256"], audience="api://AzureADTokenExchange")
            self.assertEqual(claims["iss"], "https://token.actions.githubusercontent.com")
            self.assertEqual(form, {
                "grant_type": "client_credentials", "client_id": CLIENT, "client_assertion_type": ASSERTION_TYPE,
                "scope": "https://management.azure.com/.default"})
            return self.new_token()

        self.grant = grant
        words = dict(
            client_id=CLIENT, client_auth="private-key-jwt", scope="https://management.azure.com/.default",
            metadata_parameter="audience=api://AzureADTokenExchange", **settings)
        self.expect_token(self.oauth("client-credentials", env=env, **words))

        def refuse(form, seen):
            raise Refused("invalid_client", "401 Unauthorized")

        self.grant = refuse
        self.expect(self.oauth("client-credentials", env=env, **words), 111, "invalid_client", "platform", "audience")

    def test_session_first(self):
        """A service that requires a PUT before the request, like version 2 of the EC2 instance metadata service."""

        def metadata(seen):
            if seen.path == "/latest/api/token":
                self.assertEqual((seen.method, seen.values("X-aws-ec2-metadata-token-ttl-seconds")), ("PUT", ["60"]))
                return reply("200 OK", "Content-Type: text/plain", body=b"AQAEA-session==")
            self.assertEqual((seen.method, seen.values("X-aws-ec2-metadata-token")), ("GET", ["AQAEA-session=="]))
            return json_reply(self.new_token())

        self.metadata = metadata
        outcome = self.ask(
            "/latest/token", metadata_header="X-aws-ec2-metadata-token-ttl-seconds: 60",
            metadata_session_url=self.server.http + "/latest/api/token", metadata_session_header="X-aws-ec2-metadata-token")
        self.expect_token(outcome)
        self.assertNotIn("AQAEA", outcome.err)

    def test_session_as_a_bearer_token(self):
        """IBM Cloud: an identity token by PUT, which a POST exchanges for an access token."""

        def metadata(seen):
            if seen.path == "/instance_identity/v1/token":
                self.assertEqual((seen.method, seen.values("Metadata-Flavor")), ("PUT", ["ibm"]))
                return json_reply({"access_token": "identity", "expires_in": 300})
            self.assertEqual((seen.method, seen.values("Authorization")), ("POST", ["Bearer identity"]))
            return json_reply(self.new_token())

        self.metadata = metadata
        self.expect_token(self.ask(
            "/instance_identity/v1/iam_token?version=2022-03-01", metadata_method="POST", metadata_header="Metadata-Flavor: ibm",
            metadata_session_url=self.server.http + "/instance_identity/v1/token?version=2022-03-01"))

    def test_token_is_fetched_again_when_it_is_refused(self):
        self.metadata = lambda seen: json_reply(self.new_token())
        original, refused = self.api, []

        def api(seen):
            if not refused:
                refused.append(seen)
                self.accepted.clear()
            return original(seen)

        self.api = api
        self.expect_token(self.ask("/token-of-the-machine"))
        self.assertEqual(self.server.requests[-1].values("Authorization"), ["Bearer token-2"])

    @cases({
        "not_ready": (reply("404 Not Found"), "404"),
        "busy": (reply("429 Too Many Requests"), "429"),
        "redirect": (reply("302 Found", "Location: /elsewhere"), "302"),
        "page": (reply(body=b"<html></html>"), "neither JSON nor a token"),
        "empty": (reply(), "neither JSON nor a token"),
        "spaces": (reply(body=b"no token here"), "neither JSON nor a token"),
        "no_member": (json_reply({"value": "t"}), "access_token", "metadata-member"),
        "number": (json_reply({"access_token": 7}), "access_token"),
        "line_break": (json_reply({"access_token": "a\r\nX: y"}), "access_token"),
        "list": (json_reply(["access_token"]), "neither JSON nor a token"),
    })
    def test_unusable_response(self, response, *fragments):
        self.metadata = lambda seen: response
        self.expect(self.ask("/m"), 112, "can't be done now", "metadata-url", *fragments)
        self.assertEqual([seen.path for seen in self.server.requests], ["/m"])

    @cases({
        "neither": ("metadata-url", {}, "token-file"),
        "both": ("token-file", {"metadata_url": "http://127.0.0.1/", "token_file": "/a"}, "along with"),
        "header_without_a_colon": ("metadata-header", {"metadata_url": "http://127.0.0.1/", "metadata_header": "a"}, "NAME: VALUE"),
        "header_with_a_break": (
            "metadata-header", {"metadata_url": "http://127.0.0.1/", "metadata_header": "a: b\r\nc: d"}, "control"),
        "a_proof_as_a_header": (
            "metadata-header", {"metadata_url": "http://127.0.0.1/", "metadata_header": "authorization: Bearer x"}, "metadata-secret"),
        "member_of_a_file": ("metadata-member", {"token_file": "/a", "metadata_member": "value"}, "metadata-url"),
        "fragment": ("metadata-url", {"metadata_url": "http://127.0.0.1/#a"}, "#"),
        "parameter": ("metadata-parameter", {"metadata_url": "http://127.0.0.1/", "metadata_parameter": "a"}, "NAME=VALUE"),
        "secret_header_alone": (
            "metadata-secret-header", {"metadata_url": "http://127.0.0.1/", "metadata_secret_header": "X"}, "metadata-secret"),
        "session_header_alone": (
            "metadata-session-header", {"metadata_url": "http://127.0.0.1/", "metadata_session_header": "X"}, "session-url"),
    })
    def test_settings(self, name, settings, *fragments):
        self.expect_refused_setting(name, "metadata", *fragments, token_url=False, **settings)

    def test_service_of_another_grant(self):
        self.expect_refused_setting(
            "metadata-url", "client-credentials", "grant=metadata", **self.client(metadata_url="http://127.0.0.1/"))


class TokenFiles(OAuthTestCase):
    """A Kubernetes service account's token, in a volume like the kubelet's: the file is a link into a folder that is itself a
    link, which a rotation replaces."""

    def setUp(self):
        super().setUp()
        self.volume = self.folder / "serviceaccount"
        self.volume.mkdir()
        (self.volume / "token").symlink_to("..data/token")
        self.path, self.rotations = self.volume / "token", 0

    def rotate(self, token, mode=0o644):
        self.rotations += 1
        folder = self.volume / f"..2026_01_01_{self.rotations}"
        folder.mkdir()
        (folder / "token").write_text(token)
        (folder / "token").chmod(mode)
        (self.volume / "..data_tmp").symlink_to(folder.name)
        (self.volume / "..data_tmp").rename(self.volume / "..data")

    def account_token(self, lifetime=3600, name="default"):
        now = int(time.time())
        return signed(
            private_key("RS256"), "RS256", iss="https://kubernetes.default.svc.cluster.local", aud=["api"], iat=now,
            exp=now + lifetime, sub=f"system:serviceaccount:ns:{name}", jti=f"{self.rotations}")

    def read(self, *words, **settings):
        return self.oauth("metadata", *words, token_url=False, token_file=self.path, **settings)

    def test_bearer_token(self):
        token = self.account_token()
        self.accepted = {token}
        self.rotate(token)
        self.expect_token(self.read())
        self.assertEqual([seen.path for seen in self.server.requests], ["/api"])

    def test_rotated_while_a_session_lives(self):
        """Between the two requests of one command the API stops accepting the first token."""
        first, second = self.account_token(), self.account_token(3000)
        self.rotate(first)
        self.accepted = {first}
        original = self.api

        def api(seen):
            response = original(seen)
            if self.rotations == 1:
                self.rotate(second)
                self.accepted = {second}
            return response

        self.api = api
        outcome = self.oauth(
            "metadata", self.server.http + "/api/1", token_url=False, token_file=self.path, url=self.server.http + "/api/2")
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hellohello")
        carried = [seen.values("Authorization")[0].removeprefix("Bearer ") for seen in self.server.requests]
        self.assertEqual(carried, [first, first, second])

    def test_rotated_between_commands(self):
        """The session expires with the token. Then the file is read before the request is sent."""
        env = self.stored()
        words = self.words("metadata", token_url=False, token_file=self.path)
        for lifetime in (8, 3600):
            token = self.account_token(lifetime)
            self.rotate(token)
            self.accepted = {token}
            self.expect_token(self.run_host(*words, self.server.http + "/api", env=env))
            self.assertEqual(self.server.requests[-1].values("Authorization"), [f"Bearer {token}"])
            if lifetime == 8:
                end = jwt.decode(token, options={"verify_signature": False})["exp"]
                wait_until(lambda: time.time() > end, "the token's expiry")

    def test_expired(self):
        self.rotate(self.account_token(-5))
        self.expect(self.read(), 112, "can't be done now", "expired", "stopped renewing", str(self.path))
        self.assertEqual(self.server.requests, [])

    def test_subject_of_an_exchange(self):
        token = self.account_token()
        self.rotate(token + "\n")
        self.expect_token(self.oauth("token-exchange", client_id=CLIENT, token_file=self.path))
        self.assertEqual(
            (self.forms[0]["subject_token"], self.forms[0]["subject_token_type"]), (token, URN + "token-type:jwt"))

    def test_assertion_of_the_client(self):
        """Azure's workload identity in Kubernetes."""
        token = self.account_token()
        self.rotate(token)
        self.expect_token(self.oauth(
            "client-credentials", client_id=CLIENT, client_auth="private-key-jwt", token_file=self.path))
        self.assertEqual((self.forms[0]["client_assertion"], self.forms[0]["client_assertion_type"]), (token, ASSERTION_TYPE))

    def test_assertion_of_a_grant(self):
        token = self.account_token()
        self.rotate(token)
        self.expect_token(self.oauth("jwt-bearer", client_id=CLIENT, token_file=self.path))
        self.assertEqual(self.forms[0]["assertion"], token)

    def expect_unusable(self, *fragments):
        self.expect(self.read(), 111, "token-file", *fragments, str(self.path))
        self.assertEqual(self.server.requests, [])

    def test_missing(self):
        self.expect_unusable("doesn't exist")

    @cases({"others": (0o646, "0646"), "group": (0o660, "0660")})
    def test_writable(self, mode, shown):
        self.rotate("a", mode)
        self.expect_unusable("other users may write", shown, "chmod go-w")

    @cases({
        "empty": ("", "one line"), "two_lines": ("a\nb\n", "one line"), "not_ascii": ("tökn", "one line"),
        "too_long_for_a_header": ("x" * 40_000, "one line"), "too_large": ("x" * (64 << 10) + "x", "65536 bytes"),
    })
    def test_content(self, text, fragment):
        self.rotate(text)
        self.expect_unusable(fragment)

    def test_folder(self):
        self.path.unlink()
        self.path.mkdir()
        self.expect_unusable("is not a regular file")

    def test_pipe(self):
        """The command doesn't wait for it."""
        self.path.unlink()
        os.mkfifo(self.path)
        self.expect_unusable("is not a regular file")

    def test_owner(self):
        if os.geteuid() != 0:
            self.skipTest("root alone can give a file away")
        self.rotate("a")
        os.chown(self.path, 12345, -1)
        self.expect_unusable("belongs to user 12345")
