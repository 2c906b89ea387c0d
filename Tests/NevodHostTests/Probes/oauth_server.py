"""Authlib's authorization server, and a resource that accepts its tokens. The metadata is at one origin, and the endpoints are at
another."""
import os
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import common
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, jsonify, request

codes, tokens, log = {}, [], []


class Client(ClientMixin):
    client_id = "probe"

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_redirect_uri(self, redirect_uri):
        # Any port of loopback (RFC 8252 §7.3).
        return redirect_uri.startswith("http://127.0.0.1:") and redirect_uri.endswith("/callback")

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "none"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


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
    def __init__(self, values):
        self.values, self.ends, self.was_revoked = values, time.time() + values["expires_in"], False

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return self.was_revoked

    def check_client(self, client):
        return True


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        return codes.get(code)

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return "alice"


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next((token for token in tokens if token.values["refresh_token"] == refresh_token and not token.was_revoked), None)

    def authenticate_user(self, credential):
        return "alice"

    def revoke_old_credential(self, credential):
        credential.was_revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return next((token for token in tokens if token.values["access_token"] == token_string), None)


def make_app(issuer, endpoints):
    app = Flask("oauth")
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    server = AuthorizationServer(
        app, query_client=lambda client_id: Client() if client_id == "probe" else None,
        save_token=lambda token, request: tokens.append(Token(token)))
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    server.register_grant(RefreshGrant)
    protect = ResourceProtector()
    protect.register_token_validator(Validator())

    @app.route("/.well-known/openid-configuration")
    def metadata():
        return jsonify(issuer=issuer, authorization_endpoint=endpoints + "/authorize", token_endpoint=endpoints + "/token")

    @app.route("/authorize")
    def authorize():
        log.append("authorize " + request.args.get("scope", ""))
        return server.create_authorization_response(grant_user="alice")

    @app.route("/token", methods=["POST"])
    def token():
        log.append("token " + request.form["grant_type"])
        return server.create_token_response()

    @app.route("/me")
    @protect()
    def me():
        return "alice"

    @app.route("/control/<what>")
    def control(what):
        """Revokes access tokens, and optionally refresh tokens."""
        for token in tokens:
            token.ends = 0
            token.was_revoked |= what == "revoke"
        return jsonify(log)

    return app


common.serve_wsgi(make_app, 2)
