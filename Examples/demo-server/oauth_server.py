#!/usr/bin/env python3
"""An OAuth 2.0 authorization server and its API, for the examples of the scheme oauth2. Python 3.11, standard library only.

    DEMO_SECRET=... python3 oauth_server.py [--port 8080] [--parent-pid PID]

It binds 127.0.0.1 and prints one line to stdout: "listening on http://127.0.0.1:PORT", which is also the issuer. Its one user is
ada, whose password comes from DEMO_SECRET. Clients: `demo`, which is public, and `service`, whose secret is DEMO_SECRET. For each
request for a token, a line on standard error tells the outcome.

    /.well-known/oauth-authorization-server, /.well-known/openid-configuration   its metadata (RFC 8414)
    /authorize      GET: a page to log in and consent; code with PKCE, S256 only (RFC 7636), and `iss` (RFC 9207)
    /par            pushed requests (RFC 9126)
    /token          authorization_code, refresh_token (rotated; a second use revokes the family), client_credentials, password,
                    device code, token exchange (RFC 8693)
    /device-code    the device grant (RFC 8628)
    /device         where a person confirms the code of a device; without a code, it waits for the next device, and fills its
                    code in
    /revoke         RFC 7009: the whole family
    POST /expire    expires every access token; refresh tokens stay valid
    POST /forget    revokes every token
    anything else   with a token: {"user": ..., "scope": ..., "logins": ..., "refreshes": ...}; 401 without, and for /admin 403 if
                    the token lacks the scope `admin` (RFC 6750)
"""

import argparse
import base64
import hashlib
import html
import http.server
import json
import os
import secrets
import signal
import socketserver
import sys
import threading
import time
import urllib.parse

SECONDS = 3600
DEVICE, EXCHANGE = "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
SCOPES = ("read", "write", "admin")


class Refusal(Exception):
    """An error response (RFC 6749 §5.2)."""

    def __init__(self, error, description="", status=400):
        super().__init__(error)
        self.error, self.description, self.status = error, description, status


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def __init__(self, port, password):
        self.password = password
        self.lock = threading.Condition()
        # The grant of each code, pushed request, device code, access token and refresh token.
        self.codes, self.pushed, self.devices, self.access, self.refresh = {}, {}, {}, {}, {}
        self.logins = self.refreshes = 0
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def server_bind(self):
        # Not HTTPServer's, which looks up the host's name. That can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def issue(self, client, user, scope, family=None):
        access = secrets.token_urlsafe(24)
        self.access[access] = {"client": client, "user": user, "scope": scope, "family": family, "ends": time.time() + SECONDS}
        response = {"access_token": access, "token_type": "Bearer", "expires_in": SECONDS, "scope": scope}
        if family is not None:
            response["refresh_token"] = secrets.token_urlsafe(24)
            self.refresh[response["refresh_token"]] = {
                "client": client, "user": user, "scope": scope, "family": family, "is_spent": False}
        return response

    def revoke(self, family):
        for tokens in (self.access, self.refresh):
            for text in [text for text, token in tokens.items() if token["family"] == family]:
                del tokens[text]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        path, _, query = self.path.partition("?")
        fields = dict(urllib.parse.parse_qsl(query))
        if path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"):
            return self.send_json(200, self.metadata())
        if path == "/authorize":
            return self.ask(fields)
        if path == "/device":
            return self.confirm(fields)
        with self.server.lock:
            self.api(path)

    def do_POST(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > 65536:
            self.close_connection = True
            return self.send(413, "too large\n")
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(length)).decode("latin-1"), keep_blank_values=True))
        path, _, query = self.path.partition("?")
        endpoint = {"/token": self.token, "/par": self.push, "/device-code": self.start_device, "/revoke": self.revoke}.get(path)
        with self.server.lock:
            if endpoint:
                return self.respond(endpoint, form)
            if path == "/authorize":
                return self.authorize(dict(urllib.parse.parse_qsl(query)), form)
            if path == "/device":
                return self.approve(form)
            if path in ("/expire", "/forget"):
                self.server.access.clear()
                if path == "/forget":
                    self.server.refresh.clear()
                return self.send(200, "all access tokens have expired\n" if path == "/expire" else "all tokens are revoked\n")
            self.api(path)

    # Endpoints of clients.

    def respond(self, endpoint, form):
        grant = form.get("grant_type", self.path[1:]).rpartition(":")[2]
        try:
            response = endpoint(form)
        except Refusal as refusal:
            print(f"REFUSED {grant}: {refusal.error}", file=sys.stderr, flush=True)
            return self.send_json(refusal.status, {"error": refusal.error, "error_description": refusal.description})
        print(f"granted {grant}", file=sys.stderr, flush=True)
        self.send_json(201 if endpoint == self.push else 200, response)

    def metadata(self):
        url = self.server.url
        return {
            "issuer": url, "authorization_endpoint": url + "/authorize", "token_endpoint": url + "/token",
            "pushed_authorization_request_endpoint": url + "/par", "device_authorization_endpoint": url + "/device-code",
            "revocation_endpoint": url + "/revoke", "response_types_supported": ["code"], "scopes_supported": SCOPES,
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", "password", DEVICE, EXCHANGE],
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"]}

    def client(self, form):
        """The client that sent a request, if it is authenticated."""
        name, secret = form.get("client_id"), form.get("client_secret")
        kind, _, credential = self.headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            pair = base64.b64decode(credential).decode("latin-1").partition(":")
            name, secret = urllib.parse.unquote_plus(pair[0]), urllib.parse.unquote_plus(pair[2])
        if name == "demo" and secret is None:
            return name
        if name == "service" and secrets.compare_digest((secret or "").encode(), self.server.password):
            return name
        raise Refusal("invalid_client", "this client is unknown, or its secret is wrong", 401)

    def scope(self, text):
        scopes = (text or "read").split()
        if not set(scopes) <= set(SCOPES):
            raise Refusal("invalid_scope", "the scopes are " + ", ".join(SCOPES))
        return " ".join(scopes)

    def token(self, form):
        client, grant = self.client(form), form.get("grant_type")
        if grant == "authorization_code":
            return self.redeem(client, form)
        if grant == "refresh_token":
            return self.renew(client, form)
        if grant == DEVICE:
            return self.poll(client, form)
        if grant == "client_credentials" and client == "service":
            return self.server.issue(client, client, self.scope(form.get("scope")))
        if grant == "password" and client == "service":
            if not self.is_user(form):
                raise Refusal("invalid_grant", "the user name or the password is wrong")
            return self.server.issue(client, "ada", self.scope(form.get("scope")), family=secrets.token_hex(8))
        if grant == EXCHANGE and client == "service":
            subject = self.server.access.get(form.get("subject_token"))
            if subject is None or form.get("subject_token_type") != ACCESS_TOKEN:
                raise Refusal("invalid_request", "the subject's token is not valid")
            response = self.server.issue(client, subject["user"], self.scope(form.get("scope") or subject["scope"]))
            return {**response, "issued_token_type": ACCESS_TOKEN}
        raise Refusal("unauthorized_client" if grant in self.metadata()["grant_types_supported"] else "unsupported_grant_type")

    def redeem(self, client, form):
        code = self.server.codes.get(form.get("code"))
        if code is None or code["client_id"] != client or code.get("redirect_uri") != form.get("redirect_uri"):
            raise Refusal("invalid_grant", "the code is not valid")
        if code["family"] is not None:
            # A second use means that someone else has seen the code (RFC 6749 §4.1.2).
            self.server.revoke(code["family"])
            raise Refusal("invalid_grant", "the code was used before")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != code["code_challenge"]:
            raise Refusal("invalid_grant", "the code verifier doesn't match the request's challenge")
        code["family"] = secrets.token_hex(8)
        self.server.logins += 1
        return self.server.issue(client, "ada", code["scope"], code["family"])

    def renew(self, client, form):
        token = self.server.refresh.get(form.get("refresh_token"))
        if token is None or token["client"] != client:
            raise Refusal("invalid_grant", "the refresh token is not valid")
        if token["is_spent"]:
            self.server.revoke(token["family"])
            raise Refusal("invalid_grant", "the refresh token was used before")
        token["is_spent"] = True
        self.server.refreshes += 1
        return self.server.issue(client, token["user"], token["scope"], token["family"])

    def revoke(self, form):
        self.client(form)
        for tokens in (self.server.refresh, self.server.access):
            if token := tokens.get(form.get("token")):
                self.server.revoke(token["family"])
        return {}

    def push(self, form):
        client = self.client(form)
        self.check(form)
        name = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(16)
        self.server.pushed[name] = {**form, "client_id": client}
        return {"request_uri": name, "expires_in": 60}

    # The device grant.

    def start_device(self, form):
        client, code = self.client(form), secrets.token_urlsafe(24)
        user_code = "-".join("".join(secrets.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(4)) for _ in range(2))
        self.server.devices[code] = {
            "client": client, "user_code": user_code, "scope": self.scope(form.get("scope")), "verdict": None}
        self.server.lock.notify_all()
        url = self.server.url + "/device"
        return {
            "device_code": code, "user_code": user_code, "expires_in": 600, "interval": 1, "verification_uri": url,
            "verification_uri_complete": f"{url}?code={user_code}"}

    def poll(self, client, form):
        device = self.server.devices.get(form.get("device_code"))
        if device is None or device["client"] != client:
            raise Refusal("invalid_grant", "the device code is not valid")
        if device["verdict"] is None:
            raise Refusal("authorization_pending")
        del self.server.devices[form["device_code"]]
        if not device["verdict"]:
            raise Refusal("access_denied")
        self.server.logins += 1
        return self.server.issue(client, "ada", device["scope"], family=secrets.token_hex(8))

    def waiting(self):
        return [device["user_code"] for device in self.server.devices.values() if device["verdict"] is None]

    def confirm(self, fields):
        code = fields.get("code")
        if code is None:
            with self.server.lock:
                self.server.lock.wait_for(self.waiting, timeout=60)
                code = (self.waiting() or [""])[0]
        self.page("Connect a device", f'<input name="code" value="{html.escape(code)}">')

    def approve(self, form):
        for device in self.server.devices.values():
            if device["user_code"] == form.get("code") and self.is_user(form):
                device["verdict"] = "allow" in form
                return self.send(200, "The device may continue.\n")
        self.send(403, "wrong code, user or password\n")

    # Pages for people.

    def is_user(self, form):
        password = form.get("password", "").encode("latin-1", "replace")
        return form.get("username") == "ada" and secrets.compare_digest(password, self.server.password)

    def check(self, request):
        """Rejects an authorization request if the browser must not be redirected back to the client, or if there is no S256
        challenge."""
        redirect = urllib.parse.urlsplit(request.get("redirect_uri", ""))
        is_known = request.get("client_id") in (None, "demo", "service")
        if not is_known or redirect.scheme != "http" or redirect.hostname != "127.0.0.1":
            raise Refusal("invalid_request", "the client is unknown, or its redirect URI is not on loopback")
        if request.get("code_challenge_method") != "S256" or request.get("response_type") != "code":
            raise Refusal("invalid_request", "response_type must be code, and code_challenge_method S256")

    def requested(self, fields):
        if "request_uri" in fields:
            request = self.server.pushed.get(fields["request_uri"])
            if request is None or request["client_id"] != fields.get("client_id"):
                raise Refusal("invalid_request", "the pushed request is not valid")
            return request
        self.check(fields)
        return fields

    def ask(self, fields):
        try:
            with self.server.lock:
                request = self.requested(fields)
        except Refusal as refusal:
            return self.send(400, f"{refusal.error}: {refusal.description}\n")
        self.page(f"{request['client_id']} wants to: {request.get('scope', 'read')}")

    def authorize(self, fields, form):
        try:
            request = self.requested(fields)
        except Refusal as refusal:
            return self.send(400, f"{refusal.error}: {refusal.description}\n")
        if not self.is_user(form):
            return self.page("Wrong user or password", status=403)
        self.server.pushed.pop(fields.get("request_uri"), None)
        answer = {"state": request.get("state", ""), "iss": self.server.url}
        try:
            scope = self.scope(request.get("scope"))
            if "allow" not in form:
                raise Refusal("access_denied", "ada did not allow it")
            answer["code"] = secrets.token_urlsafe(24)
            self.server.codes[answer["code"]] = {**request, "scope": scope, "family": None}
        except Refusal as refusal:
            answer.update(error=refusal.error, error_description=refusal.description)
        self.send(302, "", [("Location", f"{request['redirect_uri']}?{urllib.parse.urlencode(answer)}")])

    def page(self, title, field="", status=200):
        title = html.escape(title)
        text = f'<!doctype html><title>{title}</title><h1>{title}</h1><form method="post">{field}<input name="username">' \
            '<input name="password" type="password"><button name="allow" value="yes">Allow</button>' \
            '<button name="deny" value="yes">Deny</button></form>\n'
        self.send(status, text, [("Content-Type", "text/html")])

    # The API.

    def api(self, path):
        kind, _, text = self.headers.get("Authorization", "").partition(" ")
        token = self.server.access.get(text) if kind == "Bearer" else None
        if token is None or token["ends"] < time.time():
            error = ', error="invalid_token"' if text else ""
            return self.send(401, "log in first\n", [("WWW-Authenticate", f'Bearer realm="demo"{error}')])
        if path == "/admin" and "admin" not in token["scope"].split():
            return self.send(
                403, "this needs another scope\n", [("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="admin"')])
        self.send_json(200, {
            "user": token["user"], "scope": token["scope"], "logins": self.server.logins, "refreshes": self.server.refreshes})

    def send_json(self, status, value):
        self.send(status, json.dumps(value) + "\n", [("Content-Type", "application/json"), ("Cache-Control", "no-store")])

    def send(self, status, text, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_arguments):
        pass


def watch(pid):
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.5)
    os._exit(0)


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    parser = argparse.ArgumentParser(description="An authorization server. See the top of this file.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when that process is gone")
    options = parser.parse_args()
    password = os.environ.get("DEMO_SECRET", "")
    if not password:
        sys.exit("set DEMO_SECRET to the password of ada")
    if options.parent_pid:
        threading.Thread(target=watch, args=(options.parent_pid,), daemon=True).start()
    server = Server(options.port, password.encode())
    print(f"listening on {server.url}", flush=True)
    server.serve_forever()


main()
