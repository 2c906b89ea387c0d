"""qBittorrent: a login that responds "Fails." with status 200, and an API that responds to an ended session with 403."""

import base64
import hashlib

import requests

from apps.debian import package_version
from harness import PATIENCE, Application, expect

# The limit of wrong passwords is raised, because the test makes more than the five after which an address is banned.
CONFIG = """[LegalNotice]
Accepted=true

[Preferences]
WebUI\\Address=127.0.0.1
WebUI\\Username={user}
WebUI\\Password_PBKDF2="@ByteArray({key})"
WebUI\\MaxAuthenticationFailCount=1000
WebUI\\LocalHostAuth=true
WebUI\\CSRFProtection=true
WebUI\\HostHeaderValidation=false
Connection\\UPnP=false

[BitTorrent]
Session\\Interface=lo
Session\\DHTEnabled=false
Session\\LSDEnabled=false
Session\\PeXEnabled=false
"""


class QBittorrent(Application):
    title = "qBittorrent"
    preset = "qbittorrent"
    login_path = "api/v2/auth/login"
    private_path = "api/v2/torrents/categories"
    marker = "kept-by-ada"
    # The response is the word "Fails.", not a message.
    refusal = ""
    cannot = {"code": "qBittorrent has none"}

    def version(self):
        return package_version("qbittorrent-nox")

    def prepare(self):
        salt = b"16 bytes of salt"
        key = hashlib.pbkdf2_hmac("sha512", self.password.encode(), salt, 100_000)
        folder = self.folder / "qBittorrent" / "config"
        folder.mkdir(parents=True)
        encoded = ":".join(base64.b64encode(part).decode() for part in (salt, key))
        (folder / "qBittorrent.conf").write_text(CONFIG.format(user=self.user, key=encoded))

    def command(self):
        return ["qbittorrent-nox", f"--profile={self.folder}", f"--webui-port={self.port}"]

    def is_ready(self):
        return requests.get(self.origin, timeout=PATIENCE).status_code == 200

    def start(self):
        super().start()
        # The marker: without categories, the response is as empty as without a login.
        self.reference_write(self.reference(), self.marker)

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.headers["Referer"] = self.site
        fields = {"username": user or self.user, "password": password or self.password}
        session.post(self.url(self.login_path), fields, timeout=PATIENCE)
        return session

    def reference_write(self, session, value):
        refused = session.post(
            self.url("api/v2/torrents/createCategory"), {"category": "never"}, headers={"Origin": "http://elsewhere.example"},
            timeout=PATIENCE)
        expect(refused.status_code == 401, f"it accepts a request of another site's page (status {refused.status_code})")
        session.post(self.url("api/v2/torrents/createCategory"), {"category": value}, timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("api/v2/auth/logout"), timeout=PATIENCE)

    def written(self, value):
        return value in self.reference().get(self.url(self.private_path), timeout=PATIENCE).text

    def write_words(self, value):
        return ["-d", f"category={value}", self.url("api/v2/torrents/createCategory")]

    def forget(self):
        # Its sessions are in memory.
        self.restart()
