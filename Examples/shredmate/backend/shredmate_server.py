#!/usr/bin/env python3
"""The backend of the example. Python 3.11, and PyJWT, which scripts/install-peers installs.

    DEMO_SECRET=... python3 shredmate_server.py [--port 8080] [--life SECONDS] [--parent-pid PID]

It binds 127.0.0.1 and prints one line to stdout: "listening on http://127.0.0.1:PORT". Its first user is ada@example.com, whose
password comes from DEMO_SECRET. SHREDMATE_KEY is the key that signs its tokens; by default it makes one up.

Below /api/v1; all but the first three need a bearer:

    POST /auth/login, /auth/register, /auth/refresh     POST /auth/logout, GET /auth/me
    GET, PATCH, DELETE /riders/me                       POST /riders/me/avatar, a form with one file
    GET, PUT /riders/me/base-location                   GET /riders/me/sports, POST and DELETE /riders/me/sports/:id
    GET /sports

For tests:

    POST /admin/expire         lets every access token expire; refresh tokens stay valid
    POST /admin/revoke         ends every session
    POST /admin/life/SECONDS   the lifetime of future access tokens; 0 for tokens that are expired on arrival
    POST /admin/refresh/MODE   "unavailable": responds to a refresh with 503; "closed": closes its connection; "normal"
    POST /admin/network/MODE   the same for all requests below /api
    POST /admin/gather/COUNT   holds that many requests that need a bearer, and serves them when all have arrived
    POST /admin/forget         forgets the requests so far, and their counts
    GET  /admin/seen           {"requests": [...], "refreshes": ..., "reuses": ..., "logins": ...}, with the bearer of each request
"""

import argparse
import contextlib
import http.server
import json
import os
import re
import secrets
import signal
import socketserver
import sys
import threading
import time
import urllib.parse

from riders import SPORTS, Riders, sport
from sessions import Refused, Sessions

BASE = "/api/v1"
MAX_BODY = 8 << 20
PATIENCE = 60
MODES = ("normal", "unavailable", "closed")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def __init__(self, port, key, life, password):
        self.lock = threading.Condition()
        self.sessions, self.riders = Sessions(key, life), Riders()
        self.seen = []
        self.modes = {"refresh": "normal", "network": "normal"}
        self.to_gather = 0
        self.riders.add(self.sessions.register("ada@example.com", password, "Ada"), "Ada")
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self):
        # Not HTTPServer's, which looks up the host's name. That can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def gather(self):
        """Holds a request until the requested number has arrived. The caller holds the lock, which is released while this
        waits."""
        if self.to_gather > 0:
            self.to_gather -= 1
            self.lock.notify_all()
            if not self.lock.wait_for(lambda: self.to_gather <= 0, PATIENCE):
                raise Refused(500, f"{self.to_gather} of the requests to gather did not arrive")


class Closed(Exception):
    """The connection is closed without a response."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self):
        self.seen = {"method": self.command, "path": urllib.parse.urlsplit(self.path).path}
        try:
            self.body = self.read_body()
            with self.server.lock:
                status, value = self.handle_request()
        except Refused as refused:
            status, value = refused.status, {"message": refused.message}
            if refused.error:
                value["error"] = refused.error
        except Closed:
            self.record(None)
            self.close_connection = True
            return
        self.record(status)
        self.respond(status, value)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def read_body(self):
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_BODY:
            self.close_connection = True
            raise Refused(413, f"a body has a Content-Length, of at most {MAX_BODY}")
        return self.rfile.read(int(length))

    def handle_request(self):
        path = self.seen["path"]
        if path.startswith("/admin/"):
            return self.administer(path.removeprefix("/admin/").split("/"))
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        self.seen["bearer"] = token.strip() if scheme.lower() == "bearer" else None
        self.obey(self.server.modes["network"])
        if not path.startswith(BASE + "/"):
            raise Refused(404, "there is nothing here")
        segments = [urllib.parse.unquote(segment) for segment in path.removeprefix(BASE + "/").split("/")]
        if segments[0] == "auth" and (result := self.authenticate(segments[1:])):
            return result
        self.server.gather()
        if not self.seen["bearer"]:
            raise Refused(401, "log in first")
        user, family = self.server.sessions.holder(self.seen["bearer"])
        return self.work(user, family, segments)

    def obey(self, mode):
        if mode == "closed":
            raise Closed
        if mode == "unavailable":
            raise Refused(503, "please try again later")

    # The API. The methods return a status and a value for the response.

    def authenticate(self, segments):
        """The endpoints that need no bearer; None for all others."""
        sessions = self.server.sessions
        match self.command, segments:
            case "POST", ["login"]:
                sent = self.json("email", "password")
                return 200, sessions.start(sessions.login(sent["email"], sent["password"]))
            case "POST", ["register"]:
                sent = self.json("email", "password", "name")
                user = sessions.register(sent["email"], sent["password"], sent["name"])
                self.server.riders.add(user, sent["name"])
                return 201, sessions.start(user)
            case "POST", ["refresh"]:
                self.obey(self.server.modes["refresh"])
                return 200, sessions.refresh(self.json("refreshToken")["refreshToken"])
        return None

    def work(self, user, family, segments):
        riders = self.server.riders
        match self.command, segments:
            case "GET", ["auth", "me"]:
                return 200, self.server.sessions.profile(user)
            case "POST", ["auth", "logout"]:
                self.server.sessions.end(family)
                return 204, None
            case "GET", ["sports"]:
                return 200, [sport(key) for key in SPORTS]
            case "GET", ["riders", "me"]:
                return 200, riders.profile(user)
            case "PATCH", ["riders", "me"]:
                return 200, riders.update(user, self.json())
            case "DELETE", ["riders", "me"]:
                riders.remove(user)
                self.server.sessions.remove(user)
                return 204, None
            case "POST", ["riders", "me", "avatar"]:
                value, self.seen["file"] = riders.upload_avatar(user, self.headers.get("Content-Type", ""), self.body)
                return 200, value
            case "GET", ["riders", "me", "base-location"]:
                return 200, riders.location(user)
            case "PUT", ["riders", "me", "base-location"]:
                return 200, riders.set_location(user, self.json())
            case "GET", ["riders", "me", "sports"]:
                return 200, riders.sports(user)
            case "POST", ["riders", "me", "sports", key]:
                return 200, riders.set_sport(user, key, self.json("level")["level"])
            case "DELETE", ["riders", "me", "sports", key]:
                riders.remove_sport(user, key)
                return 204, None
        raise Refused(404, "there is no such endpoint")

    def json(self, *texts):
        """Returns the object that was sent, in which each of these names has a text."""
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "a body is application/json")
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise Refused(400, "the body is not JSON") from error
        if not isinstance(value, dict) or any(not isinstance(value.get(name), str) for name in texts):
            raise Refused(422, f"the body is an object{' with ' + ', '.join(texts) if texts else ''}")
        return value

    def administer(self, segments):
        server = self.server
        self.seen["admin"] = True
        match self.command, segments:
            case "GET", ["seen"]:
                sessions = server.sessions
                return 200, {
                    "requests": server.seen, "refreshes": sessions.refreshes, "reuses": sessions.reuses, "logins": sessions.logins}
            case "POST", ["forget"]:
                server.seen = []
                server.sessions.refreshes = server.sessions.reuses = server.sessions.logins = 0
            case "POST", ["expire"]:
                server.sessions.expire()
            case "POST", ["revoke"]:
                server.sessions.revoke()
            case "POST", ["life", seconds] if re.fullmatch("[0-9]{1,9}", seconds):
                server.sessions.life = int(seconds)
            case "POST", ["gather", count] if re.fullmatch("[0-9]{1,4}", count):
                server.to_gather = int(count)
            case "POST", [("refresh" | "network") as what, mode] if mode in MODES:
                server.modes[what] = mode
            case _:
                raise Refused(404, "see the top of shredmate_server.py")
        return 204, None

    # Responses

    def record(self, status):
        if not self.seen.pop("admin", False):
            with self.server.lock:
                self.server.seen.append(self.seen | {"status": status, "clock": self.server.sessions.now()})

    def respond(self, status, value):
        content = b"" if value is None else json.dumps(value).encode() + b"\n"
        self.send_response(status)
        if status == 401:
            error = f', error="{value["error"]}"' if "error" in value else ""
            self.send_header("WWW-Authenticate", f'Bearer realm="shredmate"{error}')
        if value is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments):
        pass


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")  # ended, but not yet reaped
    except OSError:
        return False


def watch(pid):
    while is_running(pid):
        time.sleep(0.5)
    os._exit(0)


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    parser = argparse.ArgumentParser(description="The backend of the example. See the top of this file.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--life", type=int, default=900, metavar="SECONDS", help="the life of access tokens (900)")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when that process is gone")
    options = parser.parse_args()
    password = os.environ.get("DEMO_SECRET", "")
    if len(password) < 8:
        sys.exit("shredmate_server.py: set DEMO_SECRET to the password of ada@example.com, of 8 characters or more")
    if options.parent_pid:
        threading.Thread(target=watch, args=(options.parent_pid,), daemon=True).start()
    server = Server(options.port, os.environ.get("SHREDMATE_KEY") or secrets.token_hex(32), options.life, password)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


main()
