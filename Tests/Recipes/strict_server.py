"""The server's side of the preset strict: `DEMO_SECRET=… python3 strict_server.py` prints its address."""

import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEYS = {"demo": os.environ["DEMO_SECRET"].encode()}
WINDOW = 300
seen = {}


def refusal(host, method, target, headers, body):
    """Why the request is refused; empty if it is genuine."""
    names = ("X-API-Key", "Content-Type", "X-Timestamp", "X-Nonce", "X-Signature")
    key, kind, at, nonce, signature = (headers.get(name, "") for name in names)
    message = "\n".join([method, host, target, kind, at, nonce, hashlib.sha256(body).hexdigest()])
    # Also computed for an unknown key, so that the time taken doesn't tell which keys exist.
    expected = hmac.new(KEYS.get(key, os.urandom(32)), message.encode("latin-1"), "sha256").hexdigest()
    if not hmac.compare_digest(expected.encode(), signature.encode("latin-1")):
        return "the signature is wrong"
    now = time.time()
    if not at.isascii() or not at.isdigit() or len(at) > 12 or abs(now - int(at)) > WINDOW:
        return "the time is off"
    for old in [each for each, expiry in seen.items() if expiry < now]:
        del seen[old]
    if (key, nonce) in seen:
        return "the nonce was used before"
    seen[key, nonce] = int(at) + WINDOW
    return ""


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        # The host is the server's own name, not what the request says.
        host = f"127.0.0.1:{self.server.server_port}"
        length = self.headers.get("Content-Length", "0")
        body = self.rfile.read(int(length)) if length.isdecimal() and len(length) < 8 else b""
        reason = refusal(host, self.command, self.path, self.headers, body)
        text = (reason or f"hello, {self.headers['X-API-Key']}").encode("latin-1") + b"\n"
        self.send_response(401 if reason else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
