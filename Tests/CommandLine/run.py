#!/usr/bin/env python3
"""Runs the tests of the command line against built binaries. Needs cc, openssl, and the packages of scripts/install-packages.

    NEVOD_BUILD_DIR=.build/release python3 Tests/CommandLine/run.py [--jobs N] [--durations N] [WORD ...]

NEVOD_BUILD_DIR is the folder of nevod-host and the plugins. With words, only tests whose names contain one of them run. Each file
of tests is a suite and runs in its own process, N in parallel (two for each processor, because many tests wait). Its output is
printed when it has finished. The suites that compile most run in several processes, which share their tests. A run compiles
everything once, for all suites. With NEVOD_FULL=1, tests run in their long forms. The last line says "N passed, N failed"; the
exit status is 0 when at least one test ran and none failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
# Debian's Python, which has the libraries that judge. Another one may come first in PATH.
PYTHON = "/usr/bin/python3"
# Suites that run in several processes at the same time. Tests that begin with these names run first.
SHARED = ("test_new", "test_check", "test_faulty_plugins", "test_languages")
FIRST = ("test_new.ProjectTests.test_swift", "test_languages.DeviceInGo", "test_languages.HawkInRust")
# Suites that take long because they wait.
LONG = (
    "test_oauth_servers", "test_sessions", "test_oauth_renewal", "test_agents", "test_hostile_servers", "test_time_limit",
    "test_oauth_fleets")
BINARIES = ("nevod-host", "libAPIKeyAuth.so", "libCookieAuth.so", "libFlowProbe.so", "libHMACAuth.so", "libOAuth2Auth.so")


def processor_seconds():
    """The processor time of this process and of all processes that it has waited for."""
    usage = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in usage)


class Result(unittest.TestResult):
    """Prints each failure, counts a test once however many of its parts fail, and measures each test."""

    def __init__(self):
        super().__init__()
        self.failed = {}
        self.durations = []

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic(), processor_seconds()

    def stopTest(self, test):
        super().stopTest(test)
        wall, processor = self.started
        self.durations.append((time.monotonic() - wall, processor_seconds() - processor, test.id()))

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


class Claimed(unittest.TestSuite):
    """The tests of a suite that no other process has begun. A file marks each test that has begun."""

    def __init__(self, tests, folder):
        super().__init__(sorted(tests, key=lambda test: not test.id().startswith(FIRST)))
        self.folder = folder

    def __iter__(self):
        for test in self._tests:
            try:
                (self.folder / test.id()).touch(exist_ok=False)
            except FileExistsError:
                continue
            yield test

    def _removeTestAtIndex(self, index):
        """The index counts claimed tests only."""


def run_suite(name, words, path):
    """Runs the tests in a process of the suite, and writes the counts to a file for the process that prints them."""
    sys.path.insert(0, str(FOLDER))
    sys.dont_write_bytecode = True
    result = Result()
    folder = pathlib.Path(path).parent / "claimed"
    folder.mkdir(exist_ok=True)
    Claimed(chosen(unittest.defaultTestLoader.loadTestsFromName(name), words), folder).run(result)
    counts = {"run": result.testsRun, "skipped": len(result.skipped), "failed": list(result.failed), "durations": result.durations,
              "processor": processor_seconds()}
    pathlib.Path(path).write_text(json.dumps(counts))


def start_suite(name, number, words, folder):
    """Runs a suite in its own process. Returns its counts and its output. A process that writes no counts has failed."""
    path = folder / f"{name}.{number}.json"
    command = [PYTHON, str(FOLDER / "run.py"), "--suite", name, "--counts", str(path), "--", *words]
    start = time.monotonic()
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "NEVOD_TEST_RUN": str(folder)})
    output = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode != 0 or not path.exists():
        counts = {"run": 1, "skipped": 0, "failed": [name], "durations": [], "processor": 0}
        output += f"FAILED {name}\n    its process ended with {done.returncode}\n"
    else:
        counts = json.loads(path.read_text())
    if counts["run"]:
        output += f"{name}: {counts['run']} tests in {time.monotonic() - start:.1f} s ({counts['processor']:.1f} s of processors)\n"
    return counts, output


def ordered(jobs):
    """The suites, once for each of their processes: the slowest first, then the largest, so that no worker has a long one left at
    the end. Suites that compile and suites that wait begin together."""
    files = sorted(FOLDER.glob("test_*.py"), key=lambda file: (file.stem not in LONG, -file.stat().st_size, file.name))
    waiting = [(file.stem, 0) for file in files if file.stem not in SHARED]
    processes = max(1, jobs // 2)
    compiling = [(name, number) for name in SHARED for number in range(processes)]
    first = [one for pair in zip(compiling, waiting) for one in pair]
    return first + compiling[len(waiting) :] + waiting[len(compiling) :]


def run_suites(jobs, words):
    suites = ordered(jobs)
    named = {word.partition(".")[0] for word in words}
    # A word such as test_check.Faults names a suite. Other words may be part of any test's name.
    if words and all("." in word for word in words) and named <= {name for name, _ in suites}:
        suites = [(name, number) for name, number in suites if name in named]
    counts = {}
    with tempfile.TemporaryDirectory(prefix="nevod-cli-") as folder, concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        suites = {workers.submit(start_suite, *one, words, pathlib.Path(folder)): one for one in suites}
        for suite in concurrent.futures.as_completed(suites):
            counts[suites[suite]], output = suite.result()
            print(output, end="", flush=True)
    return [counts[one] for one in sorted(counts)]


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of the command line.")
    parser.add_argument(
        "--jobs", type=positive, default=2 * (os.cpu_count() or 1), metavar="N",
        help="suites that run at the same time (two for each processor)")
    parser.add_argument("--durations", type=positive, default=0, metavar="N", help="print the N tests that took longest")
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

    # A background job ignores Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments.suite:
        run_suite(arguments.suite, arguments.words, arguments.counts)
        return 0

    start = time.monotonic()
    counts = run_suites(arguments.jobs, arguments.words)
    failed = [name for suite in counts for name in suite["failed"]]
    passed = sum(max(0, suite["run"] - suite["skipped"] - len(suite["failed"])) for suite in counts)
    durations = sorted((one for suite in counts for one in suite["durations"]), reverse=True)[: arguments.durations]
    for wall, processor, name in durations:
        print(f"{wall:7.2f} s, {processor:7.2f} s of processors: {name}")
    print(f"in {time.monotonic() - start:.1f} s, {processor_seconds():.1f} s of processors")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 0 if passed > 0 and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
