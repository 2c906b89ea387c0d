"""Compares the recipes of the scheme hmac with the vendors' own software.

A judge is a module in this folder whose function `rows()` returns rows of the table in Docs/schemes/hmac.md. A row has cases.
Each has the request that a user would give to nevod-host, and what the vendor's software sends for it, with fixed time and random
bytes.
"""

import dataclasses
import os
import pathlib
import subprocess
import threading
import urllib.parse
from typing import Callable, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("NEVOD_BUILD_DIR", ".build/debug")

# 2023-11-14T22:13:20.123456789Z
TIME_NANOSECONDS = 1_700_000_000_123_456_789
SECONDS = TIME_NANOSECONDS // 10**9
MILLISECONDS = TIME_NANOSECONDS // 10**6
AT = f"{SECONDS}.{TIME_NANOSECONDS % 10**9:09d}"
# The bytes from which the recipe's nonces are made.
RANDOM = bytes(range(32))
NONCE_HEX = RANDOM[:16].hex()


@dataclasses.dataclass
class Signed:
    """A request as it is sent."""

    method: str
    target: str
    headers: dict
    body: bytes

    @property
    def query(self) -> list:
        """The items as sent, not decoded."""
        text = self.target.partition("?")[2]
        return [tuple(item.partition("=")[::2]) for item in text.split("&")] if text else []

    def item(self, name: str) -> Optional[str]:
        """The decoded value of a query item."""
        return next((urllib.parse.unquote(value) for key, value in self.query if key == name), None)


@dataclasses.dataclass
class Case:
    """One request. `headers` are the caller's. `expect` gets the request that nevod-host signed, in case the judge needs its
    nonce, and returns the vendor software's credential: headers and decoded query items. The recipe must send exactly these."""

    method: str
    url: str
    expect: Callable[[Signed], "Expected"]
    body: Optional[bytes] = None
    headers: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Expected:
    headers: dict = dataclasses.field(default_factory=dict)
    query: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Row:
    """A scheme. `preset` is the name of a file in Presets/hmac. `settings` has `api-key` (optional) and what else the preset
    needs. `secrets` has the secret settings: secret, passphrase, token, memo."""

    title: str
    preset: str
    source: str
    judge: str
    cases: list
    secrets: dict
    settings: dict = dataclasses.field(default_factory=dict)


class Refused(Exception):
    """nevod-host's error."""


def sign(row: Row, case: Case) -> Signed:
    command = [str(BUILD / "nevod-host"), "sign", "--plugin", str(BUILD / "libHMACAuth.so"), "--at", AT, "--random", RANDOM.hex()]
    command += ["--set", f"preset={row.preset}"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for name, value in row.settings.items():
        command += ["--set", f"{name}={value}"]
    for number, (name, value) in enumerate(row.secrets.items()):
        environment[f"SECRET_{number}"] = value
        command += ["--set", f"{name}=env:SECRET_{number}"]
    for name, value in case.headers.items():
        command += ["-H", f"{name}: {value}" if value else f"{name};"]
    command += ["-X", case.method]
    if case.body is not None:
        # Without the type that curl's option would add.
        if not any(name.lower() == "content-type" for name in case.headers):
            command += ["-H", "Content-Type:"]
        command += ["--data-binary", "@-"]
    command.append(case.url)
    done = subprocess.run(command, input=case.body or b"", capture_output=True, env=environment, timeout=60)
    if done.returncode != 0:
        raise Refused(done.stderr.decode(errors="replace").strip())
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        headers[name] = value
    return Signed(method, target, headers, body)


# A judge's clock and nonces are pinned in its module, so only one judge computes at a time.
JUDGING = threading.Lock()

# Headers that nevod-host sends by itself.
OWN_HEADERS = {"host", "accept", "user-agent", "content-type", "content-length"}


def differences(row: Row, case: Case) -> list:
    """The differences between nevod-host's request and the judge's. Empty if there are none."""
    try:
        signed = sign(row, case)
    except Refused as error:
        return [f"refused: {error}"]
    with JUDGING:
        expected = case.expect(signed)
    found = []
    headers = {name.lower(): value for name, value in signed.headers.items()}
    wanted = {name.lower(): value for name, value in expected.headers.items()}
    for name, value in wanted.items():
        if headers.get(name) != value:
            found.append(f"{name}: {headers.get(name)!r}, but the judge sends {value!r}")
    given = {name.lower() for name in case.headers}
    for name in headers.keys() - wanted.keys() - OWN_HEADERS - given:
        found.append(f"{name}: {headers[name]!r}, which the judge doesn't send")
    before = urllib.parse.urlsplit(case.url).query
    kept = [tuple(item.partition("=")[::2]) for item in before.split("&")] if before else []
    if signed.query[: len(kept)] != kept:
        found.append(f"the query {signed.query} does not begin with the caller's items {kept}")
    added = {urllib.parse.unquote(name): urllib.parse.unquote(value) for name, value in signed.query[len(kept) :]}
    for name, value in expected.query.items():
        if added.get(name) != value:
            found.append(f"?{name}={added.get(name)!r}, but the judge sends {value!r}")
    for name in added.keys() - expected.query.keys():
        found.append(f"?{name}={added[name]!r}, which the judge doesn't send")
    return found
