"""Plugins in C, C++, Rust and Go: the bindings and helpers, and Examples/schemes against other projects' libraries."""

import base64
import contextlib
import datetime
import email.utils
import functools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import string
import subprocess
import threading
import urllib.parse

from support import (
    BUILD, FOLDER, INCLUDE, PATIENCE, ROOT, SECRET, TestCase, RecordingServer, built_once, cases, compile_c, c_example, environment, reply,
    shared_folder)

SCHEMES = ROOT / "Examples/schemes"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
HELPERS = [f"-I{INCLUDE}", f"-I{ROOT}/Bindings/C"]
# A build must not fetch anything.
OFFLINE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}


def build(command, cwd=ROOT, **env):
    """Runs a compiler, which may take long on its first run."""
    done = subprocess.run(
        ["bash", "-ec", command], cwd=cwd, env={**os.environ, **OFFLINE, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=5 * PATIENCE)
    if done.returncode:
        raise AssertionError(f"{command}\n{done.stdout.decode()}")


@functools.cache
def scheme(name):
    """Builds an example with the commands of its README. Returns the library."""
    text = (SCHEMES / name / "README.md").read_text()
    commands = [line for line in re.findall(r"^\$ (.*)$", text, re.M) if re.match(r"(cc|c\+\+|rustc|\(cd .* go) ", line) or "go build" in line]
    library = re.search(r"-o (?:\S*/)?(lib\w+\.so)", commands[0])[1]

    def build_to(path):
        build(re.sub(r"-o (?:\S*/)?lib\w+\.so", f"-o {shlex.quote(str(path))}", commands[0]))
        path.chmod(0o755)

    return built_once(library, build_to)


@functools.cache
def go_plugin(source):
    """Builds a plugin in Go of one file."""
    files = FOLDER / source, ROOT / "Bindings/Go/nevod_plugin.go", SCHEMES / "go-device/exports.map", SCHEMES / "go-device/go.mod"

    def build_to(path):
        for file in files:
            shutil.copy(file, path.parent)
        flags = '-buildmode=c-shared -ldflags "-extldflags=-Wl,--version-script=$PWD/exports.map"'
        build(f"go vet . && go build {flags} -o {shlex.quote(str(path))} .", path.parent, CGO_CFLAGS=f"-I{INCLUDE}")
        path.chmod(0o755)

    return built_once(f"lib{source.removesuffix('.go')}.so", build_to)


@functools.cache
def rust_plugin(source):
    def build_to(path):
        build(f"rustc --edition 2021 --crate-type cdylib -D warnings -O -o {shlex.quote(str(path))} {shlex.quote(str(FOLDER / source))}")
        path.chmod(0o755)

    return built_once(f"lib{source.removesuffix('.rs')}_rs.so", build_to)


def exported(library):
    done = subprocess.run(["nm", "-Dg", "--defined-only", library], capture_output=True, text=True, timeout=PATIENCE)
    return [line.split()[-1].split("@")[0] for line in done.stdout.splitlines()]


class Judge:
    """The server of an example, which runs on Debian's Python."""

    def __init__(self, script, *words):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-B", SCHEMES / script, "--parent-pid", str(os.getpid()), *words],
            env={"PATH": os.environ["PATH"], "DEMO_SECRET": SECRET}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().removeprefix("listening on ").strip()
        if not self.url:
            raise AssertionError(f"{script} did not start")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class SchemeCase(TestCase):
    """The same requests for each scheme. The judge accepts them, and rejects a wrong key."""

    judge = None  # the script and its arguments
    targets = ("/", "/a?b=c", "/a%20b?x=1&x=2&y=%C3%A4&z", "/?", "/a//b/../c?q=a+b")

    def setUp(self):
        self.server = Judge(*self.judge)
        self.addCleanup(self.server.stop)

    def ask(self, *words, **options):
        return self.run_host(*self.words(), *words, **options)

    def expect_verified(self, target, *words, wanted="verified: "):
        outcome = self.ask(*words, self.server.url + target)
        self.expect(outcome, 0)
        self.assertTrue(outcome.out.decode().startswith(wanted), outcome)

    def expect_accepted(self):
        self.assertEqual(exported(self.library()), ["nevod_plugin_v1"])
        for target in self.targets:
            self.expect_verified(target)
        self.expect_verified("/orders", "-d", "a=1&b=%20c+d", "-H", "Accept: text/plain")
        self.expect_verified("/orders?x=y", "--json", '{"key": "value"}')
        self.expect_verified("/orders", "-X", "PUT", "--data-binary", "x" * 100_000, "-H", "Content-Type: Text/Plain; charset=utf-8")

    def expect_default_port_left_out(self, *words):
        """A caller's Host line in another letter case, with a default port, is signed like the URL's."""
        fixed = ["sign", "--at", "1769860800", "--random", "0a...", *self.words(), *words]
        for scheme, port in (("http", 80), ("https", 443)):
            url = f"{scheme}://example.com/a"
            own = [[], ["-H", f"Host: Example.COM:{port}"], ["-H", "Host: example.com:8443"]]
            lines = [self.run_host(*fixed, *words, url) for words in own]
            for outcome in lines:
                self.expect(outcome, 0)
            plain, same, other = (outcome.out.split(b"\r\n", 2)[2] for outcome in lines)
            self.assertEqual(plain, same)
            self.assertNotEqual(plain, other)

    def expect_refused(self, *words):
        outcome = self.run_host(*words, "-f", self.server.url + "/a")
        self.expect(outcome, 119)


class SignaturesInC(SchemeCase):
    judge = ("c-http-signatures/signatures_server.py",)

    def library(self):
        return scheme("c-http-signatures")

    def words(self, key=None):
        if key is None:
            key = self.file("key.pem", (SCHEMES / "c-http-signatures/test-key.pem").read_text())
        return ["--plugin", self.library(), "--set", "key-id=test-key-ed25519", "--set", f"private-key=file:{key}"]

    def test_accepted(self):
        self.expect_accepted()

    def test_covered_components(self):
        components = "@method @authority @scheme @path @query @request-target accept content-type content-digest"
        self.expect_verified(
            "/A%2fb?c=d", "--set", f"components={components}", "-d", "a", "-H", "Accept:   text/plain  ", wanted=f"verified: {components}")
        outcome = self.ask("--set", "components=@method x-missing", self.server.url)
        self.expect_failure(outcome, 112, "the request lacks a component")

    def test_default_port(self):
        """RFC 9421 §2.2.3."""
        self.expect_default_port_left_out("--set", "components=@authority @path")

    def test_signature_of_the_specification(self):
        """RFC 9421 §B.2.6, to the byte."""
        outcome = self.run_host(
            "sign", "--at", "2021-04-20T02:07:53Z", *self.words(), "--set",
            "components=date @method @path @authority content-type content-length", "-H", "Date: Tue, 20 Apr 2021 02:07:55 GMT",
            "-H", "Content-Type: application/json", "--data-binary", '{"hello": "world"}', "http://example.com/foo?param=Value&Pet=dog")
        self.expect(outcome, 0)
        self.assertIn(
            b"Signature: sig=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:", outcome.out)

    def test_wrong_key(self):
        path = self.folder / "other.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, timeout=PATIENCE)
        path.chmod(0o600)
        self.expect_refused(*self.words(path))

    @cases({"no_key": "x", "rsa": "rsa"})
    def test_no_key(self, kind):
        path = self.file("key.pem", kind)
        if kind == "rsa":
            subprocess.run(["openssl", "genpkey", "-algorithm", "rsa", "-out", path, "-quiet"], check=True, timeout=PATIENCE)
        self.expect_failure(self.run_host(*self.words(path), self.server.url), 111, "private-key", "must be an Ed25519 key in PEM")


class OAuth1InCpp(SchemeCase):
    judge = ("cpp-oauth1/oauth1_server.py",)

    def library(self):
        return scheme("cpp-oauth1")

    def words(self, *more, secret="env:NEVOD_TEST_SECRET"):
        return [
            "--plugin", self.library(), "--set", "consumer-key=ada", "--set", "consumer-secret=env:NEVOD_TEST_SECRET",
            "--set", "token-key=ada-token", "--set", f"token-secret={secret}", *more]

    @cases({"sha256": "HMAC-SHA256", "sha1": "HMAC-SHA1"})
    def test_accepted(self, method):
        self.words = lambda: OAuth1InCpp.words(self, "--set", f"method={method}", "--set", "realm=orders")
        self.expect_accepted()

    def test_wrong_key(self):
        self.expect_refused(*self.words(secret=f"file:{self.file('wrong', 'wrong')}"))

    def test_default_port(self):
        """RFC 5849 §3.4.1.2."""
        self.expect_default_port_left_out()

    def test_form_that_can_not_be_signed(self):
        outcome = self.ask("-d", "a=%zz", self.server.url)
        self.expect_failure(outcome, 112, "has a % without two hex digits")


class HawkInRust(SchemeCase):
    judge = ("rust-hawk/hawk_server.py",)
    targets = tuple(target for target in SchemeCase.targets if target != "/?")  # mohawk leaves out an empty query

    def library(self):
        return scheme("rust-hawk")

    def words(self, key="env:NEVOD_TEST_SECRET"):
        return ["--plugin", self.library(), "--set", "id=ada", "--set", f"key={key}", "--set", "ext=of the application"]

    def test_accepted(self):
        self.expect_accepted()

    def test_wrong_key(self):
        self.expect_refused(*self.words(f"file:{self.file('wrong', 'wrong')}"))


class HawkWithAnotherClock(SchemeCase):
    """The server's clock is two hours ahead. It rejects the first request, and proves its time."""

    judge = ("rust-hawk/hawk_server.py", "--ahead", "7200")
    library, words = HawkInRust.library, HawkInRust.words

    def test_accepted(self):
        self.expect_verified("/a?b", "-d", "x=y")

    def test_forged_time(self):
        """A time without a proof isn't trusted, so the request isn't sent again."""
        with RecordingServer(lambda seen: reply("401 Unauthorized", 'WWW-Authenticate: Hawk ts="2000000000", tsm="AAAA", error="Stale"')) as server:
            self.expect(self.ask("-f", server.http), 119)
            self.assertEqual(len(server.requests), 1)


class DeviceInGo(SchemeCase):
    judge = ("go-device/device_server.py",)

    def library(self):
        return scheme("go-device")

    def words(self, client="tv"):
        return ["--plugin", self.library(), "--set", f"issuer={self.server.url}", "--set", f"client-id={client}"]

    def test_accepted(self):
        self.assertEqual(exported(self.library()), ["nevod_plugin_v1"])
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        env = {"HOME": str(home), "NEVOD_HOST_STORE": ""}
        login = self.run_host("login", *self.words(), env=env)
        self.expect(login, 0, "check that it shows the code ", "https://server.example/device?user_code=")
        for number in (1, 2, 3):
            outcome = self.ask("-f", self.server.url + "/me", env=env)
            self.expect(outcome, 0)
            self.assertEqual(outcome.out.decode(), f"verified: token {number}\n")
            self.expect(self.run_host("-X", "POST", self.server.url + "/expire"), 0)

    def test_declined(self):
        outcome = self.run_host("--no-store", *self.words("radio"), self.server.url + "/me")
        self.expect(outcome, 112, " was refused: the request was declined")

    def test_unknown_client(self):
        outcome = self.run_host("--no-store", *self.words("nobody"), self.server.url + "/me")
        self.expect(outcome, 111, "client-id", "is unknown to the server")


class Conformance(TestCase):
    """Each example passes `nevod-host check`."""

    @cases({"c": "c-http-signatures", "cpp": "cpp-oauth1", "rust": "rust-hawk", "go": "go-device"})
    def test_check(self, name):
        more = {"c-http-signatures": ["--set", "private-key=env:KEY"]}
        done = subprocess.run(
            self.command("check", scheme(name), "--seed", "16", *more.get(name, [])), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=3 * PATIENCE, env=environment(KEY=(SCHEMES / "c-http-signatures/test-key.pem").read_text()))
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        self.assertRegex(done.stdout, rb"\n[0-9]{2,} passed")
        # Go's runtime always starts threads and handles signals. Nothing else may fail.
        warned = set(re.findall(r"^WARN (?:load|process)[.](threads|signals)\b", done.stdout.decode(), re.M))
        self.assertEqual(warned, {"threads", "signals"} if name == "go-device" else set())


class Faults(TestCase):
    """A failure in a plugin's own code becomes an error with its name, or a crash report."""

    def setUp(self):
        self.server = self.enterContext(RecordingServer())

    def fails(self, library, mode, code, *fragments, words=()):
        outcome = self.run_host("-vv", "--no-store", "--plugin", library, "--set", f"mode={mode}", *words, self.server.http)
        self.expect(outcome, code, *fragments)
        self.assertEqual(self.server.requests, [])
        return outcome

    @cases({
        "panic": ("panic", "the plugin panicked", "a text for the detail"),
        "create": ("create", "the plugin panicked", "a text for the detail"),
        "nil": ("nil", "the plugin panicked", "nil pointer dereference"),
        "error": ("error", "the plugin returned an error of its own", "a text for the detail"),
        "panic_with_nil": ("panic-nil", "the plugin panicked", ""),
        "no_status": ("no-status", "a text without a status", ""),
        "nil_error": ("nil-error", "the plugin returned an error that is a nil pointer", ""),
        "internal": ("internal", "a fault of its own", ""),
    })
    def test_go(self, mode, message, detail):
        self.fails(go_plugin("faults.go"), mode, 112, message, detail, words=["--scheme", "direct"])

    def test_go_in_a_flow(self):
        self.fails(go_plugin("faults.go"), "login-panic", 112, "the plugin panicked", "a text for the detail", words=["--scheme", "logs-in"])

    def abandon(self, library, mode, *before):
        command = ["cc", "-std=c11", "-g", *STRICT, f"-I{INCLUDE}", FOLDER / "abandon.c", "-o"]
        program = built_once("abandon", lambda path: compile_c([*command, path]))
        done = subprocess.run([*before, program, library, mode, "300"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_go_flows_that_are_abandoned(self):
        """No goroutine is left of an unstarted, waiting or cancelled flow, even if the flow acts in a deferred function."""
        self.assertEqual(self.abandon(go_plugin("faults.go"), "login-wait"), "1\n")

    def test_rust_flows_that_are_abandoned(self):
        """Their memory is freed."""
        valgrind = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]
        self.assertEqual(self.abandon(rust_plugin("faults.rs"), "calm", *valgrind), "none\n")

    def test_go_leaves_no_goroutine(self):
        outcome = self.run_host(
            "--no-store", "--plugin", go_plugin("faults.go"), "--scheme", "logs-in", "--set", "mode=login-sleep", "--answer", "a=b",
            self.server.http)
        self.expect(outcome, 0)
        self.assertEqual(self.server.requests[0].values("X-Threads"), ["1"])

    @cases({"last": ("login-state", "early and late"), "first": ("login-first-state", "early")})
    def test_go_state_of_a_flow(self, mode, state):
        outcome = self.run_host(
            "--no-store", "--plugin", go_plugin("faults.go"), "--scheme", "logs-in", "--set", f"mode={mode}", "--answer", "a=b",
            self.server.http)
        self.expect(outcome, 0)
        self.assertEqual(self.server.requests[0].values("X-State"), [state])

    @cases({
        "go": (lambda: go_plugin("faults.go"), "mode=calm"),
        "rust": (lambda: rust_plugin("faults.rs"), "mode=calm"),
        "c": (lambda: c_example("c-session/session.c"), "server=http://127.0.0.1:1"),
        "swift": (lambda: BUILD / "libFlowProbe.so", "server=http://127.0.0.1:1"),
        "embedded_swift": (lambda: ROOT / ".build/embedded/release/libFlowProbe.so", "server=http://127.0.0.1:1"),
    })
    def test_unknown_responses(self, library, setting):
        """A response from an unknown kind of recipient, or with an unknown critical flag, isn't used. An ignorable flag is
        ignored."""
        command = ["cc", "-std=c11", "-g", *STRICT, f"-I{INCLUDE}", FOLDER / "unknown.c", "-o"]
        program = built_once("unknown", lambda path: compile_c([*command, path]))
        done = subprocess.run([program, library(), *setting.split("=", 1)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        seen = "nothing" if library().name == "libSessionC.so" else "seen"  # it has no on_response
        self.assertEqual(done.stdout, f"target: nothing, unsupported\nflag: nothing, unsupported\nignorable: {seen}, ok\n")

    def test_go_crash_in_c(self):
        """Go's runtime passes a fault outside of Go code to the host, which names the function."""
        self.fails(go_plugin("faults.go"), "c", -11, "libfaults.so", '"direct"', "authorize", words=["--scheme", "direct"])

    def test_go_fault_that_can_not_be_recovered(self):
        """Go's runtime ends the process after its own report. The host names the function."""
        self.fails(
            go_plugin("faults.go"), "fatal", -6, "unlock of unlocked mutex", "libfaults.so crashed in authorize", words=["--scheme", "direct"])

    def test_go_log(self):
        outcome = self.run_host("-v", "--plugin", go_plugin("faults.go"), "--scheme", "direct", "--set", "mode=calm", self.server.http)
        self.expect(outcome, 0, "made")

    @cases({
        "panic": ("panic", 112, "a text for the detail"),
        "create": ("create", 112, "a text for the detail"),
        "payload": ("payload", 112, "the plugin panicked"),
        "index": ("index", 112, "out of range"),
        "login": ("login-panic", 112, "a text for the detail"),
        "pending": ("login-pending", 112, "the flow awaits something that is no action of a flow"),
    })
    def test_rust(self, mode, code, fragment):
        words = [] if mode.startswith("login") else ["--answer", "a=token"]
        outcome = self.fails(rust_plugin("faults.rs"), mode, code, "", fragment, words=words)
        self.assertNotIn("thread '", outcome.err, "a plugin writes nothing to standard error")

    def test_rust_stack_overflow(self):
        self.fails(rust_plugin("faults.rs"), "stack", -11, "libfaults_rs.so", "authorize", words=["--answer", "a=token"])

    def test_rust_exit(self):
        self.fails(rust_plugin("faults.rs"), "exit", 110, "libfaults_rs.so ended the process in authorize", words=["--answer", "a=token"])

    def test_rust_answer(self):
        outcome = self.run_host(
            "-v", "--no-store", "--plugin", rust_plugin("faults.rs"), "--set", "mode=calm", "--answer", "a=token", self.server.http)
        self.expect(outcome, 0, "calm")
        self.assertEqual(self.server.requests[0].values("X-Token"), ["token"])


class Calls(TestCase):
    """The calls of the contract that no example needs: wrapped bodies, digests, responses, states."""

    LANGUAGES = {
        "go": (lambda: go_plugin("faults.go"), ["--scheme", "direct"]),
        "rust": (lambda: rust_plugin("faults.rs"), ["--no-store", "--answer", "a=token"])}

    def call(self, language, mode, respond, *words):
        library, more = self.LANGUAGES[language]
        with RecordingServer(respond) as server:
            outcome = self.run_host("--plugin", library(), "--set", f"mode={mode}", *more, *words, server.http)
            return outcome, server.requests

    @cases({"go": "go", "rust": "rust"})
    def test_wrapped_body(self, language):
        outcome, requests = self.call(language, "wrap", lambda seen: reply(), "--data-binary", "abc")
        self.expect(outcome, 0)
        self.assertEqual([(seen.body, seen.values("X-Digest")) for seen in requests], [(b"ABC", ["32"])])

    @cases({"go": "go", "rust": "rust"})
    def test_refused_response(self, language):
        outcome, requests = self.call(language, "refuse", lambda seen: reply("200 OK", "X-Why: it is forged", body=b"forged"))
        self.assertNotEqual(outcome.code, 0)
        self.assertEqual((outcome.out, len(requests)), (b"", 1))
        self.assertIn("refused: it is forged", outcome.err)

    @cases({"go": "go", "rust": "rust"})
    def test_challenge(self, language):
        outcome, requests = self.call(
            language, "calm", lambda seen: reply("418 I'm a teapot") if seen.values("X-State") != ["tea"] else reply(body=b"tea"))
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, [seen.values("X-State") for seen in requests]), (b"tea", [[""], ["tea"]]), outcome)


class RustLayout(TestCase):
    """The structs of nevod_plugin.rs have the header's fields at the same offsets. Its constants have the header's values."""

    CONSTANTS = {
        "abi::MAJOR": "NEVOD_ABI_MAJOR", "abi::MINOR": "NEVOD_ABI_MINOR", "abi::DRAFT": "NEVOD_ABI_DRAFT", "abi::OK": "NEVOD_OK",
        "abi::BAD_SETTINGS": "NEVOD_BAD_SETTINGS", "abi::BAD_TOKEN": "NEVOD_BAD_TOKEN", "abi::DENIED": "NEVOD_DENIED",
        "abi::UNAVAILABLE": "NEVOD_UNAVAILABLE", "abi::UNSUPPORTED": "NEVOD_UNSUPPORTED", "abi::INTERNAL": "NEVOD_INTERNAL",
        "BLOCKS": "NEVOD_SCHEME_BLOCKS", "INTERACTIVE": "NEVOD_SCHEME_INTERACTIVE", "NONDETERMINISTIC": "NEVOD_SCHEME_NONDETERMINISTIC",
        "Level::Debug": "NEVOD_LOG_DEBUG", "Level::Info": "NEVOD_LOG_INFO", "Level::Warning": "NEVOD_LOG_WARNING",
        "Level::Error": "NEVOD_LOG_ERROR", "Verdict::Nothing": "NEVOD_VERDICT_NOTHING",
        "Verdict::StateChanged": "NEVOD_VERDICT_STATE_CHANGED", "Verdict::RetryOnce": "NEVOD_VERDICT_RETRY_ONCE",
        "Verdict::Challenge": "NEVOD_VERDICT_CHALLENGE", "abi::LENGTH_UNKNOWN": "NEVOD_LENGTH_UNKNOWN",
        **{f"Needs::{name}": f"NEVOD_NEED_{name}" for name in (
            "BODY", "HEADERS", "CHALLENGES", "OTHER_RESPONSES", "RANDOM", "STATE", "USE_COUNT", "CHALLENGE_BODY", "REPLACE_BODY")},
    }

    def test_offsets(self):
        header = (INCLUDE / "nevod_plugin.h").read_text()
        header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
        structs = {}
        for body, name in re.findall(r"typedef struct nevod_\w+ \{(.*?)\n\} (nevod_\w+);", header, re.S):
            structs[name] = body
        for name, body in re.findall(r"^struct (nevod_\w+) \{(.*?)\n\};", header, re.S | re.M):
            structs[name] = body
        self.assertEqual(len(structs), 19)
        fields = {
            name: [pointer or plain for pointer, plain in re.findall(r"\(\*(\w+)\)\([^;]*;|(\w+);", body, re.S)]
            for name, body in structs.items()}
        self.assertEqual(fields["nevod_errors"], ["struct_size", "reserved", "host", "report"])
        c = "".join(
            f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));\n' for name in fields for field in fields[name]) + "".join(
            f'printf("{name} %zu\\n", sizeof({name}));\n' for name in fields) + "".join(
            f'printf("{name} %llu\\n", (unsigned long long){name});\n' for name in self.CONSTANTS.values())
        rust = "".join(
            f'println!("{name}.{field} {{}}", offset!(abi::{name}, {field}));\n' for name in fields for field in fields[name]) + "".join(
            f'println!("{name} {{}}", std::mem::size_of::<abi::{name}>());\n' for name in fields) + "".join(
            f'println!("{c} {{}}", {rust} as u64);\n' for rust, c in self.CONSTANTS.items())
        self.file("layout.c", f'#include "nevod_plugin.h"\n#include <stdio.h>\nint main(void) {{\n{c}return 0;\n}}\n')
        self.file("layout.rs", f"""
#[path = "{ROOT}/Bindings/Rust/nevod_plugin.rs"] mod nevod_plugin;
use nevod_plugin::*;
macro_rules! offset {{ ($type:ty, $field:ident) => {{{{
    let place = std::mem::MaybeUninit::<$type>::uninit();
    unsafe {{ std::ptr::addr_of!((*place.as_ptr()).$field) as usize - place.as_ptr() as usize }}
}}}} }}
fn main() {{
{rust}}}
""")
        compile_c(["cc", "-std=c11", f"-I{INCLUDE}", self.folder / "layout.c", "-o", self.folder / "c"])
        build("rustc --edition 2021 -o rust layout.rs", self.folder)
        c, rust = (subprocess.run([self.folder / name], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.splitlines()
                   for name in ("c", "rust"))
        self.assertEqual(rust, c)
        self.assertGreater(len(c), 200)


class Helpers(TestCase):
    """nevod_helpers.h against Python's libraries, over random inputs with a seed."""

    SEED = int(os.environ.get("NEVOD_HELPERS_SEED", "16"))

    def setUp(self):
        self.random = random.Random(self.SEED)

    @staticmethod
    @functools.cache
    def program(kind):
        compiler = {
            "c": ["cc", "-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-x", "c"],
            "cpp": ["c++", "-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-x", "c++"],
            "plain": ["cc", "-std=c11", "-O2", "-g", "-x", "c"]}[kind]
        command = [*compiler, *STRICT, *HELPERS, FOLDER / "helpers.c", "-o"]
        return built_once(f"helpers-{kind}", lambda path: compile_c([*command, path]))

    def call(self, calls, command=None):
        """Runs (name, argument, …) and returns bytes, or None for invalid inputs."""
        text = "".join(name + "".join(" " + (argument.hex() or "-") for argument in arguments) + "\n" for name, *arguments in calls)
        done = subprocess.run(
            command or [self.program("c")], input=text.encode(), capture_output=True, timeout=PATIENCE, env=environment())
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), len(calls))
        return [None if line == "!" else bytes.fromhex(line) for line in lines]

    def compare(self, calls, expected):
        for call, found, wanted in zip(calls, self.call(calls), expected, strict=True):
            self.assertEqual(found, wanted, (self.SEED, call))

    def inputs(self, count=400):
        return [self.random.randbytes(self.random.choice((0, 1, 2, 3, 4, 5, 16, 63, 64, 65, 300))) for _ in range(count)]

    def mutated(self, data, alphabet=None):
        data = bytearray(data)
        for _ in range(self.random.randint(1, 3)):
            place = self.random.randint(0, len(data))
            byte = self.random.choice(alphabet) if alphabet else self.random.randrange(256)
            match self.random.randrange(4):
                case 0: data[place:place] = bytes([byte])
                case 1: del data[place:place + 1]
                case 2: data[place:place + 1] = bytes([byte])
                case 3: data[place:place] = data[place:place + self.random.randint(1, 8)]
        return bytes(data)

    def test_base64(self):
        for name, encode in (("base64", base64.b64encode), ("base64url", lambda data: base64.urlsafe_b64encode(data).rstrip(b"="))):
            data = self.inputs()
            texts = [encode(item) for item in data]
            self.compare([(name, item) for item in data], texts)
            self.compare([("un" + name, text) for text in texts], data)
            texts = [self.mutated(text, b"Aa0+/-_= \n") for text in texts]
            # A text is valid if encoding its bytes gives the same text.
            for text, found in zip(texts, self.call([("un" + name, text) for text in texts])):
                with contextlib.suppress(ValueError):
                    padded = text if name == "base64" else text + b"=" * (-len(text) % 4)
                    wanted = base64.b64decode(padded, altchars=None if name == "base64" else b"-_", validate=True)
                    self.assertEqual(found, wanted if encode(wanted) == text else None, text)
                    continue
                self.assertIsNone(found, text)

    def test_hex_and_percent(self):
        data = self.inputs()
        self.compare([("hex", item) for item in data], [item.hex().encode() for item in data])
        self.compare([("unhex", item.hex().upper().encode()) for item in data], data)
        self.compare([("percent", item) for item in data], [urllib.parse.quote_from_bytes(item, safe="~").encode() for item in data])
        self.compare([("unpercent", urllib.parse.quote_from_bytes(item).encode()) for item in data], data)
        self.compare([("unhex", b"0"), ("unhex", b"0g"), ("unpercent", b"%"), ("unpercent", b"a%4"), ("unpercent", b"%4x")], [None] * 5)

    def test_forms(self):
        data = self.inputs()
        pairs = list(zip(data, reversed(data)))
        self.compare(
            [("form", *pair) for pair in pairs],
            [urllib.parse.urlencode([pair, pair[::-1]], safe="*").replace("~", "%7E").encode() for pair in pairs])
        letters = b"&=+%%aB19 \xff;*"
        forms = [bytes(self.random.choice(letters) for _ in range(self.random.randrange(40))) for _ in range(1000)]
        for form, found in zip(forms, self.call([("unform", form) for form in forms])):
            if re.search(rb"%(?![0-9A-Fa-f]{2})", form):
                self.assertIsNone(found, form)
                continue
            wanted = urllib.parse.parse_qsl(form.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
            lines = [line.rpartition(b"=") for line in found.splitlines()]
            self.assertEqual([bytes.fromhex(value.decode()) for _, _, value in lines], [value.encode("latin-1") for _, value in wanted], form)
        self.compare(
            [("formvalue", b"a=1&b=%20+&b=2", b"b"), ("formvalue", b"a=1", b"b"), ("formvalue", b"b=%zz", b"b"), ("formvalue", b"&&b", b"b")],
            [b"  ", None, None, b""])

    def value(self, depth=0):
        kind = self.random.randrange(9 if depth < 5 else 6)
        if kind < 2:
            return "".join(self.random.choice('aé"\\/\n\x01\x7f€😀 ') for _ in range(self.random.randrange(8)))
        if kind == 2:
            return self.random.choice((True, False, None))
        if kind == 3:
            return self.random.randint(-2**70, 2**70)
        if kind in (4, 5):
            return self.random.choice((0.5, -1e300, 1e-7, 123.0))
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(5))]
        return {self.random.choice("abé\"x") * self.random.randrange(3): self.value(depth + 1) for _ in range(self.random.randrange(5))}

    @staticmethod
    def judged(document):
        """Python's value for a JSON document, or None. Rejects what only Python allows."""
        def refuse(text):
            raise ValueError(text)
        try:
            value = json.loads(
                document.decode("utf-8"), parse_int=lambda text: "i" + text, parse_float=lambda text: "f" + text, parse_constant=refuse,
                object_pairs_hook=lambda pairs: ["object", *map(list, pairs)])
            json.dumps(value, ensure_ascii=False).encode()  # fails for half of a surrogate pair
            return [value]
        except (ValueError, RecursionError):
            return None

    def compare_json(self, documents):
        for document, found in zip(documents, self.call([("json", document) for document in documents])):
            wanted = self.judged(document)
            self.assertEqual(wanted is None, found is None, document)
            if found is not None:
                self.assertEqual(self.judged(found), wanted, document)

    def test_json(self):
        styles = [{}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (",", ":")}]
        documents = [json.dumps(self.value(), **self.random.choice(styles)).encode() for _ in range(1500)]
        self.compare_json(documents)
        self.compare_json([self.mutated(document, b'{}[]",:\\u0dDcC1-+.eEtrfn \t\x01\xc3\xa9\xed\xa0\x80\xff') for document in documents * 3])

    def test_json_of_every_kind(self):
        valid = ['0', '-0', '1e5', '1E-5', '0.10', ' true ', '[]', '{}', '"\\u0041\\ud83d\\ude00"', '[[],{}]', '{"a":1,"a":2}', '"\\/"', '""']
        invalid = [
            '', ' ', '01', '-', '1.', '.5', '1e', '+1', 'tru', 'True', 'nan', '[1,]', '{,}', '{"a"}', '{"a":}', '{a:1}', '[1 2]', '"', '"\\x"',
            '"\\u12"', '"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\t"', '1 1', '[', ']', '{"a":1', '[1}', '{"a":1]', '\ufeff1', '"a', "'a'",
            '-01', '1e+', '[1,,2]', '{"a":1,}', '//1', '"\\u00e', 'nul', '\x0c1', '{1:2}', '{"a" 1}']
        self.compare_json([text.encode() for text in valid + invalid])
        for text in invalid:
            self.assertIsNone(self.judged(text.encode()), text)
        for text in (b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe0\x80\x80"', b'"\xf0\x80\x80\x80"', b'"\xc3"'):
            self.compare_json([text])

    def test_json_depth(self):
        """64 levels, and not one more. A million levels don't exhaust the stack."""
        for depth, found in ((64, True), (65, False), (250_000, False)):
            calls = [("json", b"[" * depth + b"]" * depth), ("json", b'{"":' * depth + b"1" + b"}" * depth)]
            if depth > 65:
                calls = [("json", calls[0][1][:400_000]), ("json", calls[1][1][:400_000])]
            self.assertEqual([result is not None for result in self.call(calls)], [found, found], depth)

    def test_json_members(self):
        document = '{"a": {"b": [1, "x", null]}, "\\u0061b": "é", "a": 2, "": 3}'.encode()
        self.compare(
            [("member", document, b"a"), ("member", document, b"ab"), ("member", document, b""), ("member", document, b"c"),
             ("member", b"[1]", b"a"), ("element", b'[1, "x", {"a":[]}]', b"2"), ("element", b"[1]", b"1"), ("element", b'{"a":1}', b"0"),
             ("member", b'{"ab":1}', b"a"), ("member", b'{"a":1}', b"ab"), ("element", b"[[1,2],[3]]", b"1"), ("element", b"[]", b"0")],
            [b"2", '"é"'.encode(), b"3", b"", b"", b'{"a":[]}', b"", b"", b"", b"", b"[3]", b""])

    def test_strings(self):
        texts = ["".join(chr(self.random.choice((0, 9, 34, 92, 127, 233, 8364, 128512, 65))) for _ in range(20)) for _ in range(200)]
        found = self.call([("string", text.encode()) for text in texts])
        self.assertEqual([json.loads(text) for text in found], texts)
        self.compare([("string", b"a\xffb\xc3")], ['"a\ufffdb\ufffd"'.encode()])
        data = [self.mutated("aé€😀".encode()) for _ in range(1000)]
        self.compare([("utf8", item) for item in data], [b"" if item == item.decode("utf-8", "ignore").encode() else None for item in data])

    def test_numbers(self):
        edges = [0, 1, -1, 9, 10, 2**63 - 1, -2**63, 2**63, -2**63 - 1, 10**30] + [self.random.randint(-2**64, 2**64) for _ in range(300)]
        self.compare(
            [("decimal", str(number).encode()) for number in edges],
            [str(number).encode() if -2**63 <= number < 2**63 else None for number in edges])
        self.compare([("decimal", text) for text in (b"", b"-", b"+1", b" 1", b"1a", b"0x1", b"--1")], [None] * 7)

    def test_dates(self):
        begin, end = (int(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC).timestamp()) for year in (1, 9999))
        times = [0, 951_782_400, 951_868_799, 4_107_542_399, begin, end] + [self.random.randint(begin, end) for _ in range(1500)]
        dates = [datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(seconds=time) for time in times]
        seconds = [str(time).encode() for time in times]
        iso = [f"{date.year:04}-{date:%m-%dT%H:%M:%S}Z".encode() for date in dates]
        imf = [email.utils.format_datetime(date, usegmt=True).encode() for date in dates]
        self.compare([("iso", text) for text in seconds], iso)
        self.compare([("isocompact", text) for text in seconds], [re.sub(rb"[-:]", b"", text) for text in iso])
        self.compare([("imf", text) for text in seconds], imf)
        self.compare([("uniso", text) for text in iso], seconds)
        self.compare([("unimf", text) for text in imf], seconds)
        for offset in ("+01:00", "-23:59", "+00:00"):
            moved = [f"{date.year:04}-{date:%m-%dT%H:%M:%S}.25{offset}" for date in dates[4:]]
            with contextlib.suppress(OverflowError):
                wanted = [str(int((datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
                                  // datetime.timedelta(seconds=1))).encode() for text in moved]
                self.compare([("uniso", text.encode()) for text in moved], wanted)
        invalid = [b"1994-11-06", b"1994-13-06T08:49:37Z", b"1994-02-29T08:49:37Z", b"1994-11-06T24:49:37Z", b"1994-11-06T08:49:60Z",
                   b"1994-11-06T08:49:37", b"1994-11-06T08:49:37.Z", b"1994-11-06T08:49:37+1:00", b"1994-11-06T08:49:37Zx", b"", b"1994-11-06 08:49:37Z"]
        self.compare([("uniso", text) for text in invalid], [None] * len(invalid))
        invalid = [b"Mon, 06 Nov 1994 08:49:37 GMT", b"Sun, 06 Nov 1994 08:49:37 UTC", b"Sun, 6 Nov 1994 08:49:37 GMT", b"Sun, 06 Nov 1994 08:49:37",
                   b"Sunday, 06-Nov-94 08:49:37 GMT", b"Sun, 06 Now 1994 08:49:37 GMT", b"", b"Sun, 31 Feb 1994 08:49:37 GMT"]
        self.compare([("unimf", text) for text in invalid], [None] * len(invalid))

    def test_bytes(self):
        self.compare(
            [("trim", b" \t\r\n a b \n"), ("trim", b"   "), ("trim", b"\x00a\x00"), ("equal", b"aB", b"Ab"), ("equal", b"a", b"a"),
             ("equal", b"", b""), ("equal", b"a", b"ab"), ("equal", b"[", b"{"), ("equal", b"@", b"`")],
            [b"a b", b"", b"\x00a\x00", b"010", b"111", b"111", b"000", b"000", b"000"])

    def test_in_cpp(self):
        calls = [("base64", b"a"), ("json", b'{"a":[1]}'), ("imf", b"784111777"), ("unform", b"a=%41")]
        self.assertEqual(self.call(calls, [self.program("cpp")]), self.call(calls))

    def test_no_uninitialized_byte(self):
        calls = [("json", self.mutated(b'{"a":["\\u00e9",-1.5e3,null,{"b":"c"}]}')) for _ in range(200)]
        calls += [("unbase64", b"QUJD"), ("unform", b"a=b&c=%41+"), ("imf", b"784111777"), ("uniso", b"1994-11-06T08:49:37Z")]
        valgrind = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", self.program("plain")]
        self.assertEqual(self.call(calls, valgrind), self.call(calls))

    def test_mutations(self):
        """The fuzzer and corpus of scripts/fuzz, with a seed and without libFuzzer."""
        path = shared_folder() / "helpers-mutations"
        compile_c([
            "cc", "-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DMUTATIONS", *STRICT, *HELPERS,
            FOLDER / "helpers_fuzz.c", "-o", path])
        corpus = sorted((FOLDER.parent / "Fuzz/Corpus/helpers").iterdir())
        done = subprocess.run([path, str(self.SEED), "300000", *corpus], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "300000 inputs\n")
