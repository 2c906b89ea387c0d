"""A common server: nginx, with TLS, HTTP/2, client certificates, compression, and files of all sizes."""

import hashlib
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import unittest

from support import PATIENCE, SECRET, TestCase, authority, cases, compile_plugin, swift_plugin, wait_until

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

CONFIG = """
daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 256; }}
http {{
    log_format seen '$connection $ssl_protocol $server_protocol $request_method $request_uri $status $ssl_client_verify '
        '$http_x_signature $http_x_test';
    access_log access.log seen;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    root files;
    client_max_body_size 64m;
    keepalive_timeout 30;
    gzip on;
    gzip_min_length 100;
    gzip_types text/plain;
    default_type text/plain;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate here.pem;
    ssl_certificate_key here.key;
    ssl_client_certificate ca.pem;

    server {{
        listen 127.0.0.1:{plain};
        location /back {{
            return 200 "$http_x_signature|$content_length|$http_transfer_encoding|$request_uri";
        }}
    }}
    server {{
        listen 127.0.0.1:{tls} ssl http2;
        location /upload {{
            client_body_in_file_only on;
            add_header X-Protocol $server_protocol always;
            proxy_pass http://127.0.0.1:{plain}/back;
        }}
        location /moved {{ return 307 /upload; }}
        location /authority {{ return 200 "$server_protocol $http_host $http_x_authority"; }}
    }}
    server {{
        listen 127.0.0.1:{http1} ssl;
    }}
    server {{
        listen 127.0.0.1:{mutual} ssl http2;
        ssl_verify_client on;
        location / {{ return 200 "hello $ssl_client_s_dn"; }}
    }}
}}
"""

SIZES = (0, 1, 99, 16383, 16384, 16385, 65535, 65536, 1 << 20, 5_000_001)


def reserve_port(test_class):
    """A port for nginx, which can't report the port it took. It stays bound but not listening, so that no other process gets it;
    SO_REUSEADDR still lets nginx listen there."""
    bound = socket.socket()
    test_class.addClassCleanup(bound.close)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", 0))
    return bound.getsockname()[1]


@unittest.skipUnless(NGINX, "nginx is missing; scripts/install-packages test installs it")
class NginxTestCase(TestCase):
    """Shares one nginx among its tests."""

    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="nevod-nginx-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        (cls.home / "files").mkdir()
        for name in ("here.pem", "here.key", "ca.pem"):
            shutil.copy(authority().path(name), cls.home)
        for size in SIZES:
            (cls.home / "files" / str(size)).write_bytes(cls.content(size))
        (cls.home / "files" / "words.txt").write_bytes(b"word " * 20000)
        cls.ports = {name: reserve_port(cls) for name in ("plain", "tls", "http1", "mutual")}
        (cls.home / "config").write_text(CONFIG.format(**cls.ports))
        cls.process = subprocess.Popen(
            [NGINX, "-p", f"{cls.home}/", "-c", "config", "-e", "error.log"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop)
        wait_until(cls.is_up, "nginx")

    @classmethod
    def is_up(cls):
        if cls.process.poll() is not None:
            raise AssertionError((cls.home / "error.log").read_text())
        try:
            socket.create_connection(("127.0.0.1", cls.ports["mutual"])).close()
        except ConnectionRefusedError:
            return False
        return True

    @classmethod
    def stop(cls):
        cls.process.terminate()
        cls.process.wait(PATIENCE)

    @staticmethod
    def content(size):
        return random.Random(size).randbytes(size)

    def setUp(self):
        self.name = os.urandom(8).hex()

    def log(self, count):
        """The log's lines for this test's requests. nginx writes them after it has responded, even while the next test runs."""
        def lines():
            found = [line for line in (self.home / "access.log").read_text().splitlines() if line.endswith(f" {self.name}")]
            return found if len(found) >= count else None
        return [line.split(" ") for line in wait_until(lines, "the log")]

    def url(self, server, path):
        return f"{'http' if server == 'plain' else 'https'}://127.0.0.1:{self.ports[server]}{path}"

    def fetch(self, server, path, *words, **options):
        mark = ["-H", f"X-Test: {self.name}"]
        return self.run_host("--cacert", authority().path("ca.pem"), *mark, *words, self.url(server, path), **options)


class Nginx(NginxTestCase):
    @cases({f"{server}_{size}": (server, size) for server in ("plain", "tls", "http1") for size in SIZES})
    def test_size(self, server, size):
        outcome = self.fetch(server, f"/{size}")
        self.expect(outcome, 0)
        self.assertEqual((len(outcome.out), outcome.err), (size, ""))
        self.assertEqual(outcome.out, self.content(size))

    @cases({"tls": ("tls", "2", "2.0"), "http1": ("http1", "1.1", "1.1"), "plain": ("plain", "1.1", "1.1")})
    def test_version(self, server, version, logged):
        outcome = self.fetch(server, "/1", "-v")
        self.expect(outcome, 0, f"\n< HTTP/{version} 200")
        ((_, protocol, seen, *_),) = self.log(1)
        self.assertEqual((seen, protocol), (f"HTTP/{logged}", "-" if server == "plain" else "TLSv1.3"))

    def test_head(self):
        outcome = self.fetch("tls", "/16384", "-i", "-X", "HEAD")
        self.expect(outcome, 0)
        self.assertIn(b"\r\ncontent-length: 16384\r\n", outcome.out.lower())
        self.assertTrue(outcome.out.endswith(b"\r\n\r\n"))

    def test_include_over_http_2(self):
        outcome = self.fetch("tls", "/1", "-i")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out, rb"\AHTTP/2 200\r\n")
        self.assertTrue(outcome.out.endswith(b"\r\n\r\n" + self.content(1)))

    @cases({"tls": "tls", "http1": "http1", "plain": "plain"})
    def test_range(self, server):
        outcome = self.fetch(server, "/65536", "-H", "Range: bytes=100-199")
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, self.content(65536)[100:200])

    @cases({f"{server}_{flag}": (server, flag) for server in ("tls", "plain") for flag in ("compressed", "as_it_is")})
    def test_compression(self, server, flag):
        words = ["--compressed"] if flag == "compressed" else []
        outcome = self.fetch(server, "/words.txt", "-v", *words)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"word " * 20000)
        self.assertEqual("content-encoding: gzip" in outcome.err.lower(), flag == "compressed", outcome)

    @cases({"get": ("GET", ()), "post": ("POST", ("-d", "a=b"))})
    def test_signature_over_http_2(self, method, words):
        outcome = self.fetch(
            "tls", "/upload?x=1", "-v", "--plugin", swift_plugin(), "--set", "api-key=k", "--set",
            "secret=env:NEVOD_TEST_SECRET", *words)
        self.expect(outcome, 0, "< HTTP/2 200")
        self.assertNotIn(SECRET, outcome.err)
        line = next(line for line in self.log(2) if line[2] == "HTTP/2.0")
        self.assertEqual(line[3:6], [method, "/upload?x=1", "200"])
        self.assertRegex(line[7], "^[0-9a-f]{64}$")

    @cases({"own": ("-H", "Host: Virtual.test:81"), "of_the_url": ()})
    def test_authority_over_http_2_is_the_one_that_a_scheme_sees(self, *words):
        """The pseudo-header field :authority has the value of the caller's Host line."""
        plugin = compile_plugin(self.folder / "libAuthority.so", AUTHORIZE='SET("X-Authority", view->authority)')
        outcome = self.fetch("tls", "/authority", "--plugin", plugin, *words)
        authority = "Virtual.test:81" if words else f"127.0.0.1:{self.ports['tls']}"
        self.expect(outcome, 0)
        self.assertEqual(outcome.out.decode(), f"HTTP/2.0 {authority} {authority}")

    def upload(self, *words, **options):
        """Returns the body that nginx stored."""
        shutil.rmtree(self.home / "body", ignore_errors=True)
        (self.home / "body").mkdir()
        outcome = self.fetch("tls", "/upload", "-i", *words, **options)
        self.expect(outcome, 0)
        self.assertIn(b"HTTP/2 200", outcome.out)
        (path,) = [path for path in (self.home / "body").rglob("*") if path.is_file()]
        return path.read_bytes()

    @cases({"file": "file", "data": "data", "standard_input": "-", "redirected": "redirected"})
    def test_upload_of_20_mib(self, source):
        body = random.Random(20).randbytes(20 << 20)
        path = self.file("body", body)
        if source == "redirected":
            shutil.rmtree(self.home / "body", ignore_errors=True)
            (self.home / "body").mkdir()
            self.expect(self.fetch("tls", "/moved", "-L", "-T", path), 0)
            kept = [kept.read_bytes() for kept in (self.home / "body").rglob("*") if kept.is_file()]
            self.assertIn(body, kept)
            return
        words = {"file": ["-T", path], "data": ["--data-binary", f"@{path}"], "-": ["-T", "-"]}[source]
        got = self.upload(*words, **({"stdin": body} if source == "-" else {}))
        self.assertEqual((len(got), hashlib.sha256(got).digest()), (len(body), hashlib.sha256(body).digest()))

    def test_upload_that_is_refused(self):
        """The response comes while the body is still being sent."""
        path = self.folder / "large"
        with open(path, "wb") as file:
            file.truncate(100 << 20)
        outcome = self.fetch("tls", "/upload", "-i", "-T", path)
        self.expect(outcome, 0)
        self.assertIn(b"HTTP/2 413", outcome.out)

    @cases({"tls": "tls", "plain": "plain", "http1": "http1"})
    def test_status(self, server):
        self.expect_failure(self.fetch(server, "/none", "-f"), 22, "404")

    # Certificates

    def test_without_authority(self):
        self.expect_failure(self.run_host(self.url("tls", "/1")), 60, "certificate")

    def test_pin(self):
        self.expect(self.fetch("tls", "/1", "--pinnedpubkey", authority().pin()), 0)

    def test_other_pin(self):
        self.expect_failure(self.fetch("tls", "/1", "--pinnedpubkey", authority().pin("elsewhere")), 90, "pin")

    def client(self, name="client"):
        return ["--cert", authority().path(f"{name}.pem"), "--key", authority().path(f"{name}.key")]

    def test_client_certificate(self):
        outcome = self.fetch("mutual", "/", *self.client())
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"hello CN=client")
        self.assertEqual(self.log(1)[0][6], "SUCCESS")

    def test_client_certificate_and_key_in_one_file(self):
        both = authority().path("client.pem").read_bytes() + authority().path("client.key").read_bytes()
        self.expect(self.fetch("mutual", "/", "-f", "-E", self.file("both.pem", both)), 0)

    def test_without_client_certificate(self):
        self.expect_failure(self.fetch("mutual", "/", "-f"), 22, "400")

    def test_client_certificate_of_nobody(self):
        outcome = self.fetch("mutual", "/", "-f", *self.client("other-ca"))
        self.assertIn(outcome.code, (22, 35, 56), outcome)
        self.expect_failure(outcome, outcome.code)

    @cases({
        "no_certificate": ("/nonexistent/client.pem", None, 58),
        "no_key": (None, "/nonexistent/client.key", 58),
        "key_of_another": (None, "elsewhere.key", 58),
        "certificate_that_is_none": ("ca.key", None, 58),
    })
    def test_unusable_client_certificate(self, certificate, key, code):
        outcome = self.fetch(
            "mutual", "/", "--cert", authority().path(certificate or "client.pem"), "--key", authority().path(key or "client.key"))
        self.expect_failure(outcome, code)

    def test_client_certificate_is_shown_to_nobody_else(self):
        """The certificate is shown only to a server that asks for one."""
        self.expect(self.fetch("tls", "/1", *self.client()), 0)
        self.assertEqual(self.log(1)[0][6], "NONE")

    # Connections

    def test_redirects_share_a_connection(self):
        self.expect(self.fetch("tls", "/moved", "-L"), 0)
        connections = {line[0] for line in self.log(3) if line[1].startswith("TLS")}
        self.assertEqual(len(connections), 1)
