"""Rails with Devise: with sessions in its cache, and with sessions that are only an encrypted cookie, which is its default."""

import shutil

import requests

from apps.debian import package_version
from harness import FOLDER, PATIENCE, Application, Form, expect


class Rails(Application):
    preset = "devise"
    user = "ada@example.org"
    login_path = "users/sign_in"
    private_path = ""
    marker = "Hello ada@example.org"
    refusal = "Invalid Email or password."
    store = ""
    secret = "one"

    def version(self):
        return package_version("ruby-rails")

    def prepare(self):
        shutil.copytree(FOLDER / "rails", self.folder, dirs_exist_ok=True)

    def command(self):
        return ["puma", "--bind", f"tcp://127.0.0.1:{self.port}", "--threads", "2:2", "--environment", "production", "config.ru"]

    def environment(self):
        return {
            **super().environment(), "LANG": "C.UTF-8", "RAILS_ENV": "production",
            "DATABASE_URL": f"sqlite3:{self.folder}/notes.sqlite", "NOTES_SESSIONS": self.store, "NOTES_SECRET": self.secret * 32,
            "NOTES_USER": self.user, "NOTES_PASSWORD": self.password}

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url(self.login_path), timeout=PATIENCE), "user[password]")
        form.send(session, **{"user[email]": user or self.user, "user[password]": password or self.password})
        return session

    def with_token(self, session):
        page = session.get(self.site, timeout=PATIENCE).text
        return {"X-CSRF-Token": page.partition('name="csrf-token" content="')[2].partition('"')[0]}

    def reference_write(self, session, value):
        refused = session.post(self.url("notes"), {"text": "never"}, timeout=PATIENCE)
        expect(refused.status_code == 422, f"it accepts a request without a CSRF token (status {refused.status_code})")
        session.post(self.url("notes"), {"text": value}, headers=self.with_token(session), timeout=PATIENCE)

    def reference_logout(self, session):
        session.delete(self.url("users/sign_out"), headers=self.with_token(session), timeout=PATIENCE)

    def written(self, value):
        return value in self.reference().get(self.site, timeout=PATIENCE).text

    def write_words(self, value):
        return ["-d", f"text={value}", self.url("notes")]


class RailsCache(Rails):
    title = "Rails with Devise, sessions in the cache"
    store = "cache"
    cannot = {"code": "Devise has none without an extension"}

    def forget(self):
        requests.get(self.url("forget"), timeout=PATIENCE).raise_for_status()


class RailsCookie(Rails):
    title = "Rails with Devise, sessions in the cookie"
    store = "cookie"
    cannot = {
        "logout": "the session is in the cookie alone: an old one stays good until the application's secret changes",
        "code": "Devise has none without an extension",
    }

    def forget(self):
        self.secret = "two" if self.secret == "one" else "one"
        self.restart()
