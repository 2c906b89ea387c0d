"""A receiver of metrics over OTLP/HTTP. OpenTelemetry's own messages parse each body, as strictly as protobuf's JSON mapping
requires.

POST /control with JSON sets the next responses: status, retry_after, and body. GET /control returns what was received.
"""
import http.server
import json

import common
import peers
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

received = []
answer = {"status": 200, "rejected": 0, "message": "", "retry_after": None}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self, status, body, headers={}):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.respond(200, json.dumps(received).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/control":
            answer.update(json.loads(body))
            return self.respond(200, b"{}")
        if self.path != "/v1/metrics" or self.headers["Content-Type"] != "application/json":
            return self.respond(404, b"{}")
        try:
            message = json_format.Parse(body, ExportMetricsServiceRequest())
        except json_format.ParseError as error:
            received.append({"error": str(error)})
            return self.respond(400, b"{}")
        received.append(json_format.MessageToDict(message))
        if answer["status"] != 200:
            retry = {"Retry-After": answer["retry_after"]} if answer["retry_after"] else {}
            return self.respond(answer["status"], b"{}", retry)
        response = ExportMetricsServiceResponse()
        if answer["rejected"]:
            response.partial_success.rejected_data_points = answer["rejected"]
            response.partial_success.error_message = answer["message"]
        self.respond(200, json_format.MessageToJson(response).encode())

    def log_message(self, *arguments):
        pass


common.end_with_parent()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
common.say("http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
