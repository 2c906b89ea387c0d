"""Broken and hostile servers: one clear line, an exit code, in time, and no partial file."""

import gzip
import os
import re
import resource
import socket
import ssl
import struct
import time
import zlib

from support import BUILD, RecordingServer, SocketServer, TestCase, authority, cases, reply

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Hostile(TestCase):
    def serving(self, response, tls=None, then=None):
        """Starts a server that reads a request's head and then sends bytes, or calls a function with the connection.
        Afterwards it closes the connection, or calls `then`."""

        def converse(connection):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (piece := connection.recv(65536)):
                    return
                head += piece
            if callable(response):
                response(connection)
            else:
                connection.sendall(response)
            if then:
                then(connection)

        return self.enterContext(SocketServer(converse, tls=tls))

    def fetch(self, server, *words, limit=20):
        """Downloads into a file, so that leftovers can be seen."""
        start = time.monotonic()
        url = server.https if server.tls else server.http
        words = ["-o", self.folder / "file", "-m", "15", "--cacert", authority().path("ca.pem"), *words, url + "/a"]
        outcome = self.run_host(*words)
        self.assertLess(time.monotonic() - start, limit, outcome)
        return outcome

    def content(self):
        return (self.folder / "file").read_bytes()

    def expect_content(self, outcome, content):
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"", ""), outcome)
        self.assertEqual(self.content(), content)
        self.assertEqual(os.listdir(self.folder), ["file"])

    def expect_clean_failure(self, outcome, codes, *fragments):
        """Expects one line with the error, without control characters."""
        self.assertIn(outcome.code, codes if isinstance(codes, tuple) else (codes,), outcome)
        self.expect_failure(outcome, outcome.code, *fragments)
        self.assertNotRegex(outcome.err[:-1], r"[\x00-\x1f\x7f]")
        self.assertLess(len(outcome.err), 500, outcome)
        self.assertEqual(os.listdir(self.folder), [], outcome)

    def expect_time_is_up(self, *arguments, **options):
        """Downloads until the transfer's own limit ends one. On busy processors, the command's limit, which is 250 ms later, may
        act first."""
        for _ in range(5):
            outcome = self.fetch(*arguments, **options)
            self.expect_clean_failure(outcome, 28)
            if "timed out" in outcome.err:
                return
        self.fail(outcome)


def gzip_of_zeros(mebibytes):
    """That many bytes in gzip. One piece is packed once, because packing takes seconds."""
    packer = zlib.compressobj(9, wbits=-15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    digest = 0
    for _ in range(mebibytes):
        digest = zlib.crc32(bytes(1 << 20), digest)
    return gzip.compress(b"")[:10] + piece * mebibytes + packer.flush() + struct.pack("<II", digest, mebibytes << 20 & 0xFFFFFFFF)


def endless(piece, head=b""):
    def send(connection):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
    return send


def keep_open(connection):
    connection.recv(1)


class Hosts(Hostile):
    """Invalid hosts. Each of these once ended the process by a trap."""

    HOSTS = cases({
        "colon": "[:]", "colons": "[::::]", "three_parts": "[1:2:3]", "five_digits": "[12345::]", "ipv4_with_colon": "[1.2.3.4:]",
        "mapped_colon": "a\uff1a80", "future": "[v1.a]", "zone": "[::1%25lo]"})

    @HOSTS
    def test_location(self, host):
        response = f"HTTP/1.1 302 Found\r\nLocation: http://{host}/a\r\nContent-Length: 0\r\n\r\n".encode()
        self.expect_clean_failure(self.fetch(self.serving(response), "-L"), 3, "redirect", "host")

    @HOSTS
    def test_operand(self, host):
        self.expect_clean_failure(self.run_host(f"http://{host}/"), 3, "host")

    @HOSTS
    def test_setting(self, host):
        plugin = ["--plugin", BUILD / "libCookieAuth.so", "--set", f"login=http://{host}/"]
        self.expect_clean_failure(self.run_host(*plugin, "http://127.0.0.1:9/"), 111, '"login"')

    def test_no_descriptor_for_the_loop(self):
        """The limit at which only the loop's descriptors are missing depends on the libraries. Below it, the libraries themselves
        fail."""
        outcomes = [
            self.run_host("http://127.0.0.1:9/", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            for limit in range(5, 12)]
        self.assertEqual({outcome.code for outcome in outcomes if "no file descriptor is left" in outcome.err}, {1}, outcomes)


class Heads(Hostile):
    def drip(self, head):
        def send(connection):
            for byte in head:
                connection.sendall(bytes([byte]))
                if server.stopped.wait(0.02):
                    return
        server = self.serving(send)
        return server

    def test_head_that_drips(self):
        server = self.drip(OK + b"X: y\r\n" * 10_000)
        self.expect_time_is_up(server, "-m", "0.5", limit=5)

    def test_head_that_drips_in_time(self):
        server = self.drip(OK + b"Content-Length: 0\r\n\r\n")
        self.expect_content(self.fetch(server), b"")

    def test_silence(self):
        self.expect_time_is_up(self.serving(b"", then=keep_open), "-m", "0.3", limit=5)

    def test_body_that_stalls(self):
        server = self.serving(OK + b"Content-Length: 100\r\n\r\n" + b"x" * 50, then=keep_open)
        self.expect_time_is_up(server, "-m", "0.5", limit=5)

    @cases({
        "endless_lines": endless(b"X-Header: value\r\n" * 100, OK),
        "endless_line": endless(b"x" * 1000, OK + b"X-Header: "),
        "endless_name": endless(b"x" * 1000, OK),
        "endless_status_line": endless(b"x" * 1000, b"HTTP/1.1 200 "),
        "endless_folding": endless(b" x" * 100 + b"\r\n", OK + b"X-Header: a\r\n"),
        "lines_of_300_kib": OK + b"X-Header: 0123456789012345678901234567890123456\r\n" * 6144 + b"\r\n",
        "line_of_300_kib": OK + b"X-Header: " + b"x" * (300 << 10) + b"\r\n\r\n",
    })
    def test_too_large(self, response):
        self.expect_clean_failure(self.fetch(self.serving(response)), (8,), "large")

    def test_200_kib_of_lines(self):
        self.expect_content(self.fetch(self.serving(OK + b"X-Header: 0123456789\r\n" * 8900 + b"Content-Length: 2\r\n\r\nok")), b"ok")

    @cases({
        "no_http": b"SSH-2.0-OpenSSH_9.6\r\n",
        "http_0_9": b"<html>hello</html>",
        "binary": bytes(range(256)) * 4,
        "letters": b"HTTP/1.1 abc OK\r\n\r\n",
        "two_digits": b"HTTP/1.1 20 OK\r\n\r\n",
        "four_digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        "negative": b"HTTP/1.1 -200 OK\r\n\r\n",
        "below_100": b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
        "above_599": b"HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n",
        "no_status": b"HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "unknown_version": b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "no_version": b"HTTP 200 OK\r\nContent-Length: 0\r\n\r\n",
        "other_protocol": b"RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "escape": b"\x1b[31mHTTP/1.1 200 OK\r\n\r\n",
        "http_2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "header_without_colon": OK + b"no colon here\r\n\r\nbody",
        "nul_in_header": OK + b"X: a\0b\r\n\r\n",
        "length_garbage": OK + b"Content-Length: abc\r\n\r\nbody",
        "length_negative": OK + b"Content-Length: -5\r\n\r\nbody",
        "length_hexadecimal": OK + b"Content-Length: 0x4\r\n\r\nbody",
        "length_list": OK + b"Content-Length: 4, 2\r\n\r\nbody",
        "length_twice": OK + b"Content-Length: 4\r\nContent-Length: 2\r\n\r\nbody",
    })
    def test_malformed(self, response):
        self.expect_clean_failure(self.fetch(self.serving(response)), (1, 8, 56))

    def test_closed_in_the_head(self):
        # curl's code 52 means that no byte came.
        self.expect_clean_failure(self.fetch(self.serving(OK + b"X-Head")), (1, 8, 18, 52, 56))

    def test_closed_after_the_status_line(self):
        self.expect_clean_failure(self.fetch(self.serving(OK)), (1, 8, 18, 52, 56))

    def test_1000_set_cookies(self):
        lines = [f"Set-Cookie: name{number}=secret-{number}; Path=/" for number in range(1000)]
        outcome = self.fetch(self.serving(reply("200 OK", *lines, body=b"ok")), "-v")
        self.expect(outcome, 0)
        self.assertEqual((self.content(), outcome.err.count("< Set-Cookie: [redacted]\n")), (b"ok", 1000))
        self.assertNotIn("secret-", outcome.err)

    def test_header_for_a_terminal(self):
        outcome = self.fetch(self.serving(reply("200 \x1b[2J", "X-A: \x1b]0;title\x07", body=b"ok")), "-v")
        self.expect(outcome, 0)
        self.assertNotIn("\x1b", outcome.err)
        self.assertNotIn("\x07", outcome.err)

    def test_interim_answers(self):
        self.expect_content(self.fetch(self.serving(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000 + reply(body=b"ok"))), b"ok")

    @cases({"100": b"HTTP/1.1 100 Continue\r\n\r\n", "103": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"})
    def test_endless_interim_answers(self, interim):
        self.expect_clean_failure(self.fetch(self.serving(endless(interim * 100)), "-m", "5"), (8, 28))

    def test_switching_protocols_unasked(self):
        response = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nxyz"
        outcome = self.fetch(self.serving(response), "-m", "2")
        self.assertGreaterEqual(outcome.code, 0, outcome)
        self.assertNotEqual((outcome.code, outcome.err), (0, "xyz"))


class Bodies(Hostile):
    @cases({
        "length_too_long": (OK + b"Content-Length: 1000\r\n\r\n" + b"x" * 10, (18,)),
        "length_beyond_everything": (OK + b"Content-Length: 9223372036854775807\r\n\r\n" + b"x" * 10, (18,)),
        "chunk_cut": (CHUNKED + b"a\r\n01234", (18, 56)),
        "chunk_without_end": (CHUNKED + b"a\r\n0123456789\r\n", (18, 56)),
        "size_cut": (CHUNKED + b"a", (18, 56)),
        "size_garbage": (CHUNKED + b"zz\r\n0123456789\r\n0\r\n\r\n", (56,)),
        "size_negative": (CHUNKED + b"-5\r\n01234\r\n0\r\n\r\n", (56,)),
        "size_too_large": (CHUNKED + b"ffffffffffffffffffff\r\n01234\r\n0\r\n\r\n", (56,)),
        "chunk_longer_than_its_size": (CHUNKED + b"5\r\n0123456789\r\n0\r\n\r\n", (56,)),
        "endless_size": (endless(b"0" * 1000, CHUNKED), (56,)),
        "endless_trailers": (endless(b"X-A: y\r\n" * 100, CHUNKED + b"2\r\nok\r\n0\r\n"), (8, 28, 56)),
        "unknown_coding": (OK + b"Transfer-Encoding: nonsense\r\n\r\nok", (1, 8, 18, 56, 61)),
    })
    def test_failure(self, response, codes):
        self.expect_clean_failure(self.fetch(self.serving(response), "-m", "5"), codes)

    def reset(self, connection):
        connection.sendall(OK + b"Content-Length: 1000\r\n\r\n" + b"x" * 10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def test_reset(self):
        self.expect_clean_failure(self.fetch(self.serving(self.reset)), (18, 56))

    @cases({
        "length_too_short": (OK + b"Content-Length: 2\r\n\r\nokay", b"ok"),
        "length_and_chunked": (OK + b"Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"ok"),
        "length_twice_the_same": (OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        "until_the_end": (OK + b"\r\nok", b"ok"),
        "http_1_0": (b"HTTP/1.0 200 OK\r\n\r\nok", b"ok"),
        "http_1_0_with_length": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        "line_feeds_alone": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok"),
        "chunk_extension": (CHUNKED + b"2;name=\"v;\"\r\nok\r\n0;last\r\n\r\n", b"ok"),
        "chunk_size_with_zeros": (CHUNKED + b"0000002\r\nok\r\n000\r\n\r\n", b"ok"),
        "body_of_204": (b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", b""),
        "body_of_304": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok", b""),
    })
    def test_success(self, response, content):
        self.expect_content(self.fetch(self.serving(response)), content)

    def test_trailers_are_no_headers(self):
        response = CHUNKED + b"2\r\nok\r\n0\r\nLocation: http://127.0.0.1:1/\r\nX-Trailer: 1\r\n\r\n"
        outcome = self.fetch(self.serving(response), "-i", "-v", "-L")
        self.expect(outcome, 0)
        self.assertEqual(self.content(), CHUNKED + b"ok")
        self.assertNotIn("Trailer", outcome.err)

    @cases({
        "length": endless(b"x" * 65536, OK + b"Content-Length: 9000000000000000000\r\n\r\n"),
        "chunked": endless(b"ffff\r\n" + b"x" * 65535 + b"\r\n", CHUNKED),
        "small_chunks": endless(b"1\r\nx\r\n" * 1000, CHUNKED),
        "until_the_end": endless(b"x" * 65536, OK + b"\r\n"),
    })
    def test_endless(self, response):
        self.expect_time_is_up(self.serving(response), "-m", "0.5", limit=5)

    def test_a_file_that_was_there_stays(self):
        self.file("file", b"old")
        outcome = self.fetch(self.serving(OK + b"Content-Length: 1000\r\n\r\n" + b"x"))
        self.expect_failure(outcome, 18)
        self.assertEqual((os.listdir(self.folder), self.content()), (["file"], b"old"))


class ContentCodings(Hostile):
    def coded(self, coding, body):
        return self.serving(reply("200 OK", f"Content-Encoding: {coding}", body=body))

    def test_gzip(self):
        self.expect_content(self.fetch(self.coded("gzip", gzip.compress(b"ok" * 1000)), "--compressed"), b"ok" * 1000)

    def test_deflate(self):
        self.expect_content(self.fetch(self.coded("deflate", zlib.compress(b"ok")), "--compressed"), b"ok")

    def test_twice(self):
        body = gzip.compress(gzip.compress(b"ok"))
        self.expect_content(self.fetch(self.coded("gzip, gzip", body), "--compressed"), b"ok")

    @cases({
        "garbage": ("gzip", b"this is no gzip at all"),
        "damaged": ("gzip", gzip.compress(b"ok" * 1000, mtime=0)[:-12] + b"\xff" * 12),
        "wrong_checksum": ("gzip", gzip.compress(b"ok" * 1000, mtime=0)[:-8] + b"\0" * 8),
        "deflate": ("deflate", b"\xff\xff\xff"),
        "brotli": ("br", b"\xff\xff\xff\xff\xff"),
        "unknown": ("nonsense", b"ok"),
        "a_tower": (", ".join(["gzip"] * 50), b"ok"),
    })
    def test_failure(self, coding, body):
        self.expect_clean_failure(self.fetch(self.coded(coding, body), "--compressed"), (18, 23, 56, 61))

    @cases({
        "gzip": ("gzip", gzip.compress(b"ok" * 1000)), "deflate": ("deflate", zlib.compress(b"ok" * 1000)),
        "twice": ("gzip, gzip", gzip.compress(gzip.compress(b"ok" * 1000))),
    })
    def test_that_ends_in_the_middle(self, coding, body):
        self.expect_clean_failure(self.fetch(self.coded(coding, body[:-5]), "--compressed"), 18, "ends in the middle")

    def test_small_bomb(self):
        """5 KiB that unpack to 2 GiB."""
        bomb = gzip_of_zeros(2048)
        self.expect_clean_failure(
            self.fetch(self.coded("gzip, gzip", gzip.compress(bomb)), "--compressed", limit=20), 63, "decompressed")

    def test_bomb_of_512_mib(self):
        """Half a megabyte of gzip. Memory stays flat, except for one piece of 16 KiB, which may unpack to 1,000 times its
        size."""
        bomb = gzip_of_zeros(512)
        words = ["--compressed", "-o", "/dev/null"]
        _, empty = self.run_measured(*words, self.coded("gzip", gzip.compress(b"")).http)
        outcome, peak = self.run_measured(*words, self.coded("gzip", bomb).http)
        self.expect(outcome, 0)
        self.assertLess(peak - empty, 64 << 20)

    def test_endless_bomb(self):
        packer = zlib.compressobj(9, wbits=31)
        head = OK + b"Content-Encoding: gzip\r\n\r\n" + packer.compress(bytes(10 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
        piece = packer.compress(bytes(10 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
        server = self.serving(endless(piece, head))
        self.expect_time_is_up(server, "--compressed", "-m", "1", limit=6)


class BrokenTLS(Hostile):
    def tls(self, response, **options):
        return self.serving(response, tls=authority().context(), **options)

    @cases({
        "closed_at_once": b"",
        "garbage": b"\x00\xff" * 200,
        "http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        "half_a_record": b"\x16\x03\x03\x40\x00abc",
        "alert": b"\x15\x03\x03\x00\x02\x02\x28",
    })
    def test_handshake(self, response):
        def converse(connection):
            connection.recv(65536)
            connection.sendall(response)
        server = self.enterContext(SocketServer(converse))
        server.tls = True  # only for the URL
        server.serve = lambda connection: (converse(connection), connection.close())
        self.expect_clean_failure(self.fetch(server), 35)

    def test_handshake_that_stalls(self):
        server = self.enterContext(SocketServer(keep_open))
        server.tls = True
        server.serve = lambda connection: (connection.recv(65536), connection.recv(1))
        self.expect_clean_failure(self.fetch(server, "--connect-timeout", "0.5", limit=5), 28, "timed out")

    def cut(self, connection):
        """The connection ends without the closing alert (RFC 8446 §6.1)."""
        os.close(connection.detach())

    @cases({
        "in_the_head": (OK + b"X: ", (1, 8, 52, 56)),
        "in_a_body_with_length": (OK + b"Content-Length: 1000\r\n\r\nok", (18, 56)),
        "in_a_chunked_body": (CHUNKED + b"a\r\nok", (18, 56)),
        # Except a body that ends with the connection: libcurl can't detect its truncation (SECURITY.md, "Known limits").
    })
    def test_cut(self, response, codes):
        self.expect_clean_failure(self.fetch(self.tls(response, then=self.cut)), codes)

    def test_body_until_the_end(self):
        self.expect_content(self.fetch(self.tls(OK + b"\r\nok", then=lambda connection: connection.unwrap())), b"ok")

    def test_old_tls(self):
        context = authority().context()
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        server = self.serving(reply(), tls=context)
        self.expect_clean_failure(self.fetch(server), 35)

    @cases({"wrong_name": "elsewhere", "expired": "expired"})
    def test_certificate(self, name):
        server = self.serving(reply(), tls=authority().context(name))
        self.expect_clean_failure(self.fetch(server), 60, "certificate")

    def test_unknown_authority(self):
        outcome = self.fetch(self.tls(reply()), "--cacert", authority().path("other-ca.pem"))
        self.expect_clean_failure(outcome, 60, "certificate")

    def test_redirect_to_a_server_that_nobody_vouches_for(self):
        away = self.serving(reply(), tls=authority().context("elsewhere"))
        server = self.tls(reply("302 Found", f"Location: {away.https}/end"))
        self.expect_clean_failure(self.fetch(server, "-L"), 60, "certificate")


class Pinned(Hostile):
    def setUp(self):
        self.server = self.enterContext(RecordingServer(lambda seen: reply(body=b"ok"), tls=authority().context()))

    def expect_mismatch(self, pin):
        outcome = self.fetch(self.server, "--pinnedpubkey", pin)
        self.expect_clean_failure(outcome, 90, "pin")
        self.assertEqual(self.server.requests, [])

    def test_match(self):
        self.expect_content(self.fetch(self.server, "--pinnedpubkey", authority().pin()), b"ok")

    def test_one_of_several(self):
        pins = f"{authority().pin('elsewhere')};{authority().pin()}"
        self.expect_content(self.fetch(self.server, "--pinnedpubkey", pins), b"ok")

    @cases({"PEM": "PEM", "DER": "DER"})
    def test_file(self, form):
        path = self.folder.parent / f"{self.folder.name}-key"
        self.addCleanup(path.unlink)
        path.write_bytes(authority().openssl("pkey", "-in", "here.key", "-pubout", "-outform", form))
        self.expect_content(self.fetch(self.server, "--pinnedpubkey", path), b"ok")

    def test_mismatch(self):
        self.expect_mismatch(authority().pin("elsewhere"))

    def test_a_good_pin_is_no_certificate(self):
        outcome = self.fetch(self.server, "--pinnedpubkey", authority().pin(), "--cacert", authority().path("other-ca.pem"))
        self.expect_clean_failure(outcome, 60, "certificate")
        self.assertEqual(self.server.requests, [])

    @cases({
        "no_base64": "sha256//???", "no_digest": "sha256//", "other_digest": "sha1//AAAA", "no_file": "/nonexistent/key.pem",
        "empty": "",
    })
    def test_unusable(self, pin):
        """A malformed pin never matches. It must not count as a missing pin."""
        outcome = self.fetch(self.server, "--pinnedpubkey", pin)
        self.expect_clean_failure(outcome, (2, 90))
        self.assertEqual(self.server.requests, [])

    def test_holds_after_a_redirect(self):
        away = self.serving(reply(body=b"away"), tls=authority().context("here"))
        self.server.respond = lambda seen: reply("302 Found", f"Location: {away.https}/end")
        self.expect_content(self.fetch(self.server, "-L", "--pinnedpubkey", authority().pin()), b"away")


class Documentation(Hostile):
    """The help documents the exit codes of these tests and of the tests of redirects."""

    @cases({"8": 8, "18": 18, "28": 28, "35": 35, "47": 47, "52": 52, "56": 56, "58": 58, "60": 60, "61": 61, "77": 77, "90": 90})
    def test_code(self, code):
        explained = re.findall(r"(?m)^ +(\d+)  ", self.run_host("help", "exit-codes").out.decode())
        self.assertIn(str(code), explained)
