"""Django's admin site."""

import harness
from django_site import DjangoApplication, run_site


class DjangoAdmin(DjangoApplication):
    title = "Django admin"
    preset = "django-admin"
    login_path = "admin/login/"
    private_path = "admin/"
    marker = 'id="user-tools"'
    refusal = "Please enter the correct username and password for a staff account"
    cannot = {"code": "Django has none of its own"}

    def reference_write(self, session, value):
        harness.Form(session.get(self.url("admin/auth/group/add/")), "name").send(session, name=value)

    def reference_logout(self, session):
        harness.Form(session.get(self.url("admin/")), "csrfmiddlewaretoken").send(session)

    def written(self, value):
        return value in self.reference().get(self.url("admin/auth/group/")).text

    def write_words(self, value):
        return ["-d", f"name={value}", self.url("admin/auth/group/add/")]


def urls():
    from django.contrib import admin
    from django.urls import path

    return [path("admin/", admin.site.urls)]


if __name__ == "__main__":
    run_site(urls)
