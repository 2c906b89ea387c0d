"""Shared by the judges of vendors' software: a fixed clock, and requests that are intercepted before they are sent."""

import contextlib
import datetime
import importlib.metadata
import os
import sys
import time
import types
import urllib.parse
import uuid
from unittest import mock

import recipes
import requests
from recipes import MILLISECONDS, RANDOM, SECONDS, TIME_NANOSECONDS, Case, Expected

# Debian's name for the library.
for _name in ("", ".Cipher", ".Hash", ".PublicKey", ".Signature", ".Util"):
    sys.modules.setdefault(f"Crypto{_name}", importlib.import_module(f"Cryptodome{_name}"))

KEY = "demo-key-1"
SECRET = "demo secret ü/+=&1"
# For software that accepts only ASCII secrets.
PLAIN_SECRET = "demo-secret/+=&1"
SECRET_BASE64 = "AAECAwQFBgcICQoLDA0OD/Dx8vP09fb3+Pn6+/z9/v8="
TOKEN = "demo-token/+=1"

# A query and a form with characters that differ in each way of encoding.
ODD = {"name": "a b+c", "path": "d/e", "text": "ü=1&2"}

_real_datetime = datetime.datetime
_real = {name: getattr(time, name) for name in ("time", "time_ns", "gmtime", "localtime", "strftime", "mktime")}


class Row(recipes.Row):
    """`judge` is the name of a package, to which its version is added. Text after a comma says how it is used."""

    def __init__(self, *arguments, **others):
        super().__init__(*arguments, **others)
        package, comma, use = self.judge.partition(",")
        self.judge = f"{package} {importlib.metadata.version(package)}{comma}{use}"


class Moment(_real_datetime):
    @classmethod
    def now(cls, tz=None):
        now = cls.fromtimestamp(SECONDS, datetime.timezone.utc).replace(microsecond=TIME_NANOSECONDS % 10**9 // 1000)
        return now.astimezone(tz) if tz else now.replace(tzinfo=None)

    @classmethod
    def utcnow(cls):
        return cls.now()


def _strftime(pattern, moment=None):
    return _real["strftime"](pattern, moment or _real["gmtime"](SECONDS))


def _gmtime(seconds=None):
    return _real["gmtime"](SECONDS if seconds is None else seconds)


_fixed = {
    # Its binary value is slightly above the decimal one, so truncating it gives the same milliseconds.
    _real["time"]: lambda: MILLISECONDS / 1000,
    _real["time_ns"]: lambda: TIME_NANOSECONDS,
    _real["gmtime"]: _gmtime,
    _real["localtime"]: _gmtime,
    _real["strftime"]: _strftime,
    _real_datetime: Moment,
    os.urandom: lambda length: RANDOM[:length],
    uuid.uuid4: lambda: uuid.UUID(bytes=RANDOM[:16], version=4),
}


@contextlib.contextmanager
def pinned(*modules):
    """Fixes the clock and the random bytes, even where one of these modules imported the functions by name."""
    with contextlib.ExitStack() as stack:
        for module in (time, datetime, os, uuid, *(sys.modules[name] for name in modules)):
            for name, value in list(vars(module).items()):
                try:
                    fixed = _fixed.get(value)
                except TypeError:
                    continue
                if fixed:
                    stack.enter_context(mock.patch.object(module, name, fixed))
        yield


class Caught(BaseException):
    """The request that the software would send. Not an Exception, so that no retry catches it."""

    def __init__(self, request):
        self.request = request


def caught(call):
    """The request that `call` passes to the library requests."""

    def send(adapter, request, **options):
        raise Caught(request)

    with mock.patch.object(requests.adapters.HTTPAdapter, "send", send):
        try:
            call()
        except Caught as error:
            return error.request
    raise AssertionError("no request was sent")


def without_init(*packages):
    """Lets modules of these packages be imported without the packages' own initialization, which needs libraries that signing
    doesn't."""
    for name in packages:
        parent, _, last = name.rpartition(".")
        folders = importlib.import_module(parent).__path__ if parent else sys.path
        found = next(folder for folder in (os.path.join(folder, last) for folder in folders) if os.path.isdir(folder))
        module = types.ModuleType(name)
        module.__path__ = [found]
        sys.modules[name] = module
        if parent:
            setattr(sys.modules[parent], last, module)


def absent(*modules):
    """Replaces modules that vendors' software imports but doesn't need for signing, even if some version is installed."""
    for module in modules:
        parts = module.split(".")
        for count in range(len(parts)):
            sys.modules.setdefault(".".join(parts[: count + 1]), mock.MagicMock(__path__=[], __spec__=None))


def lower(signed):
    """The sent headers, by their names in lower case."""
    return {name.lower(): value for name, value in signed.headers.items()}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def case_of(request, headers=(), items=(), keep=("Content-Type",)):
    """A case from a request by the library requests. The caller gives everything except the credential's `headers` and
    `items`."""
    parts = urllib.parse.urlsplit(request.url)
    query = [item for item in parts.query.split("&") if item and urllib.parse.unquote_plus(item.partition("=")[0]) not in items]
    sent = {
        name: urllib.parse.unquote_plus(value)
        for name, _, value in (item.partition("=") for item in parts.query.split("&"))
        if name in items
    }
    expected = Expected({name: text(request.headers[name]) for name in headers}, sent)
    body = request.body.encode() if isinstance(request.body, str) else request.body
    given = {name: text(request.headers[name]) for name in keep if name in request.headers}
    return Case(
        request.method,
        urllib.parse.urlunsplit(parts._replace(query="&".join(query))),
        lambda signed: expected,
        body or None,
        given,
    )
