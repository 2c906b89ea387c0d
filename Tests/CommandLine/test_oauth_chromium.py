"""A login with a real browser: headless Chromium follows the redirects of each server, and ends at the loopback redirect URI.
`make soak` runs it, with NEVOD_CHROMIUM=1. Elsewhere, a scripted browser takes its place."""

import os
import unittest

import test_oauth_cli
from oauth_servers import PASSWORD, USER, Authlib, Toolkit
from support import FOLDER, SECRET, wait_until
from test_oauth_servers import OAuthTestCase

CHROMIUM = FOLDER / "oauth/chromium.py"
IS_WANTED = os.environ.get("NEVOD_CHROMIUM") == "1"


@unittest.skipUnless(IS_WANTED, "NEVOD_CHROMIUM is not 1: make soak sets it")
class Chromium(OAuthTestCase):
    def expect_pages(self, log, *titles):
        """The browser's version, the titles of the server's pages, and finally the redirect URI's page."""
        wait_until(log.exists, "the end of the browser")
        version, *pages = log.read_text().splitlines()
        self.assertRegex(version, r"^\d+\.")
        self.assertEqual(len(pages), len(titles) + 1, pages)
        for page, title in zip(pages, titles):
            self.assertTrue(page.startswith(title + " "), pages)
        self.assertRegex(pages[-1], r" http://127\.0\.0\.1:\d+/callback$")

    def log_in(self, words, password):
        log = self.folder / "pages"
        outcome = self.run_host("login", *words, env={"BROWSER": f"{CHROMIUM} {log}", "DEMO_SECRET": password})
        self.expect(outcome, 0)
        return log

    def test_toolkit(self):
        server = self.server_of(Toolkit)
        words = self.settings(server, "app")
        self.expect_pages(self.log_in(words, PASSWORD), "Log in", "Authorize")
        self.expect_api(words, server, USER, "app")

    def test_authlib(self):
        server = self.server_of(Authlib)
        words = self.settings(server, "app")
        self.expect_pages(self.log_in(words, PASSWORD), "Log in", "Authorize app")
        self.expect_api(words, server, USER, "app")

    def test_demo(self):
        server = test_oauth_cli.DemoServer()
        self.addCleanup(server.stop)
        words = ["-p", "oauth2", "--set", f"issuer={server.url}", "--set", "client-id=demo"]
        self.expect_pages(self.log_in(words, SECRET), "demo wants to: read")
        self.assertEqual(server.log(), ["granted par", "granted authorization_code"])
