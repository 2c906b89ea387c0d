"""http-message-signatures (PyPI) verifies requests with the public key of RFC 9421 §B.1.4."""

import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import judge
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

KEY = b"""-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----
"""


class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        return {"test-key-ed25519": load_pem_public_key(KEY)}[key_id]

    def resolve_private_key(self, key_id):
        raise KeyError(key_id)


verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys())


def verify(handler, body):
    request = types.SimpleNamespace(method=handler.command, url=handler.url, headers=dict(handler.headers))
    try:
        results = verifier.verify(request, body=body)
    except Exception as error:
        return 401, f"refused: {type(error).__name__}"
    covered = " ".join(key.strip('"') for key in results[0].covered_components if "signature-params" not in key)
    if body and "content-digest" not in covered:
        return 401, "refused: the body is not covered"
    return 200, f"verified: {covered}"


judge.serve(judge.arguments(), verify)
