"""Tests of scripts/check_pictures.py: a picture that differs from its table, or shows what it must not, is named.

    python3 Tests/Documentation/test_pictures.py
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check_pictures.py"
TABLES = "Benchmarks/README.md"
TERMINAL, THROUGHPUT = "Docs/images/terminal.svg", "Docs/images/throughput.svg"


class Pictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "Docs/images", self.root / "Docs/images")
        (self.root / "Benchmarks").mkdir()
        shutil.copy(ROOT / TABLES, self.root / TABLES)

    def change(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def faults(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1 if done.stderr else 0, done)
        return done.stderr.splitlines()

    def assertFault(self, *parts):
        for fault, part in zip(self.faults(), parts, strict=True):
            self.assertIn(part, fault)

    def test_the_pictures_agree_with_the_tables(self):
        self.assertEqual(self.faults(), [])

    def test_a_number_that_changed_in_a_table_is_found_in_the_description_and_in_the_picture(self):
        self.change(TABLES, "| 0.78 | 1.23 |", "| 0.79 | 1.23 |")
        self.assertFault(f"{THROUGHPUT}: its <desc>", f"{THROUGHPUT}: it doesn't show")

    def test_a_number_that_changed_in_the_picture_alone_is_found(self):
        self.change(THROUGHPUT, ">0.78<", ">0.97<")
        self.assertFault(f"{THROUGHPUT}: it doesn't show")

    def test_a_row_that_no_table_has_is_named(self):
        self.change(TABLES, "| get |", "| GET |")
        self.assertFault(f"{TABLES}: {TABLES} has no number for the section \"authorize\", the table \"authorize\", the row \"get\"")

    def test_a_missing_picture_is_named(self):
        (self.root / THROUGHPUT).unlink()
        self.assertFault("throughput.svg")

    def test_a_path_of_this_machine_is_found(self):
        for path in ("/root/x", "/home/ada", "/work/next", "/tmp/a.b"):
            with self.subTest(path):
                shutil.copy(ROOT / TERMINAL, self.root / TERMINAL)
                self.change(TERMINAL, "/orders", path)
                self.assertFault(f"{TERMINAL}: contains the path {path};")

    def test_a_secret_is_found(self):
        for secret in ("0123456789abcdef0123456789abcdef", "c2VjcmV0c2VjcmV0c2VjcmV0MQ=="):
            with self.subTest(secret):
                shutil.copy(ROOT / TERMINAL, self.root / TERMINAL)
                self.change(TERMINAL, "/orders", f" {secret}")
                self.assertFault(f"{TERMINAL}: shows \"{secret}\"")

    def test_a_picture_that_a_page_would_not_show_is_found(self):
        end = "</svg>"
        self.change(TERMINAL, end, f"<script/>{end}")
        self.assertFault(f"{TERMINAL}: contains <script>")
        self.change(TERMINAL, "<script/>", "<image href=\"https://example.com/\"/>")
        self.assertFault(f"{TERMINAL}: contains <image>", "contains href=\"https://example.com/\"")
        self.change(TERMINAL, "<image href=\"https://example.com/\"/>", "<!--" + " " * 150_000 + "-->")
        self.assertFault("bytes, where 150000 are the most")


unittest.main()
