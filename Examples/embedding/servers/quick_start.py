"""Serves the requests of the quick start, and prints its address. Ends when its standard input is closed."""

import email
import email.policy
import http.server
import json
import os
import sys
import threading
import urllib.parse

NAMES = ["Ada", "Bob", "Cleo", "Dan", "Eli"]
USERS = [{"id": number, "name": name} for number, name in enumerate(NAMES, 1)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        match self.command, url.path:
            case "GET", "/v1/users/me":
                self.send(USERS[0])
            case "GET", "/v1/users/search":
                self.send([user for user in USERS if user["name"] in query["q"].split(" & ")])
            case "GET", "/v1/users":
                page, limit = int(query["page"]), int(query["limit"])
                items = USERS[(page - 1) * limit : page * limit]
                self.send({"items": items, "has_more": page * limit < len(USERS), "total": len(USERS)})
            case "POST", "/v1/users":
                self.send({"id": 7, **json.loads(body)}, 201)
            case "PUT", "/v1/users/7":
                self.send(json.loads(body))
            case "DELETE", "/v1/users/7":
                self.send(None, 204)
            case "POST", "/v1/photos":
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                form = email.message_from_bytes(head + body, policy=email.policy.HTTP)
                parts = {part.get_param("name", header="Content-Disposition"): part for part in form.iter_parts()}
                self.send({name: len(part.get_payload(decode=True)) for name, part in parts.items()})
            case "GET", "/logo.png" | "/report.csv":
                self.send(None, 200, b"a,b\n" * 1000)
            case _:
                self.send({"message": "there is no such user"}, 404)

    do_GET = do_POST = do_PUT = do_DELETE = respond

    def send(self, value, status=200, content=b""):
        content = content if value is None else json.dumps(value).encode()
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
