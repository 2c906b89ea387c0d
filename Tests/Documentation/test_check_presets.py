"""scripts/check_presets.py finds each kind of fault."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_presets  # noqa: E402

GOOD = "# Acme\n{domain} = The domain\n\n# Why.\n# source: https://acme.example/docs\nissuer = https://{domain}\nscope = a\n"


class Presets(unittest.TestCase):
    def expect(self, text, *lines):
        self.assertEqual([line for line, _ in check_presets.problems(text)], list(lines), text)

    def test_a_good_one(self):
        self.expect(GOOD)

    def test_no_title(self):
        self.expect(GOOD.replace("# Acme", "issuer = https://a.example"), 1, 1)
        self.expect("", 1, 0)

    def test_no_source(self):
        self.expect(GOOD.replace("# source:", "# see"), 6)
        self.expect(GOOD + "\npkce = false\n", 9)

    def test_a_source_below_its_setting(self):
        self.expect("# Acme\n\nscope = a\n# source: https://acme.example/docs\n", 3)

    def test_a_source_that_is_no_page(self):
        for source in ("http://acme.example/docs", "https://acme.example", "the documentation", "https://acme.example/a b"):
            self.expect(GOOD.replace("https://acme.example/docs", source), 5)

    def test_spaces_and_empty_lines(self):
        self.expect(GOOD.replace("scope = a", "scope = a "), 7)
        self.expect(GOOD.removesuffix("\n"), 7)


if __name__ == "__main__":
    unittest.main()
