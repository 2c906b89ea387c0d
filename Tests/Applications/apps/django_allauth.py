"""django-allauth headless: JSON, as a page's script sends it."""

import json

import requests

import harness
from django_site import DjangoApplication, run_site

API = "_allauth/browser/v1/"


class DjangoAllauth(DjangoApplication):
    title = "django-allauth headless"
    preset = "django-allauth"
    package = "django-allauth"
    login_path = f"{API}auth/login"
    private_path = f"{API}auth/session"
    marker = '"is_authenticated": true'
    refusal = "The username and/or password you specified are not correct"
    code_user, code_secret = "grace", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    def send(self, session, method, path, value=None):
        headers = {"X-CSRFToken": session.cookies.get("csrftoken", "")}
        return session.request(method, self.url(API + path), json=value, headers=headers)

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.get(self.url(API + "config"))
        self.send(session, "POST", "auth/login", {"username": user or self.user, "password": password or self.password})
        if code_secret:
            self.send(session, "POST", "auth/2fa/authenticate", {"code": harness.totp(code_secret)})
        return session

    def reference_write(self, session, value):
        token = session.cookies["csrftoken"]
        session.post(self.url("notes/"), json={"note": value}, headers={"X-CSRFToken": token}).raise_for_status()

    def reference_logout(self, session):
        self.send(session, "DELETE", "auth/session")

    def written(self, value):
        return value in self.reference().get(self.url("notes/")).text

    def write_words(self, value):
        return ["--json", json.dumps({"note": value}), self.url("notes/")]

    def allow_code_again(self):
        for path in (self.folder / "cache").glob("*"):
            path.unlink()


def prepare(user):
    from allauth.account.models import EmailAddress
    from allauth.mfa.totp.internal.auth import TOTP

    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    if user.username == DjangoAllauth.code_user:
        TOTP.activate(user, DjangoAllauth.code_secret)


def notes(request):
    """The site's own part, for a page's script: 401 means that nobody is logged in."""
    from django.contrib.auth.models import Group
    from django.http import JsonResponse

    if not request.user.is_authenticated:
        return JsonResponse({"status": 401}, status=401)
    if request.method == "POST":
        Group.objects.create(name=json.loads(request.body)["note"])
    return JsonResponse({"notes": [group.name for group in Group.objects.all()]})


def urls():
    from django.urls import include, path

    return [
        path("accounts/", include("allauth.urls")), path("_allauth/", include("allauth.headless.urls")), path("notes/", notes)]


if __name__ == "__main__":
    run_site(
        urls, ["allauth", "allauth.account", "allauth.mfa", "allauth.headless"],
        ["allauth.account.middleware.AccountMiddleware"], prepare, HEADLESS_ONLY=True,
        AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
        HEADLESS_FRONTEND_URLS={"account_confirm_email": "/confirm/{key}", "account_signup": "/signup"},
        EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend",
        CACHES={"default": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": "cache"}})
