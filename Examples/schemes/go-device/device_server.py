"""Authlib (python3-authlib) issues tokens by the device grant, refreshes them, and guards /me. This server also plays the person
who confirms a code: at the second poll it allows the client "tv" and refuses any other. POST /expire ends all access tokens."""

import os
import pathlib
import sys
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import judge
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from flask import Flask, jsonify
from werkzeug.serving import WSGIRequestHandler, make_server

credentials, tokens, polls = {}, [], {}


class Client(ClientMixin):
    def __init__(self, name):
        self.name = name

    def get_client_id(self):
        return self.name

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "none"

    def check_grant_type(self, grant_type):
        return grant_type in (DeviceCodeGrant.GRANT_TYPE, "refresh_token")


class Token(TokenMixin):
    def __init__(self, values):
        self.values, self.ends, self.was_spent = values, time.time() + values["expires_in"], False

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return False

    def check_client(self, client):
        return True


class Devices(DeviceAuthorizationEndpoint):
    INTERVAL = 1

    def get_verification_uri(self):
        return "https://server.example/device"

    def save_device_credential(self, client_id, scope, data):
        credentials[data["device_code"]] = DeviceCredentialDict(data, client_id=client_id, scope=scope, expires_at=time.time() + 600)


class Grant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def query_device_credential(self, device_code):
        return credentials.get(device_code)

    def query_user_grant(self, user_code):
        polls[user_code] = polls.get(user_code, 0) + 1
        client = next(found["client_id"] for found in credentials.values() if found["user_code"] == user_code)
        return ("ada", client == "tv") if polls[user_code] > 1 else None

    def should_slow_down(self, credential):
        return False


class Refresh(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next((token for token in tokens if token.values["refresh_token"] == refresh_token and not token.was_spent), None)

    def authenticate_user(self, credential):
        return "ada"

    def revoke_old_credential(self, credential):
        credential.was_spent = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return next((token for token in tokens if token.values["access_token"] == token_string), None)


app = Flask("device")
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(
    app, query_client=lambda name: Client(name) if name in ("tv", "radio") else None,
    save_token=lambda token, request: tokens.append(Token(token)))
server.register_endpoint(Devices)
server.register_grant(Grant)
server.register_grant(Refresh)
protect = ResourceProtector()
protect.register_token_validator(Validator())


@app.route("/.well-known/oauth-authorization-server")
def metadata():
    return jsonify(issuer=url, device_authorization_endpoint=url + "/device", token_endpoint=url + "/token")


@app.route("/device", methods=["POST"])
def device():
    return server.create_endpoint_response(Devices.ENDPOINT_NAME)


@app.route("/token", methods=["POST"])
def token():
    return server.create_token_response()


@app.route("/me")
@protect()
def me():
    return f"verified: token {len(tokens)}\n"


@app.route("/expire", methods=["POST"])
def expire():
    for token in tokens:
        token.ends = 0
    return "expired\n"


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_arguments):
        pass


options = judge.arguments()
http = make_server("127.0.0.1", options.port, app, threaded=True, request_handler=Quiet)
url = f"http://127.0.0.1:{http.server_port}"
print(f"listening on {url}", flush=True)
http.serve_forever()
