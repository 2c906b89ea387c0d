"""mohawk (PyPI) verifies requests of the client "ada", whose key comes from DEMO_SECRET. --ahead gives this server a wrong clock."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import judge
import mohawk

key = os.environ.get("DEMO_SECRET") or sys.exit("set DEMO_SECRET to the key of ada")
options = judge.arguments()
seen = set()


def credentials(client):
    if client != "ada":
        raise LookupError(client)
    return {"id": client, "key": key, "algorithm": "sha256"}


def is_replay(client, nonce, timestamp):
    known = (client, nonce, timestamp) in seen
    seen.add((client, nonce, timestamp))
    return known


def verify(handler, body):
    header = handler.headers.get("Authorization")
    if header is None:
        return 401, "refused: no credential", [("WWW-Authenticate", "Hawk")]
    try:
        mohawk.Receiver(
            credentials, header, handler.url, handler.command, content=body, content_type=handler.headers.get("Content-Type", ""),
            localtime_offset_in_seconds=options.ahead, seen_nonce=is_replay)
    except mohawk.exc.TokenExpired as error:
        return 401, "refused: TokenExpired", [("WWW-Authenticate", error.www_authenticate)]
    except mohawk.exc.HawkFail as error:
        return 401, f"refused: {type(error).__name__}", [("WWW-Authenticate", "Hawk")]
    return 200, f"verified: {handler.command} with {len(body)} bytes"


judge.serve(options, verify)
