"""Shared by the servers of these examples. They listen on 127.0.0.1, print "listening on URL", and let another project's library
verify each request. Debian's python3; scripts/install-peers installs what Debian doesn't package.
"""

import argparse
import http.server
import os
import pathlib
import socketserver
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".build/peers"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_any(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > 1 << 20:
            self.close_connection = True
            return self.reply(413, "too large", [])
        self.reply(*self.server.judge(self, self.rfile.read(int(length))))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}{self.path}"

    def reply(self, status, text, headers=()):
        # Not send_response, which adds Date: some of these servers have a wrong clock.
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        body = (text + "\n").encode()
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self):
        # Not HTTPServer's, which looks up the host's name. That can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


def watch(pid):
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.5)
    os._exit(0)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when that process is gone")
    parser.add_argument("--ahead", type=int, default=0, metavar="SECONDS", help="how far this server's clock is ahead")
    options = parser.parse_args()
    if options.parent_pid:
        threading.Thread(target=watch, args=(options.parent_pid,), daemon=True).start()
    return options


def serve(options, judge):
    """`judge` gets the handler and the body, and returns the response: status, text, and header lines."""
    server = Server(("127.0.0.1", options.port), Handler)
    server.judge = judge
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
