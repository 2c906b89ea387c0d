"""Apache's mod_auth_form: with sessions in a database, and with sessions that are only an encrypted cookie."""

import contextlib
import os
import re

import requests

from harness import PATIENCE, Application

MODULES = """
mpm_event authn_core authn_file authz_core authz_user auth_form request session {session} dav dav_fs mime dir
"""
CONFIGURATION = """\
ServerName localhost
ServerRoot {folder}
DefaultRuntimeDir {folder}
PidFile {folder}/apache.pid
Mutex pthread
ErrorLog /dev/stderr
TypesConfig /etc/mime.types
Listen 127.0.0.1:{port}
DocumentRoot {folder}/pages
DavLockDB {folder}/locks
<Directory {folder}/pages>
  Require all granted
</Directory>
<Location /notes>
  Dav On
  AuthType form
  AuthName notes
  AuthFormProvider file
  AuthUserFile {folder}/users
  AuthFormLoginRequiredLocation /login.html
  Session On
  Require valid-user
</Location>
<Location /dologin.html>
  SetHandler form-login-handler
  AuthType form
  AuthName notes
  AuthFormProvider file
  AuthUserFile {folder}/users
  AuthFormLoginRequiredLocation /refused.html
  AuthFormLoginSuccessLocation /notes/private.html
  Session On
</Location>
<Location /logout>
  SetHandler form-logout-handler
  AuthType form
  AuthName notes
  AuthFormLogoutLocation /login.html
  Session On
</Location>
"""
DATABASE = """\
DBDriver sqlite3
DBDParams {folder}/sessions.sqlite
DBDPrepareSQL "DELETE FROM session WHERE key = %s" deletesession
DBDPrepareSQL "UPDATE session SET value = %s, expiry = %lld, key = %s WHERE key = %s" updatesession
DBDPrepareSQL "INSERT INTO session (value, expiry, key) VALUES (%s, %lld, %s)" insertsession
DBDPrepareSQL "SELECT value FROM session WHERE key = %s AND (expiry = 0 OR expiry > %lld)" selectsession
DBDPrepareSQL "DELETE FROM session WHERE expiry != 0 AND expiry < %lld" cleansession
SessionDBDCookieName session path=/;HttpOnly;SameSite=Lax
SessionMaxAge 600
"""
COOKIE = """\
SessionCookieName session path=/;HttpOnly;SameSite=Lax
SessionCryptoPassphraseFile {folder}/passphrase
SessionMaxAge 600
"""
LOGIN = """\
<!DOCTYPE html>
<title>Log in</title>
{}
<form method="post" action="/dologin.html">
<input name="httpd_username"><input type="password" name="httpd_password"><button>Log in</button>
</form>
"""


class ModAuthForm(Application):
    preset = "apache-auth-form"
    login_path = "dologin.html"
    private_path = "notes/private.html"
    marker = "Only for users."
    # The module only redirects. The words are from the site's own page.
    refusal = "The user name or the password is wrong."
    settings = ("probe=notes/private.html",)
    session_modules, session_settings = "", ""

    def version(self):
        return re.search(r"Apache/(\S+)", self.run("/usr/sbin/apache2", "-v"))[1]

    @property
    def files(self):
        """The folder with the files that the server's own user reads and writes."""
        return self.folder / "files"

    def prepare(self):
        pages, user = self.files / "pages", ""
        (pages / "notes").mkdir(parents=True)
        (pages / "login.html").write_text(LOGIN.format(""))
        (pages / "refused.html").write_text(LOGIN.format(f'<p class="error">{self.refusal}</p>'))
        (pages / "notes" / "private.html").write_text(f"<p>{self.marker}</p>\n")
        digest = self.run("openssl", "passwd", "-apr1", self.password).strip()
        (self.files / "users").write_text(f"{self.user}:{digest}\n")
        (self.files / "passphrase").write_text("passphrase-of-this-test\n")
        self.sql(
            "files/sessions.sqlite", "PRAGMA journal_mode = WAL",
            "CREATE TABLE session (key TEXT PRIMARY KEY, value TEXT, expiry INTEGER)")
        if os.getuid() == 0:
            # The server switches from root to another user.
            user = "User www-data\nGroup www-data\n"
            self.run("chown", "-R", "www-data:www-data", self.files)
            self.folder.chmod(0o711)
        modules = "".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
            for name in MODULES.format(session=self.session_modules).split())
        (self.folder / "apache.conf").write_text(
            modules + user + (CONFIGURATION + self.session_settings).format(folder=self.files, port=self.port))

    def command(self):
        return ["/usr/sbin/apache2", "-f", self.folder / "apache.conf", "-DFOREGROUND"]

    def is_ready(self):
        return requests.get(self.url("login.html"), timeout=PATIENCE).status_code == 200

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        fields = {"httpd_username": user or self.user, "httpd_password": password or self.password}
        session.post(self.url(self.login_path), fields, timeout=PATIENCE)
        return session

    def reference_write(self, session, value):
        session.put(self.url("notes/note.txt"), value, timeout=PATIENCE)

    def reference_logout(self, session):
        session.get(self.url("logout"), timeout=PATIENCE)

    def written(self, value):
        with contextlib.suppress(FileNotFoundError):
            return (self.files / "pages" / "notes" / "note.txt").read_text() == value
        return False

    def write_words(self, value):
        return ["-X", "PUT", "-d", value, self.url("notes/note.txt")]


class ModSessionDatabase(ModAuthForm):
    title = "Apache mod_auth_form, mod_session_dbd"
    session_modules, session_settings = "session_dbd dbd", DATABASE
    cannot = {"code": "the server has none"}

    def forget(self):
        self.sql("files/sessions.sqlite", "DELETE FROM session")


class ModSessionCookie(ModAuthForm):
    title = "Apache mod_auth_form, mod_session_crypto"
    session_modules, session_settings = "session_cookie session_crypto", COOKIE
    cannot = {
        "logout": "the session is in the cookie alone: an old one stays good until it expires",
        "code": "the server has none",
    }

    def forget(self):
        (self.files / "passphrase").write_text(os.urandom(16).hex() + "\n")
        self.restart()
