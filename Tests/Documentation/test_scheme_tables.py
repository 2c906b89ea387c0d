"""Tests of scripts/scheme_tables.py: each fault of a page is named, and --check writes nothing.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Documentation/test_scheme_tables.py
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import scheme_tables  # noqa: E402


class Pages(unittest.TestCase):
    """A repository with one plugin, the real libAPIKeyAuth.so, and pages that each test writes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in ("scripts", "Plugins/APIKeyAuth", "Docs/schemes"):
            (self.root / path).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/scheme_tables.py", self.root / "scripts")
        self.build_dir = pathlib.Path(scheme_tables.os.environ.get("NEVOD_BUILD_DIR", ROOT / ".build/release")).resolve()

    def page(self, text, name="keys.md"):
        path = self.root / "Docs/schemes" / name
        path.write_text(text)
        return path

    def run_script(self, *arguments):
        return subprocess.run(
            [sys.executable, self.root / "scripts/scheme_tables.py", *arguments], capture_output=True, text=True, timeout=60,
            env=dict(scheme_tables.os.environ, NEVOD_BUILD_DIR=str(self.build_dir)))

    def refused(self, *words):
        before = [path.read_text() for path in sorted((self.root / "Docs/schemes").iterdir())]
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1, done)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(before, [path.read_text() for path in sorted((self.root / "Docs/schemes").iterdir())])

    HEADER = "<!-- settings: libAPIKeyAuth.so api-key -->\n<!-- end -->\n"
    QUERY = "<!-- settings: libAPIKeyAuth.so api-key-query -->\n<!-- end -->\n<!-- settings: libAPIKeyAuth.so api-key-cookie -->\n<!-- end -->\n"

    def test_writes_what_the_plugin_says_and_keeps_the_rest(self):
        page = self.page(f"# Keys\n\n{self.HEADER}\nBetween.\n\n{self.QUERY}\nBehind.\n")
        self.refused("Docs/schemes/keys.md", "run make tables")
        self.assertEqual(self.run_script().returncode, 0)
        text = page.read_text()
        self.assertIn("| `header` | Header of the key; for several keys, one each in the same order | text | `X-API-Key` | repeatable |\n", text)
        for part in ("# Keys\n\n<!-- settings: libAPIKeyAuth.so api-key -->\n\n|", "\n\n<!-- end -->\n\nBetween.\n", "\nBehind.\n"):
            self.assertIn(part, text)
        self.assertEqual(self.run_script("--check").returncode, 0)
        page.write_text(text.replace("Header of the key", "Header of a key"))
        self.refused("Docs/schemes/keys.md", "run make tables")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(page.read_text(), text)

    def test_a_scheme_without_a_table(self):
        self.page(self.HEADER)
        self.assertEqual(self.run_script().returncode, 1)
        self.refused("no page in Docs/schemes has a table for the scheme api-key-query of libAPIKeyAuth.so")

    def test_a_plugin_without_a_page(self):
        self.refused("the scheme api-key of libAPIKeyAuth.so", "the scheme api-key-query of libAPIKeyAuth.so")

    def test_a_page_without_a_table(self):
        self.page(self.HEADER + self.QUERY)
        self.page("# Nothing\n", "other.md")
        self.run_script()
        self.refused("Docs/schemes/other.md has no table")

    def test_a_table_of_a_scheme_that_there_is_not(self):
        self.page(self.HEADER + self.QUERY + "<!-- settings: libAPIKeyAuth.so basic -->\n<!-- end -->\n")
        self.refused("Docs/schemes/keys.md has a table for the scheme basic of libAPIKeyAuth.so, which there is not")

    def test_a_table_that_stands_twice(self):
        self.page(self.HEADER + self.QUERY)
        self.page(self.QUERY, "other.md")
        self.run_script()
        self.refused("Docs/schemes/other.md has a table for the scheme api-key-query", "and so has Docs/schemes/keys.md")

    def test_a_table_without_an_end(self):
        self.page(self.HEADER.replace("<!-- end -->\n", "") + self.QUERY)
        self.refused("Docs/schemes/keys.md: the table of the scheme api-key of libAPIKeyAuth.so has no <!-- end -->")

    def test_a_plugin_that_is_not_built(self):
        (self.root / "Plugins/NewAuth").mkdir()
        self.refused("Plugins/NewAuth is not built", "run make build")

    def test_cells(self):
        setting = {
            "name": "a", "kind": "choice", "required": True, "secret": True, "repeatable": True, "choices": ["x|y", "``"],
            "default": "`", "help": "One | <two>"}
        self.assertEqual(
            scheme_tables.table({"settings": [setting]}).splitlines()[2],
            r"| `a` | One \| \<two> | `x\|y`, ``` `` ``` | `` ` `` | required, secret, repeatable |")
        setting.update(kind="url", default=None, required=False, secret=False, repeatable=False, help="*")
        self.assertEqual(scheme_tables.table({"settings": [setting]}).splitlines()[2], r"| `a` | \* | URL | | |")
        self.assertEqual(scheme_tables.table({"settings": []}), "It has no settings.\n")


unittest.main()
