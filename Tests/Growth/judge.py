#!/usr/bin/env python3
"""Lets libabigail judge whether plugins and hosts built with one header work with another.

    python3 Tests/Growth/judge.py FOLDER FOLDER

The folders contain the old and the new nevod_plugin.h. Prints every change except fields that are appended to a struct. Exits
with 1 if there are other changes. Needs abidiff (Debian's abigail-tools) and cc.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from grown_header import FROZEN

# These two functions reach every type of the contract.
SOURCE = """
#include "nevod_plugin.h"
static const nevod_plugin plugin;
const nevod_plugin *nevod_plugin_v1(void) { return &plugin; }
const nevod_public_suffix *nevod_public_suffix_v1(void) { return 0; }
"""


def library(include, path):
    subprocess.run(
        ["cc", "-g", "-shared", "-fPIC", f"-I{include}", "-x", "c", "-", "-o", str(path)], input=SOURCE, text=True, check=True)
    return str(path)


def changes(old, new):
    """Returns the lines of abidiff's report about changes that break existing binaries, and the number of grown structs."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        command = ["abidiff", "--leaf-changes-only", library(old, folder / "old.so"), library(new, folder / "new.so")]
        done = subprocess.run(command, capture_output=True, text=True)
    # 1 and 2 are failures of abidiff itself. 4 and 8 mean that something has changed.
    if done.returncode & 3 or done.stderr:
        raise RuntimeError(f"abidiff failed with {done.returncode}: {done.stderr}")
    breaking, grown = [], 0
    struct, end = "", sys.maxsize
    for line in done.stdout.splitlines():
        if not line.strip() or re.match(r"Leaf changes summary|Changed leaf types summary", line):
            continue
        if re.match(r"Removed/Changed/Added (functions|variables) summary: 0 Removed, 0 Changed, 0 Added", line):
            continue
        if match := re.match(r"'(struct \w+) at ", line):
            struct, end = match[1], sys.maxsize
            if struct.removeprefix("struct ") in FROZEN:
                breaking.append(f"{struct}: it is frozen")
            continue
        if match := re.fullmatch(r"  type size changed from (\d+) to (\d+) \(in bits\)", line):
            end = int(match[1])
            if int(match[2]) > end:
                grown += 1
                continue
        if re.fullmatch(r"  \d+ data member insertions?:", line):
            continue
        match = re.match(r"    '.*', at offset (\d+) \(in bits\)", line)
        if match and int(match[1]) >= end:
            continue
        breaking.append(f"{struct}: {line.strip()}")
    return breaking, grown


def main():
    breaking, grown = changes(*sys.argv[1:])
    print("\n".join([*breaking, f"{grown} structs have grown, {len(breaking)} changes break plugins or hosts"]))
    return 1 if breaking else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main())
