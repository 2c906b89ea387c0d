"""Debian's Adminer with SQLite, and with its own plugin for a password, because an SQLite file has none."""

import contextlib
import sqlite3
import urllib.parse

import requests

from apps.php import PHPApplication
from harness import PATIENCE, Form

SHARED = "/usr/share/adminer"
START = """<?php
function adminer_object() {{
    include_once "{shared}/plugins/plugin.php";
    include_once "{shared}/plugins/login-password-less.php";
    return new AdminerPlugin(array(new AdminerLoginPasswordLess('{digest}')));
}}
include "{shared}/adminer.php";
"""


class Adminer(PHPApplication):
    title = "Adminer"
    preset = "adminer"
    base = "/adminer/"
    login_path = ""
    marker = "<th>text<td>"
    refusal = "Database does not support password."
    cannot = {"code": "it has none without a plugin"}

    @property
    def database_path(self):
        # As in its redirects.
        return "?" + urllib.parse.urlencode({"sqlite": "", "username": self.user, "db": f"{self.folder}/notes.sqlite"})

    @property
    def private_path(self):
        return f"{self.database_path}&table=notes"

    @property
    def settings(self):
        return ("field=auth[driver]=sqlite", f"field=auth[db]={self.folder}/notes.sqlite", f"probe={self.database_path}",
                f"logout={self.database_path}")

    @property
    def document_root(self):
        return self.folder / "pages"

    def prepare(self):
        folder = self.document_root / "adminer"
        folder.mkdir(parents=True)
        digest = self.run("php", "-r", f"echo password_hash('{self.password}', PASSWORD_BCRYPT);")
        (folder / "index.php").write_text(START.format(shared=SHARED, digest=digest))
        self.sql("notes.sqlite", "CREATE TABLE notes (text TEXT)")

    def is_login(self, record):
        return record.method == "POST" and b"password" in record.body

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.site, timeout=PATIENCE), "auth[password]")
        form.send(session, **{
            "auth[driver]": "sqlite", "auth[username]": user or self.user, "auth[password]": password or self.password,
            "auth[db]": f"{self.folder}/notes.sqlite"})
        return session

    def reference_write(self, session, value):
        form = Form(session.get(self.url(f"{self.database_path}&sql="), timeout=PATIENCE), "query")
        form.send(session, query=f"INSERT INTO notes VALUES ('{value}')")

    def reference_logout(self, session):
        form = Form(session.get(self.url(self.private_path), timeout=PATIENCE), "token")
        form.send(session, logout="Logout")

    def written(self, value):
        with contextlib.closing(sqlite3.connect(self.folder / "notes.sqlite")) as database:
            return (value,) in database.execute("SELECT text FROM notes").fetchall()

    def write_words(self, value):
        return ["-d", f"query=INSERT INTO notes VALUES ('{value}')", self.url(f"{self.database_path}&sql=")]
