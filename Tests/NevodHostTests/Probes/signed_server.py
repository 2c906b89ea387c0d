"""http-message-signatures verifies requests and signs responses. The path says what is wrong with a response."""
import base64
import hashlib
import types

import common
import peers  # noqa: F401: finds what is not packaged by Debian
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

SECRET = b"a shared secret of more than 32 bytes, for HMAC"


class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        return {"probe": SECRET}[key_id]

    resolve_private_key = resolve_public_key


signer = HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
verifier = HTTPMessageVerifier(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())


def digest(body):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def make_app(url):
    def app(environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        path = environ["PATH_INFO"]
        query = "?" + environ["QUERY_STRING"] if environ["QUERY_STRING"] else ""
        request = types.SimpleNamespace(
            method=environ["REQUEST_METHOD"], url=url + environ["RAW_PATH"] + query,
            headers={name[5:].replace("_", "-").title(): value for name, value in environ.items() if name.startswith("HTTP_")})
        try:
            verifier.verify(request, body=body)
            status, text = "200 OK", b"verified " + body[:100]
        except Exception as error:
            status, text = "400 Bad Request", repr(error).encode()
        if path == "/large":
            text = b"0123456789abcdef" * (5 << 16)
        response = types.SimpleNamespace(
            status_code=int(status[:3]), request=request, url=request.url,
            headers={"Content-Length": str(len(text)), "Content-Digest": digest(text)})
        components = ["@status", "content-digest", '"@method";req', '"@target-uri";req']
        if path == "/uncovered":
            components = ["@status"]
        if path != "/unsigned":
            signer.sign(response, key_id="probe", covered_component_ids=components, label="sig", use_existing_digest=True)
        if path == "/tampered":
            text = text[:-1] + b"!"
        if path == "/status":
            status = "201 Created"
        start_response(status, list(response.headers.items()))
        return [text]

    return app


common.serve_wsgi(make_app)
