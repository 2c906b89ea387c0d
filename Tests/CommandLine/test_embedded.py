"""The shipped plugins are Embedded Swift: they need only the C library, and behave like the same sources in ordinary Swift.

scripts/build-plugins makes them. NEVOD_EMBEDDED_FLOWS is the number of logins of each of 8 threads (1000).
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from support import (
    BUILD, FOLDER, INCLUDE, ROOT, CannedServer, ServerTestCase, TestCase, built_once, canned, cases, compile_c)

EMBEDDED = ROOT / ".build/embedded/release"
ORDINARY = BUILD / "ordinary" if (BUILD / "ordinary/libHMACAuth.so").exists() else BUILD
NAMES = ("APIKeyAuth", "CookieAuth", "HMACAuth", "OAuth2Auth")

# Functions that Swift's archive of the concurrency runtime leaves to the program. Sources/C/CEmbeddedRuntime/embedded.c defines
# the ones that the C library, Embedded Swift's standard library and the compiler don't.
HOOKS = set("""
_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base _ZSt20__throw_length_errorPKc
_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ __cxa_pure_virtual __errno_location
_swift_reportToDebugger _swift_shouldReportFatalErrorsToDebugger _task_serialExecutor_checkIsolated
_task_serialExecutor_getExecutorRef _task_serialExecutor_isIsolatingCurrentContext
_task_serialExecutor_isSameExclusiveExecutionContext _task_taskExecutor_getTaskExecutorRef abort clock_getres clock_gettime exit
fflush fputs free malloc memmove memset nanosleep puts stderr strlen strncpy swift_allocObject swift_compareWitnessTables
swift_createDefaultExecutors swift_deallocClassInstance swift_getDefaultExecutor swift_getMainExecutor swift_getObjectType
swift_release swift_reportError swift_retain swift_slowAlloc swift_slowDealloc swift_task_asyncMainDrainQueueImpl
swift_task_checkIsolatedImpl swift_task_donateThreadToGlobalExecutorUntilImpl swift_task_enqueueGlobalImpl
swift_task_enqueueGlobalWithDeadlineImpl swift_task_enqueueGlobalWithDelayImpl swift_task_enqueueMainExecutorImpl
swift_task_getMainExecutorImpl swift_task_isIsolatingCurrentContextImpl swift_task_isMainExecutorImpl vprintf vsnprintf
""".split())


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return done.stdout.decode()


def shipped(name):
    """The plugin as installed, or as linked if the build folder lacks the installed form."""
    path = BUILD / f"lib{name}.so"
    return path if ORDINARY != BUILD else EMBEDDED / path.name


@functools.cache
def c_host():
    """Compiles embedded.c, a host without any Swift."""
    command = ["cc", "-std=c11", f"-I{INCLUDE}", FOLDER / "embedded.c", "-lpthread", "-o"]
    return built_once("embedded", lambda path: compile_c([*command, path]))


class Built(TestCase):
    @cases({name: (name,) for name in NAMES})
    def test_libraries(self, name):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", shipped(name))))
        self.assertEqual(needed, {"libc.so.6"} | ({"libcrypto.so.3"} if name != "APIKeyAuth" else set()))

    @cases({name: (name,) for name in NAMES})
    def test_oldest_c_library(self, name):
        # Debian 9 has 2.24, Ubuntu 18.04 has 2.27.
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", shipped(name)))
        self.assertLessEqual(max((int(major), int(minor)) for major, minor in versions), (2, 27))

    @cases({name: (name,) for name in (*NAMES, "FlowProbe")})
    def test_every_value_is_printable(self, name):
        """For a value that it can't print, an enum or a struct, Embedded Swift silently prints this text."""
        path = shipped(name) if name in NAMES else EMBEDDED / f"lib{name}.so"
        self.assertNotIn(b"cannot print value", path.read_bytes())

    def test_hooks_of_the_runtime(self):
        """Another version of the toolchain may need other functions in embedded.c. This test names them."""
        compiler = pathlib.Path(shutil.which("swiftc")).resolve()
        archive = compiler.parent.parent / "lib/swift/embedded/x86_64-unknown-linux-gnu/libswift_Concurrency.a"
        symbols = [line.split() for line in output("nm", archive).splitlines()]
        defined = {words[-1] for words in symbols if len(words) == 3 and words[1] in "TDBVWRdbr"}
        undefined = {words[-1] for words in symbols if len(words) == 2 and words[0] == "U"} - defined
        self.assertEqual(
            (sorted(undefined - HOOKS), sorted(HOOKS - undefined)), ([], []),
            "the toolchain's concurrency runtime needs the first functions anew, and the second ones no longer: compare "
            "Sources/C/CEmbeddedRuntime/embedded.c with its swift/ExecutorImpl.h, then change HOOKS")


class Alone(TestCase):
    """On a root file system that has the C library, and no Swift."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 and subprocess.run(["unshare", "-r", "true"], capture_output=True).returncode != 0:
            self.skipTest("there is no right to change the root, nor to namespaces")

    @cases({
        "hmac": (
            "HMACAuth", ["api-key=k", "secret=s"],
            "X-Signature: aa274abae954887f1aecda5e93ad1d6b72a048f52466571266454f10d822ee1c"),
        "api_key": ("APIKeyAuth", ["key=k"], "X-API-Key: k"),
    })
    def test_signs(self, name, settings, line):
        root = self.folder / "root"
        files = {c_host(): "/host", shipped(name): "/plugin.so"}
        for program in (c_host(), shipped(name)):
            for library in re.findall(r"(/\S+) \(0x", output("ldd", program)):
                files[library] = library
        for source, place in files.items():
            copy = root / place.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
        self.assertFalse([path for path in root.rglob("*") if "swift" in path.name.lower()])
        namespace = [] if os.geteuid() == 0 else ["unshare", "-r"]
        signed = output(*namespace, "chroot", root, "/host", "sign", "/plugin.so", *settings)
        self.assertIn(line, signed.splitlines())


class Flows(TestCase):
    def test_threads(self):
        """8 threads run logins at the same time, and free some of them in the middle. Memory doesn't grow."""
        flows = int(os.environ.get("NEVOD_EMBEDDED_FLOWS", 1000))
        grown = subprocess.run(
            [c_host(), "flows", EMBEDDED / "libFlowProbe.so", "8", str(flows)], capture_output=True, timeout=60 + flows / 10)
        self.assertEqual((grown.returncode, grown.stderr.decode()), (0, ""))
        self.assertLess(int(grown.stdout.split()[0]), 1024)

    @cases({"embedded": (EMBEDDED,), "ordinary": (BUILD,)})
    def test_free_waits_for_no_other_flow(self, folder):
        """The host may free a flow on a thread that must not block, while another flow's step waits for a smart card."""
        grown = subprocess.run([c_host(), "free", folder / "libFlowProbe.so"], capture_output=True, timeout=120)
        self.assertEqual((grown.returncode, grown.stderr.decode()), (0, ""))
        self.assertLess(int(grown.stdout.split()[0]), 2048)


class Same(ServerTestCase):
    """Both builds of a plugin give the same output, byte for byte."""

    def both(self, name, *words):
        outcomes = []
        for path in (EMBEDDED / f"lib{name}.so", ORDINARY / f"lib{name}.so"):
            # A copy like an installed one, because others may be able to write to the build folders.
            copy = self.file(f"lib{name}.so", path.read_bytes(), mode=0o644)
            outcome = self.run_host(
                *(copy if word == "PLUGIN" else word for word in words), env={"NEVOD_TEST_EMPTY": "", "NEVOD_TEST_ODD": "%%%"})
            outcomes.append((outcome.code, outcome.out, outcome.err))
            os.remove(copy)
        self.assertEqual(*outcomes)
        return outcomes[0]

    @cases({name: (name,) for name in NAMES})
    def test_inspect(self, name):
        code, out, _ = self.both(name, "inspect", "--json", "PLUGIN")
        self.assertEqual(code, 0)
        self.assertTrue(json.loads(out))

    @cases({
        "placeholder": ("HMACAuth", ["message={bogus}"]),
        "open_brace": ("HMACAuth", ["message={a"]),
        "closed_brace": ("HMACAuth", ["message=a}"]),
        "escape": ("HMACAuth", ["message=\\q"]),
        "header_name": ("HMACAuth", ["signature-header=a b"]),
        "value_placeholder": ("HMACAuth", ["signature-value={path}"]),
        "secret_hex": ("HMACAuth", ["secret-encoding=hex"]),
        "secret_base64": ("HMACAuth", ["secret-encoding=base64"]),
        "algorithm": ("HMACAuth", ["algorithm=md5"]),
        "header_missing": ("HMACAuth", ["message={header:X-Absent}"]),
        "empty_header": ("APIKeyAuth", ["header="]),
        "bad_header": ("APIKeyAuth", ["header=a b"]),
        "host_header": ("APIKeyAuth", ["header=Host"]),
        "login_missing": ("CookieAuth", []),
        "international": ("CookieAuth", ["login=http://ä.example/"]),
        "field": ("CookieAuth", ["login=http://h/", "field=x"]),
        "status": ("CookieAuth", ["login=http://h/", "success-status=99"]),
        "csrf": ("CookieAuth", ["login=http://h/", "csrf-name=x"]),
        "csrf_header": ("CookieAuth", ["login=http://h/", "csrf=cookie", "csrf-header=a b"]),
        "page": ("CookieAuth", ["login=http://h/", "page=http://h/p"]),
        "mfa": ("CookieAuth", ["login=http://h/", "mfa=http://h/m", "mfa-status=7"]),
        "no_token": ("CookieAuth", ["login=http://h/"]),
        "server_missing": ("OAuth2Auth", []),
        "parameter": ("OAuth2Auth", ["issuer=http://h", "token-parameter=x"]),
        "grant": ("OAuth2Auth", ["issuer=http://h", "grant=x"]),
        "address": ("OAuth2Auth", ["token-url=h/t"]),
    })
    def test_errors(self, name, settings):
        secret = {"HMACAuth": "secret=env:NEVOD_TEST_ODD", "APIKeyAuth": "key=env:NEVOD_TEST_ODD"}.get(name)
        words = [word for setting in ([secret] if secret else []) + settings for word in ("--set", setting)]
        words += {"HMACAuth": ["--set", "api-key=k"], "APIKeyAuth": ["--scheme", "api-key"]}.get(name, [])
        self.both(name, "sign", "--plugin", "PLUGIN", *words, self.url("/a"))

    def test_empty_key(self):
        code, _, error = self.both("APIKeyAuth", "sign", "--plugin", "PLUGIN", "--scheme", "api-key", "--set", "key=env:NEVOD_TEST_EMPTY", self.url("/a"))
        self.assertIn("must not be empty", error)
        self.assertNotEqual(code, 0)

    @cases({
        "not_json": ("200 OK", "application/json", b"<html>"),
        "page": ("200 OK", "text/html", b"<html>"),
        "refused": ("401 Unauthorized", "text/plain", b"no"),
        "trouble": ("503 Service Unavailable", "text/plain", b""),
        "no_cookie": ("200 OK", "application/json", b"{}"),
        "redirect": ("302 Found", "text/plain", b""),
    })
    def test_failed_logins(self, status, kind, body):
        with CannedServer(canned(body, f"Content-Type: {kind}", status=status)) as server:
            code, _, error = self.both(
                "CookieAuth", "request", "--plugin", "PLUGIN", "--set", f"login={server.url}/login", "--set", "username=ada",
                "--set", "password=env:NEVOD_TEST_SECRET", "--set", "format=json", f"{server.url}/a")
        self.assertNotEqual(code, 0)
        self.assertTrue(error)


if __name__ == "__main__":
    unittest.main()
