#!/usr/bin/env python3
"""A program that acts as a person with a browser: opens an address, follows redirects with cookies, fills in login and consent
forms, and stops at a page without a form. Python 3.11, standard library only.

    DEMO_SECRET=... BROWSER=Examples/demo-server/browser.py nevod-host login ...
    DEMO_SECRET=... python3 browser.py [--deny] [--log FILE] URL

The user is ada, whose password comes from DEMO_SECRET. --deny presses the button that refuses. FILE gets a line for each page:
the status and the URL without its query. The exit status is 0 if the last page has a status below 400.
"""

import argparse
import html.parser
import http.cookiejar
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

# Enough for a login, a consent, and a few more.
MOST_PAGES = 8
SECONDS = 30


class Forms(html.parser.HTMLParser):
    """The forms of a page: action, method and [name, type, value] of each control."""

    def __init__(self):
        super().__init__()
        self.forms = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.forms.append((values.get("action") or "", (values.get("method") or "get").lower(), []))
        elif tag in ("input", "button") and self.forms:
            kind = values.get("type") or ("submit" if tag == "button" else "text")
            self.forms[-1][2].append([values.get("name"), kind, values.get("value") or ""])


def is_refusal(name, value):
    words = f"{name} {value}".lower()
    return name is None or any(word in words for word in ("cancel", "deny", "refuse"))


def answers(controls, denies):
    """The fields that a person would send."""
    fields = []
    for name, kind, value in controls:
        if kind == "submit" or name is None:
            continue
        if kind == "password":
            value = os.environ.get("DEMO_SECRET", "")
        elif kind in ("text", "email") and not value:
            value = "ada"
        fields.append((name, value))
    buttons = [(name, value) for name, kind, value in controls if kind == "submit"]
    refusals = [button for button in buttons if is_refusal(*button)]
    if denies and refusals:
        return fields + [button for button in refusals if button[0]][:1]
    return fields + [button for button in buttons if button not in refusals][:1]


class Browser:
    def __init__(self, denies=False, log=None):
        self.denies, self.log = denies, log
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def get(self, url, fields=None):
        """Returns the status, the address after all redirects, and the text."""
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        # Servers compare the origin, as with a real browser.
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
        request = urllib.request.Request(url, data, {"Referer": origin + "/", "Accept": "text/html"})
        try:
            response = self.opener.open(request, timeout=SECONDS)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            text = response.read().decode("utf-8", "replace")
            if self.log:
                with open(self.log, "a") as log:
                    log.write(f"{response.status} {response.url.partition('?')[0]}\n")
            return response.status, response.url, text

    def visit(self, url):
        """Returns the status of the last page."""
        status, url, text = self.get(url)
        for _ in range(MOST_PAGES):
            parser = Forms()
            parser.feed(text)
            if status >= 400 or not parser.forms:
                break
            action, method, controls = parser.forms[0]
            target, fields = urllib.parse.urljoin(url, action), answers(controls, self.denies)
            if method == "post":
                status, url, text = self.get(target, fields)
            else:
                status, url, text = self.get(target.partition("?")[0] + "?" + urllib.parse.urlencode(fields))
        return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--log")
    parser.add_argument("url")
    arguments = parser.parse_args()
    sys.exit(0 if Browser(arguments.deny, arguments.log).visit(arguments.url) < 400 else 1)


if __name__ == "__main__":
    main()
