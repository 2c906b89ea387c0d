"""Decodes the chunks of the test plugin `body`. Responds with their count and the SHA-256 of their data, or with 400 and the
fault."""
import hashlib
import http.server
import zlib

import common


def unwrapped(body, length):
    checksum, data, count = 1, b"", 0
    while True:
        head, _, rest = body.partition(b"\r\n")
        size, _, word = head.partition(b";chunk-checksum=")
        size = int(size, 16)
        chunk, end, body = rest[:size], rest[size : size + 2], rest[size + 2 :]
        checksum = zlib.adler32(chunk, checksum)
        if len(chunk) != size or end != b"\r\n" or int(word, 16) != checksum:
            raise ValueError("chunk %d is wrong" % count)
        if size == 0:
            break
        if size != 65536 and len(data) + size != length:
            raise ValueError("chunk %d has %d bytes" % (count, size))
        data += chunk
        count += 1
    if body:
        raise ValueError("%d bytes follow the last chunk" % len(body))
    if len(data) != length:
        raise ValueError("%d bytes instead of %d" % (len(data), length))
    return "%d %s" % (count, hashlib.sha256(data).hexdigest())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        try:
            if self.headers.get("Transfer-Encoding"):
                raise ValueError("Transfer-Encoding")
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, text = 200, unwrapped(body, int(self.headers["X-Decoded-Length"]))
        except (ValueError, TypeError) as error:
            status, text = 400, str(error)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


common.end_with_parent()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
common.say("http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
