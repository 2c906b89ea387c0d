"""`record` writes everything that crosses the contract, and `replay` runs it again, bit for bit."""

import base64
import json
import re
import signal
import stat
import threading
import urllib.parse

from support import (
    API_KEY, BUILD, INCLUDE, PATIENCE, ROOT, SECRET, RecordingServer, ServerTestCase, TestCase, c_example, c_plugin, cases, compile_c, reply,
    swift_plugin)

PASSWORD = "pass/wörd+Zk81 Qx"
SESSION = "Sid7-hQ29xLmN4pR"
RENEWAL = "Ren8-tW35vBcX6zK"


def forms(secret):
    """Returns a secret in every encoding in which a file may have it."""
    raw = secret.encode()
    encoded = {raw, raw.hex().encode(), raw.hex().upper().encode(), b"".join(b"%%%02X" % byte for byte in raw)}
    encoded |= {urllib.parse.quote(secret, safe="").encode(), urllib.parse.quote_plus(secret).encode(), json.dumps(secret)[1:-1].encode()}
    for shift in range(3):
        # Within a longer text, so without the digits that share bits with other bytes.
        digits = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")[shift + 1 if shift else 0 : -1]
        encoded |= {digits, digits.replace(b"+", b"-").replace(b"/", b"_")}
    return encoded


class Recorded(TestCase):
    def record(self, *words, code=0, options=(), **more):
        """Records a command, and returns the outcome and the lines of the file."""
        self.recording = self.folder / "calls.jsonl"
        outcome = self.run_host("record", *options, self.recording, *words, **more)
        self.expect(outcome, code)
        self.assertIn("are recorded in", outcome.err)
        self.assertEqual(stat.S_IMODE(self.recording.stat().st_mode), 0o600)
        return outcome, [json.loads(line) for line in self.recording.read_text().splitlines()]

    def replay(self, plugin, code=0):
        outcome = self.run_host("replay", self.recording, "--plugin", plugin)
        self.expect(outcome, code)
        return outcome.out.decode()

    def expect_hidden(self, *secrets):
        content = self.recording.read_bytes()
        for secret in secrets:
            for form in forms(secret):
                self.assertNotIn(form, content, secret)


class Signature(Recorded, ServerTestCase):
    def test_replay(self):
        for plugin in (swift_plugin(), c_plugin()):
            with self.subTest(plugin):
                words = ["-p", plugin, "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET", "-d", "a=b"]
                outcome, lines = self.record(*words, self.url("/a"), options=["--force"])
                self.assertIn(b'"verified": true', outcome.out.replace(b'":', b'": ').replace(b":  ", b": "))
                self.expect_hidden(SECRET)
                header, create, needs, authorize = lines[:4]
                self.assertEqual((header["nevod_recording"], header["draft"], header["secrets"]), (1, 4, "replaced"))
                self.assertEqual(len(header["sha256"]), 64)
                self.assertEqual([pair["name"] for pair in create["create"]["settings"]][:2], ["api-key", "secret"])
                self.assertEqual(len(create["create"]["settings"][1]["value"]), len(SECRET))
                self.assertIn("set_header", authorize["sinks"][0])
                for _ in range(2):
                    self.assertEqual(self.replay(plugin), f"{len(lines) - 1} calls, all as recorded\n")

    def test_changed_plugin(self):
        _, lines = self.record(
            "-p", c_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET", self.url("/a"))
        changes = {
            "header": ('"X-Timestamp"', '"X-Time"', "call 3, authorize: name of set_header", "X-Timestamp", "X-Time"),
            "digest": ('"sha-256"', '"sha-512"', "call 2, needs: the needs", "sha-256", "sha-512"),
            "setting": ("secret.count == 0", "secret.count != 0", "call 1, create: the result", "NEVOD_OK", "NEVOD_BAD_SETTINGS"),
        }
        source = (ROOT / "Examples/c-hmac/hmac.c").read_text()
        for name, (old, new, place, expected, got) in changes.items():
            with self.subTest(name):
                self.assertIn(old, source)
                changed = self.file(f"{name}.c", source.replace(old, new))
                library = self.folder / f"lib{name}.so"
                compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", changed, "-lcrypto", "-o", library])
                text = self.replay(library, code=118)
                self.assertRegex(
                    text, rf"(?m)^{re.escape(place)}\n  expected: .*{re.escape(expected)}.*\n  got:      .*{re.escape(got)}")

    def test_plugin_that_knows_its_secret(self):
        """With a placeholder it takes another path, so it can't be recorded without its secret."""
        source = (ROOT / "Examples/c-hmac/hmac.c").read_text()
        changed = self.file("own.c", source.replace("secret.count == 0", "secret.count == 0 || secret.data[0] != 's' || secret.data[1] != '3'"))
        library = self.folder / "libown.so"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", changed, "-lcrypto", "-o", library])
        words = ["-p", library, "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET", self.url("/a")]
        file = self.folder / "own.jsonl"
        outcome = self.run_host("record", file, *words)
        self.expect(outcome, 1, "takes another path at call 1, create", "--keep-secrets")
        self.assertFalse(file.exists())
        self.assertNotIn(SECRET, outcome.err)
        outcome, lines = self.record(*words, options=["--keep-secrets"])
        self.assertIn("contains this command's secrets", outcome.err)
        self.assertEqual(lines[0]["secrets"], "kept")
        self.assertIn(SECRET, self.recording.read_text())
        self.replay(library)

    def test_wrapped_body(self):
        library = self.folder / "libbody.so"
        compile_c([
            "cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", ROOT / "Tests/NevodHostTests/TestPlugins/body.c", "-o", library])
        with RecordingServer() as server:
            _, lines = self.record(
                "-p", library, "--scheme", "body", "--set", "mode=chunks", "--data-binary", "@-", server.http + "/", stdin=b"x" * 100_000)
            self.assertGreater(len(server.requests[0].body), 100_000)
        self.assertIn("body_piece", "".join(next(iter(set(line) - {"instance", "result", "sinks"}), "") for line in lines))
        self.assertEqual(self.replay(library), f"{len(lines) - 1} calls, all as recorded\n")

    def test_callers_credentials(self):
        """A template that signs a header makes the host show all headers to the plugin."""
        with RecordingServer() as server:
            words = [
                "-p", BUILD / "libHMACAuth.so", "--set", "api-key=demo", "--set", "secret=env:NEVOD_TEST_SECRET", "--set", "key-header=",
                "--set", "message={method}\n{header:x-api-key}\n{header:private-token}\n{timestamp}", "-H", "X-Api-Key: UserHeaderKey77",
                "-H", "Private-Token: glpat-abcDEF123", "-H", "X-Auth: Bearer Car7ried9Tok", "-H", "X-Plain: StaysAsItIs1"]
            _, lines = self.record(*words, f"{server.http}/home?access_token=In8TheTarget")
        self.expect_hidden(SECRET, "UserHeaderKey77", "glpat-abcDEF123", "Car7ried9Tok", "In8TheTarget")
        self.assertIn("StaysAsItIs1", self.recording.read_text())
        self.assertEqual(self.replay(BUILD / "libHMACAuth.so"), f"{len(lines) - 1} calls, all as recorded\n")

    def changed(self, name, *changes):
        """Builds the example in C with changes."""
        source = (ROOT / "Examples/c-hmac/hmac.c").read_text()
        for old, new in changes:
            self.assertEqual(source.count(old), 1, old)
            source = source.replace(old, new)
        library = self.folder / f"lib{name}.so"
        compile_c(
            ["cc", "-D_GNU_SOURCE", "-fPIC", "-shared", f"-I{INCLUDE}", self.file(f"{name}.c", source), "-lcrypto", "-o", library])
        return library, ["-p", library, "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET"]

    HEAD = ('#include "nevod_plugin.h"\n', '#include "nevod_plugin.h"\n#include <fcntl.h>\n#include <unistd.h>\n')
    # The first lines of `authorize`.
    START = "    const instance *self = pointer;\n    (void)token;\n"

    def test_output_of_the_plugin(self):
        """A plugin's own output is not mixed with the recording."""
        library, words = self.changed(
            "noisy", self.HEAD, (self.START, self.START + '    if (write(1, "debug here\\n", 11) < 0) return -1;\n'))
        with RecordingServer() as server:
            outcome, lines = self.record(*words, server.http + "/")
        self.expect_hidden(SECRET)
        self.recording.read_bytes().decode()
        outcome = self.run_host("replay", self.recording, "--plugin", library)
        self.assertIn(f"{len(lines) - 1} calls, all as recorded\n", outcome.out.decode())

    def test_plugin_that_writes_into_the_recording(self):
        library, words = self.changed(
            "intruding", self.HEAD, (self.START, self.START + """
    char name[256] = "";
    int file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t count = read(file, name, sizeof name);
    close(file);
    if (count > 0 && memmem(name, (size_t)count, "with-placeholders", 17) != NULL)
        for (int number = 3; number < 64; number++)
            if (write(number, "debug here\\n", 11) < 0) continue;
"""))
        file = self.folder / "calls.jsonl"
        with RecordingServer() as server:
            outcome = self.run_host("record", file, *words, server.http + "/")
        self.expect(outcome, 1, "the plugin wrote into it", "--keep-secrets")
        self.assertFalse(file.exists())

    def test_interrupted(self):
        """A signal leaves no empty file, which would block the next recording."""
        arrived, ended = threading.Event(), threading.Event()

        def respond(seen):
            arrived.set()
            ended.wait(PATIENCE)
            return reply()

        file = self.folder / "calls.jsonl"
        with RecordingServer(respond) as server:
            try:
                with self.running("record", file, *self.credentials(), server.http + "/") as process:
                    self.assertTrue(arrived.wait(PATIENCE))
                    self.assertTrue(file.exists())
                    process.send_signal(signal.SIGINT)
                    self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
                self.assertFalse(file.exists())
            finally:
                ended.set()

    def test_existing_file(self):
        words = ["sign", *self.credentials(), self.url("/a")]
        file = self.file("calls.jsonl", "mine")
        self.expect_failure(self.run_host("record", file, *words), 2, "exists already", "--force")
        self.assertEqual(file.read_text(), "mine")
        self.record(*words, options=["--force"])
        link = self.folder / "link"
        link.symlink_to(file)
        self.expect_failure(self.run_host("record", "--force", link, *words), 2, "exists already")

    def test_without_a_plugin(self):
        file = self.folder / "none.jsonl"
        outcome = self.run_host("record", file, self.url("/a"))
        self.expect(outcome, 0)
        self.assertFalse(file.exists())

    @cases({
        "no_file": ("record",),
        "other_command": ("record", "f", "inspect", "x"),
        "twice": ("record", "f", "record", "g", "sign"),
        "no_plugin": ("replay", "f"),
        "no_recording": ("replay", "--plugin", "x"),
    })
    def test_usage(self, *words):
        self.expect_failure(self.run_host(*words), 2)

    @cases({
        "empty": (b"", "line 1"),
        "no_json": (b"hello\n", "line 1 is not JSON"),
        "other_version": (b'{"nevod_recording":2}\n', "format version 2"),
        "cut": (None, "is cut off"),
        "unknown_function": (b'{"instance":1,"explode":{},"result":0,"sinks":[]}\n', "line 2 names no function"),
        "unknown_instance": (b'{"instance":7,"destroy":{},"result":0,"sinks":[]}\n', "the instance 7 doesn't exist"),
        "deep": (b"[" * 100_000 + b"\n", "nested too deeply"),
        "large_number": (b'{"instance":99999999999999999999,"destroy":{},"result":0,"sinks":[]}\n', '"instance" that is not a number'),
        "foreign_flow": (b'{"instance":1,"create":{"scheme":"hmac","settings":[{"name":"api-key","value":"a"},{"name":"secret","value":"b"}]},'
                         b'"result":0,"sinks":[]}\n{"instance":1,"flow_free":{"flow":3},"result":0,"sinks":[]}\n'
                         b'{"instance":1,"flow_step":{"flow":3,"event":{"kind":1,"time":0,"random":""}},"result":0,"sinks":[]}\n',
                         "the flow 3 doesn't exist"),
        "not_hexadecimal": (b'{"instance":1,"create":{"scheme":{"hex":"0x"},"settings":[]},"result":0,"sinks":[]}\n', "hexadecimal"),
    })
    def test_hostile_file(self, content, problem):
        self.recording = self.folder / "hostile.jsonl"
        header = (b'{"nevod_recording":1,"host":"1","plugin":"HMACAuthC","plugin_version":"1.0.0","file":"f","sha256":"0","draft":4,'
                  b'"secrets":"replaced"}\n')
        if content is None:
            content = header[:-30]
        elif content.startswith((b'{"instance', b"[")):
            content = header + content
        self.recording.write_bytes(content)
        self.expect_failure(self.run_host("replay", self.recording, "--plugin", c_plugin()), 26, problem)


class Login(Recorded):
    """Flows: the recording has the server's responses, the person's answers and the tokens, but no secret."""

    def test_form_login_with_cookies(self):
        def respond(seen):
            if seen.path == "/login":
                return reply("303 See Other", "Location: /home", f"Set-Cookie: sessionid={SESSION}; Path=/; HttpOnly")
            return reply(body=b"home")

        with RecordingServer(respond) as server:
            words = [
                "-p", BUILD / "libCookieAuth.so", "--set", f"login={server.http}/login", "--set", "username=ada.lovelace@example.com",
                "--set", "password=env:PASSWORD", "--no-store", f"{server.http}/home"]
            outcome, lines = self.record(*words, env={"PASSWORD": PASSWORD})
            self.assertEqual(outcome.out, b"home")
            self.assertEqual(server.requests[-1].values("Cookie"), [f"sessionid={SESSION}"])
        self.expect_hidden(PASSWORD, SESSION)
        steps = [line for line in lines if "flow_step" in line]
        self.assertEqual([next(iter(step["sinks"][-1])) for step in steps][-1], "token")
        self.assertEqual(self.replay(BUILD / "libCookieAuth.so"), f"{len(lines) - 1} calls, all as recorded\n")

    def log_in(self, respond, *secrets):
        """Records a login with CookieAuth, and replays it."""
        with RecordingServer(lambda seen: respond if seen.path == "/login" else reply(body=b"home")) as server:
            words = [
                "-p", BUILD / "libCookieAuth.so", "--set", f"login={server.http}/login", "--set", "username=ada.lovelace@example.com",
                "--set", "password=env:PASSWORD", "--no-store", f"{server.http}/home"]
            _, lines = self.record(*words, env={"PASSWORD": PASSWORD})
        self.expect_hidden(PASSWORD, *secrets)
        self.assertEqual(self.replay(BUILD / "libCookieAuth.so"), f"{len(lines) - 1} calls, all as recorded\n")

    COOKIE = f"Set-Cookie: sessionid={SESSION}; Path=/"

    @cases({
        "escaped_json": ([], rb'{"refresh_token":"aB3\/xyzw9Qk77mmP"}', ["xyzw9Qk77mmP"]),
        "escaped_letters": ([], rb'{"id_token":"zz\u002Byyww11Qr55","a":{"apiToken":"\u0050lain9tokenXy"}}', ["yyww11Qr55", "lain9tokenXy"]),
        "headers": (["X-Auth-Token: HdrTok55Zq1Wv8", "X-Session: Id=Ses88Qq71w"], b"", ["HdrTok55Zq1Wv8", "Ses88Qq71w"]),
        "location": (["Location: /cb?code=CodeInLoc5566xx#access_token=FragTok1188yy"], b"", ["CodeInLoc5566xx", "FragTok1188yy"]),
        "form": ([], b"access_token=FormTok77Zq11&oauth_token_secret=FormSec99%2FYy22", ["FormTok77Zq11", "FormSec99", "FormSec99/Yy22"]),
        "lines": ([], b"SID=none\nAuth=Cli66entLog1n\n", ["Cli66entLog1n"]),
        "number": ([], b'{"session":8675309123,"token":"555666777888"}', ["8675309123", "555666777888"]),
    })
    def test_secret_in_a_response(self, headers, body, secrets):
        status = "303 See Other" if any(line.startswith("Location") for line in headers) else "200 OK"
        self.log_in(reply(status, self.COOKIE, *headers, body=body), SESSION, *secrets)

    def test_numeric_session(self):
        self.log_in(reply("303 See Other", "Location: /home", "Set-Cookie: sessionid=8675309123; Path=/"), "8675309123")

    def test_many_secrets(self):
        """The search time grows with their number, not with its square."""
        members = [f"Li5ted{number:06}Value" for number in range(12_000)]
        body = json.dumps([{"key": text} for text in members]).encode()
        self.log_in(reply("200 OK", self.COOKIE, body=body), SESSION, members[0], members[-1])
        self.assertNotIn(b"Li5ted", self.recording.read_bytes())

    def test_too_many_secrets(self):
        body = json.dumps([{"key": f"Li5ted{number:06}"} for number in range(20_001)], separators=(",", ":")).encode()
        file = self.folder / "calls.jsonl"
        with RecordingServer(lambda seen: reply("200 OK", self.COOKIE, body=body)) as server:
            words = [
                "-p", BUILD / "libCookieAuth.so", "--set", f"login={server.http}/login", "--set", "username=ada", "--set",
                "password=env:PASSWORD", "--no-store", f"{server.http}/home"]
            outcome = self.run_host("record", file, *words, env={"PASSWORD": PASSWORD})
        self.expect(outcome, 1, "more than 20,000 secrets", "--keep-secrets")
        self.assertFalse(file.exists())

    def test_session_in_c(self):
        def respond(seen):
            if seen.path == "/login":
                return reply(body=f"{SESSION}\n{RENEWAL}\n".encode())
            if seen.path == "/session":
                return reply(body=b'{"user":"grace hopper","seconds":3600}')
            return reply(body=seen.values("X-Session")[0].encode())

        plugin = c_example("c-session/session.c")
        with RecordingServer(respond) as server:
            words = [
                "-p", plugin, "--set", f"server={server.http}", "--answer", "user=grace hopper", "--answer", "password=env:PASSWORD",
                "--no-store", f"{server.http}/home"]
            outcome, lines = self.record(*words, env={"PASSWORD": PASSWORD})
            self.assertEqual(outcome.out, SESSION.encode())
        self.expect_hidden(PASSWORD, SESSION, RENEWAL, "grace hopper")
        self.assertEqual(self.replay(plugin), f"{len(lines) - 1} calls, all as recorded\n")
        # A changed flow is detected at its first different action.
        source = (ROOT / "Examples/c-session/session.c").read_text()
        changed = self.file("changed.c", source.replace('server, "/login"', 'server, "/signin"'))
        library = self.folder / "libchanged.so"
        compile_c([
            "cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", f"-I{ROOT / 'Bindings/C'}", changed, "-o", library])
        text = self.replay(library, code=118)
        self.assertRegex(text, r"call \d+, flow_step: url of send\n  expected: http://.*/login\n  got:      http://.*/signin")

    def test_failed_login_is_recorded_too(self):
        with RecordingServer(lambda seen: reply("403 Forbidden", body=b"no")) as server:
            words = ["-p", c_example("c-session/session.c"), "--set", f"server={server.http}", "--answer", "user=a", "--answer",
                     "password=env:PASSWORD", "--no-store", f"{server.http}/"]
            _, lines = self.record(*words, code=112, env={"PASSWORD": PASSWORD})
        self.expect_hidden(PASSWORD)
        self.assertEqual([line["result"] for line in lines if "flow_step" in line], [0, 0, 3])
        self.replay(c_example("c-session/session.c"))
