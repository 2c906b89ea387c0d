"""Acts as several services at once: it is the proxy for all requests to their names, ….example.com. At its own address it is
their authorization server.

Prints its address, then a line for each request: the service, the request, the names of the credentials, the status.
Ends when its standard input is closed.
"""

import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

CREDENTIALS = ["Authorization", "Cookie", "X-API-Key", "X-Client-ID", "X-Client-Secret", "X-Signature", "X-Tenant"]
KEY = "your-api-key-12345"
LOGIN = {"email": "ada@example.com", "password": "correct horse"}


class Grant:
    """One user's tokens at api.example.com. Each renewal replaces both, and the old ones become invalid."""

    def __init__(self):
        self.number = 1
        self.access, self.refresh = None, "r1"
        self.outage = False
        self.lock = threading.Lock()

    def issue(self):
        self.number += 1
        self.access, self.refresh = f"a{self.number}", f"r{self.number}"


GRANT = Grant()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def respond(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        self.host, self.query = url.hostname, urllib.parse.parse_qsl(url.query)
        self.url = url
        with GRANT.lock:
            handle = self.login if self.host in (None, "127.0.0.1") else getattr(self, str(self.host).split(".")[0], None)
            status, value, *lines = handle() if handle else (404, {"message": "there is no such service"})
            seen = [name for name in CREDENTIALS if self.headers.get(name)]
            seen += [name for name, _ in self.query if name == "api_key"]
            seen += ["User-Agent: MyApp/1.0"] if self.headers.get("User-Agent") == "MyApp/1.0" else []
            print(f"{self.host} {self.command} {url.path} [{', '.join(seen)}] {status}", flush=True)
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in lines:
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = respond

    def verified(self, is_authorized, **value):
        return (200, value) if is_authorized else (401, {"message": "who are you?"})

    # The services

    def login(self):
        """An OAuth 2.0 server: its metadata (RFC 8414), its token endpoint (RFC 6749 §3.2), its revocation (RFC 7009)."""
        issuer = f"http://{self.headers['Host']}"
        sent = dict(urllib.parse.parse_qsl(self.body.decode()))
        match self.command, self.url.path:
            case "GET", "/.well-known/oauth-authorization-server":
                return 200, {"issuer": issuer, "token_endpoint": issuer + "/token", "revocation_endpoint": issuer + "/revoke"}
            case "POST", "/revoke":
                if sent["token"] in (GRANT.access, GRANT.refresh):
                    GRANT.access = GRANT.refresh = None
                return 200, {}
            case "POST", "/token" if sent["grant_type"] == "refresh_token":
                if GRANT.outage:
                    GRANT.outage = False
                    return 503, {"error": "temporarily_unavailable"}
                if sent["refresh_token"] != GRANT.refresh:
                    return 400, {"error": "invalid_grant"}
            case "POST", "/token":
                if {"email": sent.get("username"), "password": sent.get("password")} != LOGIN:
                    return 400, {"error": "invalid_grant"}
            case _:
                return 404, {}
        GRANT.issue()
        return 200, {"access_token": GRANT.access, "refresh_token": GRANT.refresh, "token_type": "Bearer", "expires_in": 3600}

    def api(self):
        """An access token and a single-use refresh token, in its own JSON format."""
        sent = json.loads(self.body) if self.body else {}
        match self.command, self.url.path:
            case "POST", "/oauth/refresh":
                if sent["refresh_token"] != GRANT.refresh:
                    return 400, {"error": "invalid_grant"}
            case "POST", "/auth/login":
                if {name: sent.get(name) for name in LOGIN} != LOGIN:
                    return 403, {"message": "wrong e-mail or password"}
            case "DELETE", "/access":  # as if it had expired
                GRANT.access = None
                return 200, {}
            case "DELETE", "/grant":  # as if the user had revoked it elsewhere
                GRANT.access = GRANT.refresh = None
                return 200, {}
            case "DELETE", "/availability":
                GRANT.access, GRANT.outage = None, True
                return 200, {}
            case "GET", path if path.startswith("/public/"):
                return 200, {"scheme": "none"}
            case _:
                is_current = GRANT.access is not None and self.headers.get("Authorization") == f"Bearer {GRANT.access}"
                return self.verified(is_current, scheme="oauth", name="Ada")
        GRANT.issue()
        return 200, {"accessToken": GRANT.access, "refreshToken": GRANT.refresh, "expiresIn": 3600}

    def admin(self):
        return self.verified(self.headers.get("X-API-Key") == KEY, scheme="API key in a header")

    def legacy(self):
        if (self.command, self.url.path) == ("POST", "/login"):
            if json.loads(self.body) != LOGIN:
                return 403, {"message": "wrong e-mail or password"}
            return 200, {}, ("Set-Cookie", "session_id=abc123; Path=/; HttpOnly")
        return self.verified(self.headers.get("Cookie") == "session_id=abc123", scheme="cookie")

    def maps(self):
        is_last = self.query[-1:] == [("api_key", KEY)] and len(self.query) == 2
        return self.verified(is_last, scheme="API key in the query")

    def partner(self):
        sent = [self.headers.get("X-Client-ID"), self.headers.get("X-Client-Secret")]
        return self.verified(sent == ["abc123", "secret456"], scheme="two headers")

    def signed(self):
        moment = self.headers.get("X-Timestamp", "")
        digest = hashlib.sha256(self.body).hexdigest() if self.body else ""
        message = "\n".join([self.command, self.url.path, moment, digest])
        signature = hmac.new(b"secret", message.encode(), "sha256").hexdigest()
        is_signed = hmac.compare_digest(signature, self.headers.get("X-Signature", ""))
        return self.verified(is_signed and abs(time.time() - int(moment)) < 300, scheme="HMAC")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
