#!/usr/bin/env python3
"""Runs the tests of the command line against built binaries. Python 3.11, standard library only; needs cc and openssl.

    NEVOD_BUILD_DIR=.build/release python3 Tests/CommandLine/run.py [WORD ...]

NEVOD_BUILD_DIR is the folder of nevod-host and the plugins. With words, only tests whose names hold one of them run.
The last line says "N passed, N failed"; the exit status is 0 when at least one test ran and none failed.
"""

import os
import pathlib
import sys
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
BINARIES = ("nevod-host", "libAPIKeyAuth.so", "libCookieAuth.so", "libFlowProbe.so", "libHMACAuth.so")


class Result(unittest.TestResult):
    """Prints each failure as it comes, and counts a test once however many of its parts fail."""

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


def main():
    build = os.environ.get("NEVOD_BUILD_DIR", "")
    missing = [name for name in BINARIES if not os.path.isfile(os.path.join(build, name))]
    if not build or missing:
        where = f"{build} has no {' and no '.join(missing)}" if build else "NEVOD_BUILD_DIR is not set"
        print(f"run.py: {where}; build with `swift build`, then give the folder in NEVOD_BUILD_DIR", file=sys.stderr)
        return 1

    sys.path.insert(0, str(FOLDER))
    sys.dont_write_bytecode = True
    suite = unittest.TestSuite(chosen(unittest.defaultTestLoader.discover(str(FOLDER), "test_*.py"), sys.argv[1:]))
    result = Result()
    start = time.monotonic()
    suite.run(result)

    failed = len(result.failed)
    passed = max(0, result.testsRun - len(result.skipped) - failed)
    print(f"in {time.monotonic() - start:.1f} s")
    for name in result.failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
