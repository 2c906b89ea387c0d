"""The command started without standard input, output or error. Nothing may be written to a file or socket that got the
descriptor's number."""

import itertools
import os
import subprocess

from support import PATIENCE, HOST, Outcome, RecordingServer, ServerTestCase, cases, environment, login_plugin, reply, streamed, swift_plugin

CLOSED = {
    "_".join({0: "input", 1: "output", 2: "error"}[number] for number in numbers): numbers
    for count in (1, 2, 3) for numbers in itertools.combinations(range(3), count)
}


class Descriptors(ServerTestCase):
    def run_without(self, closed, *words):
        """Runs the command. Its outcome has what it wrote to the open descriptors."""

        def close():
            for number in closed:
                os.close(number)

        command = [str(HOST), *map(str, words)]
        done = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
            start_new_session=True, timeout=PATIENCE, preexec_fn=close)
        return Outcome(command, done.returncode, done.stdout, done.stderr)

    def expect_body_or_refusal(self, outcome, closed, body):
        if 1 in closed:
            self.assertEqual(outcome.code, 23, outcome)
            refusal = "" if 2 in closed else "nevod-host: can't write to standard output: Bad file descriptor\n"
            self.assertEqual((outcome.out, outcome.err), (b"", refusal), outcome)
        else:
            self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
            self.assertEqual(outcome.out, body)

    @cases({f"{name}_{size}": (closed, size) for name, closed in CLOSED.items() for size in (3, 3 << 20)})
    def test_body(self, closed, size):
        self.expect_body_or_refusal(self.run_without(closed, self.url(f"/stream?bytes={size}")), closed, streamed(size))

    @cases({f"{name}_{size}": (closed, size) for name, closed in CLOSED.items() for size in (3, 3 << 20)})
    def test_file(self, closed, size):
        path = self.folder / "file"
        outcome = self.run_without(closed, "-o", path, self.url(f"/stream?bytes={size}"))
        self.assertEqual((outcome.code, outcome.out, outcome.err), (0, b"", ""), outcome)
        self.assertEqual(path.read_bytes(), streamed(size))

    @cases(CLOSED)
    def test_with_a_plugin_and_the_conversation(self, *closed):
        words = ["-v", *self.credentials(), "-d", "x", self.url("/a")]
        outcome = self.run_without(closed, *words)
        self.assertEqual(outcome.code, 23 if 1 in closed else 0, outcome)
        self.assertEqual(self.the_request()["verified"], True)
        self.assertEqual("> POST /a" in outcome.err, 2 not in closed, outcome)

    @cases({"path": "/dev/stdout", "number": "/dev/fd/1"})
    def test_output_by_its_name(self, name):
        """If /dev/null took its place, it could be opened, and the body would be lost."""
        outcome = self.run_without((1,), "-o", name, self.url("/stream?bytes=3"))
        self.assertEqual((outcome.code, outcome.out), (23, b""), outcome)

    @cases({"dash": "@-", "path": "@/dev/stdin"})
    def test_input_that_is_needed(self, source):
        outcome = self.run_without((0,), "--data-binary", source, self.url("/echo"))
        self.assertEqual((outcome.code, outcome.out), (26, b""), outcome)
        self.expect_nothing_sent()

    @cases({
        "help": ("--help",), "version": ("--version",), "manual": ("manual",), "completions": ("completions", "bash"),
        "inspect": ("inspect", "HMACAuth"),
    })
    def test_other_commands(self, *words):
        outcome = self.run_without((1,), *words)
        self.assertEqual((outcome.code, outcome.out), (23, b""), outcome)
        self.assertIn("can't write to standard output", outcome.err)

    COMMANDS = ("request", "login", "sign", "sessions", "sessions_show", "inspect", "store")

    @cases({f"{command}_without_{name}": (command, numbers) for command in COMMANDS for name, numbers in {"nothing": (), **CLOSED}.items()})
    def test_each_command(self, command, closed):
        """Output that can't be written is an error, and isn't written anywhere else."""
        with RecordingServer(lambda seen: reply(body=b"hello")) as server:
            store = ["--store", self.folder / "store", "--store-key", f"file:{self.folder / 'key'}"]
            scheme = ["--plugin", login_plugin(), "--set", "mode=token", *store]
            if command.startswith("sessions") or command == "store":
                self.expect(self.run_host("login", *scheme), 0)
            words, text = {
                "request": ([*self.credentials(), server.http + "/a"], b"hello"),
                "login": (["login", *scheme], b"logged in"),
                "sign": (["sign", *self.credentials(), server.http + "/a"], b"GET /a HTTP/1.1\r\n"),
                "sessions": (["sessions", *store], b"SCHEME"),
                "sessions_show": (["sessions", "show", "1", *store], b"Login"),
                "inspect": (["inspect", swift_plugin()], b"scheme hmac"),
                "store": (["store", "verify", *store], b"intact"),
            }[command]
            outcome = self.run_without(closed, *words)
        self.assertEqual(outcome.code, 23 if 1 in closed else 0, outcome)
        self.assertEqual(text in outcome.out, 1 not in closed, outcome)
        refusal = "can't write to standard output: Bad file descriptor"
        self.assertEqual(refusal in outcome.err, 1 in closed and 2 not in closed, outcome)
        # Our text is in neither the store nor its key.
        for path in self.folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertFalse(any(piece in content for piece in (b"nevod-host: ", b"logged in", b"Bad file")), path)

    @cases({f"{name}_{what}": (numbers, what) for name, numbers in CLOSED.items() for what in ("head", "dump", "refusal")})
    def test_what_scripts_ask_for(self, closed, what):
        with RecordingServer(lambda seen: reply("401 Unauthorized", body=b"no")) as server:
            path = self.folder / "heads"
            words = {"head": ["-i"], "dump": ["-D", path, "-o", "/dev/null"], "refusal": ["-f"]}[what]
            outcome = self.run_without(closed, *words, *self.credentials(), server.http + "/a")
        expected = 119 if what == "refusal" else 23 if what == "head" and 1 in closed else 0
        self.assertEqual(outcome.code, expected, outcome)
        if what == "dump":
            self.assertTrue(path.read_bytes().startswith(b"HTTP/1.1 401 Unauthorized\r\n"))
        if what == "refusal":
            self.assertEqual("refused the credential" in outcome.err, 2 not in closed, outcome)

    @cases({"request": "request", "sessions": "sessions", "inspect": "inspect", "heads": "heads", "help": "help"})
    def test_full_disk(self, command):
        words = {
            "request": [self.url("/stream?bytes=3")], "sessions": ["sessions", "--store", self.folder / "store"],
            "inspect": ["inspect", swift_plugin()], "heads": ["-D", "-", self.url("/status/204")], "help": ["--help"],
        }[command]
        with open("/dev/full", "wb") as full:
            outcome = self.run_host(*words, stdout=full)
        self.expect(outcome, 23, "can't write to standard output: No space left on device")

    @cases({"request": "/stream?bytes=3000000", "heads": "/status/200"})
    def test_closed_pipe(self, target):
        """If the reader has gone, nothing is reported."""
        read, write = os.pipe()
        os.close(read)
        try:
            outcome = self.run_host("-i", self.url(target), stdout=write)
        finally:
            os.close(write)
        self.assertEqual((outcome.code, outcome.err), (23, ""), outcome)
