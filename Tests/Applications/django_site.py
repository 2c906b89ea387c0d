"""A Django site in one file: its settings, an account, a page of notes that only users see, and how the harness runs it.

    FILE prepare    makes the database and the account in the current folder
    FILE serve PORT
"""

import pathlib
import sys

import requests

import harness
from harness import PYTHON, Application


class DjangoApplication(Application):
    """Runs the file of the class, which has called `run_site`."""

    def file(self):
        return sys.modules[type(self).__module__].__file__

    package = "django"
    session_fields = ("username", "password")

    def prepare(self):
        self.run(PYTHON, self.file(), "prepare")

    def command(self):
        return [PYTHON, self.file(), "serve", self.port]

    def forget(self):
        self.sql("site.db", "DELETE FROM django_session")

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        name, secret = self.session_fields
        form = harness.Form(session.get(self.url(self.login_path)), secret)
        answer = form.send(session, **{name: user or self.user, secret: password or self.password})
        if code_secret:
            self.reference_code(session, answer, code_secret)
        return session

    # The page of notes

    private_path = "notes/"
    marker = "Notes of "
    notes_path = "notes/"

    def written(self, value):
        return value in self.reference().get(self.url(self.notes_path)).text

    def reference_write(self, session, value):
        harness.Form(session.get(self.url(self.notes_path)), "note").send(session, note=value)

    def write_words(self, value):
        return ["-d", f"note={value}", self.url(self.notes_path)]


def run_site(urls, applications=(), middleware=(), prepare=lambda user: None, templates=None, **more):
    """Runs the command of `sys.argv`. `urls` returns the patterns, and is called when Django is ready. `templates` are the site's
    own, by name."""
    import django
    from django.conf import settings
    from django.core.management import execute_from_command_line

    settings.configure(
        SECRET_KEY="only-for-tests", DEBUG=False, ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF="site_urls", USE_TZ=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(pathlib.Path.cwd() / "site.db")}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
            "django.contrib.messages", "django.contrib.staticfiles", *applications],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware", *middleware],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
            "DIRS": [str(pathlib.Path.cwd() / "templates")],
            "OPTIONS": {"context_processors": [
                "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages"]}}],
        STATIC_URL="/static/", **more)
    for name, text in (templates or {}).items():
        path = pathlib.Path("templates") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    django.setup()
    module = type(sys)("site_urls")
    module.urlpatterns = urls()
    sys.modules["site_urls"] = module
    if sys.argv[1] == "prepare":
        execute_from_command_line(["site", "migrate", "--verbosity", "0"])
        from django.contrib.auth.models import User

        for name in {Application.user, "grace"}:
            prepare(User.objects.create_superuser(name, f"{name}@example.org", Application.password))
        return
    execute_from_command_line(["site", "runserver", "--noreload", "--insecure", f"127.0.0.1:{sys.argv[2]}"])


def notes():
    """A page that requires a login, and a token for its form, like any page of a Django site. Groups serve as its notes."""
    from django.contrib.auth.decorators import login_required
    from django.contrib.auth.models import Group
    from django.http import HttpResponse
    from django.middleware.csrf import get_token
    from django.shortcuts import redirect
    from django.urls import path
    from django.utils.html import format_html

    @login_required
    def view(request):
        if request.method == "POST":
            Group.objects.create(name=request.POST["note"])
            return redirect("/notes/")
        return HttpResponse(format_html(
            '<p>Notes of {}: {}</p><form method="post"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
            '<input name="note"><button>Add</button></form>',
            request.user.username, ", ".join(group.name for group in Group.objects.all()), get_token(request)))

    return path("notes/", view)
