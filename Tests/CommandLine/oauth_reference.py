"""An OAuth client in Python's standard library, with JWTs by Debian's Authlib. It tries the servers of oauth_servers.py first, so
that a failure in the table of test_oauth_servers.py is the scheme's."""

import base64
import hashlib
import http.server
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from oauth_servers import CLIENT_SECRET, PASSWORD, PYTHON, ROOT

sys.path.append(str(ROOT / "Examples/demo-server"))
os.environ.setdefault("DEMO_SECRET", PASSWORD)

from browser import Browser

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
JWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Refused(Exception):
    """The status and the body of an error response."""


class Client:
    def __init__(self, server, name, secret=None, makes_proofs=False):
        self.server, self.name, self.secret = server, name, secret
        self.proof_key = self.new_key() if makes_proofs else None
        self.metadata = self.get(server.issuer + "/.well-known/openid-configuration")

    def get(self, url, **headers):
        return self.send(urllib.request.Request(url, headers=headers))

    def post(self, url, fields):
        headers = {"Accept": "application/json"}
        if self.secret is None:
            fields = {**fields, "client_id": self.name}
        elif self.secret == "form":
            fields = {**fields, "client_id": self.name, "client_secret": CLIENT_SECRET}
        elif self.secret == "basic":
            headers["Authorization"] = "Basic " + base64.b64encode(f"{self.name}:{CLIENT_SECRET}".encode()).decode()
        else:
            fields = {**fields, "client_assertion_type": JWT, "client_assertion": self.assertion()}
        if self.proof_key is not None:
            headers["DPoP"] = self.proof("POST", url)
        return self.send(urllib.request.Request(url, urllib.parse.urlencode(fields).encode(), headers))

    def send(self, request):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, error.read().decode("utf-8", "replace"), dict(error.headers)) from None
        return json.loads(text) if text.strip() else {}

    def authlib(self, code, *values):
        done = subprocess.run([PYTHON, "-c", code], input=json.dumps(values), capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def new_key(self):
        return json.loads(self.authlib(
            "import json; from authlib.jose import JsonWebKey; "
            "print(json.dumps(JsonWebKey.generate_key('EC', 'P-256', is_private=True).as_dict(is_private=True)))"))

    def sign(self, header, claims, key):
        return self.authlib(
            "import json, sys; from authlib.jose import JsonWebSignature; header, claims, key = json.load(sys.stdin); "
            "sys.stdout.write(JsonWebSignature().serialize_compact(header, json.dumps(claims).encode(), key).decode())",
            header, claims, key)

    def proof(self, method, url, token=None):
        claims = {"htm": method, "htu": url, "iat": int(time.time()), "jti": secrets.token_hex(16)}
        if token:
            claims["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        public = {name: self.proof_key[name] for name in ("kty", "crv", "x", "y")}
        return self.sign({"typ": "dpop+jwt", "alg": "ES256", "jwk": public}, claims, self.proof_key)

    def assertion(self, issuer=None, subject=None):
        claims = {
            "iss": issuer or self.name, "sub": subject or self.name, "aud": self.server.assertion_audience(),
            "jti": secrets.token_hex(16), "iat": int(time.time()), "exp": int(time.time()) + 60}
        if self.secret == "mac":
            return self.sign({"alg": "HS256"}, claims, CLIENT_SECRET)
        return self.sign({"alg": "ES256"}, claims, (self.server.folder / "key.pem").read_text())

    # Grants. Each returns the response of the token endpoint.

    def token(self, grant, **fields):
        return self.post(self.metadata["token_endpoint"], {"grant_type": grant, **fields})

    def code(self, scope, denies=False, pushes=False):
        with Redirect() as redirect:
            verifier, state = secrets.token_urlsafe(48), secrets.token_hex(8)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
            fields = {
                "response_type": "code", "client_id": self.name, "redirect_uri": redirect.uri, "scope": scope, "state": state,
                "code_challenge": challenge, "code_challenge_method": "S256", "nonce": secrets.token_hex(8),
                **self.server.authorization}
            if pushes:
                pushed = self.post(self.metadata["pushed_authorization_request_endpoint"], fields)
                fields = {"client_id": self.name, "request_uri": pushed["request_uri"]}
            Browser(denies).visit(self.metadata["authorization_endpoint"] + "?" + urllib.parse.urlencode(fields))
            answer = redirect.answer
        if answer.get("state") != state or "code" not in answer:
            raise Refused(answer)
        if answer.get("iss", self.server.issuer) != self.server.issuer:
            raise Refused(answer)
        return self.token("authorization_code", code=answer["code"], redirect_uri=redirect.uri, code_verifier=verifier)

    def device(self, scope):
        asked = self.post(self.metadata["device_authorization_endpoint"], {"scope": scope})
        Browser().visit(asked["verification_uri_complete"])
        end = time.monotonic() + 30
        while True:
            try:
                return self.token(DEVICE, device_code=asked["device_code"])
            except Refused as refused:
                if "authorization_pending" not in refused.args[1] and "slow_down" not in refused.args[1] or time.monotonic() > end:
                    raise
                time.sleep(asked["interval"])

    def api(self, response, path=None):
        url, token = path or self.server.api, response["access_token"]
        if response["token_type"].lower() == "dpop":
            return self.get(url, Authorization="DPoP " + token, DPoP=self.proof("GET", url, token))
        return self.get(url, Authorization="Bearer " + token)


class Redirect:
    """Waits at a loopback redirect URI."""

    def __enter__(self):
        holder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path == "/callback":
                    holder.answer = dict(urllib.parse.parse_qsl(query))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.answer = {}
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self.server.server_port}/callback"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
