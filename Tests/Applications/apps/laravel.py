"""Laravel with the login of its starter kits: a token in an encrypted cookie, and 419 for a wrong one."""

import base64
import contextlib
import shutil
import sqlite3
import urllib.parse

import requests

from apps.debian import package_version
from apps.php import PHPApplication
from harness import FOLDER, PATIENCE, Form, expect


class Laravel(PHPApplication):
    title = "Laravel"
    preset = "laravel"
    user = "ada@example.org"
    login_path = "login"
    private_path = "dashboard"
    marker = "Notes of ada@example.org"
    refusal = "These credentials do not match our records."
    cannot = {"code": "Laravel has none without Fortify, which is not in Debian"}

    def version(self):
        return package_version("php-laravel-framework")

    def prepare(self):
        shutil.copytree(FOLDER / "laravel", self.folder, dirs_exist_ok=True)
        for name in ("bootstrap/cache", "storage/framework/sessions", "storage/framework/views", "storage/logs"):
            (self.folder / name).mkdir(parents=True)
        digest = self.run("php", "-r", f"echo password_hash('{self.password}', PASSWORD_BCRYPT, ['cost' => 4]);")
        self.sql(
            "notes.sqlite", "CREATE TABLE notes (text TEXT)",
            "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, password TEXT, remember_token TEXT)",
            f"INSERT INTO users (email, password) VALUES ('{self.user}', '{digest}')")

    def command(self):
        return self.php("-S", f"127.0.0.1:{self.port}", "-t", self.folder / "public", self.folder / "public" / "index.php")

    def environment(self):
        key = base64.b64encode(b"thirty-two bytes of a secret key").decode()
        return {**super().environment(), "NOTES_SECRET": f"base64:{key}"}

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url(self.login_path), timeout=PATIENCE), "password")
        form.send(session, email=user or self.user, password=password or self.password)
        return session

    def token(self, session):
        return {"X-XSRF-TOKEN": urllib.parse.unquote(session.cookies["XSRF-TOKEN"])}

    def reference_write(self, session, value):
        refused = session.post(self.url("notes"), {"text": "never"}, timeout=PATIENCE)
        expect(refused.status_code == 419, f"it accepts a request without a CSRF token (status {refused.status_code})")
        session.post(self.url("notes"), {"text": value}, headers=self.token(session), timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("logout"), headers=self.token(session), timeout=PATIENCE)

    def written(self, value):
        with contextlib.closing(sqlite3.connect(self.folder / "notes.sqlite")) as database:
            return (value,) in database.execute("SELECT text FROM notes").fetchall()

    def write_words(self, value):
        return ["-d", f"text={value}", self.url("notes")]

    def forget(self):
        for file in (self.folder / "storage" / "framework" / "sessions").glob("*"):
            file.unlink(missing_ok=True)
