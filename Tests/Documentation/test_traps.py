#!/usr/bin/env python3
"""scripts/traps.py finds code that can end the process, and ignores comments and strings."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import traps  # noqa: E402


class TrapsTests(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.swift"
            path.write_text(text)
            return list(traps.found(path))

    def test_each_kind_is_found(self):
        for text in [
            "precondition(a > b)", 'preconditionFailure("x")', "fatalError()", "assert(a)", "let a = try! b()", "let a = b as! C",
            "let a = b!", "let a = b().c!.d", "let a = b[0]!", "let a = b!(c)", "let a = Int32(b)", "f(UInt8(a + (b)))",
            "let a = UInt64(-b)", "b.unsafelyUnwrapped.c", 'let a = "\\(b!)"', 'let a = "x \\("y \\(fatalError())")"',
        ]:
            self.assertEqual(len(self.found(text)), 1, text)

    def test_other_code_is_not(self):
        for text in [
            "// precondition(a)", "/// Returns `a!`", "/* fatalError() */", 'let a = "try! b!"', 'let a = """\n  b!\n  """', "if a != b {}",
            "if !a {}", "let a: B? = try? c()", "Int32(clamping: a)", "Int32(exactly: a)", "Int32(POLLIN)", "UInt32(0x7F00_0001)",
            "let a: [Int32] = []", "Int(a)", "UInt32(MemoryLayout<A>.size)", "a.UInt32(b)", "(a, b) = (c, !d)",
        ]:
            self.assertEqual(self.found(text), [], text)

    def test_a_place_has_its_line_and_all_of_its_code(self):
        self.assertEqual(self.found('let a = 1\n\nlet b = "c"; precondition(\n  a ==\n  b)\n'), [(3, "precondition( a == b)")])


if __name__ == "__main__":
    unittest.main()
