"""Several requests in one command: groups, parallel requests, files of flags, and the files to which bodies are written."""

import os
import signal
import subprocess
import threading


from support import (
    PATIENCE, SECRET, RecordingServer, SocketServer, TestCase, cases, login_plugin, reply,
    wait_until)


def echo(seen):
    return reply(body=seen.target.encode() + b"\n")


class Several(TestCase):
    def setUp(self):
        self.server = self.enterContext(RecordingServer(echo))

    def url(self, path):
        return self.server.http + path

    def targets(self):
        return [seen.target for seen in self.server.requests]

    def test_in_order_on_one_connection(self):
        outcome = self.run_host(*[self.url(f"/{n}") for n in range(20)])
        self.expect(outcome, 0)
        self.assertEqual(outcome.out.decode().split(), [f"/{n}" for n in range(20)])
        self.assertEqual(len(self.server.connections), 1)

    def test_a_group_has_flags_of_its_own(self):
        self.expect(self.run_host("-H", "X-A: 1", self.url("/a"), "--next", self.url("/b")), 0)
        self.assertEqual([seen.values("X-A") for seen in self.server.requests], [["1"], []])

    def test_verbose_holds_for_all_groups(self):
        outcome = self.run_host(self.url("/a"), "--next", "-v", self.url("/b"))
        self.expect(outcome, 0, "> GET /a", "> GET /b")

    def test_connections_of_groups_differ(self):
        outcome = self.run_host("-x", f"http://127.0.0.1:{self.closed_port()}", self.url("/a"), "--next", self.url("/b"))
        self.expect(outcome, 7)
        self.assertEqual((outcome.out, self.targets()), (b"/b\n", ["/b"]))

    def test_the_last_failure_decides(self):
        closed = f"http://127.0.0.1:{self.closed_port()}/"
        outcome = self.run_host(closed, self.url("/a"))
        self.expect(outcome, 7, "no connection")
        self.assertEqual(outcome.out, b"/a\n")

    def test_fail_early(self):
        self.expect(self.run_host("--fail-early", f"http://127.0.0.1:{self.closed_port()}/", self.url("/a")), 7)
        self.assertEqual(self.targets(), [])

    @cases({
        "output_without_url": (["-o", "a", "-o", "b", "URL"], "-o and -O are given 2 times, but there is 1 URL"),
        "upload_without_url": (["-T", "a", "-T", "b", "URL"], "-T are given 2 times"),
        "next_first": (["--next", "URL"], "--next needs a URL before it"),
        "next_last": (["URL", "--next"], "--next needs a URL after it"),
        "only_next_has_a_url": (["-d", "x", "--next", "URL"], "--next needs a URL before it"),
        "parallel_max": (["-Z", "--parallel-max", "0", "URL", "URL"], "--parallel-max 0 is not a number from 1 to 300"),
        "pattern": (["-o", "f#1", "URL"], "#1 would be a part of a URL pattern"),
        "standard_input_twice": (["-d", "@-", "URL", "--next", "-d", "@-", "URL"], "standard input can be read only once"),
        "range_and_continue": (["-r", "1-", "-C", "1", "URL"], "-C and --range can't be combined"),
        "offset": (["-C", "x", "URL"], "-C x is not a number of bytes"),
    })
    def test_refused_before_anything_is_sent(self, words, message):
        self.expect_failure(self.run_host(*[self.url("/") if word == "URL" else word for word in words], stdin=b""), 2, message)
        self.assertEqual(self.targets(), [])

    def test_a_closed_reader_ends_them_all(self):
        read, write = os.pipe()
        os.close(read)
        outcome = self.run_host(self.url("/a"), self.url("/b"), self.url("/c"), stdout=write)
        os.close(write)
        self.expect(outcome, 23)
        self.assertEqual(self.targets(), ["/a"])

    def test_one_password_for_all(self):
        words = [self.url("/a"), self.url("/b"), "--next", self.url("/c"), "-u", "-"]
        self.expect(self.run_host("-u", "env:BOTH", *words[:2], env={"BOTH": f"ada:{SECRET}"}), 0)
        self.assertEqual(len({seen.values("Authorization")[0] for seen in self.server.requests}), 1)
        self.server.requests.clear()
        self.expect(self.run_host("-u", "-", *words[:2], stdin=f"ada:{SECRET}".encode()), 0)
        self.assertEqual(len({seen.values("Authorization")[0] for seen in self.server.requests}), 1)


class Parallel(TestCase):
    def test_all_at_once_and_bodies_in_the_order_of_the_urls(self):
        """The server waits until it has all requests, and then responds in the opposite order."""
        count, body = 12, 200_000
        barrier = threading.Barrier(count)
        turns = [threading.Event() for _ in range(count + 1)]
        turns[count].set()

        def respond(seen):
            number = int(seen.path[1:])
            barrier.wait(PATIENCE)
            turns[number + 1].wait(PATIENCE)
            turns[number].set()
            return reply(body=bytes([65 + number]) * body)

        with RecordingServer(respond) as server:
            outcome = self.run_host("-Z", *[f"{server.http}/{n}" for n in range(count)])
        self.expect(outcome, 0)
        self.assertEqual(outcome.out, b"".join(bytes([65 + n]) * body for n in range(count)))

    def test_the_limit(self):
        lock, now, most = threading.Lock(), [0], [0]
        gate = threading.Barrier(3)

        def respond(seen):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            gate.wait(PATIENCE)  # three in parallel, or it never opens
            with lock:
                now[0] -= 1
            return reply(body=b"x")

        with RecordingServer(respond) as server:
            outcome = self.run_host("-Z", "--parallel-max", "3", *[f"{server.http}/{n}" for n in range(9)])
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, most[0]), (b"x" * 9, 3))

    def test_a_failure_does_not_hold_up_the_others(self):
        with RecordingServer(echo) as server:
            outcome = self.run_host("-Z", f"{server.http}/a", f"http://127.0.0.1:{self.closed_port()}/", f"{server.http}/b")
        self.expect(outcome, 7)
        self.assertEqual(outcome.out, b"/a\n/b\n")

    def test_an_interrupted_command_leaves_no_file(self):
        asked = threading.Semaphore(0)
        stop = threading.Event()

        def converse(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            asked.release()
            stop.wait(PATIENCE)

        with SocketServer(converse) as server:
            words = [word for n in range(3) for word in ("-o", f"f{n}", f"{server.http}/{n}")]
            with self.running("-Z", *words, cwd=self.folder) as process:
                for _ in range(3):
                    self.assertTrue(asked.acquire(timeout=PATIENCE))
                wait_until(lambda: len(list(self.folder.iterdir())) == 3, "three files in progress")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)
            stop.set()
        self.assertEqual(list(self.folder.iterdir()), [])


class OneLogin(TestCase):
    """An --answer serves one question, so a second login would fail."""

    ANSWERS = ["--answer", "user=me", "--answer", "password=env:NEVOD_TEST_SECRET", "--answer", "method=2", "--answer", "code=1"]

    def login(self, *words):
        with RecordingServer(echo) as server:
            plugin = ["--no-store", "--plugin", login_plugin(), "--set", "mode=all", *self.ANSWERS]
            outcome = self.run_host(*[
                word for given in words for word in (plugin if given == "PLUGIN" else [given.replace("URL", server.http)])])
        self.expect(outcome, 0)
        self.assertEqual(outcome.err.count("logging in"), 1, outcome)
        return [seen.values("X-Token") for seen in server.requests]

    def test_of_one_after_another(self):
        self.assertEqual(self.login("PLUGIN", "URL/a", "URL/b", "URL/c"), [[f"1,app,{SECRET},me"]] * 3)

    def test_of_all_at_once(self):
        self.assertEqual(self.login("PLUGIN", "-Z", *[f"URL/{n}" for n in range(20)]), [[f"1,app,{SECRET},me"]] * 20)

    def test_of_groups(self):
        tokens = self.login("PLUGIN", "URL/a", "--next", "PLUGIN", "-d", "x", "URL/b", "--next", "URL/c")
        self.assertEqual(tokens, [[f"1,app,{SECRET},me"]] * 2 + [[]])


class FlagFiles(TestCase):
    def setUp(self):
        self.server = self.enterContext(RecordingServer(echo))

    def run_file(self, text, *words, mode=0o600, **options):
        path = self.file("flags", text.replace("URL", self.server.http), mode)
        return path, self.run_host("-K", path, *words, **options)

    def test_everything_in_one(self):
        _, outcome = self.run_file(
            '\ufeff# comment\n\n  url = "URL/a"\nheader: "X-A: \\"b\\"\\tc"\n-H "X-B: 1" # why\n-X PUT\n--data a=1\r\nnext\n'
            "url=URL/b\n")
        self.expect(outcome, 0)
        first, second = self.server.requests
        self.assertEqual((first.method, first.values("X-A"), first.values("X-B"), first.body), ("PUT", ['"b"\tc'], ["1"], b"a=1"))
        self.assertEqual((second.method, second.target), ("GET", "/b"))

    def test_a_password(self):
        _, outcome = self.run_file(f'user = "ada:{SECRET}"\nurl = URL/a\n', "-v")
        self.expect(outcome, 0)
        self.assertTrue(self.server.requests[0].values("Authorization"))
        self.assertNotIn(SECRET, outcome.err)
        self.assertNotIn("warning", outcome.err)

    def test_a_password_that_others_can_read(self):
        path, outcome = self.run_file(f'user = "ada:{SECRET}"\nurl = URL/a\n', mode=0o644)
        self.expect(outcome, 0, f"warning: {path} holds a secret, and other users can read it; chmod 600 it")

    def test_the_place_of_a_password_can_not_be_typed(self):
        path, _ = self.run_file(f'user = "ada:{SECRET}"\nurl = URL/a\n')
        outcome = self.run_host("-u", f"{path}:1 of -K", f"{self.server.http}/b")
        self.expect_failure(outcome, 2, "-u contains a password")

    @cases({
        "not_utf8": (b"url = \xff\n", "flags: it is not UTF-8"),
        "zero": (b"url = a\0b\n", "flags:1: it contains a zero byte"),
        "unclosed": (b'silent\nurl = "abc\\"\n', "flags:2: the value has no closing quote"),
        "behind": (b"url = a b\n", "flags:1: there is text after the value"),
        "unknown": (b"ulr = a\n", "flags:1: unknown option --ulr"),
        "no_value": (b"\n\nheader\n", "flags:3: --header needs a value"),
        "needless_value": (b"location = yes\n", "flags:1: location takes no value"),
        "nested": (b"config = other\n", "flags:1: --config belongs on the command line"),
        "debuggable": (b"debuggable\n", "flags:1: --debuggable belongs on the command line"),
        "not_a_name": (b"!s3cret\n", "flags:1: write a line as NAME = VALUE"),
        "no_name": (b"= 1\n", "flags:1: write a line as NAME = VALUE"),
        "long": (b"x" * 65 + b"\n", "flags:1: write a line as NAME = VALUE"),
    })
    def test_errors_name_file_and_line(self, text, message):
        path = self.file("flags", text)
        self.expect_failure(self.run_host("-K", path, self.server.http), 2, message)
        self.assertEqual(self.server.requests, [])

    def test_a_file_that_others_may_write(self):
        path, outcome = self.run_file("url = URL/a\n", mode=0o622)
        self.expect_failure(outcome, 2, f"{path}: others may write {path}; chmod go-w it")

    def test_too_large(self):
        _, outcome = self.run_file("# " + "x" * (1 << 20))
        self.expect_failure(outcome, 2, "it is larger than 1 MiB")

    def test_standard_input_and_a_pipe_of_the_shell(self):
        text = f"url = {self.server.http}/a\n".encode()
        self.expect(self.run_host("-K", "-", stdin=text), 0)
        read, write = os.pipe()
        os.write(write, text)
        os.close(write)
        self.addCleanup(os.close, read)
        self.expect(self.run_host("-K", f"/dev/fd/{read}", pass_fds=[read]), 0)
        self.assertEqual([seen.target for seen in self.server.requests], ["/a", "/a"])

    def test_curls_own_file_is_not_read(self):
        self.file(".curlrc", "header = X-A: 1\n")
        self.expect(self.run_host(f"{self.server.http}/a", env={"HOME": str(self.folder), "CURL_HOME": str(self.folder)}), 0)
        self.assertEqual(self.server.requests[0].values("X-A"), [])


BODY = bytes(range(65, 91)) * 10


class Files(TestCase):
    def respond(self, seen):
        if seen.path == "/named":
            return reply("200 OK", f"Content-Disposition: {self.disposition}", body=b"named")
        if seen.path == "/dated":
            return reply("200 OK", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", body=b"dated")
        if self.partial and seen.values("Range"):
            return reply("206 Partial Content", f"Content-Range: {self.partial}", body=BODY[100:])
        return reply(body=BODY)

    def setUp(self):
        self.disposition, self.partial = "attachment", ""
        self.server = self.enterContext(RecordingServer(self.respond))

    def run_here(self, *words):
        return self.run_host(*[word.replace("URL", self.server.http) for word in words], cwd=self.folder)

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    @cases({
        "plain": ("attachment; filename=report.txt", "report.txt"),
        "quoted": ('attachment; filename="a b;c.txt"', "a b;c.txt"),
        "escaped": (r'attachment; filename="a\"b.txt"', 'a"b.txt'),
        "extended": ("attachment; filename=x; filename*=UTF-8''na%C3%AFve.txt", "na\u00efve.txt"),
        "extended_first": ("attachment; filename*=utf-8'en'a.txt; filename=x", "a.txt"),
        "other_charset": ("attachment; filename*=ISO-8859-1''a%E9; filename=x", "x"),
        "climbs": ('attachment; filename="../../etc/passwd"', "passwd"),
        "climbs_encoded": ("attachment; filename*=UTF-8''..%2F..%2F.ssh%2Fauthorized_keys", "authorized_keys"),
        "absolute": ('attachment; filename="/tmp/x"', "x"),
        "of_windows": ('attachment; filename="C:\\\\temp\\\\x.txt"', "x.txt"),
        "hidden": ("attachment; filename=.bashrc", "bashrc"),
        "hidden_twice": ("attachment; filename=\". .bashrc\"", "bashrc"),
        "controls": ("attachment; filename*=UTF-8''a%1B%5B2Jb%0A%00", "a[2Jb"),
        "direction": ("attachment; filename*=UTF-8''a%E2%80%AEtxt.exe", "atxt.exe"),
        "only_dots": ('attachment; filename=".."', "named"),
        "only_slash": ('attachment; filename="a/"', "named"),
        "too_long": ("attachment; filename=" + "a" * 300, "named"),
        "not_utf8": ("attachment; filename*=UTF-8''%FF", "named"),
        "none": ("attachment", "named"),
        "unclosed": ('attachment; filename="abc', "abc"),
    })
    def test_the_servers_name(self, disposition, name):
        self.disposition = disposition
        self.expect(self.run_here("-OJ", "URL/named"), 0)
        self.assertEqual(self.files(), {name: b"named"})

    def test_the_servers_name_replaces_nothing(self):
        self.disposition = "attachment; filename=mine"
        self.file("mine", "mine")
        self.expect_failure(self.run_here("-OJ", "URL/named"), 23, "can't write to mine: File exists")
        os.remove(self.folder / "mine")
        os.symlink("nowhere", self.folder / "mine")
        self.expect_failure(self.run_here("-OJ", "URL/named"), 23, "can't write to mine: File exists")
        self.assertEqual(os.listdir(self.folder), ["mine"])

    @cases({"by_the_url": (["-O"], "-"), "by_the_server": (["-OJ"], "named"), "not_replacing": (["-O", "--no-clobber"], "-")})
    def test_a_file_named_dash(self, words, name):
        """Only -o - is standard output."""
        self.disposition = "attachment; filename=-"
        outcome = self.run_here(*words, f"URL/{name}")
        self.assertEqual((outcome.code, outcome.out), (0, b""), outcome)
        self.assertEqual(self.files(), {"-": b"named" if name == "named" else BODY})

    @cases({"folder": "URL/a/", "root": "URL/", "none": "URL", "dots": "URL/a/..", "query": "URL/?a/b"})
    def test_no_name_in_the_url(self, url):
        self.expect_failure(self.run_here("-O", url), 23, "-O finds no file name in")
        self.assertEqual(self.server.requests, [])

    def test_date(self):
        self.expect(self.run_here("-R", "-O", "URL/dated"), 0)
        self.assertEqual(int((self.folder / "dated").stat().st_mtime), 784111777)

    def test_no_clobber(self):
        for _ in range(3):
            self.expect(self.run_here("--no-clobber", "-O", "URL/dated"), 0)
        self.assertEqual(self.files(), {"dated": b"dated", "dated.1": b"dated", "dated.2": b"dated"})

    def test_continue(self):
        self.partial = "bytes 100-259/260"
        self.file("part", BODY[:100], 0o640)
        self.expect(self.run_here("-C", "-", "-o", "part", "URL/x"), 0)
        self.assertEqual(self.server.requests[0].values("Range"), ["bytes=100-"])
        self.assertEqual(self.files(), {"part": BODY})
        self.assertEqual((self.folder / "part").stat().st_mode & 0o777, 0o640)

    @cases({
        "whole": "", "other_start": "bytes 99-259/260", "other_unit": "lines 100-259/260", "no_number": "bytes x-", "signed": "bytes -1-2/3",
    })
    def test_continue_with_another_part(self, partial):
        """A part that doesn't fit is not appended."""
        self.partial = partial
        self.file("part", BODY[:100])
        self.expect_failure(self.run_here("-C", "-", "-o", "part", "URL/x"), 33, "is not the rest from byte 100 on")
        self.assertEqual(self.files(), {"part": BODY[:100]})

    def test_continue_what_is_complete(self):
        self.file("part", BODY)
        self.expect(self.run_here("-C", "-", "-o", "part", "URL/x"), 0)
        self.assertEqual(self.files(), {"part": BODY})

    def test_pieces_are_written_as_they_come(self):
        def converse(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
            seen.acquire(timeout=PATIENCE)
            connection.sendall(b"b")

        seen = threading.Semaphore(0)
        with SocketServer(converse) as server:
            with self.running("-N", server.http, stdout=subprocess.PIPE) as process:
                self.assertEqual(os.read(process.stdout.fileno(), 10), b"a")
                seen.release()
                self.assertEqual(os.read(process.stdout.fileno(), 10), b"b")
                self.assertEqual(process.wait(PATIENCE), 0)


