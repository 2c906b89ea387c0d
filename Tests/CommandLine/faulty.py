"""Builds of Faulty/faulty.c, and runs of `check` on them, for the tables of its faults.

A row of a table runs the check for its fault, the checks that judging a scheme requires, and a sample of the others, to show that
no other check also finds the fault. NEVOD_CHECK_ROWS is the seed of the samples, which is printed, or "all" for all checks on
each row.
"""

import functools
import json
import os
import random
import subprocess

from support import FOLDER, HOST, INCLUDE, PATIENCE, compile_c, shared_folder

FAIL, WARN, CRASHED, TIMED_OUT = "FAIL", "WARN", "CRASHED", "TIMED OUT"
BROKEN = 117

# Seconds for each check; a plugin that hangs uses them up.
TIMEOUT = 20
HANG_TIMEOUT = 5

BASICS = ("lifecycle.create", "lifecycle.independent")
# Functions that a fault in the running plugin must import.
IMPORTS = ("static.state-imports", "static.process-imports", "static.network-imports")


def build(fault, words=()):
    folder = shared_folder() / "faulty"
    folder.mkdir(exist_ok=True)
    (folder / "nothing.map").write_text("{ local: *; };\n")
    missing = folder / "libmissing-nevod.so"
    # The plugin is linked to it by its soname. The file is removed before the plugin is checked.
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
    """Without the warnings about functions that a fault in the running plugin must import."""
    return [(name, result) for name, result in found(checks) if name == check_id or name not in IMPORTS or result != WARN]


def shown(checks):
    return "\n".join(f"{one['result']} {one['id']}: {one['happened']}" for one in checks if one["result"] not in ("PASS", "SKIP"))


# How many other checks run on a row: from its own check's category, and from all other categories.
RELATED, OTHERS = 8, 8


@functools.cache
def chosen_seed(default):
    seed = os.environ.get("NEVOD_CHECK_ROWS") or default
    print(f"checks of each row: NEVOD_CHECK_ROWS={seed}", flush=True)
    return seed


def chosen_checks(fault, check_id, seed):
    """The arguments that choose a row's checks."""
    category = check_id.partition(".")[0]
    # The category "resources" makes thousands of calls, which tell nothing about other faults.
    calls_often = category in ("resources", "time", "process", "lifecycle") or "leak" in fault
    if seed == "all":
        return [] if calls_often else ["--skip", "^resources[.]"]
    checks = [name for name in listed() if not name.startswith("fuzz.") and name not in (check_id, *BASICS)]
    related = [name for name in checks if name.startswith(f"{category}.")]
    others = [name for name in checks if name not in related and (calls_often or not name.startswith("resources."))]
    if fault == "constructor-is-slow":
        others = []  # each check reloads the plugin
    source = random.Random(f"{seed} {fault}")
    names = [check_id, *BASICS, *source.sample(related, min(RELATED, len(related))), *source.sample(others, min(OTHERS, len(others)))]
    return ["--only", "^(" + "|".join(name.replace(".", "[.]") for name in names) + ")$"]


def expect_found(test, faults, fault, seed):
    """For each fault of a table, exactly the intended check finds it."""
    check_id, result, words = (*faults[fault], ())[:3]
    more = chosen_checks(fault, check_id, chosen_seed(seed))
    code, checks = check(build(fault, words), *more, timeout=HANG_TIMEOUT if result == TIMED_OUT else TIMEOUT)
    test.assertEqual(unexpected(checks, check_id), [(check_id, result)], f"{fault}\n{shown(checks)}")
    test.assertEqual(code, 0 if result == WARN else BROKEN)
    finding = next(one for one in checks if one["id"] == check_id)
    test.assertTrue(finding["expected"] and finding["happened"] and finding["fix"])


@functools.cache
def listed():
    """The ids of all checks."""
    text = subprocess.run([HOST, "check", "--list"], capture_output=True, check=True, timeout=PATIENCE).stdout.decode()
    return [line.split()[0] for line in text.splitlines() if line.split()]
