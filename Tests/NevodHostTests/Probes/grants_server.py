"""Authlib's authorization server with several grants: code with PKCE, device, client credentials, refresh with rotation, revocation.

Clients: `app` has no secret. `shop` has one, which it may send in either way. /control/log has the requests so far.

  GET /control/enter/CODE/ANSWER    the user enters the code of a device, and says yes or no
  GET /control/expire               all access tokens expire
  GET /control/withdraw             the user withdraws all grants
"""
import os
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import common
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from flask import Flask, jsonify, redirect, request

codes, tokens, devices, answers, log = {}, [], {}, {}, []


class Client(ClientMixin):
    def __init__(self, client_id, secret, methods):
        self.client_id, self.secret, self.methods = client_id, secret, methods

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_client_secret(self, secret):
        return secret == self.secret

    def check_redirect_uri(self, uri):
        return uri == "com.example.app:/login"

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return True


clients = {client.client_id: client for client in (
    Client("app", None, ["none"]),
    Client("shop", "s3cret-of-the-shop", ["client_secret_basic", "client_secret_post"]))}


class Code(AuthorizationCodeMixin):
    def __init__(self, code, request):
        self.code, self.redirect_uri, self.scope = code, request.redirect_uri, request.scope
        self.code_challenge = request.data["code_challenge"]
        self.code_challenge_method = request.data["code_challenge_method"]

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, values, client):
        self.values, self.client, self.ends, self.was_revoked = values, client, time.time() + values["expires_in"], False

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return self.was_revoked

    def check_client(self, client):
        return client is self.client


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        return codes.get(code)

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return "ada"


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next((token for token in tokens if token.values.get("refresh_token") == refresh_token and not token.was_revoked), None)

    def authenticate_user(self, credential):
        return "ada"

    def revoke_old_credential(self, credential):
        credential.was_revoked = True


class ClientGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]
    INTERVAL = 5

    def get_verification_uri(self):
        return request.host_url + "device"

    def save_device_credential(self, client_id, scope, data):
        devices[data["device_code"]] = DeviceCredentialDict(dict(data, client_id=client_id, scope=scope, expires_at=time.time() + 600))


class DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, device_code):
        return devices.get(device_code)

    def query_user_grant(self, user_code):
        return ("ada", answers[user_code] == "yes") if user_code in answers else None

    def should_slow_down(self, credential):
        return False


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def query_token(self, text, hint):
        return next((token for token in tokens if text in (token.values["access_token"], token.values.get("refresh_token"))), None)

    def revoke_token(self, token, request):
        token.was_revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, text):
        return next((token for token in tokens if token.values["access_token"] == text), None)


def make_app(url):
    app = Flask("grants")
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    server = AuthorizationServer(
        app, query_client=clients.get, save_token=lambda token, request: tokens.append(Token(token, request.client)))
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    for grant in (RefreshGrant, ClientGrant, DeviceGrant):
        server.register_grant(grant)
    server.register_endpoint(DeviceEndpoint)
    server.register_endpoint(Revocation)
    protect = ResourceProtector()
    protect.register_token_validator(Validator())

    @app.route("/.well-known/oauth-authorization-server")
    def metadata():
        log.append("metadata")
        return jsonify(
            issuer=url, authorization_endpoint=url + "/authorize", token_endpoint=url + "/token",
            device_authorization_endpoint=url + "/device_authorization", revocation_endpoint=url + "/revoke",
            authorization_response_iss_parameter_supported=True)

    @app.route("/authorize")
    def authorize():
        log.append("authorize " + request.args.get("scope", ""))
        response = server.create_authorization_response(grant_user="ada")
        # This version of Authlib doesn't send the issuer (RFC 9207).
        return redirect(response.headers["Location"] + "&iss=" + url.replace(":", "%3A").replace("/", "%2F"))

    @app.route("/token", methods=["POST"])
    def token():
        log.append("token " + request.form["grant_type"].split(":")[-1])
        return server.create_token_response()

    @app.route("/device_authorization", methods=["POST"])
    def device_authorization():
        return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)

    @app.route("/revoke", methods=["POST"])
    def revoke():
        log.append("revoke " + request.form["token_type_hint"])
        return server.create_endpoint_response(Revocation.ENDPOINT_NAME)

    @app.route("/me")
    @protect()
    def me():
        return "ada"

    @app.route("/control/enter/<code>/<answer>")
    def enter(code, answer):
        answers[code] = answer
        return "ok"

    @app.route("/control/<what>")
    def control(what):
        for token in tokens:
            if what == "expire":
                token.ends = 0
            if what == "withdraw":
                token.ends, token.was_revoked = 0, True
        return "\n".join(log)

    return app


common.serve_wsgi(make_app)
