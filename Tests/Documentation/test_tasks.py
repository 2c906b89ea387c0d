#!/usr/bin/env python3
"""The table of Docs/tasks.md leads to each of its tasks, and counts the characters of its command."""

import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Docs/tasks.md"


class Tasks(unittest.TestCase):
    def test_the_table(self):
        text = PAGE.read_text()
        rows = re.findall(r"^\| (\d+) \| \[(.+)\]\(#([\w-]+)\) \| (\d+) \|", text, re.M)
        sections = re.findall(r"^## (\d+)\. ([^\n]+)\n\n```console\n(.*?)^```$", text, re.M | re.S)
        self.assertEqual(len(rows), 20)
        self.assertEqual(len(sections), 20)
        for (number, title, anchor, keys), (own, heading, block) in zip(rows, sections):
            self.assertEqual((number, title), (own, heading))
            self.assertEqual(anchor, re.sub(r"[^a-z0-9 -]", "", f"{own}. {heading}".lower()).replace(" ", "-"))
            command = re.findall(r"^\$ (nevod-host .*)$", block, re.M)[-1]
            self.assertEqual(int(keys), len(command), command)


if __name__ == "__main__":
    unittest.main()
