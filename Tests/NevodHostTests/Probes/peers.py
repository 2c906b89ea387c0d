"""Finds the libraries that scripts/install-peers has installed."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "peers"))
