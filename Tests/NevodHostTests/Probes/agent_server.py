"""A slow signer on a Unix socket, and an HTTP server that checks its signatures with Python's hmac. The signer first responds
when as many requests wait as its argument says. From then on, it responds immediately."""
import hashlib
import hmac
import socketserver
import sys
import threading

import common

KEY = b"the agent's key, which no plugin sees"
waiting, arrived = [0], threading.Condition()


def signature(message):
    return hmac.new(KEY, message, hashlib.sha256).hexdigest()


class Agent(socketserver.StreamRequestHandler):
    def handle(self):
        message = self.rfile.readline().rstrip(b"\n")
        with arrived:
            waiting[0] += 1
            arrived.notify_all()
            if not arrived.wait_for(lambda: waiting[0] >= int(sys.argv[2]), 60):
                return
        self.wfile.write(signature(message).encode())


class Agents(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


def app(environ, start_response):
    if environ["PATH_INFO"] == "/waiting":
        start_response("200 OK", [])
        return [str(waiting[0]).encode()]
    message = f"{environ['REQUEST_METHOD']} {environ['RAW_PATH']}".encode()
    is_right = hmac.compare_digest(environ.get("HTTP_X_SIGNATURE", ""), signature(message))
    start_response("200 OK" if is_right else "401 Unauthorized", [("Content-Length", "0")])
    return [b""]


threading.Thread(target=Agents(sys.argv[1], Agent).serve_forever, daemon=True).start()
common.serve_wsgi(lambda url: app)
