"""What authors of plugins need from the command line: fixed inputs, files made with their umask, and a process that can be
debugged."""

import os
import pathlib
import pwd
import re
import shutil
import struct
import subprocess
import sys
import threading
import unittest

from support import (
    HOST, INCLUDE, PATIENCE, ROOT, SECRET, RecordingServer, ServerTestCase, TestCase, cases, compile_c, compile_plugin, environment,
    login_plugin, reply, shared_folder, wait_until)

AWS = {"access-key": "AKIDEXAMPLE", "region": "eu-central-1", "service": "execute-api"}

# Signs with botocore at a fixed time, as an AWS client does.
BOTOCORE = """
import datetime, sys
import botocore.auth, botocore.awsrequest, botocore.credentials
class Clock(datetime.datetime):
    @classmethod
    def utcnow(cls): return datetime.datetime(2026, 1, 31, 12, 0, 0)
botocore.auth.datetime.datetime = Clock
request = botocore.awsrequest.AWSRequest(method="POST", url=sys.argv[1], data=b"a=b")
request.headers.add_header("Content-Type", "application/x-www-form-urlencoded")
for line in sys.argv[2:]: request.headers.add_header(*line.split(": ", 1))
botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKIDEXAMPLE", sys.stdin.read()), "execute-api", "eu-central-1").add_auth(request)
print(request.headers["Authorization"])
"""


class FixedInputs(ServerTestCase):
    """`sign --at --random` gives the same bytes each time."""

    NONCE = ["--set", "message={method}{timestamp}{nonce}"]

    def sign(self, *words, code=0):
        outcome = self.run_host("sign", *self.credentials(), *words, self.url("/a"))
        self.expect(outcome, code)
        return outcome.out if code == 0 else outcome.err

    def test_twice(self):
        fixed = ["--at", "2026-01-31T12:00:00Z", "--random", "0f" * 32, *self.NONCE]
        self.assertEqual(self.sign(*fixed), self.sign(*fixed))
        self.assertIn(b"\r\nX-Timestamp: 1769860800\r\n", self.sign(*fixed))
        self.assertNotEqual(self.sign(*fixed), self.sign(*fixed[:-2], *self.NONCE, "--random", "10" * 32))
        self.assertNotEqual(self.sign(*self.NONCE), self.sign(*self.NONCE))

    @cases({
        "seconds": "1769860800",
        "fraction": "1769860800.999",
        "zone": "2026-01-31T13:00:00+01:00",
        "lower_case": "2026-01-31t12:00:00.5z",
    })
    def test_forms_of_a_time(self, time):
        self.assertIn(b"\r\nX-Timestamp: 1769860800\r\n", self.sign("--at", time))

    @cases({
        "word": "noon", "no_zone": "2026-01-31T12:00:00", "month": "2026-13-01T00:00:00Z", "negative": "-1", "too_far": "9999999999999",
        "late": "9999-01-01T00:00:00Z", "only_point": "1.", "before": "1969-12-31T23:59:59Z",
    })
    def test_no_time(self, time):
        self.assertIn("is not a time", self.sign("--at", time, code=2))

    def test_pattern_of_random_bytes(self):
        whole, short = (self.sign("--at", "1", *self.NONCE, "--random", text) for text in ("0a1b" * 16, "0a1b..."))
        self.assertEqual(whole, short)

    @cases({"short": "0a", "odd": "0a1...", "no_digits": "xy...", "long": "00" * 33, "empty": "...", "whole_pattern": "00" * 32 + "..."})
    def test_no_random_bytes(self, text):
        self.assertIn("--random needs 64 hexadecimal digits", self.sign("--random", text, code=2))

    def test_as_botocore_signs(self):
        plugin = shared_folder() / "libsigv4.so"
        probes = ROOT / "Tests/NevodHostTests/Probes"
        compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", probes / "sigv4.c", "-lcrypto", "-o", plugin])
        settings = [word for name, value in AWS.items() for word in ("--set", f"{name}={value}")]
        url = "https://api.example.com/a%20b/c?z=1&a=%7e"
        outcome = self.run_host(
            "sign", "-p", plugin, *settings, "--set", "secret-key=env:NEVOD_TEST_SECRET", "--at", "2026-01-31T12:00:00Z", "-d", "a=b", url)
        self.expect(outcome, 0)
        lines = outcome.out.split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        # The request's own lines, except the ones that botocore adds itself.
        others = [line for line in lines if line.split(":")[0] in ("Accept", "Content-Length")]
        peers = pathlib.Path(os.environ.get("NEVOD_PEERS", ROOT / ".build/peers"))
        judged = subprocess.run(
            ["/usr/bin/python3", "-c", BOTOCORE, url, *others], input=SECRET.encode(), capture_output=True, timeout=PATIENCE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(peers)})
        self.assertEqual(judged.returncode, 0, judged.stderr.decode())
        signed = next(line for line in lines if line.startswith("Authorization: "))
        self.assertEqual(signed, f"Authorization: {judged.stdout.decode().strip()}")


class ExplainedSignatures(TestCase):
    """`sign --explain --nonce` sets a scheme's settings of these names, and shows the steps that the scheme logs."""

    URL = "https://api.example.com/a"
    DECLARED = ", ".join(
        f"&(const nevod_setting){{.struct_size = sizeof(nevod_setting), .kind = NEVOD_SETTING_{kind}, "
        f'.name = NEVOD_BYTES("{name}")}}'
        for kind, name in (("BOOLEAN", "explain"), ("TEXT", "nonce"), ("TEXT", "word")))
    # Logs the names and values of its settings on creation, and its steps when it signs.
    CREATE = (
        '*out = (void *)host; host->log(host->host, NEVOD_LOG_INFO, TEXT("made")); for (uint32_t i = 0; i < value_count; i++) '
        "host->log(host->host, NEVOD_LOG_WARNING, values[i].name), host->log(host->host, NEVOD_LOG_WARNING, values[i].value)")
    AUTHORIZE = (
        "const nevod_host *host = instance; "
        r'host->log(host->host, NEVOD_LOG_INFO, TEXT("text: GET\n\x1b[2J\xff \xc3\xa4")); '
        'host->log(host->host, NEVOD_LOG_DEBUG, TEXT("other")); '
        'host->log(host->host, NEVOD_LOG_INFO, TEXT("Authorization: Bearer abcdefghijklmnop"))')
    STEPS = ["text: GET\\u{a}\\u{1b}[2J\\xff ä", "Authorization: Bearer abcdefghijklmnop"]

    def plugin(self, settings=DECLARED):
        return compile_plugin(self.folder / "libSteps.so", SETTINGS=settings, CREATE=self.CREATE, AUTHORIZE=self.AUTHORIZE)

    def sign(self, *words, **options):
        return self.run_host("sign", "--plugin", self.plugin(), *words, self.URL, **options)

    @cases({"alone": ((), ()), "verbose": (("-v",), ("* Test: info: made",))})
    def test_steps_are_shown_as_they_are(self, words, others):
        outcome = self.sign("--explain", *words)
        self.expect(outcome, 0)
        lines = [line for line in outcome.err.splitlines() if not line.startswith("* plugin")]
        self.assertEqual(
            lines, [*others, "nevod-host: warning: Test: explain", "nevod-host: warning: Test: true", *self.STEPS])
        self.assertTrue(outcome.out.startswith(b"GET /a HTTP/1.1\r\n"), outcome)

    def test_steps_with_fixed_inputs(self):
        outcome = self.sign("--explain", "--at", "1", "--random", "00...")
        self.expect(outcome, 0)
        self.assertEqual(outcome.err.splitlines()[2:], self.STEPS)

    def test_no_steps_without_the_flag(self):
        outcome = self.sign("--set", "explain=true")
        self.expect(outcome, 0)
        self.assertNotIn("GET", outcome.err)

    def test_silent(self):
        outcome = self.sign("-s", "--explain")
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")

    @cases({"text": "abc", "like_a_source": "env:HOME", "hyphen": "-"})
    def test_nonce(self, value):
        """It replaces the setting's other value, and is never read as the name of a source."""
        outcome = self.sign("--nonce", value, "--set", "nonce=other", "--set", "word=w")
        self.expect(outcome, 0)
        given = [line.removeprefix("nevod-host: warning: Test: ") for line in outcome.err.splitlines()]
        self.assertEqual(given, ["word", "w", "nonce", value])

    @cases({
        "explain": (("--explain",), 'the scheme "test" explains nothing: it has no setting "explain"; leave out --explain'),
        "nonce": (("--nonce", "a"), 'the scheme "test" takes no nonce: it has no setting "nonce"; leave out --nonce'),
    })
    def test_scheme_without_the_setting(self, words, problem):
        """A setting of the same name but another kind means something else."""
        for settings in ("&setting", self.DECLARED.replace("BOOLEAN", "CHOICE").replace("_TEXT", "_INTEGER").replace(
                '("explain")', '("explain"), .choices = &(const nevod_bytes){(const uint8_t *)"true", 4}, .choice_count = 1')):
            plugin = self.plugin(settings)
            self.expect_failure(self.run_host("sign", "--plugin", plugin, *words, self.URL), 2, problem)

    @cases({"explain": ("--explain",), "nonce": ("--nonce", "a")})
    def test_only_for_sign(self, *words):
        self.expect_failure(self.run_host(*words, "--plugin", self.plugin(), self.URL), 2, words[0])
        self.expect_failure(self.run_host("sign", *words, self.URL), 2, f"{words[0]} needs a --plugin")

    @cases({"explain": "explain", "nonce": "nonce = a"})
    def test_no_line_of_a_profile(self, line):
        (self.folder / "nevod").mkdir(mode=0o700)
        self.file("nevod/config", f"[p]\nplugin = {self.plugin()}\n{line}\n")
        outcome = self.run_host("sign", "--profile", "p", self.URL, env={"XDG_CONFIG_HOME": str(self.folder)})
        self.expect_failure(outcome, 2, "config:3: ", line.split()[0])


class PrivateGroups(TestCase):
    """A umask of 002 makes files writable for the user's private group, which gives no other user any rights."""

    USER, OTHER = "nevodwriter", "nevodother"

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make users")
        for name in (cls.USER, cls.OTHER):
            cls.run_as_root("useradd", "--user-group", "--no-create-home", name)
            cls.addClassCleanup(cls.run_as_root, "userdel", name)

    @staticmethod
    def run_as_root(*words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stderr}")

    def setUp(self):
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        (self.home / ".config/nevod").mkdir(parents=True)
        self.plugin = compile_plugin(self.home / "libown.so")
        self.config = self.home / ".config/nevod/config"
        self.config.write_text(f"[work]\nplugin = {self.plugin}\nurl = http://127.0.0.1:{self.closed_port()}\n")
        self.host = self.folder / "nevod-host"
        shutil.copy(HOST, self.host)

    def give(self, user, group):
        """Gives all files to a user, with the modes that a umask of 002 makes."""
        for path in [self.home, *self.home.rglob("*")]:
            shutil.chown(path, user, group)
            path.chmod(0o775 if path.is_dir() else 0o664)

    def run_as_user(self, *words, around=()):
        done = subprocess.run(
            [*around, "setpriv", f"--reuid={self.USER}", f"--regid={self.USER}", "--clear-groups", self.host, *words],
            env=environment(HOME=str(self.home)), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stderr

    def test_own_group(self):
        self.give(self.USER, self.USER)
        code, err = self.run_as_user("inspect", self.plugin)
        self.assertEqual(code, 0, err)
        code, err = self.run_as_user("--profile", "work", "/")
        self.assertEqual(code, 7, err)

    def expect_refused(self, problem="is writable by its group"):
        code, err = self.run_as_user("inspect", self.plugin)
        self.assertEqual(code, 110, err)
        self.assertIn(problem, err)
        code, err = self.run_as_user("--profile", "work", "/")
        self.assertEqual(code, 2, err)
        self.assertIn("others may write", err)

    def test_group_with_another_member(self):
        self.run_as_root("gpasswd", "--add", self.OTHER, self.USER)
        self.addCleanup(self.run_as_root, "gpasswd", "--delete", self.OTHER, self.USER)
        self.give(self.USER, self.USER)
        self.expect_refused()

    def test_group_that_is_anothers_primary(self):
        self.run_as_root("usermod", "--gid", self.USER, self.OTHER)
        self.addCleanup(self.run_as_root, "usermod", "--gid", self.OTHER, self.OTHER)
        self.give(self.USER, self.USER)
        self.expect_refused()

    def test_other_group(self):
        for group in ("users", self.OTHER, "root"):
            with self.subTest(group):
                self.give(self.USER, group)
                self.expect_refused()

    def test_access_list(self):
        """With an access list, the group's bits are the list's mask, so another user may have write access."""
        other = pwd.getpwnam(self.OTHER).pw_uid
        entries = [(1, 7, -1), (2, 7, other), (4, 7, -1), (16, 7, -1), (32, 5, -1)]
        content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry[:2], entry[2] & 0xFFFFFFFF) for entry in entries)
        for paths in ([self.plugin, self.config], [self.plugin.parent, self.config.parent]):
            with self.subTest(paths):
                self.give(self.USER, self.USER)
                for path in paths:
                    os.setxattr(path, "system.posix_acl_access", content)
                    self.assertEqual(path.stat().st_mode & 0o070, 0o070)
                self.expect_refused("is writable by others, by an access control list")
                for path in paths:
                    os.removexattr(path, "system.posix_acl_access")

    def test_list_of_users_that_can_not_be_read(self):
        """The unread rest may have another user with the same primary group."""
        self.give(self.USER, self.USER)
        users = self.folder / "passwd"
        users.write_text(pathlib.Path("/etc/passwd").read_text() + f"long:x:54321:54321:{70_000 * 'x'}:/:/bin/false\n")
        users.chmod(0o644)
        around = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', users]
        code, err = self.run_as_user("inspect", self.plugin, around=around)
        self.assertEqual(code, 110, err)
        self.assertIn("is writable by its group", err)

    def test_everyone(self):
        self.give(self.USER, self.USER)
        self.plugin.chmod(0o666)
        code, err = self.run_as_user("inspect", self.plugin)
        self.assertEqual(code, 110, err)
        self.assertIn("is writable by everyone", err)


class Debuggable(TestCase):
    """The protection of the process's memory can be turned off, but not by accident when a store is used."""

    # Root may read any memory, so both processes give up root's rights.
    DROP = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []

    def command(self, *words):
        return [*self.DROP, *super().command(*words)]

    def state(self, *words, env=None):
        """Returns the owner of the process's memory and its limit of core files, while it waits for a response."""
        arrived = threading.Event()

        def respond(seen):
            arrived.set()
            server.stopped.wait(PATIENCE)
            return reply()

        with RecordingServer(respond) as server, self.running(*words, f"{server.http}/", env=env) as process:
            wait_until(lambda: arrived.is_set() or process.poll() is not None, "the request")
            self.assertIsNone(process.poll())
            limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
            return self.is_dumpable(process.pid), self.core_limits(limits)

    @staticmethod
    def core_limits(text):
        return re.search(r"^Max core file size +(\w+ +\w+) ", text, re.M)[1].split()

    def is_dumpable(self, pid):
        """Whether another process of the same user may read the memory."""
        code = f"import os\ntry: os.close(os.open('/proc/{pid}/mem', os.O_RDONLY)); print('open')\nexcept PermissionError: print('closed')"
        done = subprocess.run([*self.DROP, sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
        return {"open\n": True, "closed\n": False}[done.stdout]

    def test_closed_without_the_flag(self):
        self.assertEqual(self.state(), (False, ["0", "0"]))

    def test_closed_if_the_flag_is_a_value(self):
        self.assertEqual(self.state("-H", "X: 1", "--request", "--debuggable")[0], False)

    def test_open_with_the_flag(self):
        dumpable, cores = self.state("--debuggable")
        self.assertTrue(dumpable)
        self.assertEqual(cores, self.core_limits(pathlib.Path("/proc/self/limits").read_text()))

    def test_a_store_is_protected(self):
        store = self.folder / "sessions.db"
        words = ["-p", login_plugin(), "--set", "server=http://127.0.0.1:1", "--store", store]
        outcome = self.run_host("--debuggable", *words, f"http://127.0.0.1:{self.closed_port()}/")
        self.assertNotIn("--debuggable", outcome.err)
        store.write_bytes(b"")
        for more, is_refused in ((["--debuggable"], True), (["--debuggable"] * 2, False), (["--debuggable", "--no-store"], False)):
            with self.subTest(more):
                outcome = self.run_host(*more, *words, f"http://127.0.0.1:{self.closed_port()}/")
                self.assertEqual("give it twice" in outcome.err, is_refused, outcome)
                self.assertEqual(outcome.code == 2, is_refused, outcome)
        self.expect_failure(self.run_host("sessions", "--debuggable", "--store", store), 2, "give it twice")
        outcome = self.run_host("replay", "--debuggable", "/nonexistent", "-p", login_plugin(), env={"NEVOD_HOST_STORE": str(store)})
        self.expect_failure(outcome, 26, "/nonexistent")

    def test_not_in_a_profile(self):
        (self.folder / "nevod").mkdir(mode=0o700)
        (self.folder / "nevod/config").write_text("[work]\nurl = http://127.0.0.1:1\ndebuggable\n")
        outcome = self.run_host("--profile", "work", "/", env={"XDG_CONFIG_HOME": str(self.folder)})
        self.expect_failure(outcome, 2, "debuggable")
