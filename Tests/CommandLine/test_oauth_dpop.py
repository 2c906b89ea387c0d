"""Tokens that are bound to a key (RFC 9449): proofs that jwcrypto and PyJWT verify, nonces of both servers, and refusals."""

import base64
import collections
import email.utils
import hashlib
import json
import secrets
import threading
import time
import urllib.parse

import jwt
from jwcrypto import jwk, jws

from support import BUILD, SECRET, RecordingServer, TestCase, cases, reply

ALGORITHMS = ("ES256", "ES384", "EdDSA")
HOUR = 3600


class Refused(Exception):
    """A proof or a token that a server doesn't accept. The code is from RFC 9449 §12.2 or RFC 6750 §3.1."""


class ProofServer(RecordingServer):
    """Checks its requests' proofs as in RFC 9449 §4.3. Two libraries verify each signature."""

    def __init__(self):
        super().__init__(self.answer)
        self.guard = threading.Lock()
        self.ids = set()
        self.nonces = []  # the last ones are valid; if the list is empty, no nonce is required
        self.accepted = 1  # how many of the last nonces are valid
        self.ahead = 0  # how far ahead of this machine's clock, in seconds
        self.answered = []  # each request's code: "ok", or the refusal's

    def rotate(self):
        self.nonces.append(secrets.token_urlsafe(12))

    def nonce_lines(self):
        """A response's lines about nonces."""
        return [f"DPoP-Nonce: {self.nonces[-1]}"] if self.nonces else []

    def answer(self, seen):
        with self.guard:
            try:
                response = self.result(seen)
                self.answered.append("ok")
            except Refused as refusal:
                self.answered.append(str(refusal))
                response = self.refuse(str(refusal))
        return response

    def lines(self):
        return [f"Date: {email.utils.formatdate(time.time() + self.ahead, usegmt=True)}", *self.nonce_lines()]

    def proven(self, seen, token=None):
        """Returns the thumbprint of the key that a request proves."""
        proofs = seen.values("DPoP")
        try:
            proof = self.verified(*proofs)
        except (TypeError, ValueError, KeyError, jws.InvalidJWSObject, jws.InvalidJWSSignature, jwt.PyJWTError) as error:
            raise Refused("invalid_dpop_proof") from error
        claims, key = proof
        if claims["htm"] != seen.method or claims["htu"] != self.http + seen.path:
            raise Refused("invalid_dpop_proof")
        if abs(claims["iat"] - time.time() - self.ahead) > 60 or claims["jti"] in self.ids or len(claims["jti"]) < 16:
            raise Refused("invalid_dpop_proof")
        self.ids.add(claims["jti"])
        digest = hashlib.sha256((token or "").encode()).digest()
        if claims.get("ath") != (base64.urlsafe_b64encode(digest).rstrip(b"=").decode() if token else None):
            raise Refused("invalid_dpop_proof")
        if self.nonces and claims.get("nonce") not in self.nonces[-self.accepted :]:
            raise Refused("use_dpop_nonce")
        return key.thumbprint()

    @staticmethod
    def verified(proof):
        """Returns the claims and the key of a proof with a valid signature."""
        head = json.loads(base64.urlsafe_b64decode(proof.split(".")[0] + "==="))
        if head["typ"] != "dpop+jwt" or head["alg"] not in ALGORITHMS or set(head) != {"typ", "alg", "jwk"}:
            raise ValueError(head)
        key = jwk.JWK(**head["jwk"])
        if key.has_private:
            raise ValueError("a private key")
        parsed = jws.JWS()
        parsed.allowed_algs = list(ALGORITHMS)
        parsed.deserialize(proof, key)
        claims = jwt.decode(proof, jwt.PyJWK(head["jwk"], head["alg"]).key, [head["alg"]], options={"verify_iat": False})
        if claims != json.loads(parsed.payload):
            raise ValueError("the libraries disagree")
        return claims, key

    def keys(self):
        return {self.verified(*seen.values("DPoP"))[1].thumbprint() for seen in self.requests}

    def claims(self):
        return [self.verified(*seen.values("DPoP"))[0] for seen in self.requests]


class AuthorizationServer(ProofServer):
    """Issues tokens bound to the proof's key, and rotates refresh tokens, which are also bound."""

    def __init__(self):
        super().__init__()
        self.bound = {}  # the thumbprint for each token
        self.type = "DPoP"
        self.expired = set()

    def result(self, seen):
        form = dict(urllib.parse.parse_qsl(seen.body.decode()))
        if seen.values("Authorization") != ["Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()]:
            raise Refused("invalid_client")
        thumbprint = self.proven(seen) if self.type == "DPoP" or seen.values("DPoP") else None
        if form["grant_type"] == "refresh_token":
            if self.bound.pop(form["refresh_token"], None) != thumbprint:
                raise Refused("invalid_grant")
        token, renewal = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.bound |= {token: thumbprint, renewal: thumbprint}
        body = {"access_token": token, "token_type": self.type, "expires_in": HOUR, "refresh_token": renewal}
        return reply("200 OK", *self.lines(), body=json.dumps(body).encode())

    def refuse(self, code):
        return reply("400 Bad Request", *self.lines(), body=json.dumps({"error": code}).encode())

    def grants(self):
        return [dict(urllib.parse.parse_qsl(seen.body.decode()))["grant_type"] for seen in self.requests]


class Resource(ProofServer):
    """Accepts an authorization server's tokens with proofs of their keys."""

    def __init__(self, issuer):
        super().__init__()
        self.issuer = issuer
        self.takes_bearer = False

    def result(self, seen):
        scheme, _, token = seen.values("Authorization")[0].partition(" ")
        if token not in self.issuer.bound or token in self.issuer.expired:
            raise Refused("invalid_token")
        if scheme == "Bearer" and self.takes_bearer:
            return reply("200 OK", body=b"hello")
        if scheme != "DPoP" or self.proven(seen, token) != self.issuer.bound[token]:
            raise Refused("invalid_token")
        return reply("200 OK", *self.lines(), body=b"hello")

    def refuse(self, code):
        return reply("401 Unauthorized", f'WWW-Authenticate: DPoP error="{code}", algs="ES256 ES384 EdDSA"', *self.lines())

    def expire(self):
        """Ends all tokens issued until now."""
        self.issuer.expired = set(self.issuer.bound)


class ProofTestCase(TestCase):
    """With both servers, and a home in which tokens are kept."""

    def setUp(self):
        self.issuer = self.enterContext(AuthorizationServer())
        self.resource = self.enterContext(Resource(self.issuer))
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)

    def run_host(self, *words, **options):
        return super().run_host(*words, env={"HOME": str(self.home), "NEVOD_HOST_STORE": ""}, **options)

    def get(self, *words, paths=("/a",), dpop="required"):
        settings = {
            "grant": "password", "username": "ada", "password": "env:NEVOD_TEST_SECRET", "token-url": self.issuer.http + "/token",
            "client-id": "me", "client-secret": "env:NEVOD_TEST_SECRET", "dpop": dpop}
        return self.run_host(
            "-f", "--plugin", BUILD / "libOAuth2Auth.so",
            *(word for name, value in settings.items() for word in ("--set", f"{name}={value}")), *words,
            *(self.resource.http + path for path in paths))

    def expect_success(self, outcome, count=1):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello" * count, outcome)

    def expect_one_key(self):
        keys = self.issuer.keys() | self.resource.keys()
        self.assertEqual(len(keys), 1, keys)


class Proofs(ProofTestCase):
    @cases({algorithm: algorithm for algorithm in ALGORITHMS})
    def test_of_each_algorithm(self, algorithm):
        outcome = self.get("--set", f"dpop-alg={algorithm}", paths=("/a%2Fb/c%22;x=1?q=1#f", "/b"))
        self.expect_success(outcome, 2)
        self.assertEqual((self.issuer.answered, self.resource.answered), (["ok"], ["ok", "ok"]))
        self.expect_one_key()
        for seen in self.issuer.requests + self.resource.requests:
            self.assertEqual(jwt.get_unverified_header(*seen.values("DPoP"))["alg"], algorithm)

    def test_algorithm_of_a_new_key(self):
        self.expect_success(self.get())
        self.assertEqual(jwt.get_unverified_header(*self.issuer.requests[0].values("DPoP"))["alg"], "ES256")

    def test_of_other_methods(self):
        self.expect_success(self.get("-X", "PROPFIND", "-d", "a=b"))
        self.assertEqual(self.resource.claims()[0]["htm"], "PROPFIND")

    def test_key_is_kept(self):
        """The store keeps it for other processes. A renewal keeps it because the refresh token is bound to the key."""
        for _ in range(2):
            self.expect_success(self.get())
        self.resource.expire()
        self.expect_success(self.get())
        self.assertEqual(self.issuer.grants(), ["password", "refresh_token"])
        self.assertEqual(self.resource.answered, ["ok", "ok", "invalid_token", "ok"])
        self.expect_one_key()

    def test_each_login_makes_a_key(self):
        for _ in range(2):
            self.expect_success(self.get("--no-store"))
        self.assertEqual(len(self.issuer.keys()), 2)

    def test_renewal_within_a_command(self):
        self.expect_success(self.get())
        self.resource.expire()
        self.expect_success(self.get(paths=("/a", "/b")), 2)
        self.assertEqual(self.resource.answered, ["ok", "invalid_token", "ok", "ok"])
        self.expect_one_key()

    def test_nothing_of_it_is_shown(self):
        outcome = self.get("-vv", "--no-store")
        self.expect(outcome, 0)
        proofs = [value for seen in self.issuer.requests + self.resource.requests for value in seen.values("DPoP")]
        self.assertEqual(len(proofs), 2)
        for secret in (SECRET, *self.issuer.bound, *proofs):
            self.assertNotIn(secret, outcome.err)

    def test_redirect_to_another_path(self):
        """Each hop has its own proof."""
        serve = self.resource.result

        def redirecting(seen):
            response = serve(seen)
            return reply("302 Found", "Location: /b") if seen.path == "/a" else response

        self.resource.result = redirecting
        self.expect_success(self.get("-L"))
        addresses = [claims["htu"] for claims in self.resource.claims()]
        self.assertEqual(addresses, [self.resource.http + path for path in ("/a", "/b")])


class Theft(ProofTestCase):
    """Checks the judge itself: a stolen token or proof is useless."""

    def refusal(self, server, **lines):
        """Returns the server's decision about the last request with other header lines."""
        seen = server.requests[-1]
        seen.headers = [(name, value) for name, value in seen.headers if name not in lines] + [
            (name, value) for name, value in lines.items() if value]
        server.answer(seen)
        return server.answered[-1]

    def proof(self, key, seen, url, **claims):
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": key.export_public(as_dict=True)}
        claims = {"jti": secrets.token_urlsafe(16), "htm": seen.method, "htu": url, "iat": int(time.time())} | claims
        token = jws.JWS(json.dumps(claims))
        token.add_signature(key, None, json.dumps(head))
        return token.serialize(compact=True)

    def test_moved_to_another_key(self):
        self.expect_success(self.get())
        self.assertEqual(self.refusal(self.resource), "invalid_dpop_proof")  # replayed
        key = jwk.JWK.generate(kty="EC", crv="P-256")
        seen = self.resource.requests[-1]
        digest = hashlib.sha256(seen.values("Authorization")[0].partition(" ")[2].encode()).digest()
        other = self.proof(key, seen, self.resource.http + "/a", ath=base64.urlsafe_b64encode(digest).rstrip(b"=").decode())
        self.assertEqual(self.refusal(self.resource, DPoP=other), "invalid_token")
        token = seen.values("Authorization")[0].partition(" ")[2]
        self.assertEqual(self.refusal(self.resource, DPoP=None, Authorization=f"Bearer {token}"), "invalid_token")

    def test_refresh_token_moved_to_another_key(self):
        self.expect_success(self.get())
        self.resource.expire()
        self.expect_success(self.get())
        seen = self.issuer.requests[-1]
        renewal = next(token for token in list(self.issuer.bound)[::-1] if token not in self.issuer.expired)
        seen.body = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": renewal}).encode()
        other = self.proof(jwk.JWK.generate(kty="EC", crv="P-256"), seen, self.issuer.http + "/token")
        self.assertEqual(self.refusal(self.issuer, DPoP=other), "invalid_grant")


INVALID_NONCES = {
    "none": [], "two": ["DPoP-Nonce: a", "DPoP-Nonce: b"], "quotation_mark": ['DPoP-Nonce: a"b'],
    "space": ["DPoP-Nonce: a b"], "too_long": ["DPoP-Nonce: " + "n" * 1025], "empty": ["DPoP-Nonce:"]}


class NoncesOfTheAuthorizationServer(ProofTestCase):
    def test_first_one(self):
        self.issuer.rotate()
        self.expect_success(self.get())
        self.assertEqual(self.issuer.answered, ["use_dpop_nonce", "ok"])

    def test_kept_for_a_renewal(self):
        """The token keeps it for other processes."""
        self.issuer.rotate()
        self.expect_success(self.get())
        self.resource.expire()
        self.expect_success(self.get())
        self.assertEqual(self.issuer.answered, ["use_dpop_nonce", "ok", "ok"])

    def test_next_one_in_a_success(self):
        serve = self.issuer.result

        def rotating(seen):
            response = serve(seen)
            self.issuer.rotate()
            return response.replace(b"\r\nDPoP-Nonce: ", b"\r\nDPoP-Nonce: %b\r\nX-Old: " % self.issuer.nonces[-1].encode())

        self.issuer.rotate()
        self.issuer.result = rotating
        self.expect_success(self.get())
        for _ in range(2):
            self.resource.expire()
            self.expect_success(self.get())
        self.assertEqual(self.issuer.answered, ["use_dpop_nonce", "ok", "ok", "ok"])

    def test_refused_twice(self):
        """There is no third request, and the session stays."""
        self.expect_success(self.get())
        self.resource.expire()
        refuse = self.issuer.refuse

        def rotating(code):
            response = refuse(code)
            self.issuer.rotate()
            return response

        self.issuer.rotate()
        self.issuer.refuse = rotating
        self.expect_failure(
            self.get(), 112, "the authorization server refused the DPoP nonce that it had given (use_dpop_nonce)")
        self.assertEqual(self.issuer.answered, ["ok", "use_dpop_nonce", "use_dpop_nonce"])
        self.issuer.refuse = refuse
        self.expect_success(self.get())
        self.assertEqual(self.issuer.grants()[-1], "refresh_token")
        self.expect_one_key()

    @cases(INVALID_NONCES)
    def test_invalid(self, lines):
        lines = list(lines)
        self.issuer.nonces, self.issuer.nonce_lines = ["x"], lambda: lines
        outcome = self.get()
        self.expect(outcome, 112, "(use_dpop_nonce), but gave no valid DPoP-Nonce")
        self.assertEqual(self.issuer.answered, ["use_dpop_nonce"])

    def test_not_that_of_a_resource(self):
        """Each server has its own."""
        self.issuer.rotate()
        self.expect_success(self.get("--no-store"))
        self.assertNotIn("nonce", self.resource.claims()[0])


class NoncesOfAResource(ProofTestCase):
    def test_first_one(self):
        self.resource.rotate()
        self.expect_success(self.get(paths=("/a", "/b")), 2)
        self.assertEqual(self.resource.answered, ["use_dpop_nonce", "ok", "ok"])
        self.assertEqual(self.issuer.grants(), ["password"])

    def test_next_one_in_a_success(self):
        serve = self.resource.result

        def rotating(seen):
            response = serve(seen)
            self.resource.rotate()
            return response.replace(b"\r\nDPoP-Nonce: ", b"\r\nDPoP-Nonce: %b\r\nX-Old: " % self.resource.nonces[-1].encode())

        self.resource.rotate()
        self.resource.result = rotating
        self.expect_success(self.get(paths=("/a", "/b", "/c")), 3)
        self.assertEqual(self.resource.answered, ["use_dpop_nonce", "ok", "ok", "ok"])

    def test_with_a_token_that_has_expired(self):
        self.expect_success(self.get())
        self.resource.expire()
        self.resource.rotate()
        self.expect_success(self.get())
        self.assertEqual(self.resource.answered, ["ok", "invalid_token", "ok"])

    def test_that_changes_between_two_requests(self):
        serve = self.resource.result

        def rotating(seen):
            response = serve(seen)
            self.resource.rotate()
            return response

        self.resource.rotate()
        self.resource.result = rotating
        self.expect_success(self.get(paths=("/a", "/b")), 2)
        self.assertEqual(self.resource.answered, ["use_dpop_nonce", "ok", "use_dpop_nonce", "ok"])
        self.assertEqual(self.issuer.grants(), ["password"])

    def test_that_changes_during_a_renewal(self):
        self.resource.rotate()
        self.expect_success(self.get())
        self.resource.expire()
        refuse = self.resource.refuse

        def rotating(code):
            response = refuse(code)
            if code == "invalid_token":
                self.resource.rotate()
            return response

        self.resource.refuse = rotating
        self.expect_success(self.get())
        self.assertEqual(self.resource.answered, ["use_dpop_nonce", "ok", "invalid_token", "use_dpop_nonce", "ok"])
        self.assertEqual(self.issuer.grants(), ["password", "refresh_token"])

    def test_refused_twice(self):
        refuse = self.resource.refuse

        def rotating(code):
            response = refuse(code)
            self.resource.rotate()
            return response

        self.resource.rotate()
        self.resource.refuse = rotating
        outcome = self.get()
        self.expect(outcome, 116, "refused the DPoP nonce that it had given (use_dpop_nonce)")
        self.assertEqual(self.resource.answered, ["use_dpop_nonce", "use_dpop_nonce"])
        self.assertEqual(self.issuer.grants(), ["password"])

    @cases(INVALID_NONCES)
    def test_invalid(self, lines):
        lines = list(lines)
        self.resource.nonces, self.resource.nonce_lines = ["x"], lambda: lines
        self.expect(self.get(), 116, "(use_dpop_nonce), but gave no valid DPoP-Nonce")
        self.assertEqual((self.resource.answered, self.issuer.grants()), (["use_dpop_nonce"], ["password"]))

    def concurrently(self, count):
        """Sends concurrent requests with one token. Returns the outcome and how often each was sent."""
        outcome = self.get("-Z", "--parallel-max", count, paths=[f"/{index}" for index in range(count)])
        self.assertEqual(self.issuer.grants(), ["password"], outcome)
        return outcome, collections.Counter(seen.path for seen in self.resource.requests)

    def test_a_hundred_requests(self):
        """While the nonce changes, each request is resent at most once, and none gets a new token."""
        serve = self.resource.result

        def rotating(seen):
            if len(self.resource.answered) % 20 == 19:
                self.resource.rotate()
            return serve(seen)

        self.resource.rotate()
        # All nonces of this test are valid, because a request that waits for a connection may carry the first one.
        self.resource.result, self.resource.accepted = rotating, 12
        outcome, counts = self.concurrently(100)
        self.expect_success(outcome, 100)
        self.assertEqual(self.resource.answered.count("ok"), 100)
        self.assertEqual((len(counts), max(counts.values())), (100, 2))

    def test_a_hundred_requests_and_nonces_that_hold_once(self):
        """A server that no concurrent client can satisfy. Requests fail, and none is sent three times."""
        refuse, serve = self.resource.refuse, self.resource.result

        def refusing(code):
            self.resource.rotate()
            return refuse(code)

        def serving(seen):
            response = serve(seen)
            self.resource.rotate()
            return response

        self.resource.rotate()
        self.resource.refuse, self.resource.result = refusing, serving
        outcome, counts = self.concurrently(100)
        self.assertEqual((len(counts), max(counts.values())), (100, 2))
        failed = outcome.err.count("refused the DPoP nonce that it had given")
        self.assertEqual(self.resource.answered.count("ok") + failed, 100, outcome)
        self.assertGreater(failed, 0)


class Refusals(ProofTestCase):
    def test_bearer_token_where_a_bound_one_is_required(self):
        self.issuer.type = "Bearer"
        self.expect(self.get(), 112, "the server issued a bearer token", "dpop=auto")
        self.assertEqual(self.resource.requests, [])

    def test_bearer_token_at_a_renewal(self):
        """By then the server has replaced the refresh token. The new one is kept, and used as soon as the server is fixed."""
        self.expect_success(self.get())
        self.resource.expire()
        self.issuer.type = "Bearer"
        self.expect(self.get(), 112, "the server issued a bearer token", "dpop=auto")
        self.issuer.type = "DPoP"
        self.expect_success(self.get())
        self.assertEqual(self.issuer.grants(), ["password", "refresh_token", "refresh_token"])
        self.assertEqual(self.issuer.answered, ["ok"] * 3)
        self.expect_one_key()

    def test_bearer_token_of_a_server_without_metadata(self):
        self.issuer.type, self.resource.takes_bearer = "Bearer", True
        self.expect_success(self.get(dpop="auto"))
        self.assertEqual([seen.values("DPoP") for seen in self.issuer.requests + self.resource.requests], [[], []])

    def test_bound_token_that_nobody_asked_for(self):
        self.issuer.proven = lambda seen: None
        self.expect(self.get(dpop="off"), 112, "of the type DPoP without a proof of a key", "dpop=required")
        self.assertEqual(self.resource.requests, [])

    def test_bearer_token_where_the_resource_wants_a_bound_one(self):
        """Another bearer token would also be rejected, so none is requested."""
        self.issuer.type = "Bearer"
        self.expect(self.get(dpop="off"), 116, "accepts only tokens that are bound to a key (DPoP); set dpop=required")
        self.assertEqual((len(self.resource.requests), self.issuer.grants()), (1, ["password"]))

    def test_setting_that_was_turned_off(self):
        """The stored token is of no use without proofs."""
        self.expect_success(self.get())
        self.issuer.type, self.resource.takes_bearer = "Bearer", True
        self.expect_success(self.get(dpop="off"))
        self.assertEqual(self.issuer.grants(), ["password"] * 2)
        self.assertRegex(self.resource.requests[-1].values("Authorization")[0], "^Bearer ")

    def test_invalid_proof_at_the_authorization_server(self):
        """The session isn't at fault, so it stays."""
        self.expect_success(self.get())
        self.resource.expire()

        def refusing(seen, token=None):
            raise Refused("invalid_dpop_proof")

        self.issuer.proven = refusing
        self.expect(self.get(), 112, "refused the proof of the token's key (invalid_dpop_proof)")
        self.assertEqual(self.issuer.answered, ["ok", "invalid_dpop_proof"])
        del self.issuer.proven
        self.expect_success(self.get())
        self.assertEqual(self.issuer.grants()[-1], "refresh_token")

    def test_invalid_proof_at_a_resource(self):
        """Another token wouldn't help, so none is requested."""
        def refusing(seen, token=None):
            raise Refused("invalid_dpop_proof")

        self.resource.proven = refusing
        self.expect(self.get(), 116, "refused the proof of the token's key (invalid_dpop_proof)")
        self.assertEqual((self.resource.answered, self.issuer.grants()), (["invalid_dpop_proof"], ["password"]))

    def test_clocks_of_both_servers(self):
        """The times in proofs follow the server's clock as soon as it is known."""
        self.issuer.ahead, self.resource.ahead = HOUR, -2 * HOUR
        self.expect_success(self.get(paths=("/a", "/b")), 2)
        self.assertEqual(self.issuer.answered, ["invalid_dpop_proof", "ok"])
        self.assertEqual(self.resource.answered, ["invalid_dpop_proof", "ok", "ok"])
        self.assertEqual(self.issuer.grants(), ["password"] * 2)
