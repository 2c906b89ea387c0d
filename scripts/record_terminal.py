#!/usr/bin/env python3
"""Records the session in the picture of README.md, as an asciicast.

    DEMO_SECRET=... python3 scripts/record_terminal.py ADDRESS NEVOD_HOST FILE

ADDRESS is 127.0.0.1:PORT of Examples/demo-server/hmac_server.py, whose key id is "ada". Each command runs on its own terminal.
Its output is recorded unchanged, except for the address, which is replaced with the documents' address. The typing and the pauses
are the same in every recording. It is an error if the session differs from its comments, or shows a secret or a path.
"""

import json
import os
import pathlib
import pty
import re
import secrets
import subprocess
import sys
import tempfile
import termios

COLUMNS, ROWS = 100, 22
PRINTED = "127.0.0.1:8080"
PROFILE = f"""\
default = work

[work]
url = http://{PRINTED}
plugin = libHMACAuth.so
set = preset=strict
set = api-key=ada
set = secret=env:DEMO_SECRET
"""

# A line to type, the exit code, what the output contains, and the seconds to read it.
CLEAR = ("clear", 0, "", 0)
SESSION = [
    ("# A plugin signs the request. The secret stays in the environment.", 0, "", 0.5),
    ("nevod-host --plugin libHMACAuth.so --set preset=strict --set api-key=ada \\\n"
     f"  --set secret=env:DEMO_SECRET http://{PRINTED}/orders", 0, '"verified": true', 2.5),
    CLEAR,
    ("# A profile gives the settings a name, so the next request is short.", 0, "", 0.3),
    ("cat ~/.config/nevod/config", 0, PROFILE, 1),
    ("nevod-host /orders", 0, '"verified": true', 2),
    ("# With another secret, the error says what to check.", 0, "", 0.3),
    ("nevod-host --set secret=env:OLD_SECRET --fail /orders", 119, "check the settings", 0),
]
KEYS, KEYS_SECONDS = 5, 0.1
COLOR = re.compile(r"\x1b\[[0-9;]*m")
LAST = 4
PROMPT, MORE = "\x1b[32m$\x1b[0m ", "\x1b[32m>\x1b[0m "
# Colors that are legible on the terminal's own background, on any page.
THEME = {"fg": "#d4dae1", "bg": "#1b2129", "palette": ":".join([
    "#1b2129", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#d4dae1",
    "#8b949e", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"])}


def output(command, environment, folder):
    """(exit code, output) of the command on a terminal of the picture's size."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (ROWS, COLUMNS))
    done = subprocess.Popen(["bash", "-c", command], stdin=follower, stdout=follower, stderr=follower, cwd=folder, env=environment,
                            start_new_session=True)
    os.close(follower)
    printed = b""
    try:
        while data := os.read(leader, 65536):
            printed += data
    except OSError:
        pass  # the terminal has no more writers
    os.close(leader)
    return done.wait(timeout=60), printed.decode()


def recorded(address, program, home):
    """The events of the session: (seconds, text)."""
    hidden = {"DEMO_SECRET": os.environ["DEMO_SECRET"], "OLD_SECRET": secrets.token_hex(32)}
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", **hidden}
    config = home / ".config/nevod/config"
    config.parent.mkdir(mode=0o700, parents=True)
    config.write_text(PROFILE.replace(PRINTED, address))
    config.chmod(0o600)

    events, now = [(0, PROMPT)], 0.5
    for line, code, contained, seconds in SESSION:
        if (line, code, contained, seconds) == CLEAR:
            events.append((now, f"\x1b[H\x1b[2J{PROMPT}"))
            now += 0.5
            continue
        for start in range(0, len(line), KEYS):
            events.append((now, line[start:start + KEYS].replace("\n", f"\r\n{MORE}")))
            now += KEYS_SECONDS
        got, text = output(line.replace(PRINTED, address), environment, home)
        plain = COLOR.sub("", text).replace("\r\n", "\n")
        if got != code or contained.replace(PRINTED, address) not in plain:
            sys.exit(f"the session went wrong: \"{line}\" should print \"{contained}\" and return {code}; it returned {got}:\n{plain}")
        for name, value in {**hidden, "HOME": str(home), "the program's folder": str(program.parent)}.items():
            if value in text:
                sys.exit(f"the output of \"{line}\" contains the value of {name}, which must not be in the picture")
        now += 0.2
        events.append((now, "\r\n" + text.replace(address, PRINTED) + PROMPT))
        now += seconds
    return [*events, (now + LAST, "")]


def main():
    address, program, file = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home:
        events = recorded(address, pathlib.Path(program).resolve(), pathlib.Path(home))
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "theme": THEME}
    lines = [header, *([round(seconds, 2), "o", text] for seconds, text in events)]
    pathlib.Path(file).write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
