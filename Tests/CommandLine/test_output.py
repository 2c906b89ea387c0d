"""-o FILE: the file appears only when it is complete."""

import os
import pathlib
import signal
import stat
import tempfile
import unittest

from support import PATIENCE, CannedServer, ServerTestCase, canned, cases, streamed, wait_until


class OutputFile(ServerTestCase):
    def names(self):
        return sorted(os.listdir(self.folder))

    def test_complete(self):
        path = self.folder / "file"
        outcome = self.run_host("-o", path, self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"", ""))
        self.assertEqual(path.read_bytes(), streamed(300000))
        self.assertEqual(self.names(), ["file"])

    @cases({"022": (0o022, 0o644), "077": (0o077, 0o600), "002": (0o002, 0o664)})
    def test_mode_by_umask(self, mask, mode):
        path = self.folder / "file"
        self.expect(self.run_host("-o", path, self.url("/status/200"), umask=mask), 0)
        self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode)), oct(mode))

    def test_relative_path(self):
        self.expect(self.run_host("-ofile", self.url("/stream?bytes=3"), cwd=self.folder), 0)
        self.assertEqual((self.folder / "file").read_bytes(), b"\0\1\2")

    def test_replaces_a_file_and_keeps_its_mode(self):
        path = self.file("file", "old and much longer", mode=0o640)
        self.expect(self.run_host("-o", path, self.url("/stream?bytes=3")), 0)
        self.assertEqual((path.read_bytes(), oct(stat.S_IMODE(path.stat().st_mode))), (b"\0\1\2", oct(0o640)))
        self.assertEqual(self.names(), ["file"])

    def test_symbolic_link_stays(self):
        """Otherwise `-o /dev/stdout > file`, run by root, would replace /dev/stdout itself."""
        target = self.file("target", "old")
        link = self.folder / "link"
        link.symlink_to(target)
        self.expect(self.run_host("-o", link, self.url("/stream?bytes=3")), 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes(), b"\0\1\2")

    @cases({"to_nobody": 0o444, "to_nobody_at_all": 0o000})
    def test_read_only_file_stays(self, mode):
        """Even root is asked, although file modes don't restrict root."""
        path = self.file("file", "old", mode=mode)
        self.expect_failure(self.run_host("-o", path, self.url("/stream?bytes=3")), 23, str(path), "Permission denied")
        self.assertEqual((self.names(), oct(stat.S_IMODE(path.stat().st_mode))), (["file"], oct(mode)))
        path.chmod(0o600)
        self.assertEqual(path.read_bytes(), b"old")

    @cases({"long": "n" * 250, "longest": "n" * 255, "other_letters": "é" * 127})
    def test_long_name(self, name):
        for _ in range(2):  # a new file, and an existing one
            self.expect(self.run_host("-o", self.folder / name, self.url("/stream?bytes=3")), 0)
            self.assertEqual((self.names(), (self.folder / name).read_bytes()), ([name], b"\0\1\2"))

    def test_file_in_memory_is_replaced(self):
        """/dev/shm holds regular files, not devices."""
        path = pathlib.Path(tempfile.mkstemp(dir="/dev/shm", prefix="nevod-cli-")[1])
        self.addCleanup(path.unlink)
        path.write_bytes(b"old and much longer")
        self.expect(self.run_host("-o", path, self.url("/stream?bytes=3")), 0)
        self.assertEqual(path.read_bytes(), b"\0\1\2")

    @cases({"stdout": "/dev/stdout", "number": "/dev/fd/1", "proc": "/proc/self/fd/1"})
    def test_name_of_standard_output_appends(self, name):
        """Appends like `>>`. If it were opened by its name, the file would be overwritten from its beginning."""
        path = self.file("file", "old,")
        with open(path, "ab") as file:
            self.expect(self.run_host("-o", name, self.url("/stream?bytes=3"), stdout=file), 0)
            file.write(b",new")
        self.assertEqual((path.read_bytes(), self.names()), (b"old,\0\1\2,new", ["file"]))

    def test_link_to_standard_output(self):
        path, link = self.file("file", "old,"), self.folder / "link"
        link.symlink_to("/dev/stdout")
        with open(path, "ab") as file:
            self.expect(self.run_host("-o", link, self.url("/stream?bytes=3"), stdout=file), 0)
        self.assertEqual((path.read_bytes(), link.is_symlink()), (b"old,\0\1\2", True))

    def test_inherited_descriptor(self):
        path = self.file("file", "old,")
        with open(path, "ab") as file:
            name = f"/dev/fd/{file.fileno()}"
            self.expect(self.run_host("-o", name, self.url("/stream?bytes=3"), pass_fds=[file.fileno()]), 0)
        self.assertEqual(path.read_bytes(), b"old,\0\1\2")

    @cases({"closed": "/dev/fd/200", "for_reading": "/dev/stdin"})
    def test_descriptor_that_is_no_output(self, name):
        self.expect_failure(self.run_host("-o", name, self.url("/status/200"), stdin=b""), 23, name)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_mode_of_another_users_file_is_not_taken_over(self):
        path = self.file("file", "old", mode=0o666)
        os.chown(path, 12345, 12345)
        self.expect(self.run_host("-o", path, self.url("/stream?bytes=3"), umask=0o022), 0)
        self.assertEqual((path.read_bytes(), oct(stat.S_IMODE(path.stat().st_mode))), (b"\0\1\2", oct(0o644)))

    def test_include_goes_there_too(self):
        path = self.folder / "file"
        with CannedServer(canned(b"body", "X-A: 1")) as server:
            self.expect(self.run_host("-i", "-o", path, server.url), 0)
        self.assertEqual(path.read_bytes(), canned(b"body", "X-A: 1"))

    def test_dash_is_standard_output(self):
        outcome = self.run_host("-o", "-", self.url("/stream?bytes=3"), cwd=self.folder)
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, self.names()), (b"\0\1\2", []))

    def test_dev_null(self):
        outcome = self.run_host("-o", "/dev/null", self.url("/stream?bytes=300000"))
        self.expect(outcome, 0)
        self.assertEqual((outcome.out, outcome.err), (b"", ""))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    @cases({"no_such_folder": "none/file", "a_folder": "."})
    def test_unwritable(self, name):
        self.expect_failure(self.run_host("-o", self.folder / name, self.url("/status/200")), 23, str(self.folder / name))
        self.assertEqual(self.names(), [])

    def test_kernel_refuses(self):
        # This also works for root, whom file modes don't restrict.
        self.expect_failure(self.run_host("-o", "/proc/nevod-test", self.url("/status/200")), 23, "/proc/nevod-test")

    def test_full_device(self):
        self.expect_failure(self.run_host("-o", "/dev/full", self.url("/status/200")), 23, "/dev/full")

    CUT = {
        "by_length": (b"Content-Length: 1000\r\n\r\n" + b"x" * 10, (18,)),
        "chunked": (b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + b"x" * 10, (18, 56)),
    }

    @cases(CUT)
    def test_answer_cut_short(self, rest, codes):
        with CannedServer(b"HTTP/1.1 200 OK\r\n" + rest) as server:
            outcome = self.run_host("-o", self.folder / "file", server.url)
        self.assertIn(outcome.code, codes, outcome)
        self.assertEqual(self.names(), [], outcome)

    @cases(CUT)
    def test_answer_cut_short_keeps_the_old_file(self, rest, codes):
        path = self.file("file", "old")
        with CannedServer(b"HTTP/1.1 200 OK\r\n" + rest) as server:
            outcome = self.run_host("-o", path, server.url)
        self.assertIn(outcome.code, codes, outcome)
        self.assertEqual((self.names(), path.read_bytes()), (["file"], b"old"), outcome)

    def test_fail_keeps_the_old_file(self):
        path = self.file("file", "old")
        self.expect_failure(self.run_host("-f", "-o", path, self.url("/status/404")), 22)
        self.assertEqual((self.names(), path.read_bytes()), (["file"], b"old"))

    @cases({"interrupt": signal.SIGINT, "terminate": signal.SIGTERM})
    def test_signal_leaves_nothing(self, number):
        with self.running("-o", self.folder / "file", self.url(f"/stream?bytes={2**40}")) as process:
            wait_until(self.names, "the body to arrive")
            process.send_signal(number)
            self.assertNotEqual(process.wait(PATIENCE), 0)
        self.assertEqual(self.names(), [])

    def test_time_out_leaves_nothing(self):
        path = self.folder / "file"
        self.expect_failure(self.run_host("-m", "0.3", "-o", path, self.url(f"/stream?bytes={2**40}")), 28)
        self.assertEqual(self.names(), [])
