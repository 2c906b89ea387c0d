"""Responses that a plugin rejects: the exit code, and how much of the body arrives."""

import functools
import hashlib
import os

from support import ROOT, RecordingServer, TestCase, c_source_plugin, cases, reply


@functools.cache
def response_plugin():
    """Compiles the library tests' plugin that does what header lines say."""
    return c_source_plugin("libResponse.so", ROOT / "Tests/NevodHostTests/TestPlugins/response.c")


BODY = bytes(range(256)) * 2000


def checked(body=BODY, status="200 OK", of=BODY):
    """Returns a response with the digests of a body, which may differ from the sent one."""
    return reply(status, f"X-Digests: {digests_of(of)}", body=body)


def digests_of(body):
    return " ".join(f"{name}={hashlib.new(name.replace('-', ''), body).hexdigest()}" for name in ("sha-512", "sha-256", "sha-384"))


class Refused(TestCase):
    REASON = 'the scheme "plain" refused the response: X-Digests doesn\'t match the body'

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(RecordingServer(lambda seen: self.response))

    def send(self, *arguments, needs="cod"):
        return self.run_host(
            "--plugin", response_plugin(), "--scheme", "plain", "--set", f"needs={needs}", *arguments, self.server.http)

    def expect_refused(self, outcome, reason=REASON):
        self.expect(outcome, 116)
        self.assertIn(reason, outcome.err)
        self.assertIn("libResponse.so", outcome.err)

    def test_right_body(self):
        self.response = checked()
        path = self.folder / "file"
        self.expect(self.send("-o", path), 0)
        self.assertEqual(path.read_bytes(), BODY)
        outcome = self.send()
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, BODY)

    @cases({"last_byte": BODY[:-1] + b"?", "first_byte": b"?" + BODY[1:], "short": BODY[:-1], "long": BODY + b"?"})
    def test_no_file_of_a_tampered_body(self, body):
        self.response = checked(body)
        self.expect_refused(self.send("-o", self.folder / "file"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_old_file_stays(self):
        path = self.file("file", "old")
        self.response = checked(b"?" + BODY[1:])
        self.expect_refused(self.send("-o", path))
        self.assertEqual(path.read_text(), "old")
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_standard_output_has_the_body_and_the_code_says_so(self):
        body = b"?" + BODY[1:]
        self.response = checked(body)
        outcome = self.send()
        self.expect_refused(outcome)
        self.assertEqual(outcome.out, body)

    @cases({"challenge": "401 Unauthorized", "forbidden": "403 Forbidden"})
    def test_nothing_of_a_challenge(self, status):
        self.response = checked(b"?" + BODY[1:2000], status, of=BODY[:2000])
        outcome = self.send("-o", self.folder / "file")
        self.expect_refused(outcome)
        self.assertEqual((outcome.out, os.listdir(self.folder)), (b"", []))

    def test_nothing_of_a_response_that_is_refused_by_its_head(self):
        self.response = reply("200 OK", "X-Verdict: refuse", "X-Report: is missing", body=BODY)
        outcome = self.send(needs="o")
        self.expect_refused(outcome, "refused the response: X-Signature is missing")
        self.assertEqual(outcome.out, b"")
        self.assertNotIn("sensitive", outcome.err)

    def test_head_has_no_body_to_check(self):
        digests = digests_of(b"")
        self.response = f"HTTP/1.1 200 OK\r\nX-Digests: {digests}\r\nContent-Length: 1000\r\n\r\n".encode()
        self.expect(self.send("-X", "HEAD"), 0)

    def test_compressed_asks_for_no_coding(self):
        self.response = checked()
        outcome = self.send("--compressed")
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, BODY)
        self.assertEqual(self.server.requests[-1].values("Accept-Encoding"), ["identity"])
