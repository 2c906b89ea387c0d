#!/usr/bin/python3
"""Judges the tokens that a client sent, with Authlib: Debian's, which knows nothing of PyJWT.

Reads what the backend's /admin/seen responded from standard input, and the key of the signatures from SHREDMATE_KEY. Each request
that was served with a bearer had a valid one, at the server's clock of that moment; each bearer that was rejected was signed by
this server, and had expired or belonged to a session that had ended. Prints how many of each there were; exits with 1, and the
first request that breaks this, otherwise.
"""

import json
import os
import sys

from authlib.jose import JsonWebToken
from authlib.jose.errors import ExpiredTokenError, JoseError

OPEN = ("/api/v1/auth/login", "/api/v1/auth/register", "/api/v1/auth/refresh")
ESSENTIAL = {name: {"essential": True} for name in ("exp", "iat", "iss", "jti", "sid", "sub")}


def judge(request, key):
    bearer, status = request.get("bearer"), request["status"]
    if request["path"] in OPEN:
        return "carried a bearer, and needs none" if bearer else None
    if not bearer:
        return "was served without a bearer" if status is not None and status < 400 else None
    try:
        claims = JsonWebToken(["HS256"]).decode(bearer, key, claims_options=ESSENTIAL)
        claims.validate(now=int(request["clock"]))
    except ExpiredTokenError:
        return None if status in (401, 503, None) else "was served with an expired token"
    except JoseError as error:
        return f"carried no valid token: {error}"
    return None


def main():
    seen = json.load(sys.stdin)
    key = os.environ["SHREDMATE_KEY"]
    for request in seen["requests"]:
        if reason := judge(request, key):
            sys.exit(f"{request['method']} {request['path']}, {request['status']}: {reason}")
    served = sum(1 for request in seen["requests"] if request.get("bearer") and (request["status"] or 500) < 400)
    rejected = sum(1 for request in seen["requests"] if request.get("bearer") and request["status"] == 401)
    print(f"{served} served, {rejected} rejected")


main()
