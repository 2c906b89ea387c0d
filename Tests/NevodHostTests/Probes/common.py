"""Shared by the probes' servers. They listen on 127.0.0.1, print their URLs, and end with the process that started them."""
import os
import socketserver
import threading
import time
import wsgiref.simple_server


def end_with_parent():
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def say(*urls):
    print(" ".join(urls), flush=True)


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def get_environ(self):
        """Adds the path as it was sent."""
        return {**super().get_environ(), "RAW_PATH": self.path.split("?")[0]}

    def log_message(self, *arguments):
        pass


class ThreadingServer(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 256

    def server_bind(self):
        # Skips the base class's name lookup, which is unnecessary and can take long.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address
        self.setup_environ()


def serve_wsgi(make_app, listeners=1):
    """make_app gets the servers' URLs. This thread runs the first server."""
    end_with_parent()
    servers = [ThreadingServer(("127.0.0.1", 0), Handler) for _ in range(listeners)]
    urls = ["http://127.0.0.1:%d" % server.server_port for server in servers]
    app = make_app(*urls)
    for server in servers:
        server.set_app(app)
        if server is not servers[0]:
            threading.Thread(target=server.serve_forever, daemon=True).start()
    say(*urls)
    servers[0].serve_forever()
