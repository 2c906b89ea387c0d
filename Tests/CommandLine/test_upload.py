"""Uploads and forms, retries, proxies, and failures of output."""

import base64
import email
import email.utils
import email.policy
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

from support import (
    PATIENCE, SECRET, RecordingServer, ServerTestCase, TestCase, authority, cases, compile_plugin, reply, signature, streamed,
    wait_until)

EVERY_BYTE = bytes(range(256))


# ----------------------------------------------------------------------------------------------------------------------
# -T


class Upload(ServerTestCase):
    BODY = EVERY_BYTE * 3000

    @cases({"one_piece": b"x", "many_pieces": BODY, "nothing": b"", "64_kib": b"x" * 65536})
    def test_signed_file(self, body):
        path = self.file("body", body)
        self.expect_verified(self.run_host(*self.credentials(), "-T", path, self.url("/a%2Fb?x=1")))
        seen = self.the_request()
        headers = dict(seen["headers"])
        self.assertEqual((seen["method"], seen["target"], headers["Content-Length"]), ("PUT", "/a%2Fb?x=1", str(len(body))))
        self.assertNotIn("Content-Type", headers)
        self.assertNotIn("Expect", headers)

    def test_other_method(self):
        self.expect_verified(self.run_host(*self.credentials(), "-X", "POST", "-T", self.file("body", self.BODY), self.url("/a")))
        self.assertEqual(self.the_request()["method"], "POST")

    def test_standard_input(self):
        outcome = self.run_host("-T", "-", self.url("/echo"), stdin=self.BODY)
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, self.BODY)
        headers = dict(self.the_request()["headers"])
        self.assertEqual((headers.get("Transfer-Encoding"), headers.get("Content-Length")), ("chunked", None))

    def test_empty_standard_input(self):
        outcome = self.run_host("-T", "-", self.url("/echo"), stdin=b"")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, self.the_request()["method"]), (b"", "PUT"))

    def test_standard_input_that_comes_slowly(self):
        """Each piece is sent as it arrives: the server receives the first one before the last is written."""
        with RecordingServer() as server, self.running("-T", "-", server.http, stdin=subprocess.PIPE) as process:
            process.stdin.write(b"first")
            process.stdin.flush()
            wait_until(lambda: server.requests, "the head")
            process.stdin.write(b"second")
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual(server.requests[0].body, b"firstsecond")

    def test_standard_input_can_not_be_signed(self):
        outcome = self.run_host(*self.credentials(), "-T", "-", self.url("/a"), stdin=b"x")
        self.expect_failure(outcome, 112, "read only once")
        self.expect_nothing_sent()

    @cases({"missing": "/nonexistent/file", "folder": "/"})
    def test_unusable(self, path):
        self.expect_failure(self.run_host("-T", path, self.url("/a")), 26, path)
        self.expect_nothing_sent()

    @cases({
        "data_and_form": ("-d", "a", "-F", "a=b"), "data_and_file": ("-d", "a", "-T", "-"),
        "json_and_data": ("--json", "{}", "-d", "a"), "file_and_form": ("-T", "-", "-F", "a=b"),
    })
    def test_two_bodies(self, *words):
        self.expect_failure(self.run_host(*words, self.url("/a")), 2, "can't be combined")
        self.expect_nothing_sent()


# ----------------------------------------------------------------------------------------------------------------------
# -F, --json, -G, --data-urlencode


class Content(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(RecordingServer())

    def sent(self, *words, target="/", **options):
        self.server.requests.clear()
        self.expect(self.run_host(*words, self.server.http + target, **options), 0)
        (seen,) = self.server.requests
        return seen

    def parts(self, *words, **options):
        seen = self.sent(*words, **options)
        (type,) = seen.values("Content-Type")
        self.assertEqual(seen.values("Content-Length"), [str(len(seen.body))])
        self.assertTrue(type.startswith("multipart/form-data; boundary="), type)
        message = email.message_from_bytes(f"Content-Type: {type}\r\n\r\n".encode() + seen.body, policy=email.policy.HTTP)
        self.assertTrue(message.is_multipart())
        return [(part.get_param("name", header="Content-Disposition"), part.get_filename(), part["Content-Type"],
                 part.get_payload(decode=True)) for part in message.iter_parts()]

    def test_form_text(self):
        self.assertEqual(self.parts("-F", "a=b", "-F", "c="), [("a", None, None, b"b"), ("c", None, None, b"")])

    def test_form_file(self):
        content = EVERY_BYTE.replace(b"\r", b"").replace(b"\n", b"") * 1000
        path = self.file("na me.bin", content)
        self.assertEqual(self.parts("-F", f"a=@{path}"), [("a", "na me.bin", "application/octet-stream", content)])

    def test_form_file_with_type_and_name(self):
        path = self.file("x", "text")
        self.assertEqual(
            self.parts("-F", f"a=@{path};type=text/csv;filename=y.csv", "-F", f"b=@{path};filename=z"),
            [("a", "y.csv", "text/csv", b"text"), ("b", "z", "application/octet-stream", b"text")])

    def test_form_content_of_a_file(self):
        path = self.file("x", "text")
        self.assertEqual(self.parts("-F", f"a=<{path}", "-F", f"b=<{path};type=text/css"),
                         [("a", None, None, b"text"), ("b", None, "text/css", b"text")])

    def test_form_of_standard_input(self):
        self.assertEqual(self.parts("-F", "a=@-;filename=f", stdin=b"in")[0], ("a", "f", None, b"in"))

    def test_form_text_with_type(self):
        self.assertEqual(self.parts("-F", 'a={"x": 1; 2};type=application/json'), [("a", None, "application/json", b'{"x": 1; 2}')])

    def test_form_text_of_semicolons_and_signs(self):
        self.assertEqual(self.parts("-F", "a=b=c;d;e=f"), [("a", None, None, b"b=c;d;e=f")])

    def test_form_name_that_tries_to_break_out(self):
        seen = self.sent("-F", 'a"\r\nX: y=b')
        self.assertIn(b'name="a%22%0D%0AX: y"\r\n', seen.body)

    @cases({"type": "a=b;type=x\r\nX-Injected: 1", "type_line_feed": "a=b;type=x\nX: 1"})
    def test_form_type_that_tries_to_break_out(self, value):
        self.server.requests.clear()
        outcome = self.run_host("-F", value, self.server.http)
        self.assertIn(outcome.code, (2, 3), outcome)
        self.assertEqual(self.server.requests, [])

    @cases({"no_sign": "a", "no_content_type": "a=b;type=text", "empty": ""})
    def test_form_that_is_none(self, value):
        self.expect_failure(self.run_host("-F", value, self.server.http), 2)

    def test_form_file_missing(self):
        self.expect_failure(self.run_host("-F", "a=@/nonexistent/file", self.server.http), 26, "/nonexistent/file")
        self.expect_failure(self.run_host("-F", "a=</nonexistent/file", self.server.http), 26, "/nonexistent/file")

    def test_json(self):
        seen = self.sent("--json", '{"a":', "--json", " 1}")
        self.assertEqual((seen.method, seen.body), ("POST", b'{"a": 1}'))
        self.assertEqual((seen.values("Content-Type"), seen.values("Accept")), (["application/json"], ["application/json"]))

    def test_json_file(self):
        path = self.file("x", b"[1,\r\n2]")
        self.assertEqual(self.sent("--json", f"@{path}").body, b"[1,\r\n2]")

    def test_json_headers_can_be_replaced(self):
        seen = self.sent("--json", "{}", "-H", "content-type: application/vnd.x+json", "-X", "PATCH")
        self.assertEqual((seen.method, seen.values("Content-Type")), ("PATCH", ["application/vnd.x+json"]))

    @cases({
        "data": (["-d", "a=1", "-d", "b=2"], "/", "/?a=1&b=2"),
        "behind_a_query": (["-d", "a=1"], "/x?y=2", "/x?y=2&a=1"),
        "before_a_fragment": (["-d", "a=1"], "/x#part", "/x?a=1"),
        "encoded": (["--data-urlencode", "a=b c&d#"], "/", "/?a=b+c%26d%23"),
        "not_encoded": (["-d", "a=b c#d"], "/", "/?a=b%20c%23d"),
    })
    def test_get(self, words, target, sent):
        seen = self.sent("-G", *words, target=target)
        self.assertEqual((seen.method, seen.target, seen.body), ("GET", sent, b""))
        self.assertEqual(seen.values("Content-Type"), [])

    def test_get_with_head(self):
        seen = self.sent("-G", "-X", "HEAD", "-d", "a=1")
        self.assertEqual((seen.method, seen.target), ("HEAD", "/?a=1"))

    @cases({
        "text": ("a b&c/é", b"a+b%26c%2F%C3%A9"), "sign_first": ("=a=b", b"a%3Db"), "name": ("n=a=b", b"n=a%3Db"),
        "name_as_it_is": ("n%20 m=x", b"n%20 m=x"), "file": ("@{}", b"a+b%0A%FF"), "name_and_file": ("n@{}", b"n=a+b%0A%FF"),
        "unreserved": ("-._~aZ09", b"-._~aZ09"), "empty": ("", b""), "name_alone": ("n=", b"n="),
    })
    def test_data_urlencode(self, value, body):
        path = self.file("x", b"a b\n\xff")
        seen = self.sent("--data-urlencode", value.format(path))
        self.assertEqual((seen.method, seen.body), ("POST", body))

    def test_data_of_all_kinds(self):
        seen = self.sent("-d", "a=1", "--data-urlencode", "b= ", "--data-binary", "c=\n")
        self.assertEqual(seen.body, b"a=1&b=+&c=\n")


# ----------------------------------------------------------------------------------------------------------------------
# --retry


class Retry(TestCase):
    def run_against(self, responses, *words, **options):
        """Returns the outcome and the requests. The last response is repeated."""
        responses = list(responses)
        with RecordingServer(lambda seen: responses.pop(0) if len(responses) > 1 else responses[0]) as server:
            return self.run_host(*words, server.http + "/a", **options), server.requests

    PASSING = reply("503 Service Unavailable", "Retry-After: 0", body=b"later")

    @cases({str(status): status for status in (408, 429, 500, 502, 503, 504)})
    def test_twice_and_then_an_answer(self, status):
        passing = reply(f"{status} Odd", "Retry-After: 0", body=b"later")
        outcome, requests = self.run_against([passing, passing, reply(body=b"ok")], "--retry", "2")
        self.expect(outcome, 0, "(1 of 2)", "(2 of 2)")
        self.assertEqual((outcome.out, len(requests)), (b"ok", 3))

    def test_in_vain(self):
        outcome, requests = self.run_against([self.PASSING], "--retry", "3")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, len(requests)), (b"later", 4))

    def test_in_vain_with_fail(self):
        outcome, requests = self.run_against([self.PASSING], "--retry", "1", "-f", "-s")
        self.assertEqual((outcome.code, len(requests)), (22, 2))

    @cases({str(status): status for status in (400, 401, 403, 404, 501, 505)})
    def test_what_does_not_pass(self, status):
        _, requests = self.run_against([reply(f"{status} Odd", "Retry-After: 0")], "--retry", "3")
        self.assertEqual(len(requests), 1)

    def test_not_without_the_flag(self):
        _, requests = self.run_against([self.PASSING])
        self.assertEqual(len(requests), 1)

    def test_each_is_signed_and_carries_its_body(self):
        path = self.file("body", b"x" * 100_000)
        outcome, requests = self.run_against(
            [self.PASSING, reply(body=b"ok")], "--retry", "1", "-T", path, "--plugin", "HMACAuth", "--set", "api-key=k",
            "--set", "secret=env:NEVOD_TEST_SECRET", env={"NEVOD_PLUGIN_PATH": os.environ["NEVOD_BUILD_DIR"]})
        self.expect(outcome, 0)
        self.assertEqual([seen.body for seen in requests], [b"x" * 100_000] * 2)
        for seen in requests:
            self.assertEqual(
                seen.values("X-Signature"), [signature("PUT", "/a", seen.values("X-Timestamp")[0], seen.body)])

    def test_a_body_that_can_be_read_once(self):
        outcome, requests = self.run_against([self.PASSING], "--retry", "3", "-T", "-", stdin=b"x")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, len(requests)), (b"later", 1))

    def test_longer_than_anyone_waits(self):
        outcome, requests = self.run_against([reply("503 Odd", "Retry-After: 99999999", body=b"later")], "--retry", "1")
        self.assertEqual((outcome.code, outcome.out, len(requests)), (0, b"later", 1))

    def dated(self, wait):
        """The server's clock is an hour ahead. The wait is the difference between the response's two dates."""
        then = [email.utils.formatdate(time.time() + 3600 + seconds, usegmt=True) for seconds in (0, wait)]
        return reply("503 Odd", f"Date: {then[0]}", f"Retry-After: {then[1]}", body=b"later")

    def test_until_a_date(self):
        outcome, requests = self.run_against([self.dated(0), reply(body=b"ok")], "--retry", "1")
        self.expect(outcome, 0, "retrying in 0 s (1 of 1)")
        self.assertEqual((outcome.out, len(requests)), (b"ok", 2))

    def test_until_a_later_date(self):
        with RecordingServer(lambda seen: self.dated(300)) as server:
            self.expect_note("retrying in 300 s (1 of 1)", "--retry", "1", server.http + "/a")

    def expect_note(self, note, *words):
        """Runs the command only until standard error has a line, because the announced wait is real."""
        with self.running(*words, stderr=subprocess.PIPE) as process:
            self.assertIn(note, process.stderr.readline().decode())
            self.assertIsNone(process.poll())

    def test_longer_than_the_deadline(self):
        for after in ("300", "10"):
            passing = reply("503 Odd", f"Retry-After: {after}", body=b"later")
            outcome, requests = self.run_against([passing], "-m", "2", "--retry", "1")
            self.assertEqual((outcome.code, outcome.out, outcome.err, len(requests)), (0, b"later", "", 1))

    def test_no_connection_before_the_deadline(self):
        outcome = self.run_host("-m", "0.9", "--retry", "1", f"http://127.0.0.1:{self.closed_port()}/")
        self.expect_failure(outcome, 7)

    def test_as_often_as_asked(self):
        outcome, requests = self.run_against([self.PASSING], "--retry", "50")
        self.expect(outcome, 0, "(1 of 50)", "(50 of 50)")
        self.assertEqual((outcome.out, len(requests)), (b"later", 51))

    def test_a_date_longer_than_anyone_waits(self):
        passing = reply("503 Odd", "Retry-After: Tue, 31 Dec 2199 23:59:59 GMT", body=b"later")
        outcome, requests = self.run_against([passing], "--retry", "1")
        self.assertEqual((outcome.code, outcome.out, len(requests)), (0, b"later", 1))

    def test_any_method(self):
        outcome, requests = self.run_against([self.PASSING, reply(body=b"ok")], "--retry", "1", "-d", "a=1")
        self.assertEqual((outcome.out, [seen.body for seen in requests]), (b"ok", [b"a=1"] * 2))

    def test_no_connection(self):
        self.expect_note("retrying in 1 s (1 of 1)", "--retry", "1", f"http://127.0.0.1:{self.closed_port()}/")

    def test_only_the_last_answer_is_in_the_file(self):
        path = self.folder / "file"
        outcome, _ = self.run_against([self.PASSING, reply(body=b"ok")], "--retry", "1", "-o", path)
        self.expect(outcome, 0)
        self.assertEqual((path.read_bytes(), os.listdir(self.folder)), (b"ok", ["file"]))


# ----------------------------------------------------------------------------------------------------------------------
# --proxy


class Proxy(RecordingServer):
    """Forwards http requests and opens tunnels. If it is given credentials, it demands them."""

    def __init__(self, wants=None):
        super().__init__()
        self.wants = wants

    def converse(self, connection):
        with connection.makefile("rb", buffering=0) as stream:
            while seen := self.receive(stream, connection):
                if self.wants and seen.values("Proxy-Authorization") != [self.wants]:
                    connection.sendall(reply("407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="x"', body=b"no"))
                elif seen.method == "CONNECT":
                    self.tunnel(connection, seen)
                    return
                else:
                    self.pass_on(connection, seen)

    def pass_on(self, connection, seen):
        url = urllib.parse.urlsplit(seen.target)
        target = seen.target.partition(url.netloc)[2]
        lines = [f"{name}: {value}" for name, value in seen.headers if not name.lower().startswith("proxy-")]
        with socket.create_connection((url.hostname, url.port), PATIENCE) as origin:
            head = "\r\n".join([f"{seen.method} {target} HTTP/1.1", *lines, "Connection: close"])
            origin.sendall(head.encode("latin-1") + b"\r\n\r\n" + seen.body)
            while piece := origin.recv(65536):
                connection.sendall(piece)

    def tunnel(self, connection, seen):
        host, _, port = seen.target.rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE) as origin:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=self.pump, args=(origin, connection), daemon=True)
            back.start()
            self.pump(connection, origin)
            back.join(PATIENCE)

    @staticmethod
    def pump(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Proxies(TestCase):
    PASSWORD = "pr0xy-pAss-9x"
    BASIC = "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()

    def setUp(self):
        self.origin = self.enterContext(RecordingServer(lambda seen: reply(body=b"origin"), tls=authority().context()))
        self.proxy = self.enterContext(Proxy())

    def fetch(self, url, *words, **options):
        return self.run_host("--cacert", authority().path("ca.pem"), *words, url, **options)

    def expect_through(self, outcome, target):
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"origin", outcome)
        self.assertEqual(len(self.origin.requests), 1)
        (seen,) = self.proxy.requests
        self.assertEqual(seen.target, target)
        return seen

    def expect_direct(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual((len(self.origin.requests), self.proxy.requests), (1, []))

    @cases({
        "plain": "/a", "double_slashes": "//a//b", "dots": "/a/../b/./c", "encoded": "/a%2Fb%2e?x=%zz&&y=",
        "empty_query": "/a?", "at_sign": "/a@b:c?d=@e", "url_in_it": "/http://b/c?u=http://d/e",
    })
    def test_exact_target(self, target):
        outcome = self.fetch(self.origin.http + target, "-x", self.proxy.http, "-H", "X-A: 1")
        seen = self.expect_through(outcome, self.origin.http + target)
        self.assertEqual(seen.values("Host"), [self.origin.authority])
        self.assertEqual(self.origin.requests[0].target, target)
        self.assertEqual(self.origin.requests[0].values("X-A"), ["1"])

    def test_host_line_of_the_caller_and_what_a_scheme_sees(self):
        plugin = compile_plugin(self.folder / "libAuthority.so", AUTHORIZE='SET("X-Authority", view->authority)')
        outcome = self.fetch(self.origin.http + "/a", "-x", self.proxy.http, "-H", "Host: virtual.test", "--plugin", plugin)
        seen = self.expect_through(outcome, self.origin.http + "/a")
        self.assertEqual((seen.values("Host"), seen.values("X-Authority")), (["virtual.test"], ["virtual.test"]))

    def test_no_path(self):
        self.expect_through(self.fetch(self.origin.http, "-x", self.proxy.http), self.origin.http + "/")

    def test_body(self):
        self.expect_through(self.fetch(self.origin.http + "/a", "-x", self.proxy.http, "-d", "a=b"), self.origin.http + "/a")
        self.assertEqual(self.origin.requests[0].body, b"a=b")

    def test_proxy_without_scheme(self):
        self.expect_through(self.fetch(self.origin.http + "/a", "-x", self.proxy.authority), self.origin.http + "/a")

    def test_tunnel(self):
        """The proxy sees the origin, but nothing of the request."""
        outcome = self.fetch(
            self.origin.https + "//a/../b?x", "-x", self.proxy.http, "-H", f"Authorization: Bearer {SECRET}", "-H", "X-A: 1",
            "-H", f"Cookie: a={SECRET}", "-H", "User-Agent: mine", "-d", "body")
        seen = self.expect_through(outcome, self.origin.authority)
        self.assertEqual(seen.method, "CONNECT")
        self.assertEqual({name.lower() for name, _ in seen.headers} - {"host", "proxy-connection", "user-agent"}, set(), seen)
        self.assertNotIn("mine", seen.head)
        (got,) = self.origin.requests
        self.assertEqual((got.target, got.body, got.is_secure), ("//a/../b?x", b"body", True))
        self.assertEqual(got.values("Authorization"), [f"Bearer {SECRET}"])
        self.assertEqual([name for name, _ in got.headers if name.lower().startswith("proxy-")], [])

    @cases({"http": ("http", "http_proxy"), "https": ("https", "https_proxy"), "capitals": ("https", "HTTPS_PROXY"),
            "all": ("http", "all_proxy"), "all_capitals": ("https", "ALL_PROXY")})
    def test_credentials_go_to_the_proxy_alone(self, scheme, variable):
        self.proxy.wants = self.BASIC
        outcome = self.fetch(
            f"{scheme}://{self.origin.authority}/a", "-v", env={variable: f"http://user:{self.PASSWORD}@{self.proxy.authority}"})
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"origin")
        self.assertEqual(self.proxy.requests[-1].values("Proxy-Authorization"), [self.BASIC])
        (got,) = self.origin.requests
        self.assertEqual([name for name, _ in got.headers if "authorization" in name.lower()], [])
        for text in (self.PASSWORD, self.BASIC[6:]):
            self.assertNotIn(text, outcome.err)

    def test_credentials_do_not_follow_a_redirect_to_a_direct_origin(self):
        away = self.enterContext(RecordingServer(host="127.0.0.2"))
        self.origin.respond = lambda seen: reply("302 Found", f"Location: {away.http}/end")
        outcome = self.fetch(self.origin.http + "/a", "-L", env={
            "http_proxy": f"http://user:{self.PASSWORD}@{self.proxy.authority}", "no_proxy": "127.0.0.2"})
        self.expect(outcome, 0)
        (got,) = away.requests
        self.assertEqual(got.target, "/end")
        self.assertEqual([name for name, _ in got.headers if "authorization" in name.lower()], [])
        self.assertEqual(len(self.proxy.requests), 1)

    @cases({"tunnel": "https", "plain": "http"})
    def test_407(self, scheme):
        self.proxy.wants = self.BASIC
        outcome = self.fetch(f"{scheme}://{self.origin.authority}/a", "-f", "-x", self.proxy.http)
        self.expect_failure(outcome, 56 if scheme == "https" else 22, "407")
        self.assertEqual(self.origin.requests, [])

    @cases({"tunnel": "https", "plain": "http"})
    def test_wrong_credentials(self, scheme):
        self.proxy.wants = self.BASIC
        outcome = self.fetch(f"{scheme}://{self.origin.authority}/a", "-f", env={
            f"{scheme}_proxy": f"http://user:wr0ng-9x@{self.proxy.authority}"})
        self.expect_failure(outcome, 56 if scheme == "https" else 22, "407")
        self.assertNotIn("wr0ng-9x", outcome.err)

    def test_credentials_on_the_command_line(self):
        outcome = self.fetch(self.origin.http, "-x", f"http://user:{self.PASSWORD}@{self.proxy.authority}")
        self.expect_failure(outcome, 2, "http_proxy")
        self.assertNotIn(self.PASSWORD, outcome.err)
        self.assertEqual(self.proxy.requests, [])

    def test_refused_tunnel(self):
        self.proxy.converse = lambda connection: (connection.recv(65536), connection.sendall(reply("403 Forbidden")))
        self.expect_failure(self.fetch(self.origin.https, "-x", self.proxy.http), 56, "403")

    def test_proxy_that_is_down(self):
        self.expect_failure(self.fetch(self.origin.http, "-x", f"http://127.0.0.1:{self.closed_port()}"), 7)

    @cases({"no_host": "http://", "garbage": "http://[", "scheme": "ftp://127.0.0.1:1", "port": "http://127.0.0.1:99999"})
    def test_proxy_that_is_none(self, proxy):
        outcome = self.fetch(self.origin.http, "-x", proxy)
        self.assertIn(outcome.code, (1, 2, 3, 5, 7), outcome)
        self.expect_failure(outcome, outcome.code)
        self.assertEqual(self.origin.requests, [])

    @cases({
        "address": "127.0.0.1", "in_a_list": "example.test, 127.0.0.1", "everything": "*", "with_spaces": "a 127.0.0.1 b",
    })
    def test_no_proxy(self, value):
        self.expect_direct(self.fetch(self.origin.http, env={"http_proxy": self.proxy.http, "no_proxy": value}))

    @cases({"dot": ".localhost", "name": "localhost", "capitals": "LOCALHOST"})
    def test_no_proxy_for_a_name(self, value):
        url = f"http://localhost:{self.origin.port}"
        self.expect_direct(self.fetch(url, env={"http_proxy": self.proxy.http, "NO_PROXY": value}))

    @cases({"other": "127.0.0.2", "end_of_it": "0.0.1", "part_of_it": "27.0.0.1", "empty": ""})
    def test_not_no_proxy(self, value):
        outcome = self.fetch(self.origin.http, env={"http_proxy": self.proxy.http, "no_proxy": value})
        self.expect_through(outcome, self.origin.http + "/")

    def test_empty_proxy_means_none(self):
        self.expect_direct(self.fetch(self.origin.http, "-x", "", env={"http_proxy": self.proxy.http}))

    def test_capital_http_proxy_is_ignored(self):
        """A CGI program's HTTP_PROXY comes from a request's Proxy header."""
        self.expect_direct(self.fetch(self.origin.http, env={"HTTP_PROXY": self.proxy.http}))

    def test_no_proxy_goes_before_the_flag(self):
        """As in curl."""
        self.expect_direct(self.fetch(self.origin.http + "/a", "-x", self.proxy.http, env={"no_proxy": "127.0.0.1"}))


# ----------------------------------------------------------------------------------------------------------------------
# sign --curl


class SignedCurl(ServerTestCase):
    @cases({
        "get": ([], "/a"), "query": ([], "/a?x=1&&y=%2f"), "path": ([], "//a/../b%2Fc"), "post": (["-d", "a=1&b=2"], "/a"),
        "json": (["--json", '{"a": "it\'s $HOME `x` \\\\ é"}'], "/a"), "line_breaks": (["--data-binary", "a\r\nb\n"], "/a"),
        "headers": (["-H", "X-A: 'b' \"c\"", "-H", "X-Empty;", "-H", "User-Agent:"], "/a"), "put": (["-X", "PUT", "-d", "x"], "/a"),
        "brackets": ([], "/[a]{b}?c[]=1"), "delete": (["-X", "DELETE"], "/a"), "empty_data": (["-d", ""], "/a"),
    })
    def test_real_curl_sends_what_was_signed(self, words, target):
        outcome = self.run_host("sign", "--curl", *self.credentials(), *words, self.url(target))
        self.expect(outcome, 0)
        done = subprocess.run(
            ["sh", "-c", outcome.out.decode() if not outcome.out.startswith(b"curl ") else "curl -sS " + outcome.out.decode()[5:]],
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)}, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (outcome, done))
        self.assertTrue(json.loads(done.stdout)["verified"], (outcome, done))

    def test_the_same_request(self):
        words = [*self.credentials(), "-H", "X-A: 1", "-d", "a=b", self.url("/a?x")]
        self.expect(self.run_host(*words), 0)
        outcome = self.run_host("sign", "--curl", *words)
        subprocess.run(["curl", "-s", *shlex.split(outcome.out.decode())[1:]], stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=PATIENCE, check=True, env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        mine, curls = self.server.requests()
        for seen in (mine, curls):
            seen["headers"] = sorted(line for line in seen["headers"] if line[0] not in ("X-Timestamp", "X-Signature"))
            seen.pop("client_port")
        self.assertEqual(mine, curls)


# ----------------------------------------------------------------------------------------------------------------------
# Output


class Output(ServerTestCase):
    def test_output_folder(self):
        self.expect(self.run_host("--output-dir", self.folder, "-o", "file", self.url("/stream?bytes=3")), 0)
        self.assertEqual((self.folder / "file").read_bytes(), b"\0\1\2")

    def test_output_folder_is_missing(self):
        outcome = self.run_host("--output-dir", self.folder / "none", "-o", "file", self.url("/stream?bytes=3"))
        self.expect_failure(outcome, 23)
        self.assertEqual(os.listdir(self.folder), [])

    def test_absolute_path_needs_no_output_folder(self):
        self.expect(self.run_host("--output-dir", "/nonexistent", "-o", self.folder / "file", self.url("/status/200")), 0)
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_full_disk(self):
        if os.geteuid() != 0 or not shutil.which("mount"):
            self.skipTest("only root can mount a small disk")
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this machine mounts nothing")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        path = disk / "file"
        path.write_bytes(b"old")
        outcome = self.run_host("-o", path, self.url("/stream?bytes=3000000"))
        self.expect_failure(outcome, 23, "No space left")
        self.assertEqual((os.listdir(disk), path.read_bytes()), (["file"], b"old"))
        self.expect(self.run_host("-o", path, self.url("/stream?bytes=100000")), 0)
        self.assertEqual(path.read_bytes(), streamed(100000))

    def test_file_that_grows_too_large(self):
        """RLIMIT_FSIZE simulates a full disk. Its signal must not end the process."""
        outcome = subprocess.run(
            ["sh", "-c", 'ulimit -f 64; exec "$0" "$@"', *self.command("-o", self.folder / "file", self.url("/stream?bytes=3000000"))],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.assertEqual((outcome.returncode, os.listdir(self.folder)), (23, []), outcome)

    def test_broken_pipe(self):
        line = shlex.join(self.command(self.url(f"/stream?bytes={2**40}"))) + " | head -c 1"
        done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"\0", b""))

    @cases({"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "hang_up": signal.SIGHUP})
    def test_signal(self, number):
        path = self.file("file", b"old")
        with self.running("-o", path, self.url(f"/stream?bytes={2**40}")) as process:
            wait_until(lambda: any((self.folder / name).stat().st_size > 0 for name in os.listdir(self.folder) if ".part." in name),
                       "the body to arrive")
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), -number)
        self.assertEqual((os.listdir(self.folder), path.read_bytes()), (["file"], b"old"))

    def test_signal_before_the_answer(self):
        with self.running("-o", self.folder / "file", self.url("/slow?ms=60000")) as process:
            wait_until(self.server.requests, "the request")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
        self.assertEqual(os.listdir(self.folder), [])

    def test_signal_while_it_uploads(self):
        with RecordingServer() as server, self.running("-T", "-", server.http, stdin=subprocess.PIPE) as process:
            process.stdin.write(b"x")
            process.stdin.flush()
            wait_until(lambda: server.requests, "the head")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
