"""django-oauth-toolkit's authorization server, which rotates refresh tokens and revokes a family if one is reused (RFC 9700
§4.14.2). Each user is one family. Counts exchanges, and delays one so that a test can kill the process that made it.

The argument is a folder for the database. The header X-Process names the client's process.

  POST /token                        the toolkit's
  GET  /authorize                    the redirect with a code for the client "cli", as if the user ada had consented
  GET  /api                          the user's name, for a valid access token; 401 for any other
  GET  /control/login/USER           a new family: the response with its first tokens
  GET  /control/expire               revokes all access tokens
  GET  /control/counts               exchanges, the maximum for one user, reuses, users with a valid family
  GET  /control/hold/MODE            delays the next exchange: "after" it is made, or "instead" of it
  GET  /control/held                 waits for that exchange; returns the process and the refresh token's user
  GET  /control/release              continues the exchange
  GET  /control/pace/MS              delays the response of each further exchange by MS milliseconds
  GET  /control/open/N               starts round N
  GET  /control/await/N              waits until round N starts
"""
import json
import os
import secrets
import sys
import threading
import time
from datetime import timedelta
from urllib.parse import urlencode

import common
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of this test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], USE_TZ=True,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(sys.argv[1], "server.db"), "OPTIONS": {"timeout": 30}}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    OAUTH2_PROVIDER={"OAUTH2_VALIDATOR_CLASS": __name__ + ".FamilyValidator", "ROTATE_REFRESH_TOKEN": True,
                     "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0, "PKCE_REQUIRED": False})
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.http import HttpResponse, HttpResponseRedirect
from django.test import RequestFactory
from django.urls import path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken
from oauth2_provider.oauth2_backends import get_oauthlib_core
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.views import TokenView

# The database serves one request at a time: these tests are about the client, not this server.
database = threading.RLock()
changed = threading.Condition()
exchanges, reuses = {}, []
hold, held, current_round, pace = None, None, 0, 0


class FamilyValidator(OAuth2Validator):
    def validate_refresh_token(self, refresh_token, client, request, *args, **kwargs):
        if super().validate_refresh_token(refresh_token, client, request, *args, **kwargs):
            return True
        used = RefreshToken.objects.filter(token=refresh_token).first()
        if used:
            reuses.append(used.user.username)
            for token in RefreshToken.objects.filter(user=used.user, revoked__isnull=True):
                token.revoke()
        return False


def wait_until(condition):
    with changed:
        return changed.wait_for(condition, timeout=60)


def holds_up(mode, process, user):
    """Returns whether this exchange is the one to delay, as soon as it may continue."""
    global hold, held
    with changed:
        if hold != mode:
            return False
        hold, held = None, {"process": process, "user": user}
        changed.notify_all()
    wait_until(lambda: held is None)
    return True


def authorize(request):
    asked = request.GET
    with database:
        user, _ = User.objects.get_or_create(username="ada")
        code = secrets.token_urlsafe(24)
        Grant.objects.create(
            user=user, code=code, application=Application.objects.get(client_id="cli"), expires=timezone.now() + timedelta(minutes=1),
            redirect_uri=asked["redirect_uri"], scope=asked.get("scope", ""), code_challenge=asked.get("code_challenge", ""),
            code_challenge_method=asked.get("code_challenge_method", ""))
        connection.close()
    return HttpResponseRedirect(asked["redirect_uri"] + "?" + urlencode({"code": code, "state": asked["state"]}))


@csrf_exempt
def token(request):
    if request.POST.get("grant_type") != "refresh_token":
        with database:
            return TokenView.as_view()(request)
    process = request.headers.get("X-Process", "")
    with database:
        old = RefreshToken.objects.filter(token=request.POST.get("refresh_token", "")).first()
        user = old.user.username if old else ""
        connection.close()
    if holds_up("instead", process, user):
        return HttpResponse(status=503)
    with database:
        exchanges[user] = exchanges.get(user, 0) + 1
        response = TokenView.as_view()(request)
        connection.close()
    holds_up("after", process, user)
    time.sleep(pace)
    return response


def api(request):
    with database:
        valid, seen = get_oauthlib_core().verify_request(request, scopes=[])
        name = seen.user.username if valid else ""
        connection.close()
    return HttpResponse(name, status=200 if valid else 401)


def control(request, what, argument=""):
    global hold, held, current_round, pace
    if what == "login":
        with database:
            user, is_new = User.objects.get_or_create(username=argument)
            if is_new:
                user.set_password("s3cret")
                user.save()
            response = TokenView.as_view()(RequestFactory().post(
                "/token", {"grant_type": "password", "username": argument, "password": "s3cret", "client_id": "fleet"}))
            connection.close()
            return response
    if what == "expire":
        with database:
            AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
            connection.close()
    if what == "counts":
        with database:
            living = RefreshToken.objects.filter(revoked__isnull=True).values_list("user__username", flat=True).distinct()
            counts = {"exchanges": sum(exchanges.values()), "most": max(exchanges.values(), default=0),
                      "reuses": len(reuses), "alive": len(living)}
            connection.close()
            return HttpResponse("{exchanges} {most} {reuses} {alive}".format(**counts))
    with changed:
        if what == "hold":
            hold = argument
        if what == "release":
            hold = held = None
        if what == "pace":
            pace = int(argument) / 1000
        if what == "open":
            current_round = int(argument)
        changed.notify_all()
    if what == "held":
        return HttpResponse("{process} {user}".format(**held) if wait_until(lambda: held) else "")
    if what == "await":
        return HttpResponse("go" if wait_until(lambda: current_round >= int(argument)) else "")
    return HttpResponse("ok")


urlpatterns = [
    path("authorize", authorize), path("token", token), path("api", api), path("control/<what>", control), path("control/<what>/<argument>", control)]
call_command("migrate", verbosity=0)
Application.objects.create(
    client_id="fleet", client_type=Application.CLIENT_PUBLIC, authorization_grant_type=Application.GRANT_PASSWORD, name="fleet")
Application.objects.create(
    client_id="cli", client_type=Application.CLIENT_PUBLIC, authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE, name="cli",
    redirect_uris="http://127.0.0.1/callback")
connection.close()
common.serve_wsgi(lambda url: get_wsgi_application())
