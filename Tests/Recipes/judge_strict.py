"""The preset strict against strict_server.py, which is shown in guides."""

import os
import types

os.environ.setdefault("DEMO_SECRET", "demo secret ü")
import strict_server
from recipes import SECONDS, Case, Expected, Row

strict_server.time = types.SimpleNamespace(time=lambda: SECONDS + 2)


def case(method: str, target: str, body=None, headers=None) -> Case:
    def expect(signed):
        problem = strict_server.refusal("127.0.0.1:8080", signed.method, signed.target, signed.headers, signed.body)
        # The server recomputes the signature, so an accepted request has an equal one.
        names = ("X-API-Key", "X-Timestamp", "X-Nonce", "X-Signature")
        strict_server.seen.clear()
        return Expected({name: problem or signed.headers[name] for name in names})

    return Case(method, f"http://127.0.0.1:8080{target}", expect, body, headers or {})


def rows():
    cases = [
        case("GET", "/orders"),
        case("GET", "/a%2Fb/c%20d?x=a+b&y=%C3%BC%26%3D&y=&z"),
        case("POST", "/orders?dry=1", b'{"a": "\xc3\xbc"}', {"Content-Type": "application/json"}),
        case("DELETE", "/orders/1?", b"\x00\xff&=+%2F"),
    ]
    source = "https://www.rfc-editor.org/rfc/rfc2104"
    secret = os.environ["DEMO_SECRET"]
    return [Row("Strict", "strict", source, "Tests/Recipes/strict_server.py", cases, {"secret": secret}, {"api-key": "demo"})]
