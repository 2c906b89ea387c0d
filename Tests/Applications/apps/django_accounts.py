"""The login of `django.contrib.auth.urls`, which most Django sites have."""

import harness
from django_site import DjangoApplication, notes, run_site


class DjangoAccounts(DjangoApplication):
    title = "Django accounts"
    preset = "django"
    login_path = "accounts/login/"
    refusal = "Please enter a correct username and password"
    cannot = {"code": "Django has none of its own"}

    def reference_logout(self, session):
        form = harness.Form(session.get(self.url("notes/")), "csrfmiddlewaretoken")
        session.post(self.url("accounts/logout/"), form.fields)


# A site's own templates: Django ships none for these pages.
TEMPLATES = {
    "registration/login.html": (
        '<form method="post">{% csrf_token %}{{ form.non_field_errors }}{{ form.username }}{{ form.password }}'
        '<input type="submit"><input type="hidden" name="next" value="{{ next }}"></form>'),
    "registration/logged_out.html": "Bye",
}


def urls():
    from django.urls import include, path

    return [path("accounts/", include("django.contrib.auth.urls")), notes()]


if __name__ == "__main__":
    run_site(urls, templates=TEMPLATES, LOGIN_REDIRECT_URL="/notes/")
