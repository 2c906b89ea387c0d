#!/usr/bin/env python3
"""Tests/ComingFromNevod/run.py distinguishes the states, and notices a document that differs."""
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("coming", ROOT / "Tests" / "ComingFromNevod" / "run.py")
coming = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coming)


def both(written, changed):
    return f"// A: `a`\n#if AS_WRITTEN\n    {written}\n#else\n    {changed}\n#endif\n"


class ComingFromNevodTests(unittest.TestCase):
    def test_each_source_has_its_state(self):
        for expected, text, as_written, as_changed in [
            ("unchanged", "a()", False, False),
            ("`try`", both("func f() async { await a() }", "func f() async throws { try await a() }"), True, False),
            ("`try`", both("let b = await a() != nil", "let b = (try? await a()) != nil"), True, False),
            ("changed", both("await a()", "try await b()"), True, False),
            ("changed", both("// Compiles, but nothing reads it.\n    a()", "b()"), False, False),
            ("none", "a()", True, True),
            ("none", both("a()", "b()"), True, True),
        ]:
            self.assertEqual(coming.state(text, as_written, as_changed), expected, text)

    def test_the_document_takes_names_and_states_from_the_sources(self):
        found = {("Uses", 1): ("A: `a`", "unchanged"), ("Uses", 2): ("A: `b`", "changed"), ("Guides", 1): ("README: B", "`try`")}
        text = (
            "Of 27 snippets of the guides, x\nOf 169 uses of the API, x\n| 1 | `z` | none | A note |\n| Guide 1 | B | none | |\n"
            "| 2 | `b` | changed | |\n| 9 | `q` | none | |\n")
        after, problems = coming.document(text, found)
        self.assertIn("| 1 | `a` | unchanged | A note |\n| Guide 1 | README: B | `try` | |\n", after)
        self.assertIn("Of 169 uses of the API, 1 compile unchanged, 0 with `try` added, 1 with another change, 0 not at all.", after)
        self.assertEqual(len(problems), 2, problems)
        self.assertIn("neither what to write nor why", problems[0])
        self.assertIn("| 9 |", problems[1])

    def test_a_source_without_a_row_and_a_missing_count_are_problems(self):
        _, problems = coming.document("", {("Uses", 1): ("A: `a`", "unchanged")})
        self.assertEqual(len(problems), 3)


if __name__ == "__main__":
    unittest.main()
