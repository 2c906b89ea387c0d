#!/usr/bin/env python3
"""scripts/layers.py finds a file in a folder from which its uses point up, and a folder without a place in the order."""
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import layers  # noqa: E402

HOST = pathlib.Path("Sources/NevodHost")
STORAGE = pathlib.Path("Sources/NevodStorage")


class LayersTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        shutil.copytree(ROOT / "Sources", self.root / "Sources")
        layers.ROOT = self.root

    def tearDown(self):
        layers.ROOT = ROOT

    def move(self, source, target):
        (self.root / target).parent.mkdir(exist_ok=True)
        (self.root / source).rename(self.root / target)
        return layers.Graph()

    def test_no_arrow_of_the_sources_points_up(self):
        graph = layers.Graph()
        self.assertEqual(graph.upward, [])
        self.assertEqual(graph.unknown, [])

    def test_a_file_that_is_moved_back_is_found(self):
        moves = [
            (HOST / "HTTP/HTTPHeaders.swift", HOST / "Transport/HTTPHeaders.swift", "HTTPHeaders"),
            (HOST / "Schemes/FlowDriver.swift", HOST / "Plugins/Flows/FlowDriver.swift", "NetworkProvider"),
            (HOST / "Time/UnixTime.swift", HOST / "Tokens/UnixTime.swift", "UnixTime"),
            (STORAGE / "StorageThread.swift", STORAGE / "Concurrency/StorageThread.swift", "StorageError"),
            (HOST / "Provider/Configuration/NetworkConfig.swift", HOST / "Routing/NetworkConfig.swift", "NetworkConfig"),
        ]
        for source, target, word in moves:
            with self.subTest(str(target)):
                graph = self.move(source, target)
                self.assertIn(word, [upward[2] for upward in graph.upward])
                (self.root / target).rename(self.root / source)

    def test_a_folder_needs_a_place_in_the_order(self):
        graph = self.move(HOST / "Time/HostClock.swift", pathlib.Path("Sources/NevodClocks/HostClock.swift"))
        self.assertEqual(graph.unknown, ["NevodClocks/HostClock.swift"])

    def test_a_module_and_a_folder_need_a_description(self):
        self.assertEqual(layers.modules()[1] + layers.folders()[1], [])
        (self.root / "Sources/System/CNew").mkdir()
        (self.root / "Sources/nevod-host/Twice").mkdir()
        shutil.rmtree(self.root / "Sources/C/CTokenFile")
        problems = layers.modules()[1] + layers.folders()[1]
        self.assertEqual([problem.split(" (")[0] for problem in problems], [
            "Sources/System/CNew has no line in MODULES", "there is no module C/CTokenFile any more",
            "Sources/nevod-host/Twice has no line in COMMAND_LINE"])


if __name__ == "__main__":
    unittest.main()
