"""Results from hashlib, hmac, Python's cryptography and the openssl command, as a JSON array on standard output.

Usage: crypto.py hashes SEED      digests, HMACs and derived keys of random inputs
       crypto.py keys SEED        keys in each form, with signatures of cryptography and openssl
       crypto.py verify           whether the signatures in the JSON array on standard input are valid
"""
import base64
import hashlib
import hmac
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HASHES = {"sha1": hashes.SHA1(), "sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}
# Only for digests, HMACs and derived keys: no signature scheme of the kit has them.
DIGESTS = HASHES | {
    "md5": hashes.MD5(), "sha224": hashes.SHA224(), "sha512-256": hashes.SHA512_256(), "sha3-256": hashes.SHA3_256(),
    "sha3-384": hashes.SHA3_384(), "sha3-512": hashes.SHA3_512()}
CURVES = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
PEM, PLAIN = serialization.Encoding.PEM, serialization.NoEncryption()


def signed_hashes():
    cases = []
    for size in [*range(0, 20), 55, 56, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1024, 5000]:
        for name in DIGESTS:
            message, key, salt, info = (random.randbytes(n) for n in (size, random.randrange(0, 200), size % 40, size % 17))
            count = random.randrange(0, 400)
            cases.append({
                "hash": name, "message": message.hex(), "key": key.hex(), "salt": salt.hex(), "info": info.hex(),
                "digest": hashlib.new(name.replace("-", "_"), message).hexdigest(), "code": hmac.new(key, message, name.replace("-", "_")).hexdigest(),
                "count": count, "derived": derived(name, count, key, salt, info).hex() if count else ""})
    return cases


def derived(name, count, key, salt, info):
    return HKDF(DIGESTS[name], count, salt or None, info).derive(key)


def pss(hash):
    return padding.PSS(padding.MGF1(hash), hash.digest_size)


def algorithms(key):
    if isinstance(key, rsa.RSAPrivateKey):
        return [(kind, name) for kind in ("pkcs1", "pss") for name in HASHES]
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return [(kind, name) for kind in ("ecdsa", "ecdsa-der") for name in HASHES]
    return [("eddsa", "")]


def raw(der, curve):
    size = (curve.key_size + 7) // 8
    r, s = utils.decode_dss_signature(der)
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def sign(key, message, kind, name):
    match kind:
        case "pkcs1": return key.sign(message, padding.PKCS1v15(), HASHES[name])
        case "pss": return key.sign(message, pss(HASHES[name]), HASHES[name])
        case "ecdsa": return raw(key.sign(message, ec.ECDSA(HASHES[name])), key.curve)
        case "ecdsa-der": return key.sign(message, ec.ECDSA(HASHES[name]))
        case "eddsa": return key.sign(message)


def is_valid(key, message, signature, kind, name):
    try:
        match kind:
            case "pkcs1": key.verify(signature, message, padding.PKCS1v15(), HASHES[name])
            case "pss": key.verify(signature, message, pss(HASHES[name]), HASHES[name])
            case "ecdsa":
                half = len(signature) // 2
                numbers = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
                key.verify(utils.encode_dss_signature(*numbers), message, ec.ECDSA(HASHES[name]))
            case "ecdsa-der": key.verify(signature, message, ec.ECDSA(HASHES[name]))
            case "eddsa": key.verify(signature, message)
        return True
    except InvalidSignature:
        return False


def text(number, size=None):
    size = size or (number.bit_length() + 7) // 8
    return base64.urlsafe_b64encode(number.to_bytes(size, "big")).decode().rstrip("=")


def jwk(key):
    """The private key's JWK, made from its numbers."""
    if isinstance(key, rsa.RSAPrivateKey):
        n = key.private_numbers()
        return {
            "kty": "RSA", "n": text(n.public_numbers.n), "e": text(n.public_numbers.e), "d": text(n.d), "p": text(n.p),
            "q": text(n.q), "dp": text(n.dmp1), "dq": text(n.dmq1), "qi": text(n.iqmp)}
    if isinstance(key, ec.EllipticCurvePrivateKey):
        n, size = key.private_numbers(), (key.curve.key_size + 7) // 8
        name = next(name for name, curve in CURVES.items() if curve.name == key.curve.name)
        return {
            "kty": "EC", "crv": name, "x": text(n.public_numbers.x, size), "y": text(n.public_numbers.y, size),
            "d": text(n.private_value, size)}
    seed = key.private_bytes(serialization.Encoding.Raw, serialization.PrivateFormat.Raw, PLAIN)
    point = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return {
        "kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(point).decode().rstrip("="),
        "d": base64.urlsafe_b64encode(seed).decode().rstrip("=")}


def openssl(*arguments, input=None):
    return subprocess.run(["openssl", *arguments], input=input, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def keys():
    cases = []
    made = [rsa.generate_private_key(65537, size) for size in (2048, 3072)]
    made += [ec.generate_private_key(curve) for curve in CURVES.values() for _ in range(3)]
    made += [ed25519.Ed25519PrivateKey.generate() for _ in range(3)]
    for key in made:
        forms = [key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, PLAIN).decode()]
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            forms.append(key.private_bytes(PEM, serialization.PrivateFormat.TraditionalOpenSSL, PLAIN).decode())
        if isinstance(key, ec.EllipticCurvePrivateKey):
            name = {"secp256r1": "prime256v1"}.get(key.curve.name, key.curve.name)
            forms.append(openssl("ecparam", "-name", name).decode() + forms[1])
        message = random.randbytes(random.randrange(0, 300))
        cases.append({
            "private": forms, "public": key.public_key().public_bytes(
                PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode(),
            "jwk": json.dumps(jwk(key)), "message": message.hex(),
            "signatures": [{"kind": kind, "hash": name, "signature": sign(key, message, kind, name).hex()}
                           for kind, name in algorithms(key)],
            "openssl": openssl_signature(forms[0], message).hex(),
            "encrypted": [
                key.private_bytes(
                    PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")).decode()
            ] + ([openssl("rsa", "-aes128", "-traditional", "-passout", "pass:x", input=forms[0].encode()).decode()]
                 if isinstance(key, rsa.RSAPrivateKey) else [])})
    return cases


def openssl_signature(pem, message):
    """A signature: with SHA-256, PKCS #1 or DER; for Ed25519, without a hash."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "key").write_text(pem)
        (folder / "message").write_bytes(message)
        digest = ["-rawin"] if "Ed25519" in type(serialization.load_pem_private_key(pem.encode(), None)).__name__ else [
            "-rawin", "-digest", "sha256"]
        return openssl("pkeyutl", "-sign", "-inkey", str(folder / "key"), *digest, "-in", str(folder / "message"))


def verdicts():
    return [
        is_valid(
            serialization.load_pem_public_key(case["public"].encode()), bytes.fromhex(case["message"]),
            bytes.fromhex(case["signature"]), case["kind"], case["hash"])
        for case in json.load(sys.stdin)]


random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
json.dump({"hashes": signed_hashes, "keys": keys, "verify": verdicts}[sys.argv[1]](), sys.stdout)
