"""The backend's accounts and sessions. Access tokens are JWTs made with PyJWT; refresh tokens are for one use.

A login starts a family of tokens. If a refresh token comes a second time, it was stolen or spent twice by mistake, and the whole
family ends (RFC 9700 §4.14.2).
"""

import datetime
import hashlib
import pathlib
import secrets
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "peers"))

import jwt

ISSUER = "https://api.shredmate.example"


class Refused(Exception):
    """A request that can't be served: its status, and the reason in words."""

    def __init__(self, status, message, error=None):
        super().__init__(message)
        self.status, self.message, self.error = status, message, error


class Sessions:
    """Not thread-safe: the server has one lock for all of its data."""

    def __init__(self, key, life):
        self.key, self.life = key, life
        self.ahead = 0
        self.users = {}  # by their id
        self.families = {}  # by their id: the user's id, and the one unspent refresh token
        self.refresh_tokens = {}  # the family of each, including spent tokens
        self.logins = self.refreshes = self.reuses = 0

    def now(self):
        """The server's clock, which tests move forward so that tokens expire."""
        return time.time() + self.ahead

    # Accounts

    def register(self, email, password, name):
        if any(user["email"] == email for user in self.users.values()):
            raise Refused(409, f"there is an account with the e-mail address {email}")
        if "@" not in email or len(password) < 8:
            raise Refused(422, "an account needs an e-mail address, and a password of 8 characters or more")
        salt = secrets.token_bytes(16)
        moment = datetime.datetime.fromtimestamp(int(time.time()), datetime.timezone.utc)
        user = {"id": secrets.token_hex(8), "email": email, "name": name, "createdAt": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}
        self.users[user["id"]] = user | {"salt": salt, "password": self.digest(password, salt)}
        return user["id"]

    def login(self, email, password):
        """Returns the id of a user."""
        for user in self.users.values():
            if user["email"] == email and secrets.compare_digest(user["password"], self.digest(password, user["salt"])):
                return user["id"]
        raise Refused(401, "wrong e-mail address or password")

    def digest(self, password, salt):
        return hashlib.scrypt(password.encode(), salt=salt, n=1024, r=8, p=1)

    def profile(self, user):
        return {name: self.users[user][name] for name in ("id", "email", "name", "createdAt")}

    def remove(self, user):
        del self.users[user]
        for family, (owner, _) in list(self.families.items()):
            if owner == user:
                del self.families[family]

    # Tokens

    def start(self, user):
        """Starts a family."""
        self.logins += 1
        return self.issue(user, secrets.token_hex(8)) | {"user": self.profile(user)}

    def issue(self, user, family):
        now = int(self.now())
        claims = {
            "iss": ISSUER, "sub": user, "sid": family, "iat": now, "exp": now + self.life, "jti": secrets.token_hex(8)}
        refresh = secrets.token_urlsafe(32)
        self.families[family] = (user, refresh)
        self.refresh_tokens[refresh] = family
        return {"accessToken": jwt.encode(claims, self.key, algorithm="HS256"), "refreshToken": refresh}

    def refresh(self, token):
        family = self.refresh_tokens.get(token)
        user, current = self.families.get(family, (None, None))
        if user is None:
            raise Refused(401, "the session has ended; log in again")
        if token != current:
            self.reuses += 1
            del self.families[family]
            raise Refused(401, "the refresh token was spent before, so its session has ended; log in again")
        self.refreshes += 1
        return self.issue(user, family)

    def holder(self, token):
        """Returns the user's and the family's ids for an access token."""
        try:
            # Not by PyJWT's clock, which tests can't move.
            claims = jwt.decode(
                token, self.key, algorithms=["HS256"], issuer=ISSUER,
                options={"require": ["exp", "iat", "jti", "sid", "sub"], "verify_exp": False, "verify_iat": False})
        except jwt.InvalidTokenError as error:
            raise Refused(401, str(error), "invalid_token") from error
        if claims["exp"] <= self.now():
            raise Refused(401, "the access token has expired", "invalid_token")
        if claims["sid"] not in self.families:
            raise Refused(401, "the session has ended", "invalid_token")
        return claims["sub"], claims["sid"]

    def end(self, family):
        self.families.pop(family, None)

    # For tests

    def expire(self):
        """Lets every access token expire. Refresh tokens stay valid."""
        self.ahead += self.life + 1

    def revoke(self):
        """Ends every session, as if the users had done it elsewhere."""
        self.families.clear()
