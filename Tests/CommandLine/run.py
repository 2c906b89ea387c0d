#!/usr/bin/env python3
"""Runs the tests of the command line against built binaries. Needs cc, openssl, and the packages of scripts/install-packages.

    NEVOD_BUILD_DIR=.build/release python3 Tests/CommandLine/run.py [--jobs N] [WORD ...]

NEVOD_BUILD_DIR is the folder of nevod-host and the plugins. With words, only tests whose names contain one of them run.
Each file of tests is a suite and runs in a process of its own, N at a time (2); its output is printed when it has finished.
The last line says "N passed, N failed"; the exit status is 0 when at least one test ran and none failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
# Debian's, which has the libraries that judge; another one may come first in PATH.
PYTHON = "/usr/bin/python3"
# Those that take minutes.
SLOWEST = ("test_new", "test_check", "test_oauth_fleets", "test_languages", "test_sessions", "test_faulty_plugins")
BINARIES = ("nevod-host", "libAPIKeyAuth.so", "libCookieAuth.so", "libFlowProbe.so", "libHMACAuth.so", "libOAuth2Auth.so")


class Result(unittest.TestResult):
    """Prints each failure, and counts a test once however many of its parts fail."""

    def __init__(self):
        super().__init__()
        self.failed = {}

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.report(test, self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self.report(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.report(subtest, self._exc_info_to_string(error, subtest), owner=test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.report(test, "passed, and was expected to fail\n")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped {test.id()}: {reason}", flush=True)

    def report(self, test, text, owner=None):
        self.failed[(owner or test).id()] = True
        print(f"FAILED {test.id()}\n    " + text.rstrip().replace("\n", "\n    "), flush=True)


def chosen(suite, words):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, words)
        elif not words or any(word in test.id() for word in words):
            yield test


def run_suite(name, words, path):
    """In the suite's own process: runs its tests, and leaves the counts in a file for the process that prints them."""
    sys.path.insert(0, str(FOLDER))
    sys.dont_write_bytecode = True
    result = Result()
    unittest.TestSuite(chosen(unittest.defaultTestLoader.loadTestsFromName(name), words)).run(result)
    counts = {"run": result.testsRun, "skipped": len(result.skipped), "failed": list(result.failed)}
    pathlib.Path(path).write_text(json.dumps(counts))


def start_suite(name, words, folder):
    """Runs a suite in a process of its own. Returns its counts and its output. A process that leaves no counts has failed."""
    path = folder / f"{name}.json"
    command = [PYTHON, str(FOLDER / "run.py"), "--suite", name, "--counts", str(path), "--", *words]
    start = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode != 0 or not path.exists():
        counts = {"run": 1, "skipped": 0, "failed": [name]}
        output += f"FAILED {name}\n    its process ended with {done.returncode}\n"
    else:
        counts = json.loads(path.read_text())
    if counts["run"]:
        output += f"{name}: {counts['run']} tests in {time.monotonic() - start:.1f} s\n"
    return counts, output


def run_suites(jobs, words):
    # The slowest first, then the largest, so that no worker is left with one at the end.
    files = sorted(FOLDER.glob("test_*.py"), key=lambda file: (file.stem not in SLOWEST, -file.stat().st_size, file.name))
    counts = {}
    with tempfile.TemporaryDirectory(prefix="nevod-cli-") as folder, concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        suites = {workers.submit(start_suite, file.stem, words, pathlib.Path(folder)): file.stem for file in files}
        for suite in concurrent.futures.as_completed(suites):
            counts[suites[suite]], output = suite.result()
            print(output, end="", flush=True)
    return [counts[name] for name in sorted(counts)]


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of the command line.")
    parser.add_argument("--jobs", type=positive, default=2, metavar="N", help="suites that run at the same time (2)")
    parser.add_argument("--suite", help=argparse.SUPPRESS)
    parser.add_argument("--counts", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", metavar="WORD", help="part of the names of the tests to run")
    arguments = parser.parse_args()

    build = os.environ.get("NEVOD_BUILD_DIR", "")
    missing = [name for name in BINARIES if not os.path.isfile(os.path.join(build, name))]
    if not build or missing:
        where = f"{build} has no {' and no '.join(missing)}" if build else "NEVOD_BUILD_DIR is not set"
        print(f"run.py: {where}; build with `swift build`, then give the folder in NEVOD_BUILD_DIR", file=sys.stderr)
        return 1

    # In the background a shell ignores Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments.suite:
        run_suite(arguments.suite, arguments.words, arguments.counts)
        return 0

    start = time.monotonic()
    counts = run_suites(arguments.jobs, arguments.words)
    failed = [name for suite in counts for name in suite["failed"]]
    passed = sum(max(0, suite["run"] - suite["skipped"] - len(suite["failed"])) for suite in counts)
    print(f"in {time.monotonic() - start:.1f} s")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 0 if passed > 0 and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
