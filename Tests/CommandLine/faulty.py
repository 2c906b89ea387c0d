"""Builds of Faulty/faulty.c, and runs of `check` on them, for the tables of its faults.

A row of a table is checked with the checks of its own category, and with those without which a scheme isn't judged. One row of twelve
is checked with all, which shows that no check of another category finds the fault too: NEVOD_CHECK_ROWS chooses them, a seed,
which is printed, or "all".
"""

import concurrent.futures
import json
import os
import random
import subprocess
import time

from support import FOLDER, HOST, INCLUDE, PATIENCE, compile_c, shared_folder

FAIL, WARN, CRASHED, TIMED_OUT = "FAIL", "WARN", "CRASHED", "TIMED OUT"
BROKEN = 117

# Seconds for each check; a plugin that hangs uses them up.
TIMEOUT = 20
HANG_TIMEOUT = 5

BASICS = ("lifecycle.create", "lifecycle.independent")
# Functions that a fault of the running plugin has to import.
IMPORTS = ("static.state-imports", "static.process-imports", "static.network-imports")


def build(fault, words=()):
    folder = shared_folder() / "faulty"
    folder.mkdir(exist_ok=True)
    (folder / "nothing.map").write_text("{ local: *; };\n")
    missing = folder / "libmissing-nevod.so"
    # Its name is within; the file is removed before the plugin is checked.
    if any("missing-nevod" in word for word in words):
        compile_c(["cc", "-shared", "-Wl,-soname,libmissing-nevod.so", "-x", "c", "/dev/null", "-o", missing])
    path = folder / f"lib{fault}.so"
    words = [word.format(nothing=folder / "nothing.map", folder=folder) for word in words]
    compile_c(["cc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-Wl,-z,relro,-z,now", f"-I{INCLUDE}", f'-DFAULT="{fault}"',
               FOLDER / "Faulty/faulty.c", FOLDER / "Faulty/linked.c", *words, "-o", path])
    if any("missing-nevod" in word for word in words):
        missing.unlink()
    return path


def check(path, *words, timeout=TIMEOUT):
    done = subprocess.run([HOST, "check", path, "--json", "--timeout", str(timeout), *words], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=10 * PATIENCE)
    try:
        return done.returncode, json.loads(done.stdout)["checks"]
    except (ValueError, KeyError):
        raise AssertionError(f"{path}: exit status {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")


def found(checks):
    return [(one["id"], one["result"]) for one in checks if one["result"] not in ("PASS", "SKIP")]


def unexpected(checks, check_id):
    """Without the warnings about functions that a fault of the running plugin has to import."""
    return [(name, result) for name, result in found(checks) if name == check_id or name not in IMPORTS or result != WARN]


def shown(checks):
    return "\n".join(f"{one['result']} {one['id']}: {one['happened']}" for one in checks if one["result"] not in ("PASS", "SKIP"))


def whole_rows(faults, seed):
    """The faults on which all checks run: a sample, since all of them take half an hour. `make soak` has them all."""
    chosen = os.environ.get("NEVOD_CHECK_ROWS") or seed
    if chosen == "all":
        return set(faults)
    print(f"rows with all checks: NEVOD_CHECK_ROWS={chosen}", flush=True)
    # Each check loads the plugin anew, and would wait for a slow constructor.
    return set(random.Random(chosen).sample(sorted(faults), max(1, len(faults) // 12))) - {"constructor-is-slow"}


def check_rows(faults, seed):
    """Yields each fault of a table with its row's id and result, the command's exit status and the checks."""
    whole = whole_rows(faults, seed)

    def outcome(fault):
        check_id, result, words = (*faults[fault], ())[:3]
        category = check_id.partition(".")[0]
        more = ["--only", "^(" + "|".join([rf"{category}[.]", *(rf"{name.replace('.', '[.]')}$" for name in BASICS)]) + ")"]
        # Thousands of calls, which say nothing about a fault of another kind.
        if fault in whole:
            more = [] if category in ("resources", "time", "process", "lifecycle") or "leak" in fault else ["--skip", "^resources[.]"]
        start = time.monotonic()
        code, checks = check(build(fault, words), *more, timeout=HANG_TIMEOUT if result == TIMED_OUT else TIMEOUT)
        if os.environ.get("NEVOD_CHECK_TIMES"):
            print(f"{time.monotonic() - start:6.1f} s {fault}", flush=True)
        return code, checks, check_id, result

    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as workers:
        for fault, (code, checks, check_id, result) in zip(faults, workers.map(outcome, faults)):
            yield fault, check_id, result, code, checks


def expect_rows(test, faults, seed):
    """Exactly the check that is meant for a fault finds it."""
    for fault, check_id, result, code, checks in check_rows(faults, seed):
        with test.subTest(fault=fault):
            test.assertEqual(unexpected(checks, check_id), [(check_id, result)], f"{fault}\n{shown(checks)}")
            test.assertEqual(code, 0 if result == WARN else BROKEN)
            finding = next(one for one in checks if one["id"] == check_id)
            test.assertTrue(finding["expected"] and finding["happened"] and finding["fix"])


def listed():
    """The ids of all checks."""
    text = subprocess.run([HOST, "check", "--list"], capture_output=True, check=True, timeout=PATIENCE).stdout.decode()
    return [line.split()[0] for line in text.splitlines() if line.split()]
