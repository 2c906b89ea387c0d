"""The S3 interface of OpenStack Swift, which verifies signatures and their times, over a storage that is always empty.

With --ahead SECONDS, its clock is that many seconds ahead. It allows a signature's time to be off by 15 minutes."""
import argparse
import time

import common

parser = argparse.ArgumentParser()
parser.add_argument("--ahead", type=float, default=0)
ahead, now = parser.parse_args().ahead, time.time
time.time = lambda: now() + ahead  # the Date field uses it too

# After the clock: these modules may keep a reference to it.
from swift.common.middleware.s3api.s3api import S3ApiMiddleware
from swift.common.middleware.tempauth import TempAuth
from swift.common.swob import Request


def storage(environ, start_response):
    """Accepts whatever the preceding authorization allows."""
    authorize = environ.get("swift.authorize")
    if authorize:
        refusal = authorize(Request(environ))
        if refusal:
            return refusal(environ, start_response)
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    body = b"[]" if environ["REQUEST_METHOD"] == "GET" else b""
    start_response("200 OK" if body else "201 Created", [
        ("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("ETag", "0" * 32),
        ("X-Timestamp", "1"), ("Last-Modified", "Thu, 01 Jan 1970 00:00:01 GMT")])
    return [body]


class Memory:
    """Replaces memcached, for its tokens."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_options):
        return self.values.get(key)

    def set(self, key, value, **_options):
        self.values[key] = value


auth = TempAuth(storage, {"user_demo_ali": "sesame .admin", "storage_url_scheme": "http"})
s3, memory = S3ApiMiddleware(auth, {}), Memory()


def app(environ, start_response):
    if not environ["CONTENT_LENGTH"]:
        del environ["CONTENT_LENGTH"]  # wsgiref's value for a request without a body
    return s3({**environ, "swift.cache": memory}, start_response)


common.serve_wsgi(lambda url: app)
