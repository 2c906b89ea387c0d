"""The server for the lines that both curl and nevod-host run. It keeps each request, and its response depends on the path."""

import base64
import gzip
import hashlib
import re
import urllib.parse

from support import RecordingServer, reply

USER, PASSWORD, REALM, NONCE = "ada", "open sesame", "lines", "7f3a9c"
DIGEST_HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256, "SHA-512-256": lambda data=b"": hashlib.new("sha512_256", data)}


class LinesServer(RecordingServer):
    """Responds by the first segment of the path:

    /any, and whatever is not listed     200, "hello"
    /echo                                200, the request's body
    /status/N                            N, "status N"
    /to/N?URL                            N, Location: URL
    /set?a=1;+Path=/&b=2                 200, a Set-Cookie line for each item
    /set-to?URL&a=1                      302 to URL, with Set-Cookie lines
    /basic                               401 with a Basic challenge, until the user is given
    /digest?algorithm=MD5&qop=auth       401 with a Digest challenge, until the response to it is correct
    /both                                401 with both challenges
    /bearer                              401 with a Bearer challenge, until there is a token
    /head?Name=value                     200, with these lines
    /gzip  /json  /binary  /empty        200, with such a body
    /range                               200 or 206, "0123456789"
    /flaky/COUNT                         503 COUNT times, then 200
    /cut                                 200, with a body that ends before its length
    /chunked                             200, "hello" in chunks
    /named/NAME                          200, Content-Disposition: attachment; filename=NAME
    /late/SECONDS                        200, "late", after that time
    """

    def __init__(self, **options):
        super().__init__(self.answer, **options)
        self.refusals = 0

    def forget(self):
        self.requests.clear()
        self.refusals = 0

    def answer(self, seen):
        path = re.sub(r"^https?://[^/]*", "", seen.path)  # a proxy's form
        kind, _, rest = path.lstrip("/").partition("/")
        function = getattr(self, "answer_" + kind.replace("-", "_"), None)
        response = function(seen, rest) if function else reply("200 OK", "Content-Type: text/plain", body=b"hello\n")
        return response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if seen.method == "HEAD" else response

    def answer_echo(self, seen, _):
        return reply("200 OK", body=seen.body)

    def answer_late(self, seen, rest):
        self.stopped.wait(float(rest))
        return reply("200 OK", body=b"late\n")

    def answer_status(self, seen, rest):
        return reply(f"{rest} Odd", body=b"" if rest in ("204", "304") else f"status {rest}\n".encode())

    def answer_to(self, seen, rest):
        return reply(f"{rest} Moved", f"Location: {urllib.parse.unquote(seen.query)}", body=b"moved\n")

    def answer_set(self, seen, _):
        return reply("200 OK", *self.cookies(seen.query.split("&")), body=b"set\n")

    def answer_set_to(self, seen, _):
        url, *items = seen.query.split("&")
        return reply("302 Found", f"Location: {urllib.parse.unquote(url)}", *self.cookies(items), body=b"set\n")

    @staticmethod
    def cookies(items):
        return [f"Set-Cookie: {urllib.parse.unquote_plus(item)}" for item in items if item]

    def answer_basic(self, seen, _):
        expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if seen.values("Authorization") == [expected]:
            return reply(body=b"welcome\n")
        return reply("401 Unauthorized", f'WWW-Authenticate: Basic realm="{REALM}"', body=b"who?\n")

    def answer_bearer(self, seen, _):
        if any(value.startswith("Bearer ") for value in seen.values("Authorization")):
            return reply(body=b"welcome\n")
        return reply("401 Unauthorized", f'WWW-Authenticate: Bearer realm="{REALM}"', body=b"who?\n")

    def answer_both(self, seen, _):
        if any(value.startswith("Digest ") for value in seen.values("Authorization")):
            return self.answer_digest(seen, "")
        return reply(
            "401 Unauthorized", f'WWW-Authenticate: Basic realm="{REALM}"', f"WWW-Authenticate: {self.challenge(seen)}", body=b"who?\n")

    @staticmethod
    def challenge(seen):
        given = urllib.parse.parse_qs(seen.query)
        fields = [f'realm="{REALM}"', f'nonce="{NONCE}"']
        if "qop" in given:
            fields.append(f'qop="{given["qop"][0]}"')
        if "algorithm" in given:
            fields.append(f"algorithm={given['algorithm'][0]}")
        if "opaque" in given:
            fields.append(f'opaque="{given["opaque"][0]}"')
        if "userhash" in given:
            fields.append("userhash=true")
        return "Digest " + ", ".join(fields)

    def answer_digest(self, seen, _):
        values = seen.values("Authorization")
        if len(values) == 1 and values[0].startswith("Digest ") and self.is_right(seen, values[0]):
            return reply(body=b"welcome\n")
        return reply("401 Unauthorized", f"WWW-Authenticate: {self.challenge(seen)}", body=b"who?\n")

    @staticmethod
    def is_right(seen, value):
        """Whether the response to the challenge is correct (RFC 7616 §3.4)."""
        given = {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]*))', value)}
        algorithm = given.get("algorithm", "MD5")
        function = DIGEST_HASHES[algorithm.upper().removesuffix("-SESS")]

        def digest(text):
            return function(text.encode()).hexdigest()

        name = digest(f"{USER}:{REALM}") if given.get("userhash") == "true" else USER
        first = digest(f"{USER}:{REALM}:{PASSWORD}")
        if algorithm.upper().endswith("-SESS"):
            first = digest(f"{first}:{given['nonce']}:{given['cnonce']}")
        second = digest(f"{seen.method}:{given['uri']}")
        middle = [given["nonce"], given["nc"], given["cnonce"], given["qop"]] if "qop" in given else [given["nonce"]]
        expected = digest(":".join([first, *middle, second]))
        return given["username"] == name and given["uri"] == seen.target and given["response"] == expected

    def answer_head(self, seen, _):
        lines = [f"{name}: {value}" for name, value in urllib.parse.parse_qsl(seen.query)]
        return reply("200 OK", *lines, body=b"hello\n")

    def answer_gzip(self, seen, _):
        if not any("gzip" in value for value in seen.values("Accept-Encoding")):
            return reply(body=b"not asked for\n")
        return reply("200 OK", "Content-Encoding: gzip", body=gzip.compress(b"unpacked\n" * 100, mtime=0))

    def answer_json(self, seen, _):
        return reply("200 OK", "Content-Type: application/json", body=b'{"a":[1,2,{"b":null}]}')

    def answer_binary(self, seen, _):
        return reply("200 OK", "Content-Type: application/octet-stream", body=bytes(range(256)))

    def answer_empty(self, seen, _):
        return reply()

    def answer_range(self, seen, _):
        whole = b"0123456789"
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", "".join(seen.values("Range")))
        if not found:
            return reply("200 OK", "Accept-Ranges: bytes", body=whole)
        if not found[1]:
            start, end = len(whole) - int(found[2]), len(whole) - 1
        else:
            start, end = int(found[1]), min(int(found[2] or len(whole) - 1), len(whole) - 1)
        if start >= len(whole):
            return reply("416 Range Not Satisfiable", f"Content-Range: bytes */{len(whole)}")
        return reply("206 Partial Content", f"Content-Range: bytes {start}-{end}/{len(whole)}", body=whole[start : end + 1])

    def answer_flaky(self, seen, rest):
        if self.refusals < int(rest):
            self.refusals += 1
            return reply("503 Service Unavailable", body=b"later\n")
        return reply(body=b"now\n")

    def answer_cut(self, seen, _):
        seen.headers.append(("Connection", "close"))
        return b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"

    def answer_chunked(self, seen, _):
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n4\r\nllo\n\r\n0\r\n\r\n"

    def answer_named(self, seen, rest):
        return reply("200 OK", f"Content-Disposition: attachment; filename={rest}", body=b"named\n")
