"""Authlib's authorization server for client credentials, and resources that each require a scope."""
import os
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import common
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from flask import Flask, jsonify, request

ALLOWED = {"orders:read", "orders:write", "users"}
tokens, log = {}, []


class Client(ClientMixin):
    client_id = "probe"

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return " ".join(sorted(ALLOWED & set((scope or "").split())))

    def check_client_secret(self, secret):
        return secret == "a secret & more"

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_post"

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"


class Token(TokenMixin):
    def __init__(self, values):
        self.scope, self.seconds, self.ends = values.get("scope", ""), values["expires_in"], time.time() + values["expires_in"]

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.seconds

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return False


class Grant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return tokens.get(token_string)


def make_app(url):
    app = Flask("scope")

    def save(values, request):
        tokens[values["access_token"]] = Token(values)

    server = AuthorizationServer(app, query_client=lambda name: Client() if name == "probe" else None, save_token=save)
    server.register_grant(Grant)
    protect = ResourceProtector()
    protect.register_token_validator(Validator())

    @app.route("/token", methods=["POST"])
    def token():
        log.append(request.form.get("scope", ""))
        return server.create_token_response()

    @app.route("/orders")
    @protect("orders:read")
    def orders():
        return "orders"

    @app.route("/orders", methods=["POST"])
    @protect("orders:write")
    def ordered():
        return "ordered"

    @app.route("/users")
    @protect("users")
    def users():
        return "users"

    @app.route("/expire/<scope>")
    def expire(scope):
        for one in tokens.values():
            if one.scope == scope:
                one.ends = 0
        return ""

    @app.route("/log")
    def issued():
        return "\n".join(log)

    return app


common.serve_wsgi(make_app)
