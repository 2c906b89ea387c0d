"""An origin that responds with the request's head, over TLS if it gets a file with a certificate and a key."""
import http.server
import ssl
import sys

import common


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        text = ("%s\n%s" % (self.requestline, self.headers)).encode()
        self.send_response(407 if self.path.startswith("/407") else 200)
        if self.path.startswith("/407"):
            self.send_header("Proxy-Authenticate", 'Digest realm="r", nonce="of the origin", qop="auth"')
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


common.end_with_parent()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
common.say("%s://127.0.0.1:%d" % ("https" if len(sys.argv) > 1 else "http", server.server_port))
server.serve_forever()
