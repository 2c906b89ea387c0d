#!/usr/bin/python3
"""Judges a client's tokens with Debian's Authlib, which is independent of PyJWT.

Reads the backend's response to /admin/seen from standard input, and the signing key from SHREDMATE_KEY. Each served bearer must
have been valid at the server's clock of that moment. Each rejected bearer must have been signed by this server, and must have
been expired or of an ended session. Prints how many of each there were. Otherwise prints the first request that breaks a rule,
and exits with 1.
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
