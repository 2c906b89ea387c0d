"""Many requests and processes meet the expiry of one OAuth 2.0 session at once. There is one exchange, and the family of refresh
tokens survives. The servers are the strict one of test_oauth_renewal.py, and django-oauth-toolkit with reuse detection."""

import subprocess
import time
import urllib.request

from support import PATIENCE, ROOT, Outcome, cases, environment, reply, wait_until
from test_oauth_renewal import RenewalTestCase, refusal
from test_sessions import PostgreSQLServer

PROCESSES = 8
REQUESTS = 100


class ToolkitServer:
    """Probes/rotating_server.py: django-oauth-toolkit, which revokes a family if one of its refresh tokens is used twice."""

    secret = None

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-B", ROOT / "Tests/NevodHostTests/Probes/rotating_server.py", folder], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.http = self.process.stdout.readline().decode().strip()

    def control(self, what):
        return urllib.request.urlopen(f"{self.http}/control/{what}", timeout=PATIENCE).read().decode()

    def expire(self, crowd=0):
        """The crowd meets at the server's database, which serves one request at a time."""
        self.control("expire")

    def expect_alive(self, test, exchanges):
        test.assertEqual(self.control("counts"), f"{exchanges} {exchanges} 0 1")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class FleetTestCase(RenewalTestCase):
    body = b"ok"

    def expect_alive(self, exchanges):
        self.assertEqual(len(self.server.exchanges()), exchanges)
        self.assertTrue(self.server.is_alive())

    def start_toolkit(self):
        folder = self.folder / "server"
        folder.mkdir()
        self.server = ToolkitServer(folder)
        self.addCleanup(self.server.stop)
        self.body = b"ada"
        self.expect_alive = lambda exchanges: self.server.expect_alive(self, exchanges)

    def storm(self):
        """Sends requests from one process, all at once."""
        urls = [f"{self.server.http}/api?{number}" for number in range(REQUESTS)]
        return self.run_host("-f", "-Z", "--parallel-max", REQUESTS, *self.scheme(), *urls)

    def fleet(self):
        """Sends a request from each of several processes, all at once."""
        command = self.command("-f", *self.scheme(), self.server.http + "/api")
        processes = [
            subprocess.Popen(
                command, env=environment(**self.env()), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True)
            for _ in range(PROCESSES)]
        try:
            results = [process.communicate(timeout=PATIENCE) for process in processes]
        finally:
            for process in processes:
                process.kill()
        return [Outcome(command, process.returncode, *result) for process, result in zip(processes, results)]


class Storm(FleetTestCase):
    """100 requests of one process."""

    def test_refused_at_once(self):
        self.start()
        self.logged_in()
        for exchanges in (1, 2):
            self.server.expire(crowd=REQUESTS)
            outcome = self.storm()
            self.assertEqual((outcome.code, outcome.out, outcome.err), (0, self.body * REQUESTS, ""), outcome)
            self.assertEqual(self.server.refused, REQUESTS)
            self.expect_alive(exchanges)

    def test_expired(self):
        """No request is sent with the expired token."""
        self.start(lifetime=1)
        self.logged_in()
        end = time.time() + 1
        self.server.lifetime = 3600
        wait_until(lambda: time.time() > end, "the expiry")
        outcome = self.storm()
        self.assertEqual((outcome.code, outcome.out), (0, self.body * REQUESTS), outcome)
        self.assertEqual(self.server.refused, 0)
        self.expect_alive(1)

    def test_toolkit(self):
        self.start_toolkit()
        self.logged_in()
        for exchanges in (1, 2, 3):
            self.server.expire()
            outcome = self.storm()
            self.assertEqual((outcome.code, outcome.out), (0, self.body * REQUESTS), outcome)
            self.expect_alive(exchanges)

    def test_outage(self):
        """Requests fail, and the session survives."""
        self.start()
        self.logged_in()
        self.server.expire(crowd=REQUESTS)
        self.server.faults = [reply("503 Service Unavailable")]
        outcome = self.storm()
        self.expect(outcome, 112, "the token could not be renewed and is still stored")
        self.assertNotIn("cleared", outcome.err)
        # A request that came later than the failure may have renewed the token.
        self.assertLessEqual(len(self.server.exchanges()), 2)
        self.expect(self.get(), 0)
        self.assertTrue(self.server.is_alive())

    def test_busy(self):
        """The server asks one request to wait, and all of them wait."""
        self.start()
        self.logged_in()
        self.server.expire(crowd=REQUESTS)
        self.server.faults = [reply("429 Too Many Requests", "Retry-After: 1")]
        outcome = self.storm()
        self.assertEqual((outcome.code, outcome.out), (0, self.body * REQUESTS), outcome)
        self.expect_alive(2)

    def test_refused_for_good(self):
        """Logged out once, whatever the number of requests."""
        self.start()
        self.logged_in()
        self.server.expire(crowd=REQUESTS)
        self.server.faults = [refusal("invalid_grant", "Gone")]
        outcome = self.storm()
        self.assertNotEqual(outcome.code, 0)
        self.assertEqual(outcome.err.count("the session is cleared"), 1, outcome)
        self.assertEqual((len(self.server.exchanges()), self.sessions()), (1, []))


class Processes(FleetTestCase):
    """Eight processes with one store: a file, and then a PostgreSQL server. No process leaves a lock that the others would wait
    for."""

    STORES = {"sqlite": False, "postgresql": True}

    def choose(self, isServer):
        if isServer:
            self.database = PostgreSQLServer()
            self.addCleanup(self.database.stop)

    def fleet(self):
        outcomes = super().fleet()
        if database := getattr(self, "database", None):
            self.assertEqual(database.query("SELECT holder FROM nevod.entry WHERE holder IS NOT NULL"), "")
        return outcomes

    def env(self, **more):
        database = getattr(self, "database", None)
        return super().env(**({"NEVOD_HOST_STORE": database.url} if database else {}), **more)

    @cases(STORES)
    def test_one_exchange(self, store):
        self.choose(store)
        self.start()
        self.logged_in()
        for exchanges in range(1, 4):
            self.server.expire(crowd=PROCESSES)
            for outcome in self.fleet():
                self.assertEqual((outcome.code, outcome.out, outcome.err), (0, self.body, ""), outcome)
            self.assertEqual(self.server.refused, PROCESSES)
            self.expect_alive(exchanges)

    @cases(STORES)
    def test_toolkit(self, store):
        self.choose(store)
        self.start_toolkit()
        self.logged_in()
        for exchanges in range(1, 4):
            self.server.expire()
            for outcome in self.fleet():
                self.assertEqual((outcome.code, outcome.out), (0, self.body), outcome)
            self.expect_alive(exchanges)

    @cases(STORES)
    def test_outage(self, store):
        """Some processes may meet the outage, but none ends the session."""
        self.choose(store)
        self.start()
        self.logged_in()
        self.server.expire(crowd=PROCESSES)
        self.server.faults = [reply("503 Service Unavailable")] * 3
        for outcome in self.fleet():
            self.assertIn(outcome.code, (0, 112), outcome)
            self.assertNotIn("cleared", outcome.err)
        self.assertTrue(self.server.is_alive())
        self.server.faults = []
        self.expect(self.get(), 0)

    @cases(STORES)
    def test_refused_for_good(self, store):
        """One exchange; each process learns that the session is gone, and why."""
        self.choose(store)
        self.start()
        self.logged_in()
        self.server.expire(crowd=PROCESSES)
        self.server.faults = [refusal("invalid_grant", "Gone")]
        outcomes = self.fleet()
        self.assertNotIn(0, [outcome.code for outcome in outcomes])
        self.assertTrue(all("invalid_grant (Gone)" in outcome.err for outcome in outcomes), outcomes)
        self.assertEqual((len(self.server.exchanges()), self.sessions()), (1, []))
