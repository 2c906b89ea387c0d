"""idpyoidc's authorization server: code with PKCE and pushed requests (RFC 9126), token exchange (RFC 8693), DPoP (RFC 9449),
OpenID Connect. A client that sends a proof gets a token that is bound to its key. The argument is a folder for its files.

  GET /api               {"user", "client", "scope"} of a valid token; 401 with a challenge for any other. Proofs are
                         verified with jwcrypto, because this version of idpyoidc expects a different `ath` than RFC 9449.
  GET /control/log       the requests for tokens: grant, client, status; "par" for a pushed request
  GET /control/expire    expires all access tokens
"""
import json
import os
import re

from pages import CLIENT_SECRET, FOLDER, PASSWORD, USER, common, login_page, proof_key
from flask import Flask, jsonify, make_response, redirect, request
from idpyoidc.message import Message
from idpyoidc.message.oidc import AuthorizationRequest
from idpyoidc.server import Server
from idpyoidc.server.authz import AuthzHandling
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.exception import FailedAuthentication
from idpyoidc.server.user_authn.user import UserPass, create_signed_jwt

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
LIFETIME = 3600
KEYS = [{"type": "RSA", "key": "", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]
CRYPT = {"kwargs": {"keys": {"key_defs": [
    {"type": "OCT", "use": ["enc"], "kid": "password"}, {"type": "OCT", "use": ["enc"], "kid": "salt"}]}, "iterations": 1}}
log, issued, expired = [], set(), set()


class Person(UserPass):
    """A login by a form. idpyoidc's own needs a template."""

    def __call__(self, **values):
        token = create_signed_jwt(self.upstream_get("context").issuer, self.upstream_get("attribute", "keyjar"), **values)
        return login_page(f'<input type="hidden" name="token" value="{token}">', "/verify")


def configuration(issuer):
    mints = {"supports_minting": ["access_token", "refresh_token", "id_token"]}
    return {
        "issuer": issuer, "httpc_params": {"verify": False, "timeout": 5}, "keys": {"key_defs": KEYS, "uri_path": "jwks"},
        "preference": {"subject_types_supported": ["public"], "scopes_supported": ["openid", "offline_access", "orders:read"]},
        "endpoint": {
            "provider_config": {
                "path": ".well-known/openid-configuration", "class": "idpyoidc.server.oidc.provider_config.ProviderConfiguration",
                "kwargs": {}},
            "authorization": {
                "path": "authorize", "class": "idpyoidc.server.oidc.authorization.Authorization",
                "kwargs": {"response_types_supported": ["code"], "response_modes_supported": ["query"]}},
            "pushed_authorization": {
                "path": "par", "class": "idpyoidc.server.oauth2.pushed_authorization.PushedAuthorization",
                "kwargs": {"client_authn_method": ["public", "client_secret_basic", "client_secret_post"]}},
            "token": {
                "path": "token", "class": "idpyoidc.server.oidc.token.Token",
                "kwargs": {
                    "client_authn_method": ["public", "client_secret_basic", "client_secret_post", "private_key_jwt"],
                    "revoke_refresh_on_issue": True}},
            "userinfo": {
                "path": "userinfo", "class": "idpyoidc.server.oidc.userinfo.UserInfo",
                "kwargs": {"client_authn_method": ["bearer_header"]}}},
        "authentication": {"user": {
            "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword", "class": Person,
            "kwargs": {"db_conf": {
                "class": "idpyoidc.server.util.JSONDictDB", "kwargs": {"filename": str(FOLDER / "passwords.json")}}}}},
        "userinfo": {"class": "idpyoidc.server.user_info.UserInfo", "kwargs": {"db": {USER: {"preferred_username": USER}}}},
        "authz": {"class": AuthzHandling, "kwargs": {"grant_config": {
            "usage_rules": {
                "authorization_code": {**mints, "max_usage": 1},
                "access_token": {"supports_minting": ["access_token"], "expires_in": LIFETIME},
                "refresh_token": {**mints, "expires_in": 10 * LIFETIME}},
            "expires_in": 10 * LIFETIME}}},
        "token_handler_args": {
            "code": {"lifetime": 600, "kwargs": {"crypt_conf": CRYPT}},
            "token": {
                "class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": LIFETIME, "aud": [issuer + "/api"]}},
            "refresh": {"kwargs": {"lifetime": 10 * LIFETIME, "crypt_conf": CRYPT}},
            "id_token": {"class": "idpyoidc.server.token.id_token.IDToken", "kwargs": {
                "base_claims": {"preferred_username": None}}}},
        "session_params": {"encrypter": CRYPT},
        "add_ons": {
            "pkce": {"function": "idpyoidc.server.oauth2.add_on.pkce.add_support", "kwargs": {
                "essential": True}},
            "dpop": {"function": "idpyoidc.server.oauth2.add_on.dpop.add_support", "kwargs": {
                "dpop_signing_alg_values_supported": ["ES256", "RS256"], "dpop_endpoints": ["userinfo"]}}},
    }


def client(**more):
    return {
        "redirect_uris": [("http://127.0.0.1/callback", {})], "response_types_supported": ["code"],
        "allowed_scopes": ["openid", "offline_access", "orders:read"], "application_type": "native",
        "token_endpoint_auth_method": "client_secret_basic", "client_secret": CLIENT_SECRET, "client_salt": "salt",
        "grant_types_supported": ["authorization_code", "refresh_token"], **more}


def make_app(issuer):
    app = Flask("op")
    (FOLDER / "passwords.json").write_text(json.dumps({USER: PASSWORD}))
    os.chdir(FOLDER)
    server = Server(OPConfiguration(conf=configuration(issuer), base_path=str(FOLDER)), cwd=str(FOLDER))
    context = server.context
    context.cdb["app"] = client(token_endpoint_auth_method="none")
    del context.cdb["app"]["client_secret"]
    context.cdb["web"] = client()
    context.cdb["gateway"] = client(grant_types_supported=["authorization_code", "refresh_token", EXCHANGE])
    context.set_provider_info()
    loopback = re.compile(r"http://127\.0\.0\.1:\d+/callback")

    def respond(name):
        endpoint = server.get_endpoint(name)
        info = {
            "headers": {key.lower(): value for key, value in request.headers.items()}, "method": request.method,
            "url": request.base_url, "cookie": [{"name": key, "value": value} for key, value in request.cookies.items()]}
        values = (request.args if request.method == "GET" else request.form).to_dict()
        # idpyoidc verifies the request before it resolves the reference.
        if name == "authorization" and values.get("request_uri") in context.par_db:
            values = context.par_db.pop(values["request_uri"]).to_dict()
        # Any port of loopback (RFC 8252 §7.3), which idpyoidc doesn't offer.
        if values.get("client_id") in context.cdb and loopback.fullmatch(values.get("redirect_uri", "")):
            context.cdb[values["client_id"]]["redirect_uris"] = [(values["redirect_uri"], {})]
        try:
            parsed = endpoint.parse_request(values, http_info=info)
            if name == "token" and "error" not in parsed and (thumbprint := proof_key(request.headers, request.base_url, "POST")):
                parsed["dpop_jkt"] = thumbprint
            outcome = parsed if "error" in parsed else endpoint.process_request(parsed, http_info=info)
        except Exception as error:
            outcome = Message(error="invalid_request", error_description=str(error))
        if isinstance(outcome, Message) and "error" in outcome:
            status = 401 if outcome["error"] in ("invalid_client", "unauthorized_client") else 400
            return make_response(outcome.to_json(), status, {"Content-Type": "application/json"})
        if "redirect_location" in outcome:
            return redirect(outcome["redirect_location"])
        if "http_response" in outcome:
            status = 201 if name == "pushed_authorization" else 200
            body = outcome["http_response"]
            return make_response(json.dumps(body) if isinstance(body, dict) else body, status)
        return placed(endpoint, endpoint.do_response(request=parsed, **outcome))

    def placed(endpoint, info):
        if info.get("response_placement", endpoint.response_placement) == "body":
            response = make_response(info["response"], info.get("response_code", 200))
        else:
            response = redirect(info["response"])
        for name, value in info["http_headers"]:
            response.headers[name] = value
        return response

    @app.route("/.well-known/openid-configuration")
    def metadata():
        return respond("provider_config")

    @app.route("/jwks")
    def jwks():
        return make_response(server.keyjar.export_jwks_as_json(""), 200, {"Content-Type": "application/json"})

    @app.route("/authorize")
    def authorize():
        return respond("authorization")

    @app.route("/verify", methods=["POST"])
    def verify():
        method = context.authn_broker.get_method_by_id("user")
        try:
            user = method.verify(**request.form.to_dict())
        except (FailedAuthentication, KeyError):
            return login_page(), 403
        login = method.unpack_token(request.form["token"])
        asked = AuthorizationRequest().from_urlencoded(login["query"])
        endpoint = server.get_endpoint("authorization")
        session = endpoint.create_session(asked, user, login["authn_class_ref"], login["iat"], method)
        outcome = endpoint.authz_part2(request=asked, session_id=session)
        return placed(endpoint, endpoint.do_response(request=asked, **outcome))

    @app.route("/par", methods=["POST"])
    def par():
        response = respond("pushed_authorization")
        log.append(["par", request.form.get("client_id", ""), response.status_code])
        return response

    @app.route("/token", methods=["POST"])
    def token():
        response = respond("token")
        issued.add((response.get_json(silent=True) or {}).get("access_token"))
        log.append([request.form.get("grant_type"), request.form.get("client_id", ""), response.status_code])
        return response

    @app.route("/api")
    def api():
        kind, _, text = request.headers.get("Authorization", "").partition(" ")
        try:
            info = context.session_manager.get_session_info_by_token(text, grant=True, handler_key="access_token")
            found = info["grant"].get_token(text)
            bound = found.token_type == "DPoP"
            key = info["grant"].extra.get("dpop_jkt")
            is_proven = not bound or proof_key(request.headers, request.base_url, "GET", text) == key
            if kind != found.token_type or not is_proven or not found.is_active() or text in expired:
                raise ValueError("the token")
        except Exception:
            error = ', error="invalid_token"' if text else ""
            return "", 401, {"WWW-Authenticate": f'{kind if kind == "DPoP" else "Bearer"} realm="orders"{error}'}
        return jsonify(user=info["user_id"], client=info["client_id"], scope=" ".join(found.scope))

    @app.route("/control/<what>")
    def control(what):
        if what == "expire":
            expired.update(issued)
        return jsonify(log=log, living=0)

    return app


common.serve_wsgi(make_app)
