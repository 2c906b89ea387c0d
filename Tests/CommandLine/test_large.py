"""1 GiB each way, with flat memory and without loss."""

import functools
import os
import pathlib
import re
import threading

from support import API_KEY, PATIENCE, SocketServer, TestCase, shared_folder, swift_plugin

SIZE = 1 << 30
MORE = 32 << 20  # bytes of memory that a large transfer may use in addition to an empty one's
SECONDS = 10  # processor seconds, which don't depend on other load


@functools.cache
def sparse_file():
    """Zeros, with a mark at the beginning and at the end."""
    path = shared_folder() / "sparse"
    with open(path, "wb") as file:
        file.truncate(SIZE)
        file.write(b"first")
        file.seek(SIZE - 4)
        file.write(b"last")
    path.chmod(0o600)
    return path


class LargeServer(SocketServer):
    """Sends the file, or N bytes for `/N`. Counts the bytes of uploads, and keeps their beginnings and ends."""

    def __init__(self):
        super().__init__()
        self.uploads = []

    def converse(self, connection):
        with connection.makefile("rb", buffering=1 << 20) as stream:
            head = b""
            while line := stream.readline():
                head += line
                if line == b"\r\n":
                    break
            method, target, _ = head.decode("latin-1").split(" ", 2)
            if method == "GET":
                self.send(connection, int(target[1:]))
                return
            length = re.search(rb"\r\nContent-Length: (\d+)\r\n", head)
            pieces = self.by_length(stream, int(length[1])) if length else self.chunks(stream)
            count, first, last = 0, b"", b""
            for piece in pieces:
                count += len(piece)
                first = first or bytes(piece[:64])
                last = (last + bytes(piece[-64:]))[-64:]
            self.uploads.append((head, count, first, last))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def send(self, connection, count):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % count)
        with open(sparse_file(), "rb") as file:
            connection.sendfile(file, 0, count) if count else None

    def by_length(self, stream, count):
        buffer = memoryview(bytearray(1 << 20))
        while count > 0:
            got = stream.readinto1(buffer[: min(count, len(buffer))])
            if got == 0:
                raise ConnectionError
            count -= got
            yield buffer[:got]

    def chunks(self, stream):
        while size := int(stream.readline(100), 16):
            yield from self.by_length(stream, size)
            stream.readline(100)


class Large(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(LargeServer())
        sparse_file()

    def setUp(self):
        self.server.uploads.clear()
        _, self.empty = self.run_measured("-o", "/dev/null", self.server.http + "/0")

    def expect_flat(self, outcome, peak):
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "")
        self.assertLess(outcome.processor_seconds, SECONDS)
        self.assertLess(peak - self.empty, MORE, f"{peak >> 20} MiB, and {self.empty >> 20} MiB for an empty response")

    def test_down_to_nowhere(self):
        self.expect_flat(*self.run_measured("-o", "/dev/null", f"{self.server.http}/{SIZE}"))

    def test_down_to_standard_output(self):
        count = [0]
        reading, writing = os.pipe()

        def drain():
            while piece := os.read(reading, 1 << 20):
                count[0] += len(piece)

        reader = threading.Thread(target=drain, daemon=True)
        reader.start()
        try:
            measured = self.run_measured(f"{self.server.http}/{SIZE}", stdout=writing)
        finally:
            os.close(writing)
            reader.join(PATIENCE)
            os.close(reading)
        self.expect_flat(*measured)
        self.assertEqual(count[0], SIZE)

    def expect_uploaded(self, count=SIZE, first=b"first", last=b"last"):
        ((head, got, beginning, end),) = self.server.uploads
        self.assertEqual(got, count)
        self.assertIn(first, beginning + head)
        self.assertIn(last, end)
        return head.decode("latin-1")

    def test_up(self):
        # As with curl, the file's name is appended after the slash.
        self.expect_flat(*self.run_measured("-T", sparse_file(), f"{self.server.http}/"))
        self.assertTrue(self.expect_uploaded().startswith(f"PUT /{pathlib.Path(sparse_file()).name} "))

    def test_up_signed(self):
        """The file is read twice: for its digest and for the upload."""
        credentials = ["--plugin", swift_plugin(), "--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET"]
        self.expect_flat(*self.run_measured(*credentials, "-T", sparse_file(), self.server.http + "/a"))
        head = self.expect_uploaded()
        sent = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        self.assertRegex(sent["X-Signature"], "^[0-9a-f]{64}$")

    def test_up_from_standard_input(self):
        with open(sparse_file(), "rb") as file:
            self.expect_flat(*self.run_measured("-T", "-", self.server.http, stdin=file))
        self.assertIn("Transfer-Encoding: chunked\r\n", self.expect_uploaded())

    def test_up_in_a_form(self):
        self.expect_flat(*self.run_measured("-F", "a=b", "-F", f"file=@{sparse_file()}", self.server.http))
        ((head, count, _, end),) = self.server.uploads
        length = int(re.search(rb"\r\nContent-Length: (\d+)\r\n", head)[1])
        self.assertEqual(count, length)
        self.assertLess(SIZE, count)
        self.assertLess(count, SIZE + 1000)
        self.assertTrue(end.endswith(b"--\r\n"))
