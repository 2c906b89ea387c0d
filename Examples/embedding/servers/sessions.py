"""Serves an app's sessions, with rotating refresh tokens, and prints its address and then each request. Ends when its standard input is
closed."""

import http.server
import json
import os
import sys
import threading
import urllib.parse

lock = threading.Lock()
number, access, refresh = 0, None, None


def issue():
    global number, access, refresh
    number += 1
    access, refresh = f"access-{number}", f"refresh-{number}"
    return {"accessToken": access, "refreshToken": refresh}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        global access, refresh
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        token = self.headers.get("Authorization", "")
        with lock:
            match self.command, self.path:
                case "POST", "/auth/login":
                    valid = json.loads(body)["password"] == "correct horse"
                    status, value = (200, {**issue(), "user": {"name": "Ada"}}) if valid else (401, {})
                case "POST", "/auth/refresh":
                    valid = json.loads(body)["refreshToken"] == refresh
                    status, value = (200, issue()) if valid else (401, {})
                case "POST", "/events/expire":
                    status, value, access = 204, None, None
                case "POST", "/events/revoke":
                    status, value, access, refresh = 204, None, None, None
                case _ if token != f"Bearer {access}":
                    status, value = 401, {}
                case "GET", "/auth/me":
                    status, value = 200, {"name": "Ada"}
                case "GET", "/sports":
                    status, value = 200, [{"name": "surf"}]
                case "DELETE", _:
                    status, value = 204, None
                case _:
                    status, value = 200, {"bytes": len(body) // 100_000 * 100_000}
            print(self.command, urllib.parse.unquote(self.path), "[Authorization]" if token else "[]", status, flush=True)
        self.send(status, value)

    do_GET = do_POST = do_DELETE = respond

    def send(self, status, value):
        content = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
