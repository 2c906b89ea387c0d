#!/usr/bin/env python3
"""scripts/foreign.py finds what a module adds to another's types, and compares it with its list."""
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import foreign  # noqa: E402
from foreign import Addition  # noqa: E402


def symbol(kind, *path):
    return {"kind": {"identifier": f"swift.{kind}"}, "pathComponents": list(path), "identifier": {"precise": "id:" + ".".join(path)}}


class ForeignTests(unittest.TestCase):
    def found(self, **graphs):
        with tempfile.TemporaryDirectory() as folder:
            for name, (symbols, relations) in graphs.items():
                path = pathlib.Path(folder) / f"{name.replace('_at_', '@')}.symbols.json"
                path.write_text(json.dumps({"symbols": symbols, "relationships": relations}))
            return foreign.additions(folder, ["NevodHost"])

    def test_members_overloads_conformances_and_types_are_found(self):
        found = self.found(
            FoundationEssentials=([symbol("class", "JSONEncoder"), symbol("method", "JSONEncoder", "encode(_:)")], []),
            NevodHost=([symbol("struct", "JSONEncoder"), symbol("struct", "Token"), symbol("func", "print(_:)")], []),
            NevodHost_at_FoundationEssentials=(
                [
                    symbol("extension", "JSONEncoder"), symbol("method", "JSONEncoder", "encode(_:)"),
                    symbol("method", "JSONEncoder", "body(of:)"),
                ],
                [
                    {"kind": "conformsTo", "source": "id:JSONEncoder", "target": "s:9NevodHost11BodyEncoderP"},
                    {"kind": "conformsTo", "source": "id:JSONEncoder", "target": "s:s8SendableP", "targetFallback": "Swift.Sendable"},
                ]))
        self.assertEqual(found, {
            Addition("NevodHost", "overload", "JSONEncoder.encode(_:)"), Addition("NevodHost", "member", "JSONEncoder.body(of:)"),
            Addition("NevodHost", "conformance", "JSONEncoder: BodyEncoder"), Addition("NevodHost", "type", "JSONEncoder"),
        })

    def test_what_is_not_in_the_list_is_a_problem_and_so_is_what_matches_nothing(self):
        entries = foreign.read_list("# a comment\n\nNevodHost  member  URL\\.(a|b)  Because.\nNevodHost  member  URL.c  Because.\n")
        problems = foreign.compare({Addition("NevodHost", "member", "URL.a"), Addition("NevodHost", "member", "URL.d")}, entries)
        self.assertEqual(len(problems), 2)
        self.assertIn("URL.d", problems[0])
        self.assertIn("foreign.txt:4", problems[1])
        self.assertEqual(foreign.compare({Addition("NevodHost", "overload", "URL.a")}, entries[:1])[0][:9], "NevodHost")

    def test_a_line_without_a_reason_is_refused(self):
        with self.assertRaises(SystemExit):
            foreign.read_list("NevodHost  member  URL.a\n")


if __name__ == "__main__":
    unittest.main()
