#!/usr/bin/env python3
"""Tests the growth of the contract both ways: tomorrow's host with today's plugins, and today's host with tomorrow's plugins.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Growth/run.py [WORD ...]

This script builds tomorrow's into .build/growth, from today's sources with a header in which every struct has grown
(grown_header.py). NEVOD_BUILD_DIR is the folder of today's. It runs the tests of Tests/CommandLine in which a plugin works; with
words, only the tests whose names contain one of them.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import grown_header
import judge

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROWTH = ROOT / ".build/growth"
PACKAGE, SCRATCH = GROWTH / "package", GROWTH / "build"
PLUGINS = ("APIKeyAuth", "CookieAuth", "FlowProbe", "HMACAuth", "OAuth2Auth")
INCLUDE = PACKAGE / "Sources/NevodPluginABI/include"

TESTS = (
    "test_growth.", "test_flows.", "test_sign_inspect.", "test_plugins.Edits.", "test_sessions.Login.", "test_sessions.Renewal.",
    "test_sessions.Logout.")


def judge_headers():
    """libabigail confirms that the grown header is compatible, and detects one that isn't."""
    if not shutil.which("abidiff"):
        print("skipped the judgement of libabigail: abidiff is missing (Debian's abigail-tools)")
        return
    today = ROOT / "Sources/NevodPluginABI/include"
    breaking, grown = judge.changes(today, INCLUDE)
    if breaking or grown < 16:
        sys.exit("\n".join([*breaking, f"{grown} structs have grown"]))
    if not judge.changes(INCLUDE, today)[0]:
        sys.exit("libabigail sees no change in a field that is removed")
    print(f"libabigail: {grown} structs have grown, and nothing else has changed")


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() and path.resolve() == target.resolve():
        return
    path.unlink(missing_ok=True)
    path.symlink_to(os.path.relpath(target, path.parent))


def make_package():
    """Today's package, with a grown header in place of the contract's."""
    sources = PACKAGE / "Sources"
    for folder in ("Package.swift", "Plugins", "Tests", "Benchmarks"):
        link(PACKAGE / folder, ROOT / folder)
    wanted = {path.name for path in (ROOT / "Sources").iterdir()} - {"NevodPluginABI"}
    for name in wanted:
        link(sources / name, ROOT / "Sources" / name)
    for path in sources.iterdir():
        if path.is_symlink() and path.name not in wanted:
            path.unlink()
    grown_header.write(sources / "NevodPluginABI")


def build():
    command = [ROOT / "scripts/swift-build", "--disable-index-store", "--package-path", PACKAGE, "--scratch-path", SCRATCH]
    for product in ("nevod-host", *PLUGINS):
        done = subprocess.run([*command, "--product", product], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            reasons = [line for line in done.stdout.splitlines() if "error:" in line] or done.stdout.splitlines()
            sys.exit("\n".join([*reasons[:50], f"{product} can't be built with the grown header"]))
    return SCRATCH / "debug"


def mix(name, host, plugins):
    """A folder with one build's host and another build's plugins."""
    folder = GROWTH / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # Copies, because a host looks for plugins beside its own file.
    for source in (host / "nevod-host", *(plugins / f"lib{plugin}.so" for plugin in PLUGINS)):
        shutil.copy(source, folder / source.name)
    return folder


def run(title, folder, words, **environment):
    print(f"\n-- {title}", flush=True)
    command = [sys.executable, str(ROOT / "Tests/CommandLine/run.py"), *words]
    return subprocess.run(command, env={**os.environ, "NEVOD_BUILD_DIR": str(folder), **environment}).returncode == 0


def main():
    today = os.environ.get("NEVOD_BUILD_DIR", "")
    if not today or not os.path.isfile(os.path.join(today, "nevod-host")):
        sys.exit(f"run.py: NEVOD_BUILD_DIR is {today or 'not set'}, which has no nevod-host of today")
    today = pathlib.Path(today).resolve()
    words = sys.argv[1:] or TESTS
    os.umask(0o022)  # a host loads no plugin that the group could have changed

    make_package()
    judge_headers()
    start = time.monotonic()
    tomorrow = build()
    print(f"tomorrow's host and plugins were built in {time.monotonic() - start:.0f} s")
    grown = {"NEVOD_INCLUDE": str(INCLUDE)}
    results = [
        run("tomorrow's host, today's plugins", mix("tomorrows-host", tomorrow, today), words, NEVOD_GROWN_HOST="1"),
        run("today's host, tomorrow's plugins", mix("tomorrows-plugins", today, tomorrow), words, **grown),
        run("both of tomorrow", tomorrow, sys.argv[1:] or ["test_growth."], NEVOD_GROWN_HOST="1", **grown),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
