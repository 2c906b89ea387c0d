"""Authlib's authorization server, as Debian has it: code with PKCE, device grant, client credentials, password, JWT bearer,
revocation, OpenID Connect, and clients that authenticate in each way. The argument is a folder, in which it leaves key.pem.

  GET /api               {"user", "client", "scope"} of a valid token; 401 with a challenge for any other
  GET /control/log       the requests for tokens: grant, client, status
  GET /control/expire    expires all access tokens
"""
import os
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from pages import CLIENT_SECRET, USER, common, is_user, login_page, page, private_key, public_pem
from authlib.common.encoding import json_loads, to_bytes, urlsafe_b64decode
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, redirect, request, session

DEVICE, ASSERTION = "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"
SECRET = ("client_secret_basic", "client_secret_post")
# Grants, and ways to authenticate.
CLIENTS = {
    "app": (("authorization_code", "refresh_token", DEVICE), ("none",)),
    "web": (("authorization_code", "refresh_token"), SECRET),
    "machine": (("client_credentials",), SECRET),
    "legacy": (("password", "refresh_token"), SECRET),
    "key": (("client_credentials", ASSERTION), ("private_key_jwt",)),
    "mac": (("client_credentials",), ("client_secret_jwt",)),
}
codes, devices, tokens, log, identifiers, nonces = {}, {}, [], [], set(), set()
client_key = private_key()
signing_key = JsonWebKey.generate_key("RSA", 2048, {"kid": "server", "alg": "RS256", "use": "sig"}, is_private=True)


class Client(ClientMixin):
    client_secret = CLIENT_SECRET

    def __init__(self, name):
        self.client_id = name
        self.grants, self.methods = CLIENTS[name]

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(name for name in (scope or "orders:read").split() if name in ("openid", "orders:read", "orders:write"))

    def check_redirect_uri(self, redirect_uri):
        # Any port of loopback (RFC 8252 §7.3).
        return redirect_uri.startswith("http://127.0.0.1:") and redirect_uri.endswith("/callback")

    def check_client_secret(self, client_secret):
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in self.grants


def find_client(name):
    return Client(name) if name in CLIENTS else None


class Code(AuthorizationCodeMixin):
    def __init__(self, request):
        self.client, self.redirect_uri, self.scope = request.client.client_id, request.redirect_uri, request.scope
        self.nonce, self.time = request.data.get("nonce"), int(time.time())
        self.code_challenge = request.data.get("code_challenge")
        self.code_challenge_method = request.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.time


class Token(TokenMixin):
    def __init__(self, values, client, user):
        self.values, self.client, self.user = values, client, user
        self.ends, self.was_revoked = time.time() + values["expires_in"], False

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return time.time() > self.ends

    def is_revoked(self):
        return self.was_revoked

    def check_client(self, client):
        return self.client == client.client_id


def find_token(text, kinds=("access_token", "refresh_token")):
    return next((token for token in tokens if text in [token.values.get(kind) for kind in kinds]), None)


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", *SECRET]

    def save_authorization_code(self, code, request):
        codes[code] = Code(request)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        codes.update({name: None for name, code in codes.items() if code is authorization_code})

    def authenticate_user(self, authorization_code):
        return USER


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", *SECRET]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = find_token(refresh_token, ("refresh_token",))
        return token if token and not token.was_revoked else None

    def authenticate_user(self, credential):
        return credential.user

    def revoke_old_credential(self, credential):
        credential.was_revoked = True


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = list(SECRET)

    def authenticate_user(self, username, password):
        return USER if is_user({"username": username, "password": password}) else None


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = [*SECRET, "private_key_jwt", "client_secret_jwt"]


class AssertionGrant(JWTBearerGrant):
    def resolve_issuer_client(self, issuer):
        return find_client(issuer)

    def resolve_client_key(self, client, headers, payload):
        return public_pem(client_key)

    def authenticate_user(self, subject):
        return subject if subject == USER else None

    def has_granted_permission(self, client, user):
        return True


class ClientAssertion(JWTBearerClientAssertion):
    def __init__(self, method, audiences):
        super().__init__(audiences[0])
        self.CLIENT_AUTH_METHOD, self.audiences = method, audiences

    def __call__(self, query_client, request):
        """Leaves to the other method what is signed in its way."""
        header = request.form.get("client_assertion", "").split(".")[0]
        is_shared = header and json_loads(urlsafe_b64decode(to_bytes(header)))["alg"].startswith("HS")
        return super().__call__(query_client, request) if is_shared == (self.CLIENT_AUTH_METHOD == "client_secret_jwt") else None

    def create_claims_options(self):
        # The audience is the issuer, or the endpoint (OpenID Connect Core §9).
        return {**super().create_claims_options(), "aud": {"essential": True, "values": self.audiences}}

    def validate_jti(self, claims, jti):
        fresh = jti not in identifiers
        identifiers.add(jti)
        return fresh

    def resolve_client_public_key(self, client, headers):
        return CLIENT_SECRET if headers["alg"].startswith("HS") else public_pem(client_key)


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    INTERVAL = 1

    def get_verification_uri(self):
        return request.host_url + "device"

    def save_device_credential(self, client_id, scope, data):
        devices[data["device_code"]] = {
            **data, "client_id": client_id, "scope": scope, "expires_at": time.time() + data["expires_in"], "approved": None}


class DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, device_code):
        found = devices.get(device_code)
        return DeviceCredentialDict(found) if found else None

    def query_user_grant(self, user_code):
        approved = next(device["approved"] for device in devices.values() if device["user_code"] == user_code)
        return None if approved is None else (USER, approved)

    def should_slow_down(self, credential):
        return False


class Identity(OpenIDCode):
    def exists_nonce(self, nonce, request):
        known = nonce in nonces
        nonces.add(nonce)
        return known

    def get_jwt_config(self, grant):
        return {"key": signing_key, "alg": "RS256", "iss": request.host_url.rstrip("/"), "exp": 3600}

    def generate_user_info(self, user, scope):
        return UserInfo(sub="user-1", preferred_username=user)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", *SECRET]

    def query_token(self, text, hint):
        return find_token(text)

    def revoke_token(self, token, request):
        token.was_revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return find_token(token_string, ("access_token",))


def make_app(issuer):
    app = Flask("oauth")
    app.secret_key = "of this test"
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True

    def save(token, request):
        tokens.append(Token(token, request.client.client_id, request.user))

    server = AuthorizationServer(app, query_client=find_client, save_token=save)
    for method in ("private_key_jwt", "client_secret_jwt"):
        server.register_client_auth_method(method, ClientAssertion(method, [issuer, issuer + "/token"]))
    server.register_grant(CodeGrant, [CodeChallenge(required=True), Identity()])
    for grant in (RefreshGrant, PasswordGrant, ClientCredentialsGrant, AssertionGrant, DeviceGrant):
        server.register_grant(grant)
    server.register_endpoint(DeviceEndpoint)
    server.register_endpoint(Revocation)
    protect = ResourceProtector()
    protect.register_token_validator(Validator())

    @app.route("/.well-known/openid-configuration")
    @app.route("/.well-known/oauth-authorization-server")
    def metadata():
        return jsonify(
            issuer=issuer, authorization_endpoint=issuer + "/authorize", token_endpoint=issuer + "/token",
            jwks_uri=issuer + "/jwks",
            device_authorization_endpoint=issuer + "/device-code", revocation_endpoint=issuer + "/revoke",
            response_types_supported=["code"], subject_types_supported=["public"], id_token_signing_alg_values_supported=["RS256"],
            code_challenge_methods_supported=["S256"], scopes_supported=["openid", "orders:read", "orders:write"],
            token_endpoint_auth_methods_supported=["none", *SECRET, "private_key_jwt", "client_secret_jwt"],
            token_endpoint_auth_signing_alg_values_supported=["ES256", "HS256"],
            grant_types_supported=["authorization_code", "refresh_token", "client_credentials", "password", DEVICE, ASSERTION])

    @app.route("/jwks")
    def jwks():
        return jsonify(keys=[signing_key.as_dict(is_private=False)])

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize():
        if request.method == "POST" and "user" not in session and is_user(request.form):
            session["user"] = USER
            return redirect(request.url)
        if "user" not in session:
            return login_page()
        if request.method == "GET":
            return page("Authorize " + request.args.get("client_id", "").replace("<", ""), "Allow")
        return server.create_authorization_response(grant_user=USER if request.form.get("allow") else None)

    @app.route("/device", methods=["GET", "POST"])
    def device():
        """Where a person types the code of a device."""
        values = {**request.args, **request.form}
        if request.method == "GET":
            code = "".join(letter for letter in values.get("user_code", "") if letter.isalnum() or letter == "-")
            return login_page(f'<input name="user_code" value="{code}">')
        for found in devices.values():
            if found["user_code"] == values.get("user_code") and is_user(values):
                found["approved"] = "login" in values
                return "The device is connected."
        return login_page(), 400

    @app.route("/device-code", methods=["POST"])
    def device_code():
        return server.create_endpoint_response("device_authorization")

    @app.route("/token", methods=["POST"])
    def token():
        response = server.create_token_response()
        log.append([request.form.get("grant_type"), request.form.get("client_id", ""), response.status_code])
        return response

    @app.route("/revoke", methods=["POST"])
    def revoke():
        response = server.create_endpoint_response("revocation")
        log.append(["revoke", request.form.get("client_id", ""), response.status_code])
        return response

    @app.route("/api")
    @protect()
    def api():
        token = current_token._get_current_object()
        return jsonify(user=token.user, client=token.client, scope=token.get_scope())

    @app.route("/control/<what>")
    def control(what):
        if what == "expire":
            for token in tokens:
                token.ends = 0
        if what == "codes":
            # For a test that plays the person: the codes that devices show.
            return jsonify([device["user_code"] for device in devices.values()])
        return jsonify(log=log, living=sum(not token.was_revoked for token in tokens))

    return app


common.serve_wsgi(make_app)
