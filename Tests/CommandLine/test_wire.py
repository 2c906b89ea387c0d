"""The connection: what -v says about it, the flags that control it, and what -w prints. curl runs with the same arguments for
comparison."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

from support import (
    BUILD, PATIENCE, SECRET, RecordingServer, TestCase, authority, cases, environment, reply, wait_until)
from test_nginx import NginxTestCase
from test_terminal import TerminalSession
from test_terminal_output import Terminal
from test_upload import Proxy

CURL = shutil.which("curl", path="/usr/bin:/bin")
TINYPROXY = shutil.which("tinyproxy", path="/usr/bin:/usr/sbin:/sbin:/bin")
HEADER_KEY = ("--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_SECRET")
QUERY_KEY = ("--plugin", BUILD / "libAPIKeyAuth.so", "--scheme", "api-key-query", "--set", "key=env:NEVOD_TEST_SECRET")
# A secret's forms on the wire.
SPELLINGS = [SECRET, base64.b64encode(SECRET.encode()).decode(), base64.b64encode(f"ada:{SECRET}".encode()).decode()]


class Wire(TestCase):
    def setUp(self):
        self.server = self.enterContext(RecordingServer(self.respond, tls=authority().context()))
        self.other = self.enterContext(RecordingServer(lambda seen: reply(body=b"other"), tls=authority().context()))
        self.routes = {}

    def respond(self, seen):
        return self.routes.get(seen.path, lambda seen: reply(body=b"here"))(seen)

    def fetch(self, *words, **options):
        return self.run_host("--cacert", authority().path("ca.pem"), *words, **options)

    def curl(self, *words, env=None, cwd="/"):
        done = subprocess.run(
            [CURL, "-sS", "--cacert", authority().path("ca.pem"), *map(str, words)], env=environment(**(env or {})), cwd=cwd,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr.decode()

    def expect_as_curl(self, *words, **options):
        """Expects curl's exit code and output, and returns both."""
        code, out, _ = self.curl(*words, **options)
        outcome = self.fetch("-sS", *words, **options)
        self.assertEqual((outcome.code, outcome.out), (code, out), outcome)
        return outcome

    def expect_no_secret(self, outcome):
        for spelling in SPELLINGS:
            self.assertNotIn(spelling, outcome.err)
            self.assertNotIn(spelling, outcome.out.decode("latin-1"))


class Verbose(Wire):
    def marked(self, outcome, mark):
        return [line[2:] for line in outcome.err.splitlines() if line.startswith(mark)]

    def test_tls(self):
        outcome = self.fetch("-v", f"https://localhost:{self.server.port}/a")
        self.expect(outcome, 0)
        place, tls, certificate = self.marked(outcome, "*")[:3]
        self.assertEqual(place, f"connected to localhost (127.0.0.1) port {self.server.port}")
        self.assertRegex(tls, r"^TLSv1\.3, TLS_[A-Z0-9_]+$")
        self.assertRegex(certificate, r"^certificate of CN ?= ?here, issued by CN ?= ?ca, expires 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        end = authority().openssl("x509", "-in", "here.pem", "-noout", "-enddate", "-dateopt", "iso_8601").decode()
        self.assertIn(end.strip().removeprefix("notAfter=").replace(" ", "T"), certificate)

    def test_version_of_tls(self):
        outcome = self.fetch("-v", "--tls-max", "1.2", self.server.https)
        self.assertRegex("\n".join(self.marked(outcome, "*")), r"TLSv1\.2, ECDHE-ECDSA-[A-Z0-9-]+")

    def test_hostile_certificate(self):
        """The user chose the authority, but the server chose the names."""
        name = "\x1b]0;owned\x07\u202e\x9b31m"
        authority().openssl(
            "req", "-x509", *authority().KEY, "-utf8", "-keyout", "hostile.key", "-out", "hostile.pem", "-subj", f"/CN={name}",
            "-days", "30", "-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1",
            "-addext", "basicConstraints=critical,CA:FALSE")
        with RecordingServer(tls=authority().context("hostile")) as server:
            outcome = self.fetch("-v", server.https)
        self.expect(outcome, 0, "* certificate of CN")
        self.assertIn("owned", outcome.err)
        for character in name:
            if not character.isprintable():
                self.assertNotIn(character, outcome.err)

    def test_reused_over_two_hops(self):
        self.routes["/a"] = lambda seen: reply("302 Found", "Location: /b", "X-Hop: 1")
        outcome = self.fetch("-v", "-L", self.server.https + "/a")
        self.expect(outcome, 0)
        places = [line for line in self.marked(outcome, "*") if " to 127.0.0.1 (" in line]
        where = f"127.0.0.1 (127.0.0.1) port {self.server.port}"
        self.assertEqual(places, [f"connected to {where}", f"reusing the connection to {where}"])
        self.assertEqual(outcome.err.count("certificate of"), 1, outcome)
        order = [outcome.err.index(text) for text in ("> GET /a", "connected to", "< HTTP/1.1 302", "< X-Hop: 1", "> GET /b",
                                                      "reusing the", "< HTTP/1.1 200")]
        self.assertEqual(order, sorted(order), outcome)

    def test_each_attempt(self):
        """A head is shown as it comes, even an attempt's that is repeated."""
        attempts = iter(["503 Not Yet", "500 Nor Yet", "200 Now"])
        self.routes["/a"] = lambda seen: reply(next(attempts), "Retry-After: 0")
        outcome = self.fetch("-v", "--retry", "2", self.server.http + "/a")
        self.expect(outcome, 0)
        self.assertEqual(re.findall(r"(?m)^< HTTP/1.1 (.*)$", outcome.err), ["503 Not Yet", "500 Nor Yet", "200 Now"])
        self.assertEqual(outcome.err.count("> GET /a"), 3)

    def test_proxy(self):
        with Proxy() as proxy:
            outcome = self.fetch("-v", "-x", proxy.http, self.server.http)
        self.expect(outcome, 0, f"* connected to the proxy {proxy.http}")

    @cases({
        "header_key": HEADER_KEY, "query_key": QUERY_KEY, "user": ("-u", "env:NEVOD_PAIR"),
        "bearer": ("--oauth2-bearer", "env:NEVOD_TEST_SECRET"), "cookie": ("-b", "cookies"),
        "proxy_user": ("-U", "env:NEVOD_PAIR"),
    })
    def test_redaction(self, *words):
        """The server and the proxy repeat what they get wherever they can."""
        jar = self.file("cookies", f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{SECRET}\n")
        words = [jar if word == "cookies" else word for word in words]
        proxy = self.enterContext(Proxy("Basic " + SPELLINGS[2] if "-U" in words else None))
        if "-U" in words:
            words += ["-x", proxy.http]

        def repeat(seen):
            lines = [f"X-Line-{number}: {value}" for number, (_, value) in enumerate(seen.headers)]
            return reply("302 Found" if seen.path == "/a" else "418 Teapot", f"Location: /b?{seen.query}&again={SECRET}",
                         f"Content-Type: text/{SECRET}", *lines)

        self.routes["/a"] = self.routes["/b"] = repeat
        form = "".join(f"%{{{name}}}\n" for name in (
            "url", "url_effective", "redirect_url", "errormsg", "content_type", "header_json", "json")) + "%header{location}"
        environment = {"NEVOD_PAIR": f"ada:{SECRET}"}
        for more in (["-L"], ["-f"], ["-v", "-L", "-f"]):
            outcome = self.fetch(*more, "-o", "/dev/null", "-w", form, *words, self.server.http + "/a", env=environment)
            self.assertIn(outcome.code, (0, 22), outcome)
            self.assertIn(b'"http_code":', outcome.out)
            self.expect_no_secret(outcome)
        sent = self.server.requests[0].head + "".join(seen.head for seen in proxy.requests[:2])
        self.assertTrue(any(spelling in sent for spelling in SPELLINGS), sent)


class Versions(NginxTestCase):
    """HTTP/2 at a server that supports it."""

    @cases({
        "http2": (["--http2"], "tls", "2"), "http1": (["--http1.1"], "tls", "1.1"), "default": ([], "tls", "2"),
        "not_offered": (["--http2"], "http1", "1.1"), "last_wins": (["--http2", "--http1.1"], "tls", "1.1"),
        "without_tls": (["--http1.1"], "plain", "1.1"),
    })
    def test_of_http(self, words, server, version):
        outcome = self.fetch(server, "/1", *words, "-v", "-o", "/dev/null", "-w", "%{http_version} %{http_code}")
        self.expect(outcome, 0, f"\n< HTTP/{version} 200")
        self.assertEqual(outcome.out.decode(), f"{version} 200")
        ((_, _, protocol, *_),) = self.log(1)
        self.assertEqual(protocol, {"2": "HTTP/2.0", "1.1": "HTTP/1.1"}[version])
        done = subprocess.run(
            [CURL, "-s", "--cacert", authority().path("ca.pem"), *words, "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
             self.url(server, "/1")], env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.assertEqual(outcome.out, done.stdout)

    def test_reused_with_http2(self):
        outcome = self.fetch("tls", "/moved", "--http2", "-v", "-L", "-w", "%{num_connects} %{num_redirects}", "-o", "/dev/null")
        self.expect(outcome, 0, "* reusing the connection to 127.0.0.1")
        self.assertEqual(outcome.out, b"1 1")


class ProxyUser(Wire):
    PAIR = f"ada:{SECRET}"
    BASIC = "Basic " + base64.b64encode(PAIR.encode()).decode()

    def setUp(self):
        super().setUp()
        self.proxy = self.enterContext(Proxy(self.BASIC))

    def expect_at_the_proxy_alone(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"here")
        self.assertEqual(self.proxy.requests[-1].values("Proxy-Authorization"), [self.BASIC])
        (seen,) = self.server.requests
        self.assertNotIn("authorization", seen.head.lower())
        self.expect_no_secret(outcome)

    def send(self, scheme, *words, **options):
        url = self.server.http if scheme == "http" else self.server.https
        return self.fetch("-x", self.proxy.http, *words, url + "/a", **options)

    @cases({"http": "http", "https": "https"})
    def test_variable(self, scheme):
        self.expect_at_the_proxy_alone(self.send(scheme, "-v", "--proxy-user", "env:PAIR", env={"PAIR": self.PAIR}))

    def test_file(self):
        self.expect_at_the_proxy_alone(self.send("http", "-v", "-U", f"file:{self.file('pair', self.PAIR)}"))

    def test_standard_input(self):
        self.expect_at_the_proxy_alone(self.send("https", "-v", "-U", "-", stdin=self.PAIR.encode()))

    def test_with_the_environments_proxy(self):
        self.expect_at_the_proxy_alone(
            self.fetch("-v", "-U", "env:PAIR", self.server.http + "/a", env={"PAIR": self.PAIR, "http_proxy": self.proxy.http}))

    @cases({"http": ("http", 22), "https": ("https", 56)})
    def test_wrong_password(self, scheme, code):
        outcome = self.send(scheme, "-f", "-U", "env:PAIR", env={"PAIR": f"eve:{SECRET}"})
        self.expect_failure(outcome, code, "407")
        self.expect_no_secret(outcome)
        self.assertEqual(self.server.requests, [])

    def test_text_is_refused(self):
        outcome = self.send("http", "-U", self.PAIR)
        self.expect_failure(outcome, 2, "env:VARIABLE")
        self.expect_no_secret(outcome)
        self.assertEqual(self.proxy.requests, [])

    def test_not_with_a_direct_connection(self):
        outcome = self.fetch("-U", "env:PAIR", "--noproxy", "*", "-x", self.proxy.http, self.server.http, env={"PAIR": self.PAIR})
        self.expect(outcome, 0)
        (seen,) = self.server.requests
        self.assertNotIn("authorization", seen.head.lower())
        self.assertEqual(self.proxy.requests, [])

    @contextlib.contextmanager
    def asked(self):
        session = TerminalSession(["-x", self.proxy.http, "-U", "ada", self.server.http + "/a"])
        with contextlib.closing(session):
            session.read_until(lambda: b"Proxy password of ada: " in session.shown, "the question")
            yield session

    def test_typed(self):
        with self.asked() as terminal:
            self.assertFalse(terminal.echoes())
            terminal.type(SECRET.encode() + b"\n")
            code, out, err = terminal.finish()
            self.assertEqual((code, out, err), (0, b"here", ""))
            self.assertNotIn(SECRET.encode(), terminal.shown)
            self.assertTrue(terminal.echoes())
        self.assertEqual(self.proxy.requests[-1].values("Proxy-Authorization"), [self.BASIC])

    def test_interrupted_question(self):
        with self.asked() as terminal:
            terminal.type(b"\x03")
            code, out, _ = terminal.finish()
            self.assertIn(code, (-signal.SIGINT, 130))
            self.assertEqual(out, b"")
            self.assertTrue(terminal.echoes())
        self.assertEqual(self.proxy.requests, [])

    def test_without_a_terminal(self):
        self.expect_failure(self.send("http", "-U", "ada"), 111, "no terminal", "env:VARIABLE")

    def test_tinyproxy(self):
        if not TINYPROXY:
            self.skipTest("tinyproxy is missing; scripts/install-packages test installs it")
        with socket.socket() as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
        config = self.file(
            "config", f"Port {port}\nListen 127.0.0.1\nMaxClients 20\nBasicAuth ada {SECRET}\nLogLevel Critical\nTimeout 30\n", 0o644)
        process = subprocess.Popen(
            [TINYPROXY, "-d", "-c", config], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def is_up():
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    return True
            wait_until(is_up, "tinyproxy")
            words = ["-x", f"http://127.0.0.1:{port}", "-U", "env:PAIR", "-w", "|%{http_code} %{http_connect} %{proxy_used}"]
            # tinyproxy may forward to any port, and tunnels to it too without ConnectPort.
            for url in (self.server.http, self.server.https):
                for pair, code in ((self.PAIR, "200"), ("ada:wrong-one", "401")):
                    self.server.requests.clear()
                    outcome = self.fetch(*words, url, env={"PAIR": pair})
                    self.expect_no_secret(outcome)
                    self.assertIn(code, outcome.out.decode().rpartition("|")[2], outcome)
                    self.assertEqual(len(self.server.requests), 1 if code == "200" else 0)
                    for seen in self.server.requests:
                        self.assertNotIn("authorization", seen.head.lower())
        finally:
            process.terminate()
            process.wait(PATIENCE)


class Places(Wire):
    """Where a connection goes, and where it comes from."""

    def unix_server(self, address):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(address)
        listener.listen()
        heads = []

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(PATIENCE)
                    head = b""
                    while b"\r\n\r\n" not in head and (piece := connection.recv(65536)):
                        head += piece
                    heads.append(head.decode())
                    connection.sendall(reply("200 OK", "Connection: close", body=b"socket"))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        def stop():
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)

        self.addCleanup(stop)
        return heads

    @cases({"path": ("--unix-socket", False), "abstract": ("--abstract-unix-socket", True)})
    def test_unix_socket(self, flag, is_abstract):
        name = f"nevod-{os.urandom(6).hex()}" if is_abstract else str(self.folder / "socket")
        heads = self.unix_server(("\0" if is_abstract else "") + name)
        outcome = self.expect_as_curl(flag, name, "-w", "|%{remote_port} %{num_connects}", "http://name.test/a?b")
        self.assertTrue(outcome.out.startswith(b"socket|"), outcome)
        curls, ours = heads
        self.assertEqual(ours.splitlines()[0], "GET /a?b HTTP/1.1")
        self.assertIn("Host: name.test\r\n", ours)
        self.assertEqual(curls.splitlines()[0], ours.splitlines()[0])

    def test_the_last_unix_socket_wins(self):
        self.unix_server(str(self.folder / "socket"))
        outcome = self.fetch("--abstract-unix-socket", "nobody", "--unix-socket", self.folder / "socket", "http://name.test/")
        self.assertEqual((outcome.code, outcome.out), (0, b"socket"), outcome)

    def test_no_unix_socket(self):
        outcome = self.fetch("--unix-socket", self.folder / "none", "http://name.test/")
        self.expect_failure(outcome, 7)

    def test_credential_is_still_the_names(self):
        heads = self.unix_server(str(self.folder / "socket"))
        outcome = self.fetch("--unix-socket", self.folder / "socket", *HEADER_KEY, "-v", "http://name.test/")
        self.expect(outcome, 0, "> X-API-Key: [redacted")
        self.assertIn(f"X-API-Key: {SECRET}", heads[0])
        self.expect_no_secret(outcome)

    def test_interface(self):
        self.expect_as_curl("--interface", "127.0.0.3", "-w", "%{local_ip}", self.server.http)
        outcome = self.fetch("--interface", "lo", "-w", "|%{local_ip}", self.server.http)
        self.assertEqual(outcome.out, b"here|127.0.0.1", outcome)
        self.expect_failure(self.fetch("--interface", "none0", self.server.http), self.curl("--interface", "none0", self.server.http)[0])

    def test_local_port(self):
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
        outcome = self.fetch("--local-port", f"{port}-{min(port + 50, 65535)}", "-w", "|%{local_port}", self.server.http)
        self.expect(outcome, 0)
        self.assertIn(int(outcome.out.partition(b"|")[2]), range(port, port + 51))

    @cases({text: text for text in ("0", "70000", "5-4", "a", "1-", "-1", "99999999999999999999", "1-2-3")})
    def test_local_port_that_is_none(self, text):
        self.expect_failure(self.fetch(f"--local-port={text}", self.server.http), 2, "--local-port")

    @cases({
        "resolve": ("--resolve", "127.0.0.1"), "resolve_port": ("--resolve", "a.test:x:127.0.0.1"),
        "connect_to": ("--connect-to", "a.test:80"), "tls_max": ("--tls-max", "1.1"), "rate": ("--limit-rate", "9999999999999G"),
        "rate_text": ("--limit-rate", "fast"), "tls_range": ("--tlsv1.3", "--tls-max", "1.2"),
    })
    def test_value_that_is_none(self, *words):
        self.expect_failure(self.fetch(*words, self.server.http), 2, words[0])
        self.assertEqual(self.server.requests, [])

    @cases({
        "list": (["--noproxy", "127.0.0.1"], {}), "other": (["--noproxy", "127.0.0.2"], {}), "all": (["--noproxy", "*"], {}),
        "environment": ([], {"no_proxy": "127.0.0.1"}), "environment_all": ([], {"NO_PROXY": "*"}),
        "empty_replaces_environment": (["--noproxy", ""], {"no_proxy": "127.0.0.1"}),
        "replaces_environment": (["--noproxy", "a.test"], {"no_proxy": "*"}), "block": (["--noproxy", "127.0.0.0/8"], {}),
    })
    def test_no_proxy(self, words, variables):
        for proxied in ("flag", "environment"):
            with Proxy() as proxy:
                given = {"flag": ["-x", proxy.http], "environment": []}[proxied]
                more = {"flag": {}, "environment": {"http_proxy": proxy.http}}[proxied]
                self.curl(*given, *words, self.server.http + "/a", env={**variables, **more})
                through = len(proxy.requests)
                outcome = self.fetch(*given, *words, self.server.http + "/a", env={**variables, **more})
                self.expect(outcome, 0)
                self.assertEqual(len(proxy.requests), 2 * through, f"{proxied}: {outcome}")


class Retries(Wire):
    def attempts(self, *words, responses=("503 A", "503 B", "503 C", "200 OK"), lines=()):
        rest = iter(responses)
        self.routes["/r"] = lambda seen: reply(next(rest, "200 OK"), *lines)
        outcome = self.fetch("-w", "|%{num_retries} %{http_code}", *words, self.server.http + "/r")
        return outcome, len(self.server.requests)

    def test_delay(self):
        """The full backoff would be 1 + 2 + 4 s, as the messages say."""
        outcome, count = self.attempts("--retry", "3", "--retry-delay", "0.02")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, count), (b"|3 200", 4))
        self.assertEqual(outcome.err.count("retrying in 1 s"), 3, outcome)

    def test_max_time(self):
        """It doesn't begin a wait that would end after the limit."""
        outcome, count = self.attempts("--retry", "3", "--retry-delay", "60", "--retry-max-time", "5", "-f")
        self.assertEqual((outcome.code, outcome.out, count), (22, b"|0 503", 1), outcome)

    def test_server_may_ask_for_longer(self):
        outcome, count = self.attempts("--retry", "3", "--retry-max-time", "5", lines=["Retry-After: 100"])
        self.assertEqual((outcome.out, count), (b"|0 503", 1), outcome)

    def test_zero_is_the_default(self):
        outcome, count = self.attempts("--retry", "1", "--retry-delay", "0", "--retry-max-time", "0", lines=["Retry-After: 0"])
        self.assertEqual((outcome.out, count), (b"|1 503", 2), outcome)

    @cases({name: name for name in ("--retry-delay", "--retry-max-time")})
    def test_number_that_is_none(self, flag):
        self.expect_failure(self.fetch("--retry", "1", flag, "soon", self.server.http), 2, flag)

    def test_all_errors(self):
        """An untrusted certificate isn't a temporary failure."""
        words = ["--cacert", authority().path("other-ca.pem"), "--retry", "1", "--retry-delay", "0.01", "-v", self.server.https]
        self.assertEqual(self.run_host(*words).err.count("> GET"), 1)
        outcome = self.run_host("--retry-all-errors", *words)
        self.expect(outcome, 60)
        self.assertEqual(outcome.err.count("> GET"), 2, outcome)

    def test_refused_connection(self):
        url = f"http://127.0.0.1:{self.closed_port()}/"
        outcome = self.fetch("--retry", "1", "--retry-delay", "0.01", "--retry-connrefused", "-w", "%{num_retries} %{exitcode}", url)
        self.assertEqual((outcome.code, outcome.out), (7, b"1 7"), outcome)


class WriteOut(Wire):
    def test_escapes_at_a_terminal(self):
        self.routes["/a"] = lambda seen: reply("200 OK", "X-Evil: \x1b]0;owned\x07", "Content-Type: a/\x1b[2J")
        form = "%{content_type}|%header{x-evil}|%{header_json}|%{json}\n"
        with Terminal("--no-progress-meter", "-o", "/dev/null", "-w", form, self.server.http + "/a") as terminal:
            code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertIn(b"owned", shown)
        self.assertNotIn(b"\x1b", shown)
        self.assertNotIn(b"\x07", shown)
        # A pipe gets the server's name.
        self.assertIn(b"\x1b]0;owned\x07", self.fetch("-w", "%header{x-evil}", self.server.http + "/a").out)

    def test_files(self):
        (self.folder / "b").write_text("before ")
        form = f"x%output{{{self.folder}/a}}%{{http_code}}%output{{>>{self.folder}/b}}%{{method}}%{{stdout}}y%{{stderr}}z"
        outcome = self.fetch("-o", "/dev/null", "-w", form, self.server.http)
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"xy", "z"))
        self.assertEqual([(self.folder / name).read_text() for name in "ab"], ["200", "before GET"])

    def test_file_that_can_not_be_written(self):
        outcome = self.fetch("-o", "/dev/null", "-w", "%output{/nonexistent/a}x", self.server.http)
        self.expect_failure(outcome, 23, "/nonexistent/a")

    @cases({
        "output": ("-o", "x"), "remote": ("-O",), "folder": ("-o", "x", "--output-dir", "d"), "given": ("-O", "-J"),
        "remote_folder": ("-O", "--output-dir", "new", "--create-dirs"), "given_folder": ("-O", "-J", "--output-dir", "d"),
        "none": (), "standard_output": ("-o", "-"), "device": ("-o", "/dev/null"), "no_clobber": ("-o", "x", "--no-clobber"),
    })
    def test_file_name(self, *words):
        self.routes["/named"] = lambda seen: reply("200 OK", "Content-Disposition: attachment; filename=given", body=b"body")

        def run(name, function):
            folder = self.folder / name
            (folder / "d").mkdir(parents=True)
            if "--no-clobber" in words:
                (folder / "x").touch()
            return function(folder), sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

        for url in (self.server.http + "/named", f"http://127.0.0.1:{self.closed_port()}/named"):
            name = url.split(":")[2].split("/")[0]
            given = [*words, "-w", "|%{filename_effective}", url]
            # For a name given by the server, curl leaves out the folder.
            folder = "d/" if words[-2:] == ("--output-dir", "d") and "-J" in words else ""
            (code, out, _), files = run(name + "curl", lambda folder: self.curl(*given, cwd=folder))
            ours, our_files = run(name + "ours", lambda folder: self.fetch("-sS", *given, cwd=folder))
            self.assertEqual((ours.code, ours.out, our_files if code == 0 else []), (code, out.replace(b"|given", f"|{folder}given".encode()), files if code == 0 else []), ours)

    def test_unknown(self):
        outcome = self.fetch("-o", "/dev/null", "-w", "%{http_cod}|%{nope}", self.server.http)
        self.expect(outcome, 0, "unknown --write-out variable: 'http_cod'", "http_code", "'nope'")
        self.assertEqual(outcome.out, b"|")

    @cases({"silent": ("-s",), "errors": ("-s", "-S")})
    def test_unknown_in_silence(self, *words):
        outcome = self.fetch(*words, "-o", "/dev/null", "-w", "%{nope}", self.server.http)
        done = subprocess.run(
            [CURL, *words, "-o", "/dev/null", "-w", "%{nope}", self.server.http], env=environment(), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE)
        self.assertEqual((outcome.code, outcome.out, "nope" in outcome.err), (0, done.stdout, b"nope" in done.stderr), outcome)

    def test_after_a_failure(self):
        url = f"http://127.0.0.1:{self.closed_port()}/"
        outcome = self.expect_as_curl("-w", "%{exitcode} %{http_code} %{num_connects} %{onerror}failed", url)
        self.assertEqual((outcome.code, outcome.out), (7, b"7 000 0 failed"))
        outcome = self.fetch("-w", "%{errormsg}|%{json}", url)
        message, _, values = outcome.out.decode().partition("|")
        self.assertTrue(outcome.err.startswith(f"nevod-host: {message}; "), outcome)
        self.assertEqual((json.loads(values)["exitcode"], json.loads(values)["errormsg"]), (7, message))

    def test_after_each_url(self):
        words = ["-w", "%{urlnum}:%{exitcode} ", "-o", "/dev/null", "-o", "/dev/null", self.server.http,
                 f"http://127.0.0.1:{self.closed_port()}/"]
        outcome = self.fetch(*words)
        self.assertEqual((outcome.code, outcome.out), (7, b"0:0 1:7 "), outcome)

    def test_json_is_curls(self):
        names = "%{json}"
        _, out, _ = self.curl("-o", "/dev/null", "-w", names, self.server.http + "/a?b=1")
        curls, ours = json.loads(out), json.loads(self.fetch("-o", "/dev/null", "-w", names, self.server.http + "/a?b=1").out)
        self.assertEqual(set(curls) - set(ours), set())
        differing = {name for name in curls if curls[name] != ours[name]}
        allowed = {"curl_version", "local_port", "size_request", "speed_download"} | {name for name in curls if name.startswith("time_")}
        self.assertEqual(differing - allowed, set(), {name: (curls[name], ours[name]) for name in differing - allowed})
