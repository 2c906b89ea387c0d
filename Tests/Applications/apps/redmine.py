"""Debian's Redmine with SQLite, and with its own one-time codes."""

import contextlib
import shutil
import sqlite3

import requests

from apps.debian import package_version
from harness import PATIENCE, Application, Form, totp

DATABASE = """\
production:
  adapter: sqlite3
  database: {folder}/redmine.sqlite
"""
USERS = """\
Setting.rest_api_enabled = 0
["{user}", "{code_user}"].each do |name|
  user = User.new(firstname: name, lastname: "Lovelace", mail: name + "@example.org", language: "en", status: 1)
  user.login = name
  user.admin = true
  user.password = user.password_confirmation = "{password}"
  user.save!
end
User.find_by_login("{code_user}").update!(twofa_scheme: "totp", twofa_totp_key: "{code_secret}")
"""


class Redmine(Application):
    title = "Redmine"
    preset = "redmine"
    is_slow = True
    login_path = "login"
    private_path = "my/account"
    marker = "Lovelace"
    refusal = "Invalid user or password"
    code_user, code_secret = "grace", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    def version(self):
        return package_version("redmine")

    @property
    def root(self):
        return self.folder / "redmine"

    def environment(self):
        return {**super().environment(), "LANG": "C.UTF-8", "RAILS_ENV": "production", "SCHEMA": "/dev/null", "REDMINE_LANG": "en",
                "BUNDLE_GEMFILE": str(self.root / "Gemfile")}

    def prepare(self):
        shutil.copytree("/usr/share/redmine", self.root, ignore=shutil.ignore_patterns("instances", "Gemfile.lock", "database.yml"))
        # It finds its configuration there, not in the system's own folders.
        instance = self.root / "instances" / "default"
        for name in ("config", "files", "log", "public/plugin_assets", "tmp/cache"):
            (instance / name).mkdir(parents=True)
        (instance / "config" / "database.yml").write_text(DATABASE.format(folder=self.folder))
        (instance / "config" / "secret_key.txt").write_text("k" * 64)
        gems = self.root / "Gemfile"
        gems.write_text(gems.read_text().replace("/usr/share/redmine/{config,instances/*/config}", f"{instance}/config"))
        (self.root / "Gemfile.local").write_text('gem "puma"\n')
        self.run("bundle", "exec", "rake", "--rakefile", self.root / "Rakefile", "db:migrate", "redmine:load_default_data")
        users = self.folder / "users.rb"
        users.write_text(USERS.format(
            user=self.user, code_user=self.code_user, password=self.password, code_secret=self.code_secret))
        self.run("bundle", "exec", "ruby", self.root / "bin" / "rails", "runner", users)

    def command(self):
        return ["bundle", "exec", "puma", "--dir", self.root, "--bind", f"tcp://127.0.0.1:{self.port}", "--threads", "2:2",
                "--environment", "production", "config.ru"]

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url("login"), timeout=PATIENCE), "password")
        page = form.send(session, username=user or self.user, password=password or self.password)
        if code_secret:
            Form(page, "twofa_code").send(session, twofa_code=totp(code_secret))
        return session

    def with_token(self, session):
        page = session.get(self.url("my/account"), timeout=PATIENCE).text
        return {"X-CSRF-Token": page.partition('name="csrf-token" content="')[2].partition('"')[0]}

    def reference_write(self, session, value):
        session.post(
            self.url("projects"), {"project[name]": value, "project[identifier]": value}, headers=self.with_token(session),
            timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("logout"), headers=self.with_token(session), timeout=PATIENCE)

    def written(self, value):
        with contextlib.closing(sqlite3.connect(self.folder / "redmine.sqlite", timeout=PATIENCE)) as database:
            return (value,) in database.execute("SELECT name FROM projects").fetchall()

    def forget(self):
        self.sql("redmine.sqlite", "DELETE FROM tokens WHERE action = 'session'")

    def allow_code_again(self):
        self.sql("redmine.sqlite", "UPDATE users SET twofa_totp_last_used_at = NULL")

    def write_words(self, value):
        return ["-d", f"project[name]={value}&project[identifier]={value}", self.url("projects")]
