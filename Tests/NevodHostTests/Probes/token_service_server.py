"""Authlib's endpoints for introspection (RFC 7662) and revocation (RFC 7009), with clients for each kind of authentication.

GET /control/log returns the forms that arrived; GET /control/busy makes the next request fail with 503.
"""
import os
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import common
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749.models import ClientMixin, TokenMixin
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Flask, jsonify, request

METHODS = {"basic": "client_secret_basic", "form": "client_secret_post", "public": "none"}
log, busy = [], []


class Client(ClientMixin):
    def __init__(self, client_id):
        self.client_id = client_id

    def check_client_secret(self, client_secret):
        return client_secret == "s3cret"

    def check_endpoint_auth_method(self, method, endpoint):
        return method == METHODS[self.client_id]


class Token(TokenMixin):
    def __init__(self, access, refresh, client, ends):
        self.access, self.refresh, self.client, self.ends, self.was_revoked = access, refresh, client, ends, False

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return self.was_revoked

    def check_client(self, client):
        return client.client_id == self.client


tokens = [
    Token("access+/=&é", "refresh", "basic", 4e9), Token("expired", "r2", "basic", 1), Token("of form", "r3", "form", 4e9),
    Token("of public", "r4", "public", 4e9),
]


def find(text, hint):
    fields = [hint.split("_")[0]] if hint else ["access", "refresh"]
    return next((token for token in tokens if text in [getattr(token, field) for field in fields]), None)


class Introspection(IntrospectionEndpoint):
    CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def query_token(self, text, hint):
        return find(text, hint)

    def check_permission(self, token, client, request):
        return token.check_client(client)

    def introspect_token(self, token):
        return {
            "client_id": token.client, "username": "Ada", "scope": "orders:read orders:write", "sub": "ada", "aud": ["shop", "bank"],
            "iss": "https://login.example.com", "exp": int(token.ends), "iat": 1700000000, "token_type": "Bearer", "rate_limit": 17}


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = list(METHODS.values())

    def query_token(self, text, hint):
        return find(text, hint)

    def revoke_token(self, token, request):
        token.was_revoked = True


def make_app(url):
    app = Flask("tokens")
    server = AuthorizationServer(
        app, query_client=lambda client_id: Client(client_id) if client_id in METHODS else None, save_token=lambda token, request: None)
    server.register_endpoint(Introspection)
    server.register_endpoint(Revocation)

    def respond(endpoint):
        log.append([endpoint, sorted(request.form.items()), request.query_string.decode()])
        if busy:
            return "", 503, {"Retry-After": busy.pop()}
        return server.create_endpoint_response(endpoint)

    app.add_url_rule("/introspect", view_func=lambda: respond("introspection"), endpoint="i", methods=["POST"])
    app.add_url_rule("/revoke", view_func=lambda: respond("revocation"), endpoint="r", methods=["POST"])

    @app.route("/control/<what>")
    def control(what):
        if what.isdigit():
            busy.append(what)
        return jsonify(log)

    return app


common.serve_wsgi(make_app)
