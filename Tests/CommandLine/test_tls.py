"""TLS with a private certificate authority, made by openssl for these tests."""

import pathlib
import shutil
import ssl
import subprocess
import tempfile

from support import API_KEY, PATIENCE, SECRET, CannedServer, TestCase, canned, cases, header_lines, signature, swift_plugin

CONFIG = """
[req]
distinguished_name = name
[name]
[ca]
default_ca = authority
[authority]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = policy
unique_subject = no
[policy]
commonName = supplied
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[here]
subjectAltName = IP:127.0.0.1
[unnamed]
basicConstraints = CA:FALSE
[mail]
subjectAltName = email:localhost@localhost, URI:https://localhost
[elsewhere]
subjectAltName = DNS:elsewhere.test, IP:127.0.0.2
"""

# YYMMDDHHMMSSZ: absolute times, because days from now can't be in the past.
LONG_AGO, YESTERYEAR, FAR_AWAY = "200101000000Z", "210101000000Z", "491231235959Z"


class TLS(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.authority = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-"))
        cls.addClassCleanup(shutil.rmtree, cls.authority, ignore_errors=True)
        (cls.authority / "config").write_text(CONFIG)
        (cls.authority / "index").touch()
        (cls.authority / "serial").write_text("01\n")
        for name in ("ca", "other-ca"):
            cls.openssl("req", "-x509", *cls.new_key(name), "-out", f"{name}.pem", "-days", "3650", "-extensions", "root")
        cls.certificate("good", "here", FAR_AWAY)
        cls.certificate("misnamed", "elsewhere", FAR_AWAY)
        cls.certificate("expired", "here", YESTERYEAR)
        # The file name is the common name.
        cls.certificate("localhost", "unnamed", FAR_AWAY)
        shutil.move(cls.authority / "localhost.pem", cls.authority / "unnamed.pem")
        shutil.move(cls.authority / "localhost.key", cls.authority / "unnamed.key")
        cls.certificate("localhost", "mail", FAR_AWAY)

    @classmethod
    def openssl(cls, *words):
        done = subprocess.run(
            ["openssl", *words, "-config", "config"], cwd=cls.authority, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"openssl {' '.join(words)}\n{done.stderr.decode()}")

    @staticmethod
    def new_key(name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-subj", f"/CN={name}"]

    @classmethod
    def certificate(cls, name, extensions, end):
        cls.openssl("req", "-new", *cls.new_key(name), "-out", f"{name}.csr")
        cls.openssl(
            "ca", "-batch", "-notext", "-cert", "ca.pem", "-keyfile", "ca.key", "-in", f"{name}.csr", "-out", f"{name}.pem",
            "-extensions", extensions, "-startdate", LONG_AGO, "-enddate", end)

    def serving(self, name="good"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority / f"{name}.pem", self.authority / f"{name}.key")
        return CannedServer(canned(b"over TLS"), tls=context)

    @property
    def ca(self):
        return self.authority / "ca.pem"

    def expect_answer(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"over TLS", outcome)

    def test_private_ca(self):
        with self.serving() as server:
            outcome = self.run_host(
                "-v", "--cacert", self.ca, "--plugin", swift_plugin(), "--set", f"api-key={API_KEY}",
                "--set", "secret=env:NEVOD_TEST_SECRET", "-d", "a=b", server.url + "/a")
            ((head, body),) = server.requests
        self.expect_answer(outcome)
        headers = dict(line.split(": ", 1) for line in header_lines(head))
        self.assertEqual(headers["X-Signature"], signature("POST", "/a", headers["X-Timestamp"], body))
        for what in (SECRET, API_KEY, headers["X-Signature"]):
            self.assertNotIn(what, outcome.err)

    @cases({"openssls": "SSL_CERT_FILE", "curls": "CURL_CA_BUNDLE"})
    def test_ca_from_the_environment(self, variable):
        with self.serving() as server:
            self.expect_answer(self.run_host(server.url, env={variable: str(self.ca)}))

    def test_flag_goes_before_the_environment(self):
        with self.serving() as server:
            outcome = self.run_host("--cacert", self.ca, server.url, env={"SSL_CERT_FILE": str(self.authority / "other-ca.pem")})
        self.expect_answer(outcome)

    def expect_unverified(self, name, *words, **options):
        with self.serving(name) as server:
            outcome = self.run_host(*words, server.url, **options)
            self.assertEqual(server.requests, [])
        self.expect_failure(outcome, 60, "certificate")

    def test_without_ca(self):
        self.expect_unverified("good")

    def test_other_ca(self):
        self.expect_unverified("good", "--cacert", self.authority / "other-ca.pem")

    def test_wrong_name(self):
        self.expect_unverified("misnamed", "--cacert", self.ca)

    @cases({"no_alternative_name": "unnamed", "others_only": "localhost"})
    def test_common_name_only(self, name):
        """RFC 9110 §4.3.4: the common name doesn't name the host."""
        with self.serving(name) as server:
            outcome = self.run_host("--cacert", self.ca, server.url.replace("127.0.0.1", "localhost"))
            self.assertEqual(server.requests, [])
        self.expect_failure(outcome, 60, "subjectAltName")

    def test_expired(self):
        self.expect_unverified("expired", "--cacert", self.ca)

    @cases({"missing": "/nonexistent/ca.pem", "not_pem": str(pathlib.Path(__file__).resolve())})
    def test_unusable_ca_file(self, path):
        with self.serving() as server:
            outcome = self.run_host("--cacert", path, server.url)
            self.assertEqual(server.requests, [])
        self.expect_failure(outcome, 77, path)

    def test_plain_http_to_a_tls_server(self):
        with self.serving() as server:
            outcome = self.run_host(server.url.replace("https", "http"))
        self.assertGreater(outcome.code, 0, outcome)

    def test_tls_to_a_plain_server(self):
        with CannedServer(canned()) as server:
            outcome = self.run_host("--cacert", self.ca, server.url.replace("http", "https"))
        self.expect_failure(outcome, 35)
