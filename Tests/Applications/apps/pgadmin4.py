"""pgAdmin 4 in server mode: tokens in scripts of its pages, even for the login, and sessions bound to a client's User-Agent."""

import json
import re

import requests

import harness
from harness import PYTHON, SLOW_PACKAGES, Application


class PgAdmin(Application):
    title = "pgAdmin 4"
    preset = "pgadmin"
    package = "pgadmin4"
    is_slow = True
    user = "ada@example.org"
    login_path = "authenticate/login"
    private_path = "browser/"
    marker = "Loading pgAdmin 4"
    # The message is in one of the page's scripts.
    refusal = ""
    code_user, code_secret = "grace@example.org", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    def prepare(self):
        data = self.folder / "data"
        data.mkdir()
        settings = {
            "SERVER_MODE": True, "DATA_DIR": str(data), "DEFAULT_SERVER_PORT": self.port, "MFA_ENABLED": True,
            "UPGRADE_CHECK_ENABLED": False, "MASTER_PASSWORD_REQUIRED": False}
        (self.folder / "config_local.py").write_text("".join(f"{name} = {value!r}\n" for name, value in settings.items()))
        folder = SLOW_PACKAGES / "pgadmin4"
        self.run(PYTHON, folder / "setup.py", "setup-db")
        self.run(PYTHON, folder / "setup.py", "add-user", self.code_user, self.password, "--admin")
        self.sql(
            "data/pgadmin4.db", "INSERT INTO user_mfa (user_id, mfa_auth, options) "
            f"SELECT id, 'authenticator', '{self.code_secret}' FROM user WHERE email = '{self.code_user}'")

    def environment(self):
        known = super().environment()
        return {
            **known, "PYTHONPATH": f"{self.folder}:{known['PYTHONPATH']}", "PGADMIN_SETUP_EMAIL": self.user,
            "PGADMIN_SETUP_PASSWORD": self.password}

    def command(self):
        return [PYTHON, SLOW_PACKAGES / "pgadmin4" / "pgAdmin4.py"]

    def is_ready(self):
        return requests.get(self.url("login")).status_code == 200

    def token(self, page):
        return re.search(r"""csrf(?:_t|T)oken['"\]]+\s*[:=]\s*['"]([^'"]+)""", page.text)[1]

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        fields = {
            "email": user or self.user, "password": password or self.password, "internal_button": "Login",
            "csrf_token": self.token(session.get(self.url("login")))}
        answer = session.post(self.url("authenticate/login"), fields)
        if code_secret:
            fields = {"mfa_method": "authenticator", "code": harness.totp(code_secret), "csrf_token": self.token(answer)}
            session.post(self.url("mfa/validate"), fields)
        return session

    def reference_write(self, session, value):
        token = self.token(session.get(self.url("browser/js/utils.js")))
        session.post(
            self.url("browser/server_group/obj/"), json={"name": value}, headers={"X-pgA-CSRFToken": token}).raise_for_status()

    def reference_logout(self, session):
        session.get(self.url("logout"))

    def written(self, value):
        import contextlib
        import sqlite3

        with contextlib.closing(sqlite3.connect(self.folder / "data/pgadmin4.db", timeout=harness.PATIENCE)) as database:
            return database.execute("SELECT count(*) FROM servergroup WHERE name = ?", [value]).fetchone()[0] == 1

    def write_words(self, value):
        return ["--json", json.dumps({"name": value}), self.url("browser/server_group/obj/")]

    def forget(self):
        for path in (self.folder / "data/sessions").glob("*"):
            path.unlink(missing_ok=True)
        # It keeps the most recently used ones in memory.
        self.restart()
