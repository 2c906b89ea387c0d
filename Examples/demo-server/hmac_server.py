#!/usr/bin/env python3
"""A server that verifies the HMAC request signature of NevodHost's demo. Python 3.11, standard library only.

    DEMO_SECRET=... python3 hmac_server.py [--port 8080] [--window 300] [--log FILE] [--parent-pid PID]

It binds 127.0.0.1 and prints one line to stdout: "listening on http://127.0.0.1:PORT". The key id and the secret come
from DEMO_API_KEY (default "demo") and DEMO_SECRET, never from the command line, which other users can read.

A client signs METHOD \\n PATH \\n TIMESTAMP \\n BODYHASH with HMAC-SHA256 and sends X-API-Key, X-Timestamp (Unix
seconds) and X-Signature (lower-case hex). PATH is the request-target, byte for byte, up to the first "?". BODYHASH is the
lower-case hex SHA-256 of the body, or empty if the body is missing or has zero bytes. With X-Nonce, as the preset "strict" sends,
the message is METHOD \\n HOST \\n TARGET \\n TYPE \\n TIMESTAMP \\n NONCE \\n BODYHASH instead: HOST is this server's, TARGET has
the query, TYPE is the Content-Type or empty, BODYHASH is never empty, and a nonce is taken once. The response is JSON, with 200
or 401. Requests of any method and path are verified, except these:

    /slow?ms=N       waits N ms (at most 60000), then returns {"waited_ms": N}
    /stream?bytes=N  returns N bytes (at most 2^40) of 0, 1, ... 255, 0, 1, ..., chunked, in chunks of 64 KiB
    /status/NNN      returns that status (200 to 599) with {"status": NNN}
    /close           reads the request, then closes the connection without a response
    /echo            returns the body of the request byte for byte, with its Content-Type

--log FILE appends one JSON line per request, before the response: method, target, headers (the lines in order),
body_sha256, verified (null where nothing was verified) and client_port. The headers are as received, including signatures, so the
file is for tests, and only its owner can read it. Nothing else that this server writes contains a signature.
--parent-pid PID ends the server when that process is gone. SIGTERM ends it at once, with status 0.
"""

import argparse
import email.errors
import hashlib
import hmac
import http
import http.server
import json
import os
import re
import signal
import socketserver
import sys
import threading
import time
import urllib.parse

MISSING_PARTS = (email.errors.StartBoundaryNotFoundDefect, email.errors.MultipartInvariantViolationDefect)
MAX_BODY = 64 * 1024 * 1024
MAX_WAIT_MS = 60_000
MAX_STREAM = 2**40
STREAM_CHUNK = bytes(range(256)) * 256  # a multiple of the pattern, so that every chunk begins with 0
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2


class Refusal(Exception):
    """A request that can't be read completely. The connection is closed after the response."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024  # the default of 5 makes concurrent clients wait a second for a repeated SYN

    def __init__(self, port, key, secret, window, log):
        self.key, self.secret, self.window, self.log = key, secret, window, log
        self.nonces, self.lock = {}, threading.Lock()  # the expiry of each
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self):
        # Not HTTPServer's, which looks up the host's name. That can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def verify(self, method, target, headers, body):
        """The reason for refusing the request, or an empty string."""
        given = {}
        is_strict = "X-Nonce" in headers
        for name in ("X-Signature", "X-API-Key", "X-Timestamp") + (("X-Nonce", "Host") if is_strict else ()):
            values = headers.get_all(name, [])
            if not values or not values[0].strip():
                return f"missing header {name}"
            if len(values) > 1:
                return f"repeated header {name}"
            given[name] = values[0].strip().encode("latin-1")
        if not hmac.compare_digest(given["X-API-Key"], self.key):
            return "unknown key"
        timestamp = given["X-Timestamp"]
        if not re.fullmatch(rb"[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > self.window:
            return f"timestamp outside the window of {self.window} s"
        body_hash = hashlib.sha256(body).hexdigest().encode()
        if is_strict:
            # Only its own names, because a request signed for another server must not be accepted.
            if given["Host"] not in (b"127.0.0.1:%d" % self.server_port, b"localhost:%d" % self.server_port):
                return "another host"
            types = headers.get_all("Content-Type", [""])
            if len(types) > 1:
                return "repeated header Content-Type"
            parts = [method, given["Host"], target, types[0].strip().encode("latin-1"), timestamp, given["X-Nonce"], body_hash]
        else:
            parts = [method, target.split(b"?", 1)[0], timestamp, body_hash if body else b""]
        expected = hmac.new(self.secret, b"\n".join(parts), hashlib.sha256).hexdigest().encode()
        if not hmac.compare_digest(given["X-Signature"], expected):
            return "signature does not match"
        return self.repeated(given["X-Nonce"], int(timestamp)) if is_strict else ""

    def repeated(self, nonce, timestamp):
        """The reason for refusing a nonce. Called only for genuine requests, because nonces use memory."""
        with self.lock:
            for old in [each for each, until in self.nonces.items() if until < time.time()]:
                del self.nonces[old]
            if nonce in self.nonces:
                return "nonce used before"
            self.nonces[nonce] = timestamp + self.window
        return ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    method = target = b""  # as on the request line
    headers = None

    # Reading a request

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            pass  # the client has disconnected

    def __getattr__(self, name):
        # The base class looks for do_GET and the like. Here every method is handled the same way.
        if name.startswith("do_"):
            return self.serve
        raise AttributeError(name)

    def parse_request(self):
        """The base class splits at every Unicode space and collapses a leading "//", but a signature is over the exact
        bytes. So this takes the target and gives the base class "/" instead."""
        line = self.raw_requestline.removesuffix(b"\n").removesuffix(b"\r")
        words = line.split(b" ")
        self.method, self.target, self.headers = b"", b"", None
        self.command = self.request_version = ""
        if len(words) != 3 or not TOKEN.fullmatch(words[0]) or not words[1]:
            self.send_error(400, "malformed request line")
            return False
        self.method, self.target = words[0], words[1]
        self.raw_requestline = b"%b / %b\r\n" % (words[0], words[2])
        return super().parse_request()

    def handle_expect_100(self):
        try:
            self.body_length()  # reject it before the client sends it
        except Refusal as refusal:
            self.send_error(refusal.status, refusal.reason)
            return False
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def body_length(self):
        """The length of the body, or None for a chunked one (RFC 9112 section 6.3)."""
        # The parser would treat a form's content type as a multipart message without its parts.
        if any(not isinstance(defect, MISSING_PARTS) for defect in self.headers.defects):
            raise Refusal(400, "malformed header line")
        codings = [value.strip().lower() for value in self.headers.get_all("Transfer-Encoding", [])]
        lengths = {value.strip() for value in self.headers.get_all("Content-Length", [])}
        if codings:
            if codings != ["chunked"]:
                raise Refusal(501, "unknown transfer coding")
            if lengths:
                raise Refusal(400, "both Content-Length and Transfer-Encoding")
            return None
        if not lengths:
            return 0
        text = lengths.pop()
        if lengths or not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
            raise Refusal(400, "malformed Content-Length")
        if int(text) > MAX_BODY:
            raise Refusal(413, f"body over {MAX_BODY} bytes")
        return int(text)

    def read_exactly(self, count):
        data = self.rfile.read(count)
        if len(data) != count:
            raise ConnectionAbortedError
        return data

    def read_line(self):
        line = self.rfile.readline(8192)
        if not line:
            raise ConnectionAbortedError
        if not line.endswith(b"\r\n"):
            raise Refusal(400, "malformed chunk")
        return line[:-2]

    def read_body(self):
        length = self.body_length()
        if length is not None:
            return self.read_exactly(length)
        body = bytearray()
        while True:
            size = self.read_line().split(b";", 1)[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size):
                raise Refusal(400, "malformed chunk")
            size = int(size, 16)
            if size == 0:
                break
            if len(body) + size > MAX_BODY:
                raise Refusal(413, f"body over {MAX_BODY} bytes")
            body += self.read_exactly(size)
            if self.read_line():
                raise Refusal(400, "malformed chunk")
        for _ in range(100):  # trailers
            if not self.read_line():
                return bytes(body)
        raise Refusal(400, "too many trailers")

    # Handling it

    def serve(self):
        try:
            body = self.read_body()
        except Refusal as refusal:
            self.send_error(refusal.status, refusal.reason)
            return
        path, _, query = self.target.partition(b"?")
        name, _, argument = path[1:].partition(b"/")
        special = self.SPECIAL.get(name) if path.startswith(b"/") else None
        # Only /status has more than a name.
        if special is not None and (name == b"status" or path == b"/" + name):
            self.record(body, None, f"returned {self.name()} {len(body)} bytes")
            special(self, body, query.decode("latin-1"), argument)
        else:
            self.respond_verified(body)

    def respond_verified(self, body):
        body_hash = hashlib.sha256(body).hexdigest() if body else ""
        reason = self.server.verify(self.method, self.target, self.headers, body)
        verified = reason == ""
        line = f"verified {self.name()} {len(body)} bytes" if verified else f"REFUSED {self.name()}: {reason}"
        self.record(body, verified, line)
        self.respond_json(200 if verified else 401, {
            "verified": verified,
            "reason": reason,
            "method": self.method.decode("latin-1"),
            "target": self.target.decode("latin-1"),
            "body_bytes": len(body),
            "body_sha256": body_hash,
            "key": self.headers.get("X-API-Key", "").strip(),
        })

    def respond_slow(self, _body, query, _argument):
        wait = self.number(query, "ms", MAX_WAIT_MS)
        if wait is not None:
            time.sleep(wait / 1000)
            self.respond_json(200, {"waited_ms": wait})

    def respond_stream(self, _body, query, _argument):
        left = self.number(query, "bytes", MAX_STREAM)
        if left is None:
            return
        chunked = self.request_version != "HTTP/1.0"
        if not chunked:
            self.close_connection = True  # the end of the connection is then the end of the body
        head = self.head(200, "application/octet-stream", None, chunked)
        if self.method == b"HEAD":
            self.wfile.write(head)
            return
        whole = b"%x\r\n%b\r\n" % (len(STREAM_CHUNK), STREAM_CHUNK) if chunked else STREAM_CHUNK
        data = head
        while left > 0:
            count = min(left, len(STREAM_CHUNK))
            left -= count
            part = STREAM_CHUNK[:count]
            if count == len(STREAM_CHUNK):
                part = whole
            elif chunked:
                part = b"%x\r\n%b\r\n" % (count, part)
            self.wfile.write(data + part)
            data = b""
        end = data + (b"0\r\n\r\n" if chunked else b"")
        if end:
            self.wfile.write(end)

    def respond_status(self, _body, _query, argument):
        if re.fullmatch(rb"[2-5][0-9][0-9]", argument):
            self.respond_json(int(argument), {"status": int(argument)})
        else:
            self.respond_json(400, {"reason": "the status must be 200 to 599"})

    def respond_close(self, _body, _query, _argument):
        self.close_connection = True

    def respond_echo(self, body, _query, _argument):
        content_type = self.headers.get("Content-Type", "application/octet-stream")
        self.respond(200, content_type, body)

    SPECIAL = {
        b"slow": respond_slow,
        b"stream": respond_stream,
        b"status": respond_status,
        b"close": respond_close,
        b"echo": respond_echo,
    }

    def number(self, query, name, limit):
        text = urllib.parse.parse_qs(query).get(name, [""])[0]
        if re.fullmatch(r"[0-9]{1,15}", text, re.ASCII) and int(text) <= limit:
            return int(text)
        self.respond_json(400, {"reason": f"{name} must be a number from 0 to {limit}"})
        return None

    # Writing the response

    def head(self, status, content_type, length, chunked=False):
        try:
            phrase = http.HTTPStatus(status).phrase
        except ValueError:
            phrase = ""
        lines = [f"HTTP/1.1 {status} {phrase}", f"Date: {self.date_time_string()}"]
        if content_type:
            lines.append("Content-Type: " + re.sub(r"[\r\n]+", " ", content_type))  # an echoed one may be folded
        if status == 401:
            lines.append('WWW-Authenticate: HMAC realm="demo"')
        elif status == 407:
            lines.append('Proxy-Authenticate: HMAC realm="demo"')
        if length is not None:
            lines.append(f"Content-Length: {length}")
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        if self.close_connection:
            lines.append("Connection: close")
        elif self.request_version == "HTTP/1.0":
            lines.append("Connection: keep-alive")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def respond(self, status, content_type, body):
        if status in (204, 304):  # these have no body, so a length would describe another response
            self.wfile.write(self.head(status, None, None))
            return
        if status == 205:
            content_type, body = None, b""
        head = self.head(status, content_type, len(body))
        # One write, so that a client that has the head never waits for the body.
        self.wfile.write(head if self.method == b"HEAD" else head + body)

    def respond_json(self, status, value):
        self.respond(status, "application/json", json.dumps(value).encode() + b"\n")

    def send_error(self, code, message=None, explain=None):
        """Rejects a request before reading it. The base class also calls this."""
        reason = message or http.HTTPStatus(code).phrase
        self.close_connection = True
        self.record(b"", None, f"REFUSED {self.name()}: {reason}")
        self.respond_json(int(code), {"verified": False, "reason": reason})
        # Closing while bytes still arrive would reset the connection, and the client might lose the response.
        try:
            self.connection.shutdown(1)  # SHUT_WR
            self.connection.settimeout(1)
            left = 2 * MAX_BODY
            while left > 0 and (data := self.rfile.read1(65536)):
                left -= len(data)
        except OSError:
            pass

    # Logging

    def name(self):
        """Method and target for a log, with anything escaped that a terminal could take for a command."""
        text = (self.method + b" " + self.target).decode("latin-1")
        return re.sub(r"[^ -~]", lambda match: f"\\x{ord(match[0]):02x}", text)

    def record(self, body, verified, line):
        if self.server.log is not None:
            entry = {
                "method": self.method.decode("latin-1"),
                "target": self.target.decode("latin-1"),
                "headers": [list(item) for item in self.headers.items()] if self.headers else [],
                "body_sha256": hashlib.sha256(body).hexdigest() if body else "",
                "verified": verified,
                "client_port": self.client_address[1],
            }
            # One write to a file opened for appending: lines of different threads never mix.
            os.write(self.server.log, json.dumps(entry).encode() + b"\n")
        try:
            sys.stderr.write(line + "\n")
        except OSError:
            pass  # standard error was closed; requests are still served

    def log_message(self, *_arguments):
        pass  # `record` writes the one line


def is_gone(pid, was_parent):
    if was_parent and os.getppid() != pid:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")  # ended, but not yet reaped
    except (OSError, IndexError):
        return False


def watch(pid):
    was_parent = os.getppid() == pid
    while not is_gone(pid, was_parent):
        time.sleep(0.5)
    os._exit(0)


def main():
    # First, so that it also handles a stop during startup. Nothing is buffered that could be lost.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))

    parser = argparse.ArgumentParser(description="Verifies HMAC request signatures. See the top of this file.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--window", type=int, default=300, help="seconds that X-Timestamp may be off")
    parser.add_argument("--log", metavar="FILE", help="append one JSON line per request")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when that process is gone")
    options = parser.parse_args()

    secret = os.environb.get(b"DEMO_SECRET", b"")
    if not secret:
        print("hmac_server.py: set DEMO_SECRET to the shared key of the signature", file=sys.stderr)
        return 2
    key = os.environb.get(b"DEMO_API_KEY", b"demo")
    try:
        log = os.open(options.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if options.log else None
        server = Server(options.port, key, secret, options.window, log)
    except (OSError, OverflowError) as error:
        print(f"hmac_server.py: {error}", file=sys.stderr)
        return 1
    if options.parent_pid is not None:
        threading.Thread(target=watch, args=(options.parent_pid,), daemon=True).start()
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
