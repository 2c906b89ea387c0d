"""Sends bodies in content codings made by Python's zlib, brotli and zstandard.

A request's query: size; kind=pattern, zeros or random; codings=gzip,br in the order in which they are applied, from gzip, zlib,
raw (only DEFLATE), br, zstd, members (gzip in several members), empties (10,000 empty members) and frames (zstd in several
frames, with one to skip); name, the value of Content-Encoding if it differs; cut, the number of bytes missing at the end of the
coded body; innercut, the same for the first coding; append, bytes in hexadecimal after the body; framing=length, chunked or
close; status. The path /raw sends the coded body without Content-Encoding."""

import gzip
import http.server
import random
import urllib.parse
import zlib

import brotli
import common
import zstandard

NAMES = {"zlib": "deflate", "raw": "deflate", "members": "gzip", "empties": "gzip", "frames": "zstd"}
STEP = 1 << 16


def raw(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def parts(body):
    # An empty one in the middle.
    third = len(body) // 3
    return body[:third], b"", body[third:]


def frames(body):
    skipped = b"\x52\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    return skipped.join(zstandard.compress(part) for part in parts(body))


def zipped(body):
    # Without the time, so that two responses have the same bytes.
    return gzip.compress(body, mtime=0)


CODERS = {
    "gzip": zipped, "zlib": zlib.compress, "raw": raw, "br": lambda body: brotli.compress(body, quality=5),
    "zstd": zstandard.compress, "members": lambda body: b"".join(zipped(part) for part in parts(body)), "frames": frames,
    "empties": lambda body: zipped(b"") * 10000,
}


def content(kind, size):
    if kind == "zeros":
        return bytes(size)
    if kind == "random":
        return random.Random(size).randbytes(size)
    return bytes((index * 7 + (index >> 8)) & 0x3F for index in range(size))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = content(query.get("kind", "pattern"), int(query.get("size", 0)))
        codings = [coding for coding in query.get("codings", "").split(",") if coding]
        for index, coding in enumerate(codings):
            body = CODERS[coding](body)
            if index == 0:
                body = body[:len(body) - int(query.get("innercut", 0))]
        body = body[:len(body) - int(query.get("cut", 0))] + bytes.fromhex(query.get("append", ""))
        status, framing = int(query.get("status", 200)), query.get("framing", "length")
        self.send_response(status)
        name = query.get("name", ", ".join(NAMES.get(coding, coding) for coding in codings))
        if url.path != "/raw" and name:
            self.send_header("Content-Encoding", name)
        if framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif framing == "length" and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        if framing == "close":
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command == "HEAD" or status in (204, 304):
            return
        if framing != "chunked":
            self.wfile.write(body)
            return
        for start in range(0, len(body), STEP):
            part = body[start:start + STEP]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_HEAD = respond

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


common.end_with_parent()
server = Server(("127.0.0.1", 0), Handler)
common.say("http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
