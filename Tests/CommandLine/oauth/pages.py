"""Shared by the authorization servers: their one user, their clients' names, keys in the test's folder, and the pages that a
person sees. Each server prints its URL, ends with the process that started it, and keeps a log that GET /control/log returns.

Each server has some of these clients:

  app      public; code, device, refresh
  web      confidential, by Basic or in the form; code, refresh
  machine  confidential; client credentials
  legacy   confidential; password, refresh
  key      private_key_jwt, with the key of key.pem; client credentials
  mac      client_secret_jwt; client credentials
  gateway  confidential; token exchange
"""
import base64
import hashlib
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "Tests/NevodHostTests/Probes"), str(ROOT / ".build/peers")]

import common

USER, PASSWORD = "ada", "pa55-Xw3Rt9Lm"
CLIENT_SECRET = "cl1ent-Zq8VnB4Td2Hs6Jk0Lp5Wf7Cx1Gy"
proofs = set()
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None

PAGE = """<!doctype html><title>{title}</title><h1>{title}</h1>
<form method="post" action="{action}">{fields}<button name="{name}" value="yes">{button}</button>{other}</form>"""


def page(title, button, fields="", action="", name="allow"):
    other = '<button name="deny" value="yes">Deny</button>' if name == "allow" else ""
    return PAGE.format(title=title, button=button, fields=fields, action=action, name=name, other=other)


def login_page(hidden="", action=""):
    inputs = '<input name="username" autocomplete="username"><input name="password" type="password">'
    return page("Log in", "Log in", hidden + inputs, action, "login")


def is_user(form):
    return form.get("username") == USER and form.get("password") == PASSWORD


def private_key():
    """The key of the client `key`, which a test reads as key.pem."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    path = FOLDER / "key.pem"
    path.touch(0o600)
    path.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return key


def public_pem(key):
    from cryptography.hazmat.primitives import serialization

    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


class WrongProof(Exception):
    pass


def proof_key(headers, url, method, access_token=None):
    """The thumbprint of the key that signed a request's proof, which jwcrypto verifies (RFC 9449 §4.3). None without a proof."""
    from jwcrypto import jwk, jws

    if "DPoP" not in headers:
        return None
    try:
        token = jws.JWS()
        token.deserialize(headers["DPoP"])
        header = token.jose_header
        key = jwk.JWK(**header["jwk"])
        if header["typ"] != "dpop+jwt" or header["alg"] not in ("ES256", "RS256") or key.has_private:
            raise WrongProof("header")
        token.verify(key)
        claims = json.loads(token.payload)
    except (jws.InvalidJWSObject, jws.InvalidJWSSignature, jwk.InvalidJWKValue, KeyError, ValueError) as error:
        raise WrongProof(str(error)) from None
    digest = hashlib.sha256((access_token or "").encode()).digest()
    expected = {"htm": method, "htu": url}
    if access_token:
        expected["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    wrong = [name for name, value in expected.items() if claims.get(name) != value]
    if wrong or abs(claims["iat"] - time.time()) > 60 or claims["jti"] in proofs:
        raise WrongProof(f"claims {wrong or 'iat or jti'}")
    proofs.add(claims["jti"])
    return key.thumbprint()


__all__ = [
    "CLIENT_SECRET", "FOLDER", "PASSWORD", "USER", "WrongProof", "common", "is_user", "login_page", "page",
    "private_key", "proof_key", "public_pem"]
