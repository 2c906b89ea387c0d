"""A plugin that crashes or ends the process: one line names it, and the parent process sees the same as without that line."""

import re
import signal
import subprocess

from support import FOLDER, INCLUDE, PATIENCE, SECRET, CannedServer, TestCase, canned, cases, compile_c

PLUGIN_FAULT = 110


class CrashTestCase(TestCase):
    FLAGS = ("--no-store", "--set", "key=env:NEVOD_TEST_SECRET")

    def compile(self, place, fault, language="c", **pieces):
        compiler = ["g++", "-x", "c++"] if language == "c++" else ["cc", "-std=c11"]
        path = self.folder / "libCrash.so"
        defines = [f'-DPLACE="{place}"', f"-DFAULT={fault}", *(f"-D{name}={text}" for name, text in pieces.items())]
        compile_c([
            *compiler, "-O1", "-w", "-fPIC", "-shared", f"-I{INCLUDE}", *defines, FOLDER / "crash.c", "-o", path, "-pthread"])
        return path

    def crash(self, place, fault, *words, **pieces):
        path = self.compile(place, fault, **pieces)
        with CannedServer(canned(b"body")) as server:
            return self.run_host(*words, "--plugin", path, *self.FLAGS, server.url)

    def expect_line(self, outcome, status, line):
        """Expects the line, no part of a secret, and the exit status, which is negative for a signal."""
        self.assertEqual(outcome.code, status, outcome)
        lines = outcome.err.splitlines()
        self.assertEqual([found for found in lines if re.fullmatch(line, found)], lines[-1:], outcome)
        for text in (SECRET, "tok-123"):
            self.assertNotIn(text, outcome.err)
            self.assertNotIn(text.encode(), outcome.out)


IN_SCHEME = 'of its scheme "crash"'
FUNCTIONS = (
    "create", "needs", "authorize", "on_response", "token_decode", "flow_begin", "flow_step", "flow_free", "destroy")


class Crashes(CrashTestCase):
    @cases({name: name for name in FUNCTIONS})
    def test_in_each_function(self, function):
        outcome = self.crash(function, "WRITE_TO_NULL")
        self.expect_line(
            outcome, -signal.SIGSEGV, rf"nevod-host: libCrash\.so crashed in {function} {IN_SCHEME} \(SIGSEGV at address 0x0\)")

    @cases({"constructor": "its constructors", "entry_point": "nevod_plugin_v1"})
    def test_before_the_schemes_are_known(self, place):
        line = rf"nevod-host: libCrash\.so crashed in {place} \(SIGSEGV at address 0x0\)"
        self.expect_line(self.crash(place, "WRITE_TO_NULL"), -signal.SIGSEGV, line)
        # `inspect` runs a plugin's code in a separate process, and survives its end.
        outcome = self.run_host("inspect", self.folder / "libCrash.so")
        self.expect_line(outcome, PLUGIN_FAULT, line)

    ABORTED = r"SIGABRT: abort, or an exception that was not caught"

    @cases({
        "abort": ("abort()", signal.SIGABRT, ABORTED),
        "division": ("DIVIDE", signal.SIGFPE, "SIGFPE"),
        "trap": ("__builtin_trap()", None, "SIG(ILL|TRAP)"),
        "recursion": ("RECURSE", signal.SIGSEGV, r"SIGSEGV at address 0x[0-9a-f]+, a stack overflow"),
        "huge_variable": ("ALLOCATE", signal.SIGSEGV, r"SIGSEGV at address 0x[0-9a-f]+, a stack overflow"),
        "bus": ("raise(SIGBUS)", signal.SIGBUS, "SIGBUS"),
        "system_call": ("raise(SIGSYS)", signal.SIGSYS, "SIGSYS"),
    })
    def test_each_kind(self, fault, number, cause):
        outcome = self.crash("authorize", fault)
        number = number or -outcome.code
        self.expect_line(outcome, -number, rf"nevod-host: libCrash\.so crashed in authorize {IN_SCHEME} \({cause}\)")

    @cases({"authorize": "authorize", "flow_step": "flow_step", "create": "create"})
    def test_exception(self, function):
        outcome = self.crash(function, "throw 42", language="c++")
        self.expect_line(
            outcome, -signal.SIGABRT, rf"nevod-host: libCrash\.so crashed in {function} {IN_SCHEME} \({self.ABORTED}\)")

    def test_on_its_own_thread(self):
        outcome = self.crash("create", "ON_ITS_OWN_THREAD()", THREAD="WRITE_TO_NULL")
        self.expect_line(
            outcome, -signal.SIGSEGV,
            r"nevod-host: libCrash\.so crashed outside of the host's calls \(SIGSEGV at address 0x0\)")

    def test_signal_of_another_process(self):
        """The plugin didn't do it, so there is no line."""
        path = self.compile("authorize", 'for (write(2, "ready\\n", 6);;) pause()')
        with CannedServer(canned()) as server:
            with self.running("--plugin", path, *self.FLAGS, server.url, stderr=subprocess.PIPE) as process:
                self.assertEqual(process.stderr.readline(), b'nevod-host: logging in with "A crash for tests"\n')
                self.assertEqual(process.stderr.readline(), b"ready\n")
                process.send_signal(signal.SIGSEGV)
                self.assertEqual(process.wait(PATIENCE), -signal.SIGSEGV)
                self.assertEqual(process.stderr.read(), b"")

    def test_control_characters_in_the_name_of_the_file(self):
        path = self.compile("authorize", "WRITE_TO_NULL")
        hostile = path.with_name("lib\x1b[2J\n.so")
        path.rename(hostile)
        with CannedServer(canned()) as server:
            outcome = self.run_host("--plugin", hostile, *self.FLAGS, server.url)
        self.expect_line(outcome, -signal.SIGSEGV, rf"nevod-host: lib\?\[2J\?\.so crashed in authorize {IN_SCHEME} .*")


class Ends(CrashTestCase):
    """If a plugin ends the process or the host's thread, the command doesn't succeed."""

    @cases({f"{function}_{status}": (function, status) for function in ("create", "authorize", "flow_step") for status in (0, 7)})
    def test_exit(self, function, status):
        outcome = self.crash(function, f"exit({status})")
        self.expect_line(
            outcome, PLUGIN_FAULT, rf"nevod-host: libCrash\.so ended the process in {function} {IN_SCHEME} by exit\({status}\)")

    @cases({"constructor": "its constructors", "entry_point": "nevod_plugin_v1"})
    def test_exit_before_the_schemes_are_known(self, place):
        line = rf"nevod-host: libCrash\.so ended the process in {place} by exit\(0\)"
        self.expect_line(self.crash(place, "exit(0)"), PLUGIN_FAULT, line)
        self.expect_line(self.run_host("inspect", self.folder / "libCrash.so"), PLUGIN_FAULT, line)

    def test_quick_exit(self):
        outcome = self.crash("authorize", "quick_exit(0)")
        self.expect_line(
            outcome, PLUGIN_FAULT, rf"nevod-host: libCrash\.so ended the process in authorize {IN_SCHEME} by quick_exit")

    def test_exit_on_its_own_thread(self):
        outcome = self.crash("create", "ON_ITS_OWN_THREAD()", THREAD="exit(0)")
        self.expect_line(outcome, PLUGIN_FAULT, r"nevod-host: a plugin ended the process by exit\(0\)")

    @cases({"authorize": "authorize", "flow_step": "flow_step"})
    def test_end_of_the_thread(self, function):
        outcome = self.crash(function, "pthread_exit(NULL)")
        self.expect_line(
            outcome, PLUGIN_FAULT,
            rf"nevod-host: libCrash\.so ended the host's thread in {function} {IN_SCHEME}, by pthread_exit or a cancellation")

    def test_child_process(self):
        """The plugin's forked child may exit. The host goes on."""
        outcome = self.crash("authorize", "if (fork() == 0) _exit(0)")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"body", 'nevod-host: logging in with "A crash for tests"\n'))

    def test_no_fault(self):
        outcome = self.crash("nowhere", "abort()")
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"body", 'nevod-host: logging in with "A crash for tests"\n'))
