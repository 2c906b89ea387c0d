#!/usr/bin/env python3
"""Chromium, as the command of BROWSER: opens an address without a window, and types and clicks as a person would, until a page
has no form. Driven by chromedriver (W3C WebDriver). The user is ada, whose password comes from DEMO_SECRET.

    chromium.py LOG URL

LOG gets the browser's version, then the title and the URL without its query of each page. It appears when the browser has ended,
which may be later than the command that opened it.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
MOST_PAGES = 8
SECONDS = 60


class Browser:
    def __init__(self, driver, folder):
        # This line names the port that it has chosen.
        while "successfully on port " not in (line := driver.stdout.readline()):
            if not line:
                raise SystemExit("chromedriver did not start")
        self.url = "http://127.0.0.1:" + line.rpartition("on port ")[2].strip(" .\n")
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={folder}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}})
        self.version = session["capabilities"]["browserVersion"]
        self.url += "/session/" + session["sessionId"]

    def call(self, method, path, value=None):
        data = json.dumps(value).encode() if value is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return json.load(response)["value"]

    def find(self, selector):
        return [found[ELEMENT] for found in self.call("POST", "/elements", {"using": "css selector", "value": selector})]

    def type(self, selector, text):
        for element in self.find(selector):
            self.call("POST", f"/element/{element}/clear", {})
            self.call("POST", f"/element/{element}/value", {"text": text})

    def visit(self, url, log):
        self.call("POST", "/url", {"url": url})
        for _ in range(MOST_PAGES):
            log.write(f"{self.call('GET', '/title')} {self.call('GET', '/url').partition('?')[0]}\n")
            buttons = self.find("form [name=allow], form [name=login], form button")
            if not buttons:
                return
            self.type("input[name=username]", "ada")
            self.type("input[type=password]", os.environ["DEMO_SECRET"])
            # Returns when the next page has come.
            self.call("POST", f"/element/{buttons[0]}/click", {})


def main():
    with tempfile.TemporaryDirectory(prefix="nevod-chromium-") as folder, open(sys.argv[1] + ".part", "w") as log:
        # It also writes to its home.
        environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            browser = Browser(driver, folder + "/profile")
            log.write(browser.version + "\n")
            try:
                browser.visit(sys.argv[-1], log)
            finally:
                browser.call("DELETE", "")
        finally:
            driver.terminate()
            driver.wait(SECONDS)
            driver.stdout.close()
    os.rename(sys.argv[1] + ".part", sys.argv[1])


if __name__ == "__main__":
    main()
