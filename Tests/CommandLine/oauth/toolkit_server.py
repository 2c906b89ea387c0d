"""Debian's django-oauth-toolkit: rotation with reuse detection (RFC 9700 §4.14.2), OpenID Connect, and two resources. One
responds to an expired token with 403. The argument is a folder for the database.

  /o/…                   the toolkit's, whose issuer is URL/o
  GET /api               {"user", "client", "scope"} of a valid token; 401 with a challenge for any other
  GET /forbidding        the same by the toolkit's own view, which responds with 403 and no challenge
  GET /control/log       the requests for tokens: grant, client, status
  GET /control/expire    expires all access tokens
  GET /control/brief     further access tokens expire after 2 s; after an hour again with /control/long
"""
from datetime import timedelta
import os
import threading

from pages import CLIENT_SECRET, FOLDER, PASSWORD, USER, common
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
import django
from django.conf import settings

PAGES = {
    "login.html": '<title>Log in</title><form method="post">{% csrf_token %}{{ form.as_p }}'
                  '<button name="login">Log in</button></form>',
    # The toolkit's own consent page needs no others.
    "oauth2_provider/base.html": "<title>Authorize</title>{% block content %}{% endblock content %}",
}
key = rsa.generate_private_key(65537, 2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
settings.configure(
    SECRET_KEY="of this test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], USE_TZ=True, LOGIN_URL="/login",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {
        "context_processors": ["django.template.context_processors.request"],
        "loaders": [("django.template.loaders.locmem.Loader", PAGES), "django.template.loaders.app_directories.Loader"]}}],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(FOLDER, "site.db"), "OPTIONS": {"timeout": 30}}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    OAUTH2_PROVIDER={
        "OAUTH2_VALIDATOR_CLASS": __name__ + ".FamilyValidator", "ROTATE_REFRESH_TOKEN": True, "PKCE_REQUIRED": True,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0, "ALWAYS_RELOAD_OAUTHLIB_CORE": True, "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key,
        "SCOPES": {"openid": "your name", "orders:read": "read orders", "orders:write": "change orders"},
        "DEFAULT_SCOPES": ["orders:read"]})
django.setup()

from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.http import HttpResponse, JsonResponse
from django.urls import include, path
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken
from oauth2_provider.oauth2_backends import get_oauthlib_core
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.views import ConnectDiscoveryInfoView, TokenView
from oauth2_provider.views.generic import ProtectedResourceView

log = []
# The database serves one request at a time: these tests are about the client, not this server.
database = threading.RLock()


class FamilyValidator(OAuth2Validator):
    """Revokes a refresh token's family if the token comes a second time, as today's toolkit does."""

    def validate_refresh_token(self, refresh_token, client, request, *args, **kwargs):
        if super().validate_refresh_token(refresh_token, client, request, *args, **kwargs):
            return True
        used = RefreshToken.objects.filter(token=refresh_token).first()
        for token in RefreshToken.objects.filter(user=used.user, revoked__isnull=True) if used else []:
            token.revoke()
        return False

    def get_additional_claims(self, request):
        return {"preferred_username": request.user.username}


def token(request):
    response = TokenView.as_view()(request)
    log.append([request.POST.get("grant_type"), request.POST.get("client_id", ""), response.status_code])
    return response


token.csrf_exempt = True


def described(access_token):
    user = access_token.user.username if access_token.user else None
    return JsonResponse({"user": user, "client": access_token.application.client_id, "scope": access_token.scope})


def api(request):
    valid, seen = get_oauthlib_core().verify_request(request, scopes=[])
    if valid:
        return described(seen.access_token)
    response = HttpResponse(status=401)
    sent = request.headers.get("Authorization", "").startswith("Bearer ")
    response["WWW-Authenticate"] = 'Bearer realm="orders"' + (', error="invalid_token"' if sent else "")
    return response


class Forbidding(ProtectedResourceView):
    def get(self, request):
        return described(AccessToken.objects.get(token=request.headers["Authorization"].split()[1]))


def control(request, what):
    if what == "expire":
        AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    if what in ("brief", "long"):
        oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS = 2 if what == "brief" else 3600
    living = RefreshToken.objects.filter(revoked__isnull=True).count()
    return JsonResponse({"log": log, "living": living})


urlpatterns = [
    path("login", LoginView.as_view(template_name="login.html")), path("api", api), path("forbidding", Forbidding.as_view()),
    path("control/<what>", control), path("o/token/", token),
    # Later versions of the toolkit also serve it without a trailing slash, where clients look for it.
    path("o/.well-known/openid-configuration", ConnectDiscoveryInfoView.as_view()),
    path("o/", include("oauth2_provider.urls"))]


def application(name, client_type, grant):
    Application.objects.create(
        client_id=name, client_secret=CLIENT_SECRET if client_type == "confidential" else "", client_type=client_type,
        authorization_grant_type=grant, redirect_uris="http://127.0.0.1/callback", algorithm="RS256", name=name)


def make_app(url):
    wsgi = get_wsgi_application()

    def one_at_a_time(environ, start_response):
        with database:
            response = wsgi(environ, start_response)
            connection.close()
            return response

    return one_at_a_time


call_command("migrate", verbosity=0)
User.objects.create_user(USER, password=PASSWORD)
application("app", "public", "authorization-code")
application("web", "confidential", "authorization-code")
application("machine", "confidential", "client-credentials")
application("legacy", "confidential", "password")
connection.close()
common.serve_wsgi(make_app)
