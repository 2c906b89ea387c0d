"""Runs HTTPie for each line of standard input, a JSON list of arguments, and prints its exit code. Run by Debian's Python."""

import json
import sys

from httpie.core import main

for line in sys.stdin:
    code = main(["http", "--ignore-stdin", "--print=", "--timeout=60", *json.loads(line)])
    print(int(code), flush=True)
