"""Debian's phpMyAdmin, with the cookie login."""

import shutil

import requests

from apps.mariadb import MariaDBApplication
from harness import PATIENCE, Form

CONFIGURATION = """<?php
$cfg['blowfish_secret'] = '{secret}';
$cfg['TempDir'] = '{folder}/temporary';
$cfg['Servers'][1]['auth_type'] = 'cookie';
$cfg['Servers'][1]['host'] = 'localhost';
$cfg['Servers'][1]['socket'] = '{socket}';
$cfg['VersionCheck'] = false;
$cfg['SendErrorReports'] = 'never';
"""


class PhpMyAdmin(MariaDBApplication):
    title = "phpMyAdmin"
    preset = "phpmyadmin"
    login_path = "index.php?route=/"
    private_path = "index.php?route=/sql&db=notes&table=notes&pos=0"
    marker = "Ada Lovelace"
    refusal = "Cannot log in to the MySQL server"
    cannot = {"code": "the library that its codes need is not in Debian"}

    @property
    def document_root(self):
        return self.folder / "phpmyadmin"

    def prepare(self):
        self.start_database()
        self.query(
            f"CREATE DATABASE notes; CREATE TABLE notes.notes (id INT PRIMARY KEY, text VARCHAR(100));"
            f"INSERT INTO notes.notes VALUES (1, '{self.marker}'), (2, '');"
            f"CREATE USER '{self.user}'@'localhost' IDENTIFIED BY '{self.password}';"
            f"GRANT ALL ON notes.* TO '{self.user}'@'localhost'")
        pages = self.document_root
        shutil.copytree("/usr/share/phpmyadmin", pages, ignore_dangling_symlinks=True)
        vendor = pages / "libraries" / "vendor_config.php"
        vendor.write_text(
            vendor.read_text().replace("/etc/phpmyadmin/config.inc.php", f"{pages}/config.inc.php")
            .replace("/var/lib/phpmyadmin/tmp/", f"{self.folder}/temporary/"))
        (pages / "config.inc.php").write_text(
            CONFIGURATION.format(secret="k" * 32, folder=self.folder, socket=self.socket))

    def is_login(self, record):
        return record.method == "POST" and b"pma_password" in record.body

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url(self.login_path), timeout=PATIENCE), "pma_password")
        form.send(session, pma_username=user or self.user, pma_password=password or self.password)
        return session

    def token(self, session):
        page = session.get(self.url(self.login_path), timeout=PATIENCE)
        return page.text.partition('name="token" value="')[2].partition('"')[0]

    def reference_write(self, session, value):
        session.post(
            self.url("index.php?route=/import"), {
                "db": "notes", "sql_query": f"UPDATE notes.notes SET text = '{value}' WHERE id = 2", "ajax_request": "true",
                "token": self.token(session)}, timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("index.php?route=/logout"), {"token": self.token(session)}, timeout=PATIENCE)

    def written(self, value):
        return value in self.query("SELECT text FROM notes.notes")

    def write_words(self, value):
        return ["-d", f"db=notes&sql_query=UPDATE notes.notes SET text = '{value}' WHERE id = 2&ajax_request=true",
                self.url("index.php?route=/import")]
