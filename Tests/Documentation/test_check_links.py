"""Tests of scripts/check_links.py: each kind of broken link is named, with its line.

    python3 Tests/Documentation/test_check_links.py
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/check_links.py"


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        (self.root / "Docs").mkdir()
        self.page("Docs/guide.md", "# The `guide`, in short\n\n## Twice\n\n## Twice\n\n```\n# No heading\n```\n")

    def page(self, name, text):
        (self.root / name).write_text(text)

    def faults(self, text):
        self.page("README.md", text)
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1 if done.stderr else 0, done)
        return done.stderr.splitlines()

    def test_good_links_pass(self):
        self.assertEqual(self.faults(
            "# Top\n[a](Docs/guide.md) [b](Docs) [c](#top) [over\ntwo lines](Docs/guide.md#the-guide-in-short)\n"
            "[d](Docs/guide.md#twice-1) [e](https://example.com/#x) [f](mailto:a@b.c)\n[g]: Docs/guide.md#twice\n"), [])

    def test_a_missing_file_is_named_with_its_line(self):
        self.assertEqual(self.faults("# Top\n\n[a](Docs/missing.md)\n"), ["README.md:3: Docs/missing.md: no such file"])

    def test_a_missing_heading_is_named(self):
        for target in ("#bottom", "Docs/guide.md#twice-2", "Docs/guide.md#no-heading"):
            self.assertEqual(self.faults(f"# Top\n[a]({target})\n"), [f"README.md:2: {target}: no such heading"])

    def test_a_reference_is_a_link(self):
        self.assertEqual(self.faults("[a]\n\n[a]: missing.md\n"), ["README.md:3: missing.md: no such file"])

    def test_a_link_out_of_the_repository_is_refused(self):
        self.assertEqual(self.faults("[a](..)\n"), ["README.md:1: ..: outside the repository"])
        self.assertEqual(self.faults("[a](/Docs)\n")[0].split(": ")[1], "/Docs")

    def test_code_and_comments_hold_no_links(self):
        self.assertEqual(self.faults("`[a](b)`\n\n```sh\n[a](b)\n```\n\n<!-- [a](b) -->\n"), [])


unittest.main()
