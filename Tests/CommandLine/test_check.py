"""`check`: its options, its three output formats, and a plugin's fault for each check of the file, loading, the tables, an
instance's life, threads, time and resources."""

import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import test_faulty_plugins
from faulty import BROKEN, CRASHED, FAIL, TIMED_OUT, WARN, build, check, expect_found, found, listed, shown
from support import BUILD, FOLDER, FULL, HOST, INCLUDE, PATIENCE, ROOT, SECRET, TestCase, c_example, cases, compile_c, wait_until

# Another project's reader of the format, installed by scripts/install-peers.
sys.path.insert(0, str(ROOT / ".build/peers"))

USAGE, NO_PLUGIN, BAD_SETTING = 2, 110, 111

# A fault of faulty.c, the check that finds it, and the result; or arguments for the compiler, and perhaps a function that changes
# the file.
FILE = {
    "hidden": ("static.entry-point", FAIL, ["-Wl,--version-script={nothing}"]),
    "exported": ("static.exports", WARN, ["-DEXTRA_SYMBOL"]),
    "no-library": ("static.libraries", FAIL, ["-Wl,--no-as-needed", "-L{folder}", "-lmissing-nevod"]),
    "curl": ("static.network-libraries", FAIL, ["-Wl,--no-as-needed", "-lcurl"]),
    "origin": ("static.run-path", WARN, ["-Wl,-rpath,$ORIGIN"]),
    "relative": ("static.run-path", FAIL, ["-Wl,-rpath,lib"]),
    "stack": ("static.executable-stack", FAIL, ["-Wl,-z,execstack"]),
    "text": ("static.text-relocations", FAIL, ["-DTEXT_RELOCATION", "-Wl,-z,notext", "-w"]),
    "writable": ("static.writable-code", FAIL, ["-DWRITABLE_CODE"]),
    "no-relro": ("static.relro", WARN, ["-Wl,-z,norelro"]),
    "resolver": ("static.network-imports", FAIL, ["-DIMPORT=getaddrinfo"]),
    "socket": ("static.network-imports", WARN, ["-DIMPORT=socket"]),
    "system": ("static.process-imports", FAIL, ["-DIMPORT=system"]),
    "quick-exit": ("static.process-imports", WARN, ["-DIMPORT=quick_exit"]),
    "handler": ("static.state-imports", WARN, ["-DIMPORT=sigaction"]),
    "static-tls": ("static.thread-storage", WARN, ["-DSTATIC_TLS"]),
    "large": ("static.size", WARN, ["-DLARGE", "-s"]),
    "undefined": ("load.resolves", FAIL, ["-DIMPORT=no_such_function_of_nevod"]),
}
LOAD = {
    "entry-shared": ("load.concurrent", FAIL),
    "constructor-sets-limit": ("load.limits", FAIL),
    "constructor-sets-rounding": ("load.rounding", FAIL, ["-lm"]),
    "constructor-needs-socket": ("load.without-network", CRASHED),
    "constructor-crashes": ("load.resolves", CRASHED),
    "constructor-hangs": ("load.resolves", TIMED_OUT),
    "constructor-exits": ("load.resolves", CRASHED),
    "entry-crashes": ("load.same-table", CRASHED),
    "entry-returns-another": ("load.same-table", FAIL),
    "constructor-is-slow": ("load.quick", WARN),
    "constructor-starts-thread": ("load.threads", FAIL),
    "constructor-opens-file": ("load.descriptors", FAIL),
    "constructor-handles-signal": ("load.signals", FAIL),
    "constructor-sets-locale": ("load.locale", FAIL),
    "constructor-sets-environment": ("load.environment", FAIL),
    "constructor-changes-folder": ("load.working-directory", FAIL),
    "constructor-sets-umask": ("load.working-directory", FAIL),
    "constructor-prints": ("load.silent", FAIL),
}
DESCRIPTION = {
    "version-without-number": ("description.version", WARN),
    "no-vendor": ("description.vendor", WARN),
    "interactive-without-flow": ("description.interactive", WARN),
    "control-in-help": ("description.help-text", FAIL),
    "issuer-is-text": ("description.issuer", WARN),
    "relative-is-text": ("description.relative", WARN),
    "relative-without-base": ("description.relative", WARN),
    "any-extension": ("description.extensions", FAIL),
    "entry-returns-null": ("description.table", FAIL),
    "wrong-major": ("description.table", FAIL),
    "plugin-short": ("description.table", FAIL),
    "wrong-draft": ("description.draft", FAIL),
    "newer-minor": ("description.draft", FAIL),
    "plugin-reserved": ("description.reserved", FAIL),
    "no-name": ("description.name", FAIL),
    "no-version": ("description.name", FAIL),
    "no-schemes": ("description.schemes", FAIL),
    "duplicate-schemes": ("description.scheme-ids", FAIL),
    "bad-id": ("description.scheme-ids", FAIL),
    "no-title": ("description.titles", FAIL),
    "bad-utf8-title": ("description.titles", FAIL),
    "long-title": ("description.titles", FAIL),
    "unknown-flag": ("description.flags", FAIL),
    "no-authorize": ("description.functions", FAIL),
    "half-of-token": ("description.functions", FAIL),
    "half-of-flow": ("description.functions", FAIL),
    "half-of-body": ("description.functions", FAIL),
    "unknown-setting-kind": ("description.settings", FAIL),
    "bad-setting-name": ("description.setting-names", FAIL),
    "duplicate-setting": ("description.setting-names", FAIL),
    "setting-without-help": ("description.help", WARN),
    "secret-not-secret": ("description.secrets", WARN),
    "default-not-a-choice": ("description.defaults", FAIL),
    "choice-without-choices": ("description.choices", FAIL),
    "secret-parameter": ("description.parameters", FAIL),
    "relative-parameter": ("description.parameters", FAIL),
}
LIFE = {
    "create-crashes": ("lifecycle.create", CRASHED),
    "needs-crashes": ("lifecycle.create", CRASHED),
    "destroy-crashes": ("lifecycle.create", CRASHED),
    "exits": ("lifecycle.independent", CRASHED),
    "hangs": ("lifecycle.independent", TIMED_OUT),
    "create-crashes-without-url": ("lifecycle.missing-setting", CRASHED),
    "create-crashes-on-empty-url": ("lifecycle.empty-values", CRASHED),
    "unknown-status-of-create": ("lifecycle.long-values", FAIL),
    "create-crashes-on-bad-utf8": ("lifecycle.not-utf8", CRASHED),
    "create-crashes-on-nul": ("lifecycle.nul-values", CRASHED),
    "create-crashes-on-unicode": ("lifecycle.wrong-kind", CRASHED),
    "create-crashes-on-unknown": ("lifecycle.unknown-setting", CRASHED),
    "create-crashes-on-repeated": ("lifecycle.repeated-settings", CRASHED),
    "create-refused-leaks": ("lifecycle.refused-memory", FAIL),
    "destroy-crashes-in-mid-flow": ("lifecycle.mid-flow", CRASHED),
    "needs-change": ("lifecycle.stable-needs", FAIL),
    "destroy-insists-on-thread": ("lifecycle.other-thread", CRASHED),
    "create-insists-on-extension": ("lifecycle.without-extensions", CRASHED),
    "create-ignores-signal": ("process.signals", FAIL),
    "create-sets-environment": ("process.environment", FAIL),
    "decode-blocks": ("time.decode", FAIL),
    "respond-blocks": ("time.respond", FAIL),
    "flow-blocks": ("time.flow", FAIL),
    "destroy-waits": ("time.destroy", FAIL),
    "create-is-slow": ("time.create", WARN),
    "decode-shared": ("threads.tokens", FAIL),
    "create-shared": ("threads.instances", FAIL),
    "flow-insists-on-thread": ("threads.changing", FAIL),
    "deadlocks-with-itself": ("threads.authorize", TIMED_OUT),
    "respond-leaks": ("resources.responses", FAIL),
    "create-sometimes-leaks-descriptor": ("resources.descriptors", FAIL),
    "create-sometimes-leaves-thread": ("resources.threads", FAIL),
    "create-leaks": ("lifecycle.unused", FAIL),
    "create-silent": ("lifecycle.no-settings", FAIL),
    "create-crashes-on-empty": ("lifecycle.no-settings", CRASHED),
    "create-crashes-on-long": ("lifecycle.long-values", CRASHED),
    "shared-instance": ("lifecycle.independent", CRASHED),
    "needs-unknown-flag": ("lifecycle.needs", FAIL),
    "needs-unknown-digest": ("lifecycle.needs", FAIL),
    "needs-status-200": ("lifecycle.needs", FAIL),
    "needs-type-range": ("lifecycle.needs", FAIL),
    "needs-short": ("lifecycle.needs", FAIL),
    "create-leaves-thread": ("process.threads", FAIL),
    "create-leaks-descriptor": ("process.descriptors", FAIL),
    "create-changes-folder": ("process.working-directory", FAIL),
    "writes-to-output": ("process.silent", FAIL),
    "uses-shared-buffer": ("threads.authorize", FAIL),
    "flow-shared": ("threads.flows", FAIL),
    "blocks-without-flag": ("time.authorize", FAIL),
    "authorize-leaks": ("resources.authorize", FAIL),
    "token-leaks": ("resources.tokens", FAIL),
    "flow-leaks": ("resources.flows", FAIL),
    "authorize-leaks-descriptor": ("process.descriptors", FAIL),
    "create-leaves-mapping": ("resources.mappings", FAIL),
}
FAULTS = FILE | LOAD | DESCRIPTION | LIFE


class Faults(TestCase):
    @cases({fault.replace("-", "_"): fault for fault in FAULTS})
    def test_each_fault(self, fault):
        expect_found(self, FAULTS, fault, "181760411")

    def test_libcrypto_within(self):
        """libcrypto contains network functions that nothing calls; libssl's are called."""
        words = ["-DIMPORT=EVP_DigestSign", "-Wl,--exclude-libs,ALL", "-l:libcrypto.a"]
        code, checks = check(build("none", words), "--only", "^static[.]")
        self.assertEqual((code, found(checks)), (0, []), shown(checks))
        notes = {one["id"]: one["note"] for one in checks}
        self.assertIn("libcrypto in it imports", notes["static.network-imports"])
        words = ["-DIMPORT=SSL_connect", "-Wl,--exclude-libs,ALL", "-l:libssl.a", "-l:libcrypto.a"]
        _, checks = check(build("none", words), "--only", "^static[.]")
        self.assertIn(("static.network-imports", FAIL), found(checks))

    def test_file_that_others_can_write(self):
        path = self.folder / "libOpen.so"
        shutil.copy(build("none"), path)
        path.chmod(0o666)
        code, checks = check(path)
        self.assertEqual(found(checks), [("static.permissions", FAIL)], shown(checks))
        # None of its code runs.
        loaded = [one for one in checks if one["result"] == "PASS" and not one["id"].startswith("static.")]
        self.assertEqual(loaded, [])
        self.assertEqual(code, BROKEN)

    @cases({"text": b"#!/bin/sh\n", "cut": None, "empty": b""})
    def test_no_library(self, content):
        path = self.folder / "libNone.so"
        path.write_bytes(content if content is not None else build("none").read_bytes()[:3000])
        path.chmod(0o755)
        code, checks = check(path)
        self.assertEqual(found(checks), [("static.format", FAIL)], shown(checks))
        self.assertEqual(code, BROKEN)

    def test_newer_system(self):
        library = build("none").read_bytes()
        old = max(re.findall(rb"GLIBC_2\.\d\d(?=\0)", library))
        path = self.folder / "libNewer.so"
        path.write_bytes(library.replace(old, b"GLIBC_9.99"))
        path.chmod(0o755)
        _, checks = check(path)
        self.assertEqual(found(checks), [("static.system-version", FAIL)], shown(checks))

    def test_hostile_files(self):
        """A file with a changed number gets a result, and never ends the command."""
        library = bytearray(build("none").read_bytes())
        path = self.folder / "libHostile.so"
        places, values = [32, 40, 54, 56, 58, 60, 62, *range(64, 64 + 56 * 4, 24)], [b"\xff\xff", b"\x00\x00", b"\x01\x80"]
        # In the long form (NEVOD_FULL=1), each value at each place. Otherwise one value at each place, in turn.
        pairs = itertools.product(places, values) if FULL else zip(places, itertools.cycle(values))
        for place, value in pairs:
            path.write_bytes(bytes(library[:place] + value + library[place + 2 :]))
            path.chmod(0o755)
            code, checks = check(path, "--only", "^static[.]")
            self.assertIn(code, (0, BROKEN))
            for one in checks:
                self.assertNotIn(one["result"], (CRASHED, TIMED_OUT), f"{place} {value}: {one}")


class Green(TestCase):
    """No plugin of this repository fails. (test_faulty_plugins.py has the one without a fault.)"""

    @cases({
        "hmac": lambda: BUILD / "libHMACAuth.so", "api_key": lambda: BUILD / "libAPIKeyAuth.so",
        "cookie": lambda: BUILD / "libCookieAuth.so", "flow_probe": lambda: BUILD / "libFlowProbe.so",
        "oauth2": lambda: BUILD / "libOAuth2Auth.so",
        "c_hmac": lambda: c_example("c-hmac/hmac.c"), "c_session": lambda: c_example("c-session/session.c"),
    })
    def test_plugin(self, plugin):
        code, checks = check(plugin(), timeout=60)
        failed = [one for one in checks if one["result"] in (FAIL, CRASHED, TIMED_OUT)]
        self.assertEqual(failed, [], shown(checks))
        self.assertEqual(code, 0)


class Output(TestCase):
    def checked(self, *words, **options):
        return self.run_host("check", *words, **options)

    def test_text(self):
        outcome = self.checked(build("secret-not-secret"), "--only", "^description[.](secrets|vendor)$", "--seed", "7")
        self.expect(outcome, 0)
        self.assertRegex(outcome.out.decode(), r"""\Achecking /\S+/libsecret-not-secret.so \(--seed 7\)
PASS description.vendor
WARN description.secrets
     expected: Settings that look like secrets are declared as such.
     happened: .*"secret" is not NEVOD_SETTING_SECRET.
     fix:      Add NEVOD_SETTING_SECRET.*
1 passed, 1 warnings
\Z""")

    def test_failure(self):
        outcome = self.checked(build("no-title"), "--only", "^description[.]titles$")
        self.expect(outcome, BROKEN, "1 of 1 checks failed")
        self.assertIn(b"FAIL description.titles", outcome.out)

    @cases({"null": ("entry-returns-null", "returned NULL"), "crash": ("constructor-crashes", "crashed in its constructors")})
    def test_nothing_tried(self, fault, reason):
        """A plugin that the host rejects doesn't pass, whatever is chosen."""
        outcome = self.checked(build(fault), "--only", "^authorize[.]")
        self.expect(outcome, BROKEN, "was not checked", reason)
        self.assertRegex(outcome.out, rb"\n\d+ skipped\n\Z")
        self.expect(self.checked(build(fault), "--only", "^static[.]"), 0)

    @cases({"secret": ("secret", "which is secret"), "relative": ("relative", "a relative URL; only a setting can be relative")})
    def test_parameter_that_is_refused(self, kind, words):
        """The host also rejects it."""
        self.expect(self.run_host("inspect", build(f"{kind}-parameter")), NO_PLUGIN, 'parameters has "scope", ', words)

    def test_fuzzing_needs_seconds(self):
        self.expect_failure(self.checked(build("none"), "--only", "^fuzz[.]"), USAGE, "--fuzz")
        self.expect(self.checked(build("none"), "--only", "^fuzz[.]token$", "--seed", "7"), 0)

    def test_refused_settings(self):
        """A scheme that could not be tried is named."""
        plugin = build("none")
        words = ("--only", "^authorize[.]edits$", "--set", "key-id=not\tprintable")
        self.expect(self.checked(plugin, *words), 0, 'the scheme "faulty" was not checked', "--set")
        self.assertEqual(self.checked(plugin, *words[:2]).err, "")

    def test_names_of_functions(self):
        for fault, words in {"create-crashes-on-long": b"crashed in create (SIGSEGV)", "create-hangs": b"had not returned from create"}.items():
            outcome = self.checked(build(fault), "--only", "^lifecycle[.](create|long-values)$", "--timeout", "2")
            self.assertEqual(outcome.code, BROKEN, outcome)
            self.assertIn(words, outcome.out)

    def test_hostile_names(self):
        """A plugin's own text can't control the terminal."""
        outcome = self.checked(build("bad-id"), "--only", "^description[.]scheme-ids$")
        self.assertNotIn(b"\x1b", outcome.out)

    def test_list(self):
        outcome = self.checked("--list")
        self.expect(outcome, 0)
        ids = [line.split()[0] for line in outcome.out.decode().splitlines()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreaterEqual(len(ids), 80)
        for name in ids:
            self.assertRegex(name, r"^[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*$")

    def test_each_check_can_fail(self):
        """Each check has a fault that it finds, or is listed here with the reason why not."""
        without = {
            "static.format": "test_no_library", "static.permissions": "test_file_that_others_can_write",
            "static.system-version": "test_newer_system", "static.thread-imports": "only a note", "static.constructors": "only a note",
            "load.stays": "the loader keeps a library that is loaded with RTLD_NODELETE, whatever its code does",
            "description.accepted": "what the host refuses has a check of its own, as far as it is known",
            "flow.login": "it tells how far a generic login got",
        }
        rows = {row[0] for row in (FAULTS | test_faulty_plugins.FAULTS).values()}
        ids = {name for name in listed() if not name.startswith("fuzz.")}
        self.assertEqual(ids - rows, set(without))
        self.assertEqual(rows - ids, set())

    def test_corpus_is_used(self):
        """Each fault in the source is in a table or has its own test, and vice versa."""
        source = (FOLDER / "Faulty/faulty.c").read_text()
        names = set(re.findall(r'FAULTY\("([a-z0-9-]+)"\)', source))
        apart = {"create-hangs"} | {fault for fault, _ in test_faulty_plugins.Fuzzing.CASES.values()}
        self.assertEqual(names, {*FAULTS, *test_faulty_plugins.FAULTS, *apart} - set(FILE))

    def test_documented(self):
        """The guide's table matches the command's."""
        done = subprocess.run([sys.executable, ROOT / "scripts/check_table.py", "--check"], capture_output=True, timeout=PATIENCE,
                              env={**os.environ, "NEVOD_BUILD_DIR": str(BUILD)})
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_junit(self):
        from junitparser import JUnitXml
        file = self.folder / "report.xml"
        outcome = self.checked(build("entry-crashes"), "--only", "^(static|load)[.]", "--junit", file)
        self.assertEqual(outcome.code, BROKEN)
        report = JUnitXml.fromfile(str(file))
        suites = {suite.name.rpartition(": ")[2]: suite for suite in report}
        self.assertEqual(set(suites), {"static", "load"})
        self.assertEqual((suites["load"].errors, suites["load"].failures, suites["static"].failures), (1, 0, 0))
        (broken,) = [case for case in suites["load"] if case.result and case.result[0].type == CRASHED]
        self.assertEqual((broken.name, broken.classname), ("load.same-table", "nevod.load"))
        self.assertIn("crashed in nevod_plugin_v1", broken.result[0].message)
        self.assertEqual(sum(suite.tests for suite in report), sum(len(list(suite)) for suite in report))

    def test_junit_on_standard_output(self):
        from junitparser import JUnitXml
        outcome = self.checked(build("none"), "--only", "^description[.]", "--junit", "-")
        self.expect(outcome, 0)
        (suite,) = JUnitXml.fromstring(outcome.out)
        self.assertEqual((suite.failures, suite.errors), (0, 0))

    def test_json(self):
        outcome = self.checked(build("no-name"), "--json", "--only", "^description[.]name$", "--seed", "3")
        self.assertEqual(outcome.code, BROKEN)
        document = json.loads(outcome.out)
        (one,) = document.pop("checks")
        self.assertEqual(document, {
            "plugin": str(build("no-name")), "seed": 3,
            "counts": {"passed": 0, "skipped": 0, "warnings": 0, "failed": 1, "crashed": 0, "timed_out": 0}})
        self.assertIsInstance(one.pop("milliseconds"), int)
        self.assertEqual((one["id"], one["scheme"], one["result"], one["happened"]),
                         ("description.name", None, FAIL, "name is empty."))

    def test_settings(self):
        plugin = c_example("c-hmac/hmac.c")
        words = ("--only", "^lifecycle[.]create$", "--set", "api-key=me")
        self.expect(self.checked(plugin, *words, "--set", "secret=env:NEVOD_TEST_SECRET"), 0)
        # A secret on the command line is rejected, and not repeated.
        outcome = self.checked(plugin, *words, "--set", f"secret={SECRET}")
        self.expect_failure(outcome, BAD_SETTING, "secret", "env:VARIABLE")
        self.assertNotIn(SECRET, outcome.err + outcome.out.decode())

    def test_secret_is_on_no_command_line(self):
        """A child process gets its settings in memory."""
        plugin = build("create-hangs")
        words = (HOST, "check", plugin, "--timeout", "20", "--only", "^lifecycle[.]create$", "--set", "secret=env:NEVOD_TEST_SECRET")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "NEVOD_TEST_SECRET": SECRET})
        try:
            def child():
                for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
                    try:
                        if int(path.read_text().rpartition(")")[2].split()[1]) == process.pid:
                            return (path.parent / "cmdline").read_bytes()
                    except OSError:
                        pass
                return None
            line = wait_until(child, "a child process")
            self.assertNotIn(SECRET.encode(), line)
        finally:
            process.kill()
            process.wait(PATIENCE)
            process.stdout.close()

    def test_children_end_with_the_command(self):
        plugin = build("constructor-hangs")
        process = subprocess.Popen([HOST, "check", plugin, "--timeout", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def children():
            found = []
            for path in pathlib.Path("/proc").glob("[0-9]*/maps"):
                try:
                    if str(plugin) in path.read_text():
                        found.append(path.parent.name)
                except OSError:
                    pass
            return found
        wait_until(children, "a child process")
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        wait_until(lambda: not children(), "the end of the child process")

    @cases({
        "nothing": (),
        "two": ("HMACAuth", "HMACAuth"),
        "no_such_check": ("HMACAuth", "--only", "nothing-like-it"),
        "bad_expression": ("HMACAuth", "--only", "("),
        "bad_seed": ("HMACAuth", "--seed", "-1"),
        "bad_timeout": ("HMACAuth", "--timeout", "0"),
        "two_outputs": ("HMACAuth", "--json", "--junit", "-"),
        "flag_of_a_request": ("HMACAuth", "-i"),
    })
    def test_usage(self, *words):
        self.expect_failure(self.checked(*words), USAGE)

    def test_no_such_plugin(self):
        self.expect_failure(self.checked("nosuchplugin"), NO_PLUGIN, "nosuchplugin", "NEVOD_PLUGIN_PATH")

    def test_unknown_scheme_and_setting(self):
        plugin = c_example("c-hmac/hmac.c")
        self.expect_failure(self.checked(plugin, "--scheme", "nosuch"), NO_PLUGIN, "hmac")
        self.expect_failure(self.checked(plugin, "--set", "nosuch=1"), BAD_SETTING, "nosuch", "api-key")


class Inspect(TestCase):
    """`inspect` survives the plugin. (test_crashes.py has crashes.)"""

    @cases({
        "hang": ("constructor-hangs", "not returned from its constructors"),
        "end": ("constructor-exits", "ended the process in its constructors"),
        "entry_point": ("entry-crashes", "crashed in nevod_plugin_v1"),
    })
    def test_outlives(self, fault, words):
        for form in ((), ("--json",)):
            outcome = self.run_host("inspect", build(fault), *form)
            self.expect_failure(outcome, NO_PLUGIN, words)
            self.assertEqual(outcome.out, b"")

    def test_wild_table(self):
        path = self.folder / "libWild.so"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", "-DSCHEMES=(const nevod_scheme *)16", FOLDER / "plugin.c", "-o", path])
        self.expect_failure(self.run_host("inspect", path), NO_PLUGIN, "libWild.so crashed in its tables")
        code, checks = check(path)
        self.assertEqual(found(checks), [("description.table", CRASHED)], shown(checks))

    def test_prints_nothing_of_the_plugin(self):
        outcome = self.run_host("inspect", build("constructor-prints"), "--json")
        self.expect(outcome, 0)
        json.loads(outcome.out)
