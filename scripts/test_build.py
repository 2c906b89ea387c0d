"""The build that the unit tests run in: its folder, and the options with which a build into it recompiles nothing.

SANITIZER=address selects the build under AddressSanitizer. Packages of examples build into the same folder: SwiftPM runs the same
commands for a library whether it is in the package itself or in a dependency, so it reuses what is there.
"""

import contextlib
import fcntl
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
IS_SANITIZED = os.environ.get("SANITIZER") == "address"
FOLDER = ROOT / (".build/sanitize-address" if IS_SANITIZED else ".build")
PROGRAMS = FOLDER / "debug"
# The same as in scripts/unit-tests: other arguments would compile the libraries again.
WORDS = ["-Xswiftc", "-gnone", *(["--sanitize=address"] if IS_SANITIZED else [])]
ENVIRONMENT = {"NEVOD_SHARED_RUNTIME": "1", "NEVOD_ADDRESS_SANITIZER": "1"} if IS_SANITIZED else {}
# Foundation leaks a few of libcurl's strings for each request, which can't be told from our own leaks.
if IS_SANITIZED:
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")


@contextlib.contextmanager
def own_plan(folder=FOLDER):
    """SwiftPM keeps one plan in a folder, and would follow the last package's plan. So each package has the folder to itself, and
    finds and leaves no plan."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "plan.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        forget_plan(folder)
        try:
            yield
        finally:
            forget_plan(folder)


def forget_plan(folder):
    for plan in ("debug.yaml", "release.yaml"):
        (folder / plan).unlink(missing_ok=True)


def swift(command, *words, package, timeout):
    """Runs `swift build` or `swift test` for a package in the folder, and returns the finished process."""
    with own_plan():
        return subprocess.run(
            ["swift", command, *WORDS, "--package-path", package, "--scratch-path", FOLDER, *words], cwd=ROOT, timeout=timeout,
            env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
