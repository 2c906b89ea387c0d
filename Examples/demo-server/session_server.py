#!/usr/bin/env python3
"""A server with a login, for the examples of schemes that have one. Python 3.11, standard library only.

    DEMO_SECRET=... python3 session_server.py [--port 8080] [--parent-pid PID]

It binds 127.0.0.1 and prints one line to stdout: "listening on http://127.0.0.1:PORT". Its one user is ada, whose password comes
from DEMO_SECRET.

    POST /login    user=...&password=... as a form: two lines, a session and a renewal; 403 if they are wrong
    POST /renew    renewal=...: a new pair of lines, and the renewal is spent; 403 if it is invalid, or was spent before
    POST /logout   renewal=...: both become invalid
    POST /expire   ends every session; the renewals stay valid
    GET /session   with X-Session: {"user": ..., "seconds": ...}, the session's user and remaining time
    GET /signin    for browsers: a page with a form, with its CSRF token in a hidden input and in a cookie
    POST /signin   username=...&password=...&csrf=... as a form: a session in a cookie; the page again if they are wrong
    POST /signout  ends the session of the cookie
    anything else  with X-Session, or the cookie: {"user": ..., "logins": ..., "renewals": ...}, how many there have been; 401
                   without
"""

import argparse
import http.cookies
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


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def __init__(self, port, password):
        self.password = password
        self.lock = threading.Lock()
        self.sessions, self.renewals = {}, {}  # the user of each
        self.logins = self.renewed = 0
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self):
        # Not HTTPServer's, which looks up the host's name. That can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def issue(self, user):
        session, renewal = secrets.token_hex(16), secrets.token_hex(16)
        self.sessions[session] = self.renewals[renewal] = (user, session)
        return f"{session}\n{renewal}\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > 65536:
            self.close_connection = True
            return self.respond(413, "too large\n")
        body = self.rfile.read(int(length)).decode("latin-1")
        form = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
        act = {"/login": self.login, "/renew": self.renew, "/logout": self.logout, "/expire": self.expire}.get(self.path)
        with self.server.lock:
            if self.path == "/signin":
                return self.sign_in(form)
            if self.path == "/signout":
                self.server.sessions.pop(self.cookie("sid"), None)
                return self.respond(200, "goodbye\n", [("Set-Cookie", "sid=; Path=/; Max-Age=0")])
            status, text = act(form) if act else self.owner()
        self.respond(status, text)

    def do_GET(self):
        if self.path == "/signin":
            return self.page(200)
        with self.server.lock:
            status, text = self.owner()
        self.respond(status, text)

    def login(self, form):
        password = form.get("password", "").encode()
        if form.get("user") != "ada" or not secrets.compare_digest(password, self.server.password):
            return 403, "wrong user or password\n"
        self.server.logins += 1
        return 200, self.server.issue("ada")

    def renew(self, form):
        user, old = self.server.renewals.pop(form.get("renewal"), (None, None))
        if user is None:
            return 403, "no such renewal\n"
        self.server.sessions.pop(old, None)
        self.server.renewed += 1
        return 200, self.server.issue(user)

    def logout(self, form):
        _, session = self.server.renewals.pop(form.get("renewal"), (None, None))
        self.server.sessions.pop(session, None)
        return 200, "goodbye\n"

    def expire(self, _form):
        self.server.sessions.clear()
        return 200, "all sessions have ended\n"

    def cookie(self, name):
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        return cookies[name].value if name in cookies else None

    def page(self, status):
        token = secrets.token_hex(16)
        form = f'<form method="post"><input type="hidden" name="csrf" value="{token}"><input name="username">' \
            '<input name="password" type="password"><button>Sign in</button></form>\n'
        self.respond(status, form, [("Content-Type", "text/html"), ("Set-Cookie", f"csrf={token}; Path=/; HttpOnly")])

    def sign_in(self, form):
        if not secrets.compare_digest(form.get("csrf", "").encode(), (self.cookie("csrf") or "none").encode()):
            return self.respond(403, "the form is not this server's, or too old\n")
        password = form.get("password", "").encode()
        if form.get("username") != "ada" or not secrets.compare_digest(password, self.server.password):
            return self.page(200)
        self.server.logins += 1
        session = secrets.token_hex(16)
        self.server.sessions[session] = ("ada", session)
        cookie = f"sid={session}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax"
        self.respond(303, "welcome\n", [("Location", "/orders"), ("Set-Cookie", cookie)])

    def owner(self):
        session = self.headers.get("X-Session") or self.cookie("sid")
        user, _ = self.server.sessions.get(session, (None, None))
        if user is None:
            return 401, "log in first\n"
        if self.path == "/session":
            return 200, json.dumps({"user": user, "seconds": SECONDS}) + "\n"
        return 200, json.dumps({"user": user, "logins": self.server.logins, "renewals": self.server.renewed}) + "\n"

    def respond(self, status, text, headers=()):
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
    parser = argparse.ArgumentParser(description="A server with a login. See the top of this file.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when that process is gone")
    options = parser.parse_args()
    password = os.environ.get("DEMO_SECRET", "")
    if not password:
        sys.exit("set DEMO_SECRET to the password of ada")
    if options.parent_pid:
        threading.Thread(target=watch, args=(options.parent_pid,), daemon=True).start()
    server = Server(options.port, password.encode())
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


main()
