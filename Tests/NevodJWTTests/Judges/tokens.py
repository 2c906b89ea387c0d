"""Makes valid and damaged tokens for each algorithm, and prints the verdicts of PyJWT and Authlib: one JSON object on each line.

Usage: tokens.py SEED
"""
import base64
import hashlib
import hmac
import json
import pathlib
import random
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "peers"))
warnings.simplefilter("ignore")

import authlib.jose
import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa, utils

ISSUER, AUDIENCE = "https://id.example.com", "orders"
NOW = int(time.time())
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
random.seed(int(sys.argv[1]))
HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class SharedKey:
    def __init__(self, secret):
        self.secret = secret
        self.peers = secret
        self.descriptions = [{"secret": encode(secret)}, {"jwk": jwt.algorithms.HMACAlgorithm.to_jwk(secret)}]

    def sign(self, algorithm, message):
        return hmac.new(self.secret, message, "sha" + algorithm[2:]).digest()


class PrivateKey:
    def __init__(self, private):
        self.private = private
        self.peers = private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        kinds = {rsa.RSAPrivateKey: jwt.algorithms.RSAAlgorithm, ec.EllipticCurvePrivateKey: jwt.algorithms.ECAlgorithm}
        kind = next((kinds[base] for base in kinds if isinstance(private, base)), jwt.algorithms.OKPAlgorithm)
        self.descriptions = [{"pem": self.peers.decode()}, {"jwk": kind.to_jwk(private.public_key())}]

    def sign(self, algorithm, message):
        if algorithm == "EdDSA":
            return self.private.sign(message)
        digest = HASHES[algorithm[2:]]()
        if algorithm.startswith("RS"):
            return self.private.sign(message, padding.PKCS1v15(), digest)
        if algorithm.startswith("PS"):
            return self.private.sign(message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        r, s = utils.decode_dss_signature(self.private.sign(message, ec.ECDSA(digest)))
        size = (self.private.curve.key_size + 7) // 8
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def make_key(name):
    if name.startswith("HS"):
        return SharedKey(random.randbytes(int(name[2:]) // 8 + random.randrange(33)))
    if name[:2] in ("RS", "PS"):
        return PrivateKey(rsa.generate_private_key(65537, 2048))
    if name.startswith("ES"):
        return PrivateKey(ec.generate_private_key({"256": ec.SECP256R1, "384": ec.SECP384R1, "512": ec.SECP521R1}[name[2:]]()))
    return PrivateKey((ed25519.Ed25519PrivateKey if name == "Ed25519" else ed448.Ed448PrivateKey).generate())


def pyjwt(token, key, algorithms):
    try:
        jwt.decode(token, key.peers, algorithms=algorithms, issuer=ISSUER, audience=AUDIENCE, options={"require": ["exp"]})
        return "accepted"
    except Exception as error:
        return type(error).__name__


def authlib_verdict(token, key, algorithms):
    options = {"iss": {"essential": True, "value": ISSUER}, "aud": {"essential": True, "value": AUDIENCE}, "exp": {"essential": True}}
    try:
        if isinstance(key, SharedKey):
            imported = authlib.jose.OctKey.import_key(key.peers)
        elif isinstance(key.private, rsa.RSAPrivateKey):
            imported = authlib.jose.RSAKey.import_key(key.peers)
        elif isinstance(key.private, ec.EllipticCurvePrivateKey):
            imported = authlib.jose.ECKey.import_key(key.peers)
        else:
            imported = authlib.jose.OKPKey.import_key(key.peers)
        claims = authlib.jose.JsonWebToken(algorithms).decode(token, imported, claims_options=options)
        claims.validate(now=NOW, leeway=0)
        return "accepted"
    except Exception as error:
        return type(error).__name__


def emit(name, case, token, key, algorithms):
    print(json.dumps({
        "algorithm": name, "case": case, "token": token, "key": random.choice(key.descriptions), "algorithms": algorithms, "now": NOW,
        "pyjwt": pyjwt(token, key, algorithms), "authlib": authlib_verdict(token, key, algorithms)}))


def flipped(part):
    data = bytearray(decode(part))
    place = random.randrange(len(data))
    data[place] ^= 1 << random.randrange(8)
    return encode(bytes(data))


def cases(name):
    algorithm = "EdDSA" if name.startswith("Ed") else name
    key, other = make_key(name), make_key(name)
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u-%d" % random.randrange(1000), "exp": NOW + 7200, "iat": NOW - 60}
    header = {"alg": algorithm, "typ": "JWT", "kid": "k-%d" % random.randrange(100)}

    def text(value):
        return value if isinstance(value, str) else json.dumps(value)

    def token(header=header, claims=claims, key=key, algorithm=algorithm, signature=None):
        message = encode(text(header).encode()) + "." + encode(text(claims).encode())
        return message + "." + encode(key.sign(algorithm, message.encode()) if signature is None else signature)

    def without(*names):
        return {claim: value for claim, value in claims.items() if claim not in names}

    valid = token()
    parts = valid.split(".")

    def case(what, made, key=key, algorithms=[algorithm]):
        emit(name, what, made, key, algorithms)

    case("valid", valid)
    case("valid", token({"alg": algorithm}))
    case("valid", token(claims={**claims, "aud": ["billing", AUDIENCE]}))
    case("valid", token(claims={**claims, "nbf": NOW - 3600, "exp": NOW + 3600.5, "jti": "é\u20ac😀", "deep": [[{"a": [None, True, 1.5e3]}]]}))
    case("valid", token({**header, "jku": "https://evil.example/keys", "x5u": "https://evil.example/x", "jwk": {"kty": "oct", "k": "AAAA"}}))
    case("expired", token(claims={**claims, "exp": NOW - 3600}))
    case("expired", token(claims={**claims, "exp": 0}))
    case("not yet valid", token(claims={**claims, "nbf": NOW + 3600}))
    case("issued ahead", token(claims={**claims, "iat": NOW + 3600}))
    case("other audience", token(claims={**claims, "aud": "billing"}))
    case("other audience", token(claims={**claims, "aud": ["billing", AUDIENCE + "s"]}))
    case("other audience", token(claims={**claims, "aud": []}))
    case("other audience", token(claims=without("aud")))
    case("odd audience", token(claims={**claims, "aud": [AUDIENCE, 7]}))
    case("other issuer", token(claims={**claims, "iss": ISSUER + "/"}))
    case("other issuer", token(claims=without("iss")))
    case("no expiry", token(claims=without("exp")))
    case("odd time", token(claims={**claims, "exp": "soon"}))
    case("odd time", token(claims={**claims, "exp": None}))
    case("odd time", token(claims={**claims, "exp": {"at": NOW}}))
    case("odd time", token(claims={**claims, "exp": 1e300}))
    case("odd time", token(claims={**claims, "nbf": -1}))
    case("odd time", token(claims={**claims, "exp": str(NOW + 7200)}))
    case("number too large", token(claims=text(claims)[:-1] + ', "big": 1e400}'))
    case("number too large", token(claims=text(claims)[:-1] + ', "big": NaN}'))
    case("number too large", token(claims={**without("exp"), "exp": float("inf")}))
    case("odd subject", token(claims={**claims, "sub": 7}))
    case("none", token({**header, "alg": "none"}, signature=b""))
    case("none", token({**header, "alg": "None"}, signature=b""))
    case("none", token({**header, "alg": "none"}))
    case("no signature", parts[0] + "." + parts[1] + ".")
    case("no algorithm", token({"typ": "JWT"}))
    case("no algorithm", token({**header, "alg": 7}))
    case("unknown algorithm", token({**header, "alg": algorithm.lower()}))
    case("wrong key", token(key=other))
    case("wrong key", valid, key=other)
    case("algorithm not accepted", valid, algorithms=["HS512" if name != "HS512" else "HS256"])
    if not isinstance(key, SharedKey):
        # Everyone has the public key. A verifier that uses it as a shared secret accepts anyone's signature.
        forged = SharedKey(key.peers)
        for hmac_name in ("HS256", "HS384", "HS512"):
            message = token({**header, "alg": hmac_name}, key=forged, algorithm=hmac_name)
            case("key confusion", message, algorithms=[algorithm])
            case("key confusion", message, algorithms=[algorithm, hmac_name])
        for relabelled in ("RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"):
            if relabelled != algorithm:
                case("relabelled", token({**header, "alg": relabelled}), algorithms=[algorithm, relabelled])
    for place in (0, 1, len(parts[0]) // 2, len(parts[0]), len(parts[0]) + 1, len(parts[0]) + 9, len(valid) // 2,
                  len(parts[0]) + len(parts[1]) + 1, len(parts[0]) + len(parts[1]) + 2, len(valid) - 20, len(valid) - 1):
        case("truncated", valid[:place])
    for part in range(3):
        for _ in range(4):
            damaged = list(parts)
            damaged[part] = flipped(damaged[part])
            case("flipped %d" % part, ".".join(damaged))
    size = len(decode(parts[2]))
    case("signature length", ".".join(parts[:2] + [encode(decode(parts[2]) + b"\0")]))
    case("signature length", ".".join(parts[:2] + [encode(b"\0" + decode(parts[2]))]))
    case("signature length", ".".join(parts[:2] + [encode(decode(parts[2])[:-1])]))
    case("signature length", ".".join(parts[:2] + [encode(bytes(size))]))
    case("signature length", ".".join(parts[:2] + [encode(b"\xff" * size)]))
    if name.startswith("PS"):
        digest, weak = HASHES[name[2:]](), hashes.SHA256 if name != "PS256" else hashes.SHA384
        message = ".".join(parts[:2])
        for mask, salt in ((padding.MGF1(digest), 20), (padding.MGF1(digest), 0), (padding.MGF1(weak()), digest.digest_size)):
            case("other padding", message + "." + encode(key.private.sign(message.encode(), padding.PSS(mask, salt), digest)))
    if name.startswith("ES"):
        r, s = decode(parts[2])[:size // 2], decode(parts[2])[size // 2:]
        der = utils.encode_dss_signature(int.from_bytes(r, "big"), int.from_bytes(s, "big"))
        case("signature length", ".".join(parts[:2] + [encode(der)]))
    case("oversized", token(claims={**claims, "pad": "x" * 70000}))
    case("padded", valid + "=" * (-len(parts[2]) % 4 or 4))
    case("padded", parts[0] + "=" * (-len(parts[0]) % 4 or 4) + "." + parts[1] + "." + parts[2])
    case("white space", valid[:-3] + "\n" + valid[-3:])
    case("white space", " " + valid)
    if len(parts[2]) % 4:
        unused = DIGITS.index(parts[2][-1]) ^ 1
        case("unused bits", valid[:-1] + DIGITS[unused])
    case("extra part", valid + ".")
    case("extra part", valid + "." + parts[2])
    case("extra part", "." + valid)
    case("encrypted", ".".join(parts + parts[:2]))
    case("encrypted", token({**header, "enc": "A128GCM"}))
    case("critical", token({**header, "crit": ["exp"], "exp": NOW}))
    case("critical", token({**header, "crit": ["nevod"], "nevod": 1}))
    case("critical", token({**header, "crit": []}))
    case("critical", token({**header, "crit": "exp"}))
    case("critical", token({**header, "crit": ["b64"], "b64": False}))
    case("critical", token({**header, "b64": False}))
    case("repeated", token(claims=text(claims)[:-1] + ', "sub": "root"}'))
    case("repeated", token(claims=text(claims)[:-1] + ', "s\\u0075b": "root"}'))
    case("repeated", token(claims=text(claims)[:-1] + ', "in": {"a": 1, "a": 2}}'))
    case("repeated", token(text(header)[:-1] + ', "alg": "%s"}' % algorithm))
    case("nested", token({**header, "cty": "JWT"}))
    case("nested", token({**header, "cty": "application/jwt"}, claims=claims))
    case("compressed", token({**header, "zip": "DEF"}))
    case("odd header", token({**header, "kid": 7}))
    case("odd header", token({**header, "typ": ["JWT"]}))
    case("not an object", token(claims="[1]"))
    case("not an object", token(claims='"text"'))
    case("not an object", token(claims=text(claims) + " x"))
    case("not an object", token("[]"))
    case("too deep", token(claims={**claims, "deep": json.loads("[" * 40 + "]" * 40)}))


for algorithm in ("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                  "Ed25519", "Ed448"):
    cases(algorithm)
