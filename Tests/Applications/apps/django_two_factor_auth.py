"""django-two-factor-auth: user name and password on one page, the code on the next."""

import harness
from django_site import DjangoApplication, notes, run_site


class DjangoTwoFactorAuth(DjangoApplication):
    title = "django-two-factor-auth"
    preset = "django-two-factor-auth"
    package = "django-two-factor-auth"
    login_path = "account/login/"
    session_fields = ("auth-username", "auth-password")
    refusal = "Please enter a correct username and password"
    # The application has no logout of its own, but Django has one.
    settings = ("logout=account/logout/",)
    code_user, code_secret = "grace", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    def is_login(self, record):
        return super().is_login(record) and b"auth-password" in record.body

    def reference_code(self, session, answer, secret):
        harness.Form(answer, "token-otp_token").send(session, **{"token-otp_token": harness.totp(secret)})

    def reference_logout(self, session):
        form = harness.Form(session.get(self.url("notes/")), "csrfmiddlewaretoken")
        session.post(self.url("account/logout/"), form.fields)

    def allow_code_again(self):
        self.sql("site.db", "UPDATE otp_totp_totpdevice SET last_t = -1")


# Its pages need a template of the site around them.
TEMPLATES = {"two_factor/_base.html": "{% block content_wrapper %}{% block content %}{% endblock %}{% endblock %}"}


def prepare(user):
    import base64

    from django_otp.plugins.otp_totp.models import TOTPDevice

    if user.username == DjangoTwoFactorAuth.code_user:
        key = base64.b32decode(DjangoTwoFactorAuth.code_secret).hex()
        TOTPDevice.objects.create(user=user, name="default", key=key, confirmed=True)


def urls():
    from django.contrib.auth.views import LogoutView
    from django.urls import include, path
    from two_factor.urls import urlpatterns

    return [path("", include(urlpatterns)), path("account/logout/", LogoutView.as_view()), notes()]


if __name__ == "__main__":
    run_site(
        urls, ["django_otp", "django_otp.plugins.otp_static", "django_otp.plugins.otp_totp", "two_factor"],
        ["django_otp.middleware.OTPMiddleware"], prepare, TEMPLATES, LOGIN_URL="/account/login/", LOGIN_REDIRECT_URL="/notes/",
        LOGOUT_REDIRECT_URL="/account/login/")
