"""A Django site with the default sessions, users and CSRF protection. Reports the requests, and can end all sessions.

The argument is a folder for the database.
"""
import json
import os
import sys

import common
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of this test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], LOGIN_URL="/login/", LOGIN_REDIRECT_URL="/page",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(sys.argv[1], "site.db"), "OPTIONS": {"timeout": 30}}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {
        "context_processors": ["django.template.context_processors.request"],
        "loaders": [("django.template.loaders.locmem.Loader", {
            "registration/login.html": "<!doctype html><form method=post>{% csrf_token %}{{ form.as_p }}<button></form>",
            "registration/logged_out.html": "Good bye"})]}}])
django.setup()

from django.contrib.auth import authenticate, decorators, login, models, signals, views
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import path
from django.views.decorators.http import require_POST

log = []
signals.user_logged_in.connect(lambda sender, user, **_: log.append("login " + user.username), weak=False)
signals.user_login_failed.connect(lambda sender, credentials, **_: log.append("refused"), weak=False)
signals.user_logged_out.connect(lambda sender, user, **_: log.append("logout %s" % user), weak=False)


def api(request):
    if not request.user.is_authenticated:
        return JsonResponse({"code": "NOT_LOGGED_IN"}, status=401)
    return JsonResponse({"user": request.user.username, "session": request.session.session_key})


def rotate(request):
    """Moves the session to another key, like Django does when rights change. The old key becomes invalid."""
    request.session.cycle_key()
    return api(request)


@require_POST
def api_login(request):
    user = authenticate(request, **json.loads(request.body))
    if user is None:
        return JsonResponse({"code": "WRONG"}, status=401)
    login(request, user)
    return JsonResponse({"user": user.username})


def token(request):
    return HttpResponse(headers={"X-CSRF-Token": get_token(request)})


@decorators.login_required
def page(request):
    return HttpResponse(request.user.username)


def control(request, what):
    if what == "expire":
        Session.objects.all().delete()
    return HttpResponse("\n".join(log))


urlpatterns = [
    path("login/", views.LoginView.as_view()), path("logout/", require_POST(views.LogoutView.as_view())), path("page", page),
    path("api", api), path("api/rotate", rotate), path("api/login", api_login), path("api/token", token),
    path("control/<what>", control)]
call_command("migrate", verbosity=0)
models.User.objects.create_user("ada", password="s3cret & more")
common.serve_wsgi(lambda url: get_wsgi_application())
