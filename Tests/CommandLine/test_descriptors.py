"""The command started without standard input, output or error: nothing is written into a file or socket that took the number."""

import itertools
import os
import subprocess

from support import PATIENCE, HOST, Outcome, ServerTestCase, cases, environment, streamed

CLOSED = {
    "_".join({0: "input", 1: "output", 2: "error"}[number] for number in numbers): numbers
    for count in (1, 2, 3) for numbers in itertools.combinations(range(3), count)
}


class Descriptors(ServerTestCase):
    def run_without(self, closed, *words):
        """Runs the command; its outcome has what it wrote to the descriptors that were open."""

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
        """With /dev/null in its place, it could be opened, and the body would be lost."""
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
