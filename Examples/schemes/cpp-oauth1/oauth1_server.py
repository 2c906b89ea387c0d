"""oauthlib (python3-oauthlib) verifies requests of the client "ada" with the token "ada-token"; both secrets come from DEMO_SECRET."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import judge
from oauthlib.oauth1 import SIGNATURE_HMAC_SHA1, SIGNATURE_HMAC_SHA256, RequestValidator, ResourceEndpoint

secret = os.environ.get("DEMO_SECRET") or sys.exit("set DEMO_SECRET to the secret of ada")


class Validator(RequestValidator):
    enforce_ssl = False
    allowed_signature_methods = [SIGNATURE_HMAC_SHA1, SIGNATURE_HMAC_SHA256]
    client_key_length = access_token_length = (1, 100)
    nonce_length = (16, 64)
    safe_characters = set(map(chr, range(33, 127)))
    dummy_client = dummy_access_token = "nobody"

    def __init__(self):
        super().__init__()
        self.seen = set()

    def validate_timestamp_and_nonce(self, client, timestamp, nonce, request, request_token=None, access_token=None):
        known = (client, timestamp, nonce) in self.seen
        self.seen.add((client, timestamp, nonce))
        return not known

    def validate_client_key(self, client, request):
        return client == "ada"

    def validate_access_token(self, client, token, request):
        return token == "ada-token"

    def validate_realms(self, client, token, request, uri=None, realms=None):
        return True

    def get_client_secret(self, client, request):
        return secret

    get_access_token_secret = lambda self, client, token, request: secret


endpoint = ResourceEndpoint(Validator())


def verify(handler, body):
    is_valid, _ = endpoint.validate_protected_resource_request(
        handler.url, handler.command, body=body.decode("latin-1"), headers=dict(handler.headers))
    return (200, f"verified: {handler.command} {handler.path}") if is_valid else (401, "refused")


judge.serve(judge.arguments(), verify)
