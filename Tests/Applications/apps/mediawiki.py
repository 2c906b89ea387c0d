"""Debian's MediaWiki with SQLite, private: its API with a form, and its login page with a one-time code (OATHAuth)."""

import json

import requests

from apps.php import PHPApplication
from harness import PATIENCE, totp


class MediaWiki(PHPApplication):
    title = "MediaWiki"
    preset = "mediawiki"
    is_slow = True
    document_root = "/usr/share/mediawiki"
    login_path = "api.php"
    private_path = "index.php?title=Special:Preferences"
    # It is null for others.
    marker = '"wgUserName":"'
    user = "Ada"
    refusal = "Incorrect username or password entered."
    code_user, code_secret = "Grace", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    def prepare(self):
        (self.folder / "data").mkdir()
        secret = self.folder / "password"
        secret.write_text(self.password)
        self.run(
            *self.php("/usr/share/mediawiki/maintenance/install.php"), f"--confpath={self.folder}", "--dbtype=sqlite",
            f"--dbpath={self.folder / 'data'}", "--scriptpath=", f"--server={self.origin}", f"--passfile={secret}", "Notes",
            self.user)
        with (self.folder / "LocalSettings.php").open("a") as settings:
            settings.write(
                "$wgGroupPermissions['*']['read'] = false;\n$wgGroupPermissions['*']['edit'] = false;\n$wgJobRunRate = 0;\n"
                "$wgMainCacheType = CACHE_DB;\n$wgSessionCacheType = CACHE_DB;\nwfLoadExtension('OATHAuth');\n")
        self.run(*self.php("/usr/share/mediawiki/maintenance/update.php"), "--quick")
        self.run(*self.php("/usr/share/mediawiki/maintenance/createAndPromote.php"), self.code_user, self.password)
        keys = json.dumps({"keys": [{"secret": self.code_secret, "scratch_tokens": []}]})
        self.sql(
            "data/my_wiki.sqlite", "INSERT INTO oathauth_users (id, module, data) "
            f"SELECT user_id, 'totp', '{keys}' FROM user WHERE user_name = '{self.code_user}'")

    def allow_code_again(self):
        self.forget()

    def environment(self):
        return {**super().environment(), "MW_CONFIG_FILE": str(self.folder / "LocalSettings.php")}

    def is_login(self, record):
        return record.method == "POST" and b"password=" in record.body

    def ask(self, session, method, **parameters):
        parameters["format"] = "json"
        found = session.request(
            method, self.url("api.php"), timeout=PATIENCE, **{"params" if method == "GET" else "data": parameters})
        return found.json()

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        token = self.ask(session, "GET", action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        self.ask(
            session, "POST", action="clientlogin", username=user or self.user, password=password or self.password, logintoken=token,
            loginreturnurl=self.site)
        if code_secret:
            self.ask(session, "POST", action="clientlogin", logincontinue="1", OATHToken=totp(code_secret), logintoken=token)
        return session

    def token(self, session):
        return self.ask(session, "GET", action="query", meta="tokens")["query"]["tokens"]["csrftoken"]

    def reference_write(self, session, value):
        self.ask(session, "POST", action="edit", title="Note", text=value, token=self.token(session))

    def reference_logout(self, session):
        self.ask(session, "POST", action="logout", token=self.token(session))

    def written(self, value):
        return value in self.reference().get(self.url("index.php?title=Note&action=raw"), timeout=PATIENCE).text

    def forget(self):
        for file in (self.folder / "data").glob("wikicache.sqlite"):
            self.sql(file, "DELETE FROM objectcache")

    def write_words(self, value):
        return ["-d", f"action=edit&format=json&title=Note&text={value}", self.url("api.php")]
