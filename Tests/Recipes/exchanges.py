"""Rows for the exchanges of the library ccxt. Its `sign` is the judge, with a fixed account, clock and nonce."""

import base64
import copy
import types
import urllib.parse
from typing import Callable, Iterable, Optional
from unittest import mock

import ccxt
import requests
from recipes import MILLISECONDS, NONCE_HEX, ROOT, SECONDS, TIME_NANOSECONDS, Case, Expected, Row, Signed

KEY = "demo-key/+=1"
SECRET = "demo secret ü/+=&1"
# For exchanges that decode their secret.
SECRET_BASE64 = base64.b64encode(bytes(range(200, 248))).decode()
PASSPHRASE = "demo-passphrase/+=1"
UID = "demo-4711"
UUID = "00010203-0405-4607-8809-0a0b0c0d0e0f"

# Names and values that differ in each way of encoding.
ODD = {"a b": "c+d", "e": "f/g", "text": "ü=1&2", "marks": "~!*'()", "zero": "0.10"}
ODD_VALUES = {"label": "c+d e", "memo": "f/g", "note": "ü=1&2"}

# Headers that a caller sends by itself and no recipe makes.
CALLERS = {"accept", "accept-charset", "content-type", "referer", "user-agent"}


def exchange(name, secret: str = SECRET, options: Optional[dict] = None, key: str = KEY):
    """An exchange of ccxt, by its id or class. Put what else it needs into `options`. Attributes can be set afterwards."""
    kind = getattr(ccxt, name) if isinstance(name, str) else name
    made = kind({"apiKey": key, "secret": secret, "password": PASSPHRASE, "uid": UID, "options": options or {}})
    made.seconds = lambda: SECONDS
    made.milliseconds = lambda: MILLISECONDS
    made.microseconds = lambda: TIME_NANOSECONDS // 1000
    # Otherwise, each call would count on.
    made.incrementing_nonce = made.nonce
    pin(made, UUID)
    return made


def pin(made, nonce: str):
    """Replaces ccxt's random values with `nonce`."""
    for method in ("uuid", "uuid16", "uuid22"):
        setattr(made, method, lambda *length: nonce)
    made.random_bytes = lambda length: NONCE_HEX[: 2 * length]


def sign(made, path: str, api, method: str, params) -> types.SimpleNamespace:
    """Returns the method, URL, headers and body that ccxt sends."""
    result = made.sign(path, [api] if isinstance(api, str) else list(api), method, copy.deepcopy(params or {}))
    headers = {name: str(value) for name, value in (result["headers"] or {}).items() if value is not None}
    body = result["body"]
    return types.SimpleNamespace(
        method=result["method"],
        # As ccxt's HTTP client writes it: ccxt leaves some characters to the client.
        url=requests.Request("GET", result["url"]).prepare().url,
        headers=headers,
        body=body.encode() if isinstance(body, str) else body,
    )


def items(url: str) -> list:
    query = urllib.parse.urlsplit(url).query
    return query.split("&") if query else []


def name_of(item: str) -> str:
    return urllib.parse.unquote(item.partition("=")[0])


def case(
    made,
    path: str,
    api,
    method: str = "GET",
    params=None,
    query: Iterable[str] = (),
    headers: Iterable[str] = (),
    nonce: Optional[Callable[[Signed], str]] = None,
) -> Case:
    """A request by ccxt's path, section (`api`: a name, or a list of names) and parameters.

    `query` names the query items that the recipe adds. `headers` names headers that the caller sends, in addition to Accept,
    Content-Type and the like; all others are expected from the recipe. `nonce` finds the recipe's random text in nevod-host's
    request, and ccxt then signs with that text.
    """
    added = set(query)
    callers = CALLERS | {name.lower() for name in headers}
    sent = sign(made, path, api, method, params)
    kept = "&".join(item for item in items(sent.url) if name_of(item) not in added)

    def expect(signed: Signed) -> Expected:
        if nonce:
            pin(made, nonce(signed))
        sent = sign(made, path, api, method, params)
        decoded = [(name_of(item), urllib.parse.unquote(item.partition("=")[2])) for item in items(sent.url)]
        return Expected(
            {name: value for name, value in sent.headers.items() if name.lower() not in callers},
            {name: value for name, value in decoded if name in added},
        )

    return Case(
        sent.method,
        urllib.parse.urlsplit(sent.url)._replace(query=kept).geturl(),
        expect,
        sent.body,
        {name: value for name, value in sent.headers.items() if name.lower() in callers},
    )


def appended(made, method: str = "urlencode"):
    """For exchanges that sign items in the order of sending: makes ccxt write its time after the caller's items, like nevod-host.
    `method` writes them."""
    write = getattr(made, method)
    last = ("timestamp", "signature")
    setattr(made, method, lambda items, *rest: write(dict(sorted(items.items(), key=lambda item: item[0] in last)), *rest))
    return made


def sent_by(call: Callable) -> requests.PreparedRequest:
    """The request that `call` sends with the library requests. It gets an empty response, and runs at the rows' time."""
    sent = []

    def send(session, request, **options):
        sent.append(request)
        answer = requests.Response()
        answer.status_code = 200
        answer._content = b"{}"
        return answer

    with mock.patch.object(requests.Session, "send", send), mock.patch("time.time", lambda: TIME_NANOSECONDS / 1e9):
        call()
    (request,) = sent
    return request


def sent_case(request: requests.PreparedRequest, headers: Iterable[str], query: Iterable[str] = ()) -> Case:
    """A request of a library other than ccxt. `headers` and `query` name what the recipe adds."""
    added, credentials = set(query), {name.lower() for name in headers}
    body = request.body.encode() if isinstance(request.body, str) else request.body
    decoded = {name_of(item): urllib.parse.unquote(item.partition("=")[2]) for item in items(request.url)}
    expected = Expected(
        {name: value for name, value in request.headers.items() if name.lower() in credentials},
        {name: value for name, value in decoded.items() if name in added},
    )
    assert credentials == {name.lower() for name in expected.headers} and added == expected.query.keys()
    kept = "&".join(item for item in items(request.url) if name_of(item) not in added)
    content_type = {"Content-Type": request.headers["Content-Type"]} if body is not None else {}
    return Case(
        request.method,
        urllib.parse.urlsplit(request.url)._replace(query=kept).geturl(),
        lambda signed: expected,
        body,
        content_type,
    )


def row(made, cases: list, preset: Optional[str] = None, secrets: Optional[dict] = None, settings: Optional[dict] = None) -> Row:
    """A row with its preset's title and source. By default, the preset's name is the exchange's id. `secrets` and `settings` are
    added to the account's."""
    name = preset or made.id
    lines = (ROOT / "Presets" / "hmac" / f"{name}.preset").read_text().splitlines()
    required = made.requiredCredentials
    account = {"secret": made.secret}
    if required.get("password"):
        account["passphrase"] = made.password
    if required.get("uid"):
        account["memo"] = made.uid
    given = {"api-key": made.apiKey} if required.get("apiKey") else {}
    return Row(
        title=lines[0].removeprefix("# ").partition(";")[0],
        preset=name,
        source=next(line for line in lines if line.startswith("# source: ")).removeprefix("# source: "),
        judge=f"ccxt {ccxt.__version__}",
        cases=cases,
        secrets=account | (secrets or {}),
        settings=given | (settings or {}),
    )
