"""A resource that requires DPoP proofs with its nonce (RFC 9449 §8, §9). jwcrypto checks the proofs and the key's thumbprint."""
import base64
import hashlib
import json
import secrets
import sys
import threading
import time

import common
from jwcrypto import jwk, jws

THUMBPRINT = jwk.JWK.from_pem(open(sys.argv[1], "rb").read()).thumbprint()
TOKEN = sys.argv[2]


class Resource:
    def __init__(self):
        self.lock = threading.Lock()
        self.nonces = [secrets.token_urlsafe(12)]
        self.proofs = set()
        self.log = []

    def problem(self, environ):
        """The problem with the proof, or None."""
        if environ.get("HTTP_AUTHORIZATION") != "DPoP " + TOKEN:
            return "invalid_token"
        proof = jws.JWS()
        proof.deserialize(environ.get("HTTP_DPOP", ""))
        head = json.loads(proof.objects["protected"])
        if head["typ"] != "dpop+jwt" or head["alg"] != "ES256" or "d" in head["jwk"]:
            return "invalid_dpop_proof: head"
        key = jwk.JWK(**head["jwk"])
        proof.verify(key)
        claims = json.loads(proof.payload)
        url = "http://%s%s" % (environ["HTTP_HOST"], environ["RAW_PATH"])
        digest = base64.urlsafe_b64encode(hashlib.sha256(TOKEN.encode()).digest()).rstrip(b"=").decode()
        if key.thumbprint() != THUMBPRINT:
            return "invalid_dpop_proof: key"
        if claims["htm"] != environ["REQUEST_METHOD"] or claims["htu"] != url or claims["ath"] != digest:
            return "invalid_dpop_proof: claims %s %s" % (claims["htu"], url)
        if abs(claims["iat"] - time.time()) > 120 or claims["jti"] in self.proofs:
            return "invalid_dpop_proof: replayed or old"
        self.proofs.add(claims["jti"])
        # The previous nonce stays valid for requests that are on their way.
        return "" if claims.get("nonce") in self.nonces[-2:] else "use_dpop_nonce"

    def __call__(self, environ, start_response):
        with self.lock:
            if environ["PATH_INFO"] == "/log":
                start_response("200 OK", [])
                return [json.dumps(self.log).encode()]
            if environ["PATH_INFO"] == "/forget":
                self.nonces = [secrets.token_urlsafe(12)]
                start_response("200 OK", [])
                return [b""]
            try:
                problem = self.problem(environ)
            except Exception as error:
                problem = "invalid_dpop_proof: %r" % error
            headers = []
            if problem:
                headers = [("WWW-Authenticate", 'DPoP error="%s", algs="ES256"' % problem)]
            if not problem and "rotate" in environ["QUERY_STRING"]:
                self.nonces.append(secrets.token_urlsafe(12))
            if problem == "use_dpop_nonce" or "rotate" in environ["QUERY_STRING"]:
                headers.append(("DPoP-Nonce", self.nonces[-1]))
            self.log.append(problem or "ok")
            start_response("401 Unauthorized" if problem else "200 OK", headers)
            return [problem.encode()]


common.serve_wsgi(lambda url: Resource())
