"""Signs each received request again with botocore, and compares the signatures."""
import datetime
import http.server
import threading

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import common

ACCESS_KEY, SECRET_KEY, REGION, SERVICE = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1", "execute-api"
OWN = {"authorization", "x-amz-date", "x-amz-security-token"}
lock = threading.Lock()


class FixedClock(datetime.datetime):
    now_is = None

    @classmethod
    def utcnow(cls):
        return cls.now_is


def expected(method, url, headers, body, date, token):
    FixedClock.now_is = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
    botocore.auth.datetime.datetime = FixedClock
    request = botocore.awsrequest.AWSRequest(method=method, url=url, data=body)
    for name, value in headers:
        if name.lower() not in OWN:
            request.headers.add_header(name, value)
    credentials = botocore.credentials.Credentials(ACCESS_KEY, SECRET_KEY, token)
    botocore.auth.SigV4Auth(credentials, SERVICE, REGION).add_auth(request)
    return request.headers["Authorization"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = "http://%s%s" % (self.headers["Host"], self.path)
        with lock:
            wanted = expected(self.command, url, self.headers.items(), body, self.headers["X-Amz-Date"],
                              self.headers.get("X-Amz-Security-Token"))
        text = ("%s\n%s\n%s" % (self.path, self.headers["Authorization"], wanted)).encode()
        self.send_response(200 if wanted == self.headers["Authorization"] else 403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = respond

    def log_message(self, *arguments):
        pass


common.end_with_parent()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
common.say("http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
