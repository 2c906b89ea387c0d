"""Servers whose clock differs from this machine's."""

import email.utils
import json
import pathlib
import shutil
import tempfile
import time

from support import (
    API_KEY, DemoServer, RecordingServer, TestCase, authority, c_plugin, cases, login_plugin, reply, signature, swift_plugin)

HOUR = 3600


class ClockTestCase(TestCase):
    def credentials(self, plugin=None):
        return ["--plugin", plugin or swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET"]

    def demo_server(self, ahead):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = DemoServer(folder, ahead)
        self.addCleanup(server.stop)
        return server


class Verified(ClockTestCase):
    """The server verifies the signature by its own clock."""

    @cases({"ahead": (HOUR, "1 h 0 min ahead of"), "behind": (-HOUR, "1 h 0 min behind"), "minutes": (420, "ahead of")})
    def test_verbose(self, ahead, text):
        server = self.demo_server(ahead)
        outcome = self.run_host("-v", *self.credentials(), server.url + "/orders")
        self.expect(outcome, 0, f"* the clock of {server.url} is ", f"{text} this machine's; signatures use its time\n")
        self.assertEqual(outcome.err.count("the clock of"), 1, outcome)
        self.assertEqual([seen["verified"] for seen in server.requests()], [False, True])
        self.assertTrue(json.loads(outcome.out)["verified"])

    @cases({"swift": swift_plugin, "c": c_plugin})
    def test_not_verbose(self, plugin):
        server = self.demo_server(HOUR)
        outcome = self.run_host(*self.credentials(plugin()), "-d", "body", server.url + "/orders")
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")
        self.assertEqual([seen["verified"] for seen in server.requests()], [False, True])

    def test_same_time(self):
        server = self.demo_server(0)
        outcome = self.run_host("-v", *self.credentials(), server.url + "/orders")
        self.expect(outcome, 0)
        self.assertNotIn("the clock of", outcome.err)
        self.assertEqual([seen["verified"] for seen in server.requests()], [True])

    def test_too_far(self):
        server = self.demo_server(3 * 24 * HOUR)
        outcome = self.run_host(*self.credentials(), server.url + "/orders")
        self.expect(outcome, 0, f"nevod-host: warning: the clock of {server.url} is 3 d 0 h ahead of this machine's")
        self.assertEqual([seen["verified"] for seen in server.requests()], [False])

    def test_upload_from_a_pipe(self):
        """A body that can be read only once isn't sent again, so the refusal is the response."""
        server = self.demo_server(HOUR)
        outcome = self.run_host(
            *self.credentials(), "--set", "message={method}\\n{path}\\n{timestamp}\\n", "-T", "-", server.url + "/orders",
            stdin=b"body")
        self.expect(outcome, 0)
        self.assertEqual([seen["verified"] for seen in server.requests()], [False])


class Secure(ClockTestCase):
    def respond(self, seen):
        now = time.time() - 2 * HOUR
        stamp = seen.values("X-Timestamp")[0]
        is_valid = seen.values("X-Signature") == [signature(seen.method, seen.target, stamp)] and abs(int(stamp) - now) < 300
        return reply("200 OK" if is_valid else "403 Forbidden", "Date: " + email.utils.formatdate(now, usegmt=True))

    def test_over_tls(self):
        with RecordingServer(self.respond, tls=authority().context()) as server:
            outcome = self.run_host(
                "-v", "--cacert", authority().path("ca.pem"), *self.credentials(), server.https + "/orders")
            self.expect(outcome, 0, f"* the clock of {server.https} is 2 h 0 min behind this machine's", "< HTTP/1.1 200 OK\n")
            self.assertEqual(len(server.requests), 2)


class Login(ClockTestCase):
    def test_verbose(self):
        def respond(seen):
            return reply("200 OK", "Date: " + email.utils.formatdate(time.time() + HOUR, usegmt=True))

        with RecordingServer(respond) as server:
            outcome = self.run_host(
                "-v", "--no-store", "--plugin", login_plugin(), "--set", "mode=code", "--set", f"url={server.http}",
                "--answer", "code=1", server.http + "/a")
            self.expect(outcome, 0, f"* the clock of {server.http} is 1 h 0 min ahead of this machine's")
            self.assertEqual(outcome.err.count("the clock of"), 1, outcome)
            self.assertEqual([seen.path for seen in server.requests], ["/code", "/a"])
