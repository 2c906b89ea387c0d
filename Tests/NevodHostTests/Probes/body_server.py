"""Sends bodies with the digests that hashlib computes for them, in the order of the test plugin's needs, in X-Digests.

The query of a request: size; piece, for chunked transfer in pieces of that size; coding=gzip; tamper=1, which flips a bit of the last
byte after the digest; status; cut=1, which closes the connection before the last byte; header=NAME:VALUE, repeatable."""

import gzip
import hashlib
import http.server
import json
import random
import urllib.parse

import common

NAMES = ("sha-512", "sha-256", "sha-384")


def digests(body):
    return " ".join(f"{name}={hashlib.new(name.replace('-', ''), body).hexdigest()}" for name in NAMES)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []

    def respond(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)

        def number(name, default=0):
            return int(query.get(name, [default])[0])

        if self.path == "/seen":
            return self.send(200, [], json.dumps(self.seen).encode())
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        # Incompressible, so that no part of it looks like another.
        body = random.Random(7).randbytes(number("size"))
        headers = [tuple(line.split(":", 1)) for line in query.get("header", [])]
        if query.get("coding") == ["gzip"]:
            body = gzip.compress(body)
            headers.append(("Content-Encoding", "gzip"))
        has_body = self.command != "HEAD" and number("status", 200) not in (204, 304)
        if "expect" in query:
            headers.append(("X-Digests", query["expect"][0]))
        else:
            headers.append(("X-Digests", digests(body if has_body else b"")))
        if number("tamper"):
            body = body[:-1] + bytes([body[-1] ^ 1])
        self.send(number("status", 200), headers, body, number("piece"), number("cut"))

    def send(self, status, headers, body, piece=0, cut=0):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if piece:
            self.send_header("Transfer-Encoding", "chunked")
        elif status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD" or status in (204, 304):
            return
        if cut:
            self.wfile.write(body[:-1])
            self.close_connection = True
            return
        if not piece:
            self.wfile.write(body)
            return
        for start in range(0, len(body), piece):
            part = body[start:start + piece]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_HEAD = do_POST = respond

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


common.end_with_parent()
server = Server(("127.0.0.1", 0), Handler)
common.say("http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
