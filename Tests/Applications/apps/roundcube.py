"""Debian's Roundcube with SQLite, and with Dovecot as its IMAP server, both below the test's folder."""

import contextlib
import getpass
import os
import pathlib
import re
import socket
import sqlite3
import subprocess

import requests

from apps.debian import package_version
from apps.php import PHPApplication
from harness import PATIENCE, Form, expect, free_port, wait_until

CONFIGURATION = """<?php
$config['db_dsnw'] = 'sqlite:///{folder}/roundcube.sqlite';
$config['imap_host'] = '127.0.0.1:{port}';
$config['des_key'] = 'a key of this test, 24 b';
$config['enable_installer'] = false;
$config['login_rate_limit'] = 100;
$config['log_dir'] = '{folder}/temporary';
$config['temp_dir'] = '{folder}/temporary';
$config['plugins'] = array();
"""
IMAP = """\
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/dovecot
log_path = {folder}/dovecot.log
ssl = no
disable_plaintext_auth = no
default_internal_user = {user}
default_login_user = {user}
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
"""


class Roundcube(PHPApplication):
    title = "Roundcube"
    preset = "roundcube"
    document_root = "/usr/share/roundcube"
    is_slow = True
    login_path = "?_task=login"
    private_path = "?_task=settings&_action=identities"
    marker = "identities-table"
    # "Login failed." is only in a script.
    refusal = ""
    cannot = {"code": "it has none without a plugin"}
    imap = None

    def version(self):
        return package_version("roundcube-core")

    def prepare(self):
        self.start_imap()
        settings = self.folder / "roundcube"
        settings.mkdir()
        (settings / "config.inc.php").write_text(CONFIGURATION.format(folder=self.folder, port=self.imap_port))
        (settings / "defaults.inc.php").symlink_to("/etc/roundcube/defaults.inc.php")
        with contextlib.closing(sqlite3.connect(self.folder / "roundcube.sqlite")) as database:
            database.executescript(pathlib.Path(self.document_root, "SQL", "sqlite.initial.sql").read_text())

    def start_imap(self):
        self.imap_port, user, group = free_port(), getpass.getuser(), str(os.getgid())
        mail = self.folder / "mail"
        mail.mkdir()
        if os.getuid() == 0:
            # It doesn't keep mail for root.
            user = group = "www-data"
            self.run("chown", "www-data:www-data", mail)
            self.folder.chmod(0o711)
        configuration = self.folder / "dovecot.conf"
        configuration.write_text(IMAP.format(
            folder=self.folder, port=self.imap_port, password=self.password, user=user, group=group))
        self.imap = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "dovecot", "-F", "-c", configuration], stdin=subprocess.DEVNULL,
            start_new_session=True)

        def ready():
            expect(self.imap.poll() is None, "Dovecot does not start")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.imap_port), timeout=1):
                return True
            return False

        wait_until(ready, "the start of the mail server")

    def environment(self):
        return {**super().environment(), "ROUNDCUBE_CONFIG_DIR": str(self.folder / "roundcube")}

    def close(self):
        if self.imap:
            self.imap.terminate()
            self.imap.wait(PATIENCE)
        super().close()

    def is_login(self, record):
        return record.method == "POST" and b"_pass=" in record.body

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url(self.login_path), timeout=PATIENCE), "_pass")
        form.send(session, _user=user or self.user, _pass=password or self.password)
        return session

    def token(self, session):
        page = session.get(self.url(self.private_path), timeout=PATIENCE).text
        return re.search(r'"request_token":"([^"]*)"', page)[1]

    def reference_write(self, session, value):
        session.post(self.url("?_task=addressbook&_action=save"), {
            "_source": "0", "_name": value, "_surname": "x", "_token": self.token(session)}, timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("?_task=logout"), {"_token": self.token(session)}, timeout=PATIENCE)

    def written(self, value):
        with contextlib.closing(sqlite3.connect(self.folder / "roundcube.sqlite", timeout=PATIENCE)) as database:
            return (value,) in database.execute("SELECT name FROM contacts").fetchall()

    def forget(self):
        self.sql("roundcube.sqlite", "DELETE FROM session")

    def write_words(self, value):
        return ["-d", f"_source=0&_name={value}&_surname=x", self.url("?_task=addressbook&_action=save")]
