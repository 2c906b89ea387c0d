"""Glewlwyd, an OpenID provider in C: code with PKCE and pushed requests (RFC 9126), the device grant, client credentials,
password, revocation, DPoP, rotation with reuse detection. The argument is a folder for its database.

Its pages for people are JavaScript programs. This server is a proxy in front of it. It passes requests on unchanged, but serves a
page with a form instead of these programs, and uses Glewlwyd's own API for the login and the consent.

  /glewlwyd/oidc/…       Glewlwyd's, whose issuer is URL/glewlwyd/oidc
  GET /api               {"user", "client", "scope"} of a valid token, verified with PyJWT; 401 with a challenge for any other
  GET /control/log       the requests for tokens: grant, client, status; "par" for a pushed request
  GET /control/expire    expires all access tokens
"""
import http.client
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse

from pages import CLIENT_SECRET, FOLDER, PASSWORD, USER, WrongProof, common, is_user, login_page, private_key, proof_key, public_pem
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
MODULES = "/usr/lib/glewlwyd"
PREFIX = "/glewlwyd"
COOKIE = "SESSION"
# From the schema.
ADMINISTRATOR = ("admin", "password")
log = []


class Glewlwyd:
    def __init__(self, url):
        self.database = FOLDER / "glewlwyd.db"
        connection = sqlite3.connect(self.database)
        with open(SCHEMA) as schema:
            connection.executescript(schema.read())
        connection.close()
        empty = FOLDER / "empty"
        empty.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            # Ends when this process ends, in whatever way.
            ["setpriv", "--pdeathsig", "TERM", "glewlwyd", "-e"], stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr,
            env={
                "PATH": "/usr/bin:/bin", "GLWD_PORT": str(self.port), "GLWD_BIND_ADDRESS": "127.0.0.1",
                "GLWD_API_PREFIX": PREFIX[1:], "GLWD_EXTERNAL_URL": url, "GLWD_LOGIN_URL": "login",
                "GLWD_STATIC_FILES_PATH": str(FOLDER), "GLWD_LOG_MODE": "console",
                "GLWD_LOG_LEVEL": "WARNING", "GLWD_COOKIE_SECURE": "0", "GLWD_SESSION_KEY": COOKIE, "GLWD_ADMIN_SCOPE": "g_admin",
                "GLWD_PROFILE_SCOPE": "g_profile", "GLWD_USER_MODULE_PATH": MODULES + "/user",
                "GLWD_USER_MIDDLEWARE_MODULE_PATH": str(empty), "GLWD_CLIENT_MODULE_PATH": MODULES + "/client",
                "GLWD_AUTH_SCHEME_MODULE_PATH": MODULES + "/scheme", "GLWD_PLUGIN_MODULE_PATH": MODULES + "/plugin",
                "GLWD_HASH_ALGORITHM": "SHA256", "GLWD_DATABASE_TYPE": "sqlite3", "GLWD_DATABASE_SQLITE3_PATH": str(self.database),
                "GLWD_ALLOW_ORIGIN": "*"})
        end = time.monotonic() + 30
        while True:
            try:
                return self.configure(url)
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise SystemExit("glewlwyd did not start") from None
                time.sleep(0.05)

    def send(self, method, target, body=None, headers=None):
        """Returns the status, the headers and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        finally:
            connection.close()

    def call(self, method, path, value, cookie=""):
        status, headers, body = self.send(
            method, PREFIX + path, json.dumps(value), {"Content-Type": "application/json", "Cookie": cookie})
        if status != 200:
            raise SystemExit(f"glewlwyd: {method} {path}: {status} {body.decode()}")
        return headers

    def login(self, user, password):
        """Returns the cookie of a session."""
        headers = self.call("POST", "/auth/", {"username": user, "password": password})
        return next(value.split(";")[0] for name, value in headers if name.lower() == "set-cookie")

    def configure(self, url):
        self.administrator = self.login(*ADMINISTRATOR)
        key = rsa.generate_private_key(65537, 2048)
        self.public_key = public_pem(key)
        self.add("/mod/plugin/", module="oidc", name="oidc", display_name="OpenID", parameters=self.parameters(url, key))
        self.add(
            "/scope/", name="orders:read", display_name="orders", description="orders", password_required=True,
            password_max_age=0, scheme={})
        self.add("/user/", username=USER, name="Ada", password=PASSWORD, enabled=True, scope=["openid", "orders:read", "g_profile"])
        secret = {"confidential": True, "client_secret": CLIENT_SECRET}
        self.client("app", ["code", "refresh_token", "device_authorization"], ["none"])
        self.client("web", ["code", "refresh_token"], ["client_secret_basic", "client_secret_post"], **secret)
        self.client("machine", ["client_credentials"], ["client_secret_basic", "client_secret_post"], **secret)
        self.client("legacy", ["password", "refresh_token"], ["client_secret_basic", "client_secret_post"], **secret)
        self.client("mac", ["client_credentials"], ["client_secret_jwt"], **secret)
        public = public_pem(private_key()).decode()
        self.client("key", ["client_credentials"], ["private_key_jwt"], confidential=True, pubkey=public)

    def add(self, path, **value):
        self.call("POST", path, value, self.administrator)

    def client(self, name, grants, methods, **more):
        self.add(
            "/client/", client_id=name, name=name, enabled=True, redirect_uri=[], authorization_type=grants,
            scope=["orders:read", "openid"], token_endpoint_auth_method=methods, **{"confidential": False, **more})

    def allow_redirect(self, name, uri):
        """Any port of loopback (RFC 8252 §7.3), which Glewlwyd doesn't offer."""
        status, _, body = self.send("GET", f"{PREFIX}/client/{name}", headers={"Cookie": self.administrator})
        if status == 200:
            self.call("PUT", f"/client/{name}", {**json.loads(body), "redirect_uri": [uri]}, self.administrator)

    def parameters(self, url, key):
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return {
            "iss": url + PREFIX + "/oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": private.decode(),
            "cert": public_pem(key).decode(), "access-token-duration": 3600, "refresh-token-duration": 1209600,
            "code-duration": 600, "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
            "auth-type-none-enabled": False, "auth-type-password-enabled": True, "auth-type-client-enabled": True,
            "auth-type-device-enabled": True, "auth-type-refresh-enabled": True, "pkce-allowed": True,
            "pkce-method-plain-allowed": False, "pkce-required": True, "introspection-revocation-allowed": True,
            "introspection-revocation-auth-scope": [], "introspection-revocation-allow-target-client": True, "jwks-show": True,
            "client-pubkey-parameter": "pubkey", "request-parameter-allow": True, "request-maximum-exp": 3600,
            "device-authorization-expiration": 600, "device-authorization-interval": 1, "oauth-par-allowed": True,
            "oauth-par-required": False, "oauth-par-duration": 90,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:", "oauth-dpop-allowed": True,
            "oauth-dpop-iat-duration": 60, "oauth-as-iss-id": True, "resource-allowed": False, "name-claim": "mandatory",
            "email-claim": "no", "scope-claim": "no"}

    def run(self, statement, *values):
        """Returns the first row."""
        connection = sqlite3.connect(self.database, timeout=30)
        try:
            with connection:
                return connection.execute(statement, values).fetchone()
        finally:
            connection.close()

    def living(self):
        return self.run("SELECT count(*) FROM gpo_refresh_token WHERE gpor_enabled = 1")[0]


def make_app(url):
    server = Glewlwyd(url)

    def app(environ, start_response):
        path, query = environ["RAW_PATH"], environ.get("QUERY_STRING", "")
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else None
        headers = {name[5:].replace("_", "-").title(): value for name, value in environ.items() if name.startswith("HTTP_")}
        if "HTTP_DPOP" in environ:
            headers["DPoP"] = headers.pop("Dpop")
        if environ.get("CONTENT_TYPE"):
            headers["Content-Type"] = environ["CONTENT_TYPE"]
        if path.startswith(PREFIX):
            status, lines, content = forward(environ["REQUEST_METHOD"], path, query, body, headers)
        elif path == "/login":
            status, lines, content = ask(environ["REQUEST_METHOD"], query, body)
        elif path == "/api":
            status, lines, content = api(headers)
        else:
            status, lines, content = control(path.rpartition("/")[2])
        start_response(f"{status} {http.client.responses.get(status, '')}", lines)
        return [content]

    def forward(method, path, query, body, headers):
        fields = dict(urllib.parse.parse_qsl((body or b"").decode("latin-1") if method == "POST" else query))
        if re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", fields.get("redirect_uri", "")) and not path.endswith("/token"):
            server.allow_redirect(fields.get("client_id", ""), fields["redirect_uri"])
        headers.pop("Connection", None)
        status, lines, content = server.send(method, path + ("?" + query if query else ""), body, headers)
        for ending, name in (("/token", fields.get("grant_type")), ("/par", "par"), ("/revoke", "revoke")):
            if path.endswith("/oidc" + ending) and method == "POST":
                log.append([name, fields.get("client_id", ""), status])
        hop = ("connection", "transfer-encoding", "content-length")
        return status, [line for line in lines if line[0].lower() not in hop], content

    def ask(method, query, body):
        """Replaces Glewlwyd's pages: the login, the consent, and the last page of a device login."""
        fields = dict(urllib.parse.parse_qsl(query))
        html = [("Content-Type", "text/html")]
        if "prompt" in fields and fields["prompt"].startswith("device") and fields["prompt"] != "device":
            return (200 if fields["prompt"] == "deviceComplete" else 400), html, fields["prompt"].encode()
        if method == "GET":
            return 200, html, login_page().encode()
        if not is_user(dict(urllib.parse.parse_qsl(body.decode()))):
            return 403, html, login_page().encode()
        cookie = server.login(USER, PASSWORD)
        if fields.get("client_id"):
            server.call("PUT", f"/auth/grant/{fields['client_id']}", {"scope": fields.get("scope", "")}, cookie)
        back = fields["callback_url"]
        location = back + ("&" if "?" in back else "?") + "g_continue"
        return 303, [("Location", location), ("Set-Cookie", cookie + "; Path=/")], b""

    def api(headers):
        kind, _, text = headers.get("Authorization", "").partition(" ")
        thumbprint = None
        try:
            claims = jwt.decode(text, server.public_key, ["RS256"], issuer=url + PREFIX + "/oidc", options={"verify_aud": False})
            thumbprint = claims.get("cnf", {}).get("jkt")
            if (thumbprint is not None) != (kind == "DPoP") or thumbprint != proof_key(headers, url + "/api", "GET", text):
                raise WrongProof("key")
            user, is_valid = server.run(
                "SELECT gpoa_username, gpoa_enabled FROM gpo_access_token WHERE gpoa_jti = ?", claims["jti"])
        except (jwt.InvalidTokenError, WrongProof):
            is_valid = False
        if not is_valid:
            error = ', error="invalid_token"' if text else ""
            return 401, [("WWW-Authenticate", f'{"DPoP" if thumbprint else "Bearer"} realm="orders"{error}')], b""
        seen = {"user": user or None, "client": claims["client_id"], "scope": claims["scope"]}
        return 200, [("Content-Type", "application/json")], json.dumps(seen).encode()

    def control(what):
        if what == "expire":
            server.run("UPDATE gpo_access_token SET gpoa_enabled = 0")
        return 200, [("Content-Type", "application/json")], json.dumps({"log": log, "living": server.living()}).encode()

    return app


common.serve_wsgi(make_app)
