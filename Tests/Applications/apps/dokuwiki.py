"""Debian's DokuWiki, with its plain files below the test's folder."""

import pathlib
import re
import shutil

import requests

from apps.php import PHPApplication
from harness import PATIENCE, Form


class DokuWiki(PHPApplication):
    title = "DokuWiki"
    preset = "dokuwiki"
    document_root = "/usr/share/dokuwiki"
    php_settings = ("auto_prepend_file=prepend.php",)
    login_path = "doku.php?do=login"
    private_path = "doku.php?do=profile"
    marker = "Ada Lovelace"
    refusal = "Sorry, username or password was wrong."
    cannot = {
        "logout": "the cookie has the password, encrypted: it stays good until the password or the wiki's salt changes",
        "code": "the wiki has none without a plugin",
    }

    def version(self):
        return (pathlib.Path(self.document_root) / "VERSION").read_text().split()[0]

    def prepare(self):
        for name in ("attic", "cache", "index", "locks", "log", "media", "media_attic", "media_meta", "meta", "pages", "tmp"):
            (self.folder / "data" / name).mkdir(parents=True)
        conf = self.folder / "conf"
        shutil.copytree("/etc/dokuwiki", conf)
        for name in ("acl.auth.php", "users.auth.php", "local.php"):
            (conf / name).unlink(missing_ok=True)
        (conf / "local.php").write_text(
            f"<?php\n$conf['title'] = 'Notes';\n$conf['useacl'] = 1;\n$conf['savedir'] = '{self.folder}/data';\n"
            "$conf['updatecheck'] = 0;\n$conf['disableactions'] = 'register';\n")
        (conf / "acl.auth.php").write_text("*\t@ALL\t0\n*\t@user\t8\n")
        # The package's default location of the configuration applies only if nothing else sets it.
        (self.folder / "prepend.php").write_text(f"<?php\ndefine('DOKU_MAIN_CONF', '{conf}/');\ndefine('DOKU_CONF', '{conf}/');\n")
        password = self.run("php", "-r", f"echo password_hash('{self.password}', PASSWORD_BCRYPT);")
        (conf / "users.auth.php").write_text(f"{self.user}:{password}:Ada Lovelace:ada@example.org:user\n")

    def is_login(self, record):
        return record.method == "POST" and "do=login" in record.query + "&" + record.body.decode(errors="replace")

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = Form(session.get(self.url(self.login_path), timeout=PATIENCE), "p")
        form.send(session, u=user or self.user, p=password or self.password)
        return session

    def reference_write(self, session, value):
        form = Form(session.get(self.url("doku.php?id=note&do=edit"), timeout=PATIENCE), "wikitext")
        form.send(session, **{"wikitext": value, "do[save]": "1"})

    def reference_logout(self, session):
        page = session.get(self.url(self.private_path), timeout=PATIENCE).text
        token = re.search(r"sectok=([0-9a-f]{32})", page)[1]
        session.get(self.url(f"doku.php?do=logout&sectok={token}"), timeout=PATIENCE)

    def written(self, value):
        return value in (self.folder / "data" / "pages" / "note.txt").read_text()

    def forget(self):
        super().forget()
        # The cookie alone would log in again without the session, so the key that encrypts its password must change.
        for file in (self.folder / "data" / "meta").glob("_htcookiesalt*"):
            file.unlink()

    def write_words(self, value):
        return ["-d", f"id=note&do[save]=1&prefix=.&wikitext={value}", self.url("doku.php")]
