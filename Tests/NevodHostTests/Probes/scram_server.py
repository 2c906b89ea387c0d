"""SCRAM-SHA-256 over HTTP (RFC 7804), with scramp's server. Under /lying it sends another exchange's signature, and under /silent
none."""
import base64
import secrets

import common
import peers  # noqa: F401: finds what is not packaged by Debian
from scramp import ScramMechanism

mechanism = ScramMechanism("SCRAM-SHA-256")
known = mechanism.make_auth_info("open sesame")
exchanges = {}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def attributes(line):
    return dict(part.strip().split("=", 1) for part in line.removeprefix("SCRAM-SHA-256 ").split(","))


def app(environ, start_response):
    given = attributes(environ["HTTP_AUTHORIZATION"]) if "HTTP_AUTHORIZATION" in environ else {}
    data = base64.b64decode(given.get("data", "")).decode()
    headers = [("Content-Length", "0")]
    if data.startswith("n,,"):
        server, sid = mechanism.make_server(lambda user: known if user == "ali" else mechanism.make_auth_info("-")), secrets.token_hex(8)
        server.set_client_first(data)
        exchanges[sid] = server
        headers.append(("WWW-Authenticate", f"SCRAM-SHA-256 sid={sid}, data={encoded(server.get_server_first())}"))
        start_response("401 Unauthorized", headers)
        return [b""]
    server = exchanges.pop(given.get("sid"), None)
    try:
        if server is None:
            raise ValueError("no such exchange")
        server.set_client_final(data)
    except Exception:
        start_response("401 Unauthorized", [*headers, ("WWW-Authenticate", 'SCRAM-SHA-256 realm="here"')])
        return [b""]
    proof = server.get_server_final()
    if environ["PATH_INFO"] == "/lying":
        proof = "v=" + encoded("x" * 32)
    body = b"the secret body"
    headers = [("Content-Length", str(len(body)))]
    if environ["PATH_INFO"] != "/silent":
        headers.append(("Authentication-Info", f"sid={given['sid']}, data={encoded(proof)}"))
    start_response("200 OK", headers)
    return [body]


common.serve_wsgi(lambda url: app)
