"""Debian's WordPress: its login page, and its REST interface for writing."""

import shutil

import requests

from apps.mariadb import MariaDBApplication
from harness import PATIENCE

CONFIGURATION = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', '{origin}');
define('WP_SITEURL', '{origin}');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
foreach (array('AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY',
    'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT') as $name) {{
    define($name, "$name of this test");
}}
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
INSTALL = """<?php
$_SERVER['HTTP_HOST'] = '{host}';
define('WP_INSTALLING', true);
function wp_mail() {{ return true; }}
require '{pages}/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Notes', '{user}', 'ada@example.org', false, '', '{password}');
"""


class WordPress(MariaDBApplication):
    title = "WordPress"
    preset = "wordpress"
    login_path = "wp-login.php"
    private_path = "wp-admin/profile.php"
    marker = "ada@example.org"
    refusal = "is incorrect."
    cannot = {"code": "it has none without a plugin"}

    @property
    def document_root(self):
        return self.folder / "wordpress"

    def prepare(self):
        self.start_database()
        self.query("CREATE DATABASE wordpress")
        pages = self.document_root
        shutil.copytree("/usr/share/wordpress", pages, ignore_dangling_symlinks=True)
        (pages / "wp-config.php").write_text(CONFIGURATION.format(socket=self.socket, origin=self.origin))
        install = self.folder / "install.php"
        install.write_text(INSTALL.format(
            host=self.origin.partition("//")[2], pages=pages, user=self.user, password=self.password))
        self.run(*self.php(install))

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.get(self.url("wp-login.php"), timeout=PATIENCE)
        fields = {"log": user or self.user, "pwd": password or self.password, "testcookie": "1"}
        session.post(self.url("wp-login.php"), fields, timeout=PATIENCE)
        return session

    def nonce(self, session):
        return session.get(self.url("wp-admin/admin-ajax.php?action=rest-nonce"), timeout=PATIENCE).text

    def reference_write(self, session, value):
        session.post(
            self.url("index.php?rest_route=/wp/v2/posts"), {"title": value, "status": "private"},
            headers={"X-WP-Nonce": self.nonce(session)}, timeout=PATIENCE)

    def reference_logout(self, session):
        page = session.get(self.url("wp-admin/profile.php"), timeout=PATIENCE).text
        nonce = page.partition("action=logout&#038;_wpnonce=")[2][:10]
        session.get(self.url(f"wp-login.php?action=logout&_wpnonce={nonce}"), timeout=PATIENCE)

    def written(self, value):
        return value in self.query("SELECT post_title FROM wordpress.wp_posts")

    def forget(self):
        self.query("DELETE FROM wordpress.wp_usermeta WHERE meta_key = 'session_tokens'")

    def write_words(self, value):
        return ["-d", f"title={value}&status=private", self.url("index.php?rest_route=/wp/v2/posts")]
