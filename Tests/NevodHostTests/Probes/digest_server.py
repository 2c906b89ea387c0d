"""httpbin, which checks Digest's response, and a list of the received credentials as parsed by werkzeug."""
import json
import threading

import common
import httpbin
from werkzeug.http import parse_authorization_header


def make_app(url):
    seen = []
    lock = threading.Lock()

    def app(environ, start_response):
        if environ["PATH_INFO"] == "/seen":
            start_response("200 OK", [("Content-Type", "application/json")])
            with lock:
                return [json.dumps(seen).encode()]
        credentials = parse_authorization_header(environ.get("HTTP_AUTHORIZATION"))
        status = []

        def start(line, *arguments):
            status.append(line)
            return start_response(line, *arguments)

        response = httpbin.app(environ, start)
        if credentials:
            with lock:
                seen.append([credentials["nonce"], credentials["nc"], status[0][:3]])
        return response

    return app


common.serve_wsgi(make_app)
