#!/usr/bin/env python3
"""scripts/english.py finds each turn in comments, literals and prose, with its line, and leaves code alone."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/english.py"


class EnglishTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def faults(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, timeout=60)
        (self.root / name).unlink()
        found = done.stderr.splitlines()
        self.assertEqual(done.returncode, 1 if found else 0)
        return [line.split(":")[1] + line.split(":")[2] for line in found]

    def test_each_turn_is_found(self):
        for turn in ["the names are those of a host", "that of the key", "two keys, of which one fits", "it is kept also for redirects",
                     "a text behind the value", "the rule stands in one place", "a code that is none"]:
            self.assertEqual(len(self.faults("a.swift", f"// Some words: {turn}.\n")), 1, turn)
        self.assertEqual(len(self.faults("a.swift", "// Who calls it.\n")), 1)

    def test_plain_sentences_pass(self):
        self.assertEqual(self.faults("a.swift", "// There is none. It also keeps the key, and those which fit. Code behind a proxy.\n"), [])

    def test_comments_literals_and_blocks_are_read_with_their_lines(self):
        self.assertEqual(self.faults("a.c", "int a;\n/* First.\n * A name, that of\n * the key. */\n"), ["2 \"that of\""])
        self.assertEqual(self.faults("a.swift", "let a = 1 // one\nthrow E(\"that of \\(name) fails\")\n"), ["2 \"that of\""])
        self.assertEqual(self.faults("a.swift", "let a = \"\"\"\n    fine\n\n    that of it\n    \"\"\"\n"), ["4 \"that of\""])
        self.assertEqual(self.faults("a.swift", "/// A turn over two lines: that\n/// of a key.\nlet a = 1\n"), ["1 \"that of\""])
        self.assertEqual(self.faults("a.py", "a = 1\n# that of b\n"), ["2 \"that of\""])
        self.assertEqual(self.faults("scripts/run", "#!/bin/sh\n# that of b\necho those of\n"), ["2 \"that of\""])

    def test_code_is_not_read(self):
        self.assertEqual(self.faults("a.swift", "let thatOf = those.of\n// `that of` is one of them.\n".replace("`that of` ", "")), [])
        self.assertEqual(self.faults("a.md", "# Title\n\n```\nthose of\n```\n\nSee `that of` here.\n"), [])

    def test_prose_is_read(self):
        self.assertEqual(self.faults("a.md", "# Title\n\n- one\n- the keys, of\n  which one fits\n"), ["4 \"of which\""])

    def test_a_wide_comment_is_found(self):
        self.assertEqual(self.faults("a.swift", f"// {'a' * 129}\n"), [])
        self.assertEqual(self.faults("a.swift", f"// {'a' * 130}\n"), ["1 a comment of 133 columns; the limit is 132"])


if __name__ == "__main__":
    unittest.main()
