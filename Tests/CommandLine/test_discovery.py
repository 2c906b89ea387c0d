"""`login URL` without a profile: finds out from the page how a site logs in, logs in, and writes the profile."""

import contextlib
import html
import re
import secrets
import shlex
import stat
import subprocess
import threading
import urllib.parse

from support import (
    BUILD, HOST, PATIENCE, SECRET, RecordingServer, SocketServer, TestCase, authority, cases, environment, reply, wait_until)
from test_sessions import ANSWERS_OF_ADA
from test_terminal import TerminalSession

PRESETS = {
    "django": """# Django
login = accounts/login/
csrf = input
session-cookie = sessionid
probe = accounts/profile/
""",
    "rails": """# Rails with Devise
login = users/sign_in
username-field = user[email]
password-field = user[password]
csrf = input
csrf-name = authenticity_token
request-csrf = meta
request-csrf-name = csrf-token
request-csrf-header = X-CSRF-Token
""",
    "wordpress": """# WordPress
login = wp-login.php
page = wp-login.php
username-field = log
password-field = pwd
session-cookie = wordpress_logged_in_*
probe = wp-admin/profile.php
""",
    "tomcat": """# Tomcat
login = j_security_check
username-field = j_username
password-field = j_password
""",
    "dokuwiki": """# DokuWiki
login = doku.php?do=login
page = doku.php?do=login
username-field = u
password-field = p
""",
    "acmewiki": """# Acmewiki
login = api
username-field = api_user
password-field = api_word
""",
    "shop": """# A shop
login = in.php?route=/
username-field = shop_user
password-field = shop_word
probe = orders/
probe-success = status:200
""",
    "organization": """# An application at the domain of each customer
{domain} = The domain
login = https://{domain}/enter
username-field = acme_user
password-field = acme_word
""",
}


def page(body, head="", status="200 OK", *lines):
    text = f"<!doctype html><html><head><title>A site</title>{head}</head><body>{body}</body></html>"
    return reply(status, "Content-Type: text/html; charset=utf-8", *lines, body=text.encode())


def redirect(location, *lines):
    return reply("302 Found", f"Location: {location}", *lines)


def cookies(seen):
    return dict(pair.split("=", 1) for line in seen.values("Cookie") for pair in line.split("; "))


class Site:
    """A site with its framework's form. Its page of orders is for logged-in users."""

    login, action, private = "/accounts/login/", "", "/orders/"
    names = ("username", "password")
    cookie = "sessionid"
    head = ""
    # Whether the login requires its page's token.
    token = ("csrfmiddlewaretoken", "csrftoken")

    def __init__(self):
        self.sessions, self.tokens, self.posts = set(), set(), []

    def respond(self, seen):
        session = cookies(seen).get(self.cookie)
        if seen.method == "POST" and seen.path == urllib.parse.urljoin(self.login, self.action):
            return self.log_in(seen)
        if seen.path == self.login:
            return self.form(seen)
        if seen.path != self.private:
            return page("Not here.", status="404 Not Found")
        if session not in self.sessions:
            return self.refuse(seen)
        if seen.method == "POST":
            return self.change(seen)
        return page("Orders of ada", self.head)

    def refuse(self, seen):
        return redirect(f"{self.login}?next={urllib.parse.quote(seen.target)}")

    def change(self, seen):
        return page("changed")

    def fields(self):
        return ""

    def inputs(self):
        user, password = map(html.escape, self.names)
        return f'<input name="{user}" autofocus><input type=password name="{password}">'

    def form(self, seen, message=""):
        token = cookies(seen).get(self.token[1]) if self.token else None
        lines = []
        if self.token and token not in self.tokens:
            token = secrets.token_hex(16)
            self.tokens.add(token)
            lines = [f"Set-Cookie: {self.token[1]}={token}; Path=/"]
        hidden = f'<input type="hidden" name="{self.token[0]}" value="{token}">' if self.token else ""
        action = f' action="{self.action}"' if self.action else ""
        return page(
            f'{message}<form action="/search"><input type=search name=q></form>'
            f"<form method=post{action}>{hidden}{self.fields()}{self.inputs()}<button name=commit value=in>Log in</button></form>",
            self.head.format(token=token), "200 OK", *lines)

    def log_in(self, seen):
        fields = dict(urllib.parse.parse_qsl(seen.body.decode()))
        self.posts.append(fields)
        if not self.accepts(fields, cookies(seen)):
            return self.form(seen, '<p class="error">Wrong user name or password.</p>')
        session = secrets.token_hex(16)
        self.sessions.add(session)
        return self.welcome(f"Set-Cookie: {self.cookie}={session}; Path=/; HttpOnly")

    def welcome(self, line):
        return redirect(self.private, line)

    def accepts(self, fields, given):
        if self.token and not (fields.get(self.token[0]) in self.tokens and given.get(self.token[1]) in self.tokens):
            return False
        return (fields.get(self.names[0]), fields.get(self.names[1])) == ("ada", SECRET)


class Django(Site):
    pass


class Rails(Site):
    login, private = "/users/sign_in", "/orders"
    names = ("user[email]", "user[password]")
    cookie = "_shop_session"
    token = ("authenticity_token", "_shop_token")
    head = '<meta name="csrf-param" content="authenticity_token"><meta name="csrf-token" content="meta-{token}">'

    def fields(self):
        return '<input type=hidden name="user[remember_me]" value="0"><input type=checkbox name="user[remember_me]" value="1">'


class Flask(Site):
    """Has only what every form of that framework has, and the presets of its applications too."""

    login, cookie = "/login/", "session"
    token = ("csrf_token", "visit")

    def respond(self, seen):
        if seen.method == "GET" and seen.path == self.private and cookies(seen).get(self.cookie) in self.sessions:
            token = next(iter(self.tokens))
            return page(f"Orders of ada<form method=post><input type=hidden name=csrf_token value={token}></form>")
        return super().respond(seen)

    def change(self, seen):
        fields = dict(urllib.parse.parse_qsl(seen.body.decode()))
        return page("changed") if fields.get("csrf_token") in self.tokens else page("Bad request", status="400 Bad Request")


class WordPress(Site):
    login, private = "/blog/wp-login.php", "/blog/wp-admin/"
    names = ("log", "pwd")
    cookie = "wordpress_logged_in_5c016e8f"
    token = ("testcookie", "wordpress_test_cookie")

    def refuse(self, seen):
        return redirect(f"{self.login}?redirect_to={urllib.parse.quote('http://a/b', safe='')}&reauth=1")


class Tomcat(Site):
    """The protected address itself serves the form, and a login must come from there."""

    login, action, private = "/app/none", "j_security_check", "/app/orders"
    names = ("j_username", "j_password")
    cookie, token = "JSESSIONID", None

    def __init__(self):
        super().__init__()
        self.waiting = set()

    def refuse(self, seen):
        self.waiting.add(session := secrets.token_hex(16))
        return page(
            f'<form method=post action="j_security_check">{self.inputs()}<input type=submit></form>', "", "200 OK",
            f"Set-Cookie: JSESSIONID={session}; Path=/app; HttpOnly")

    def accepts(self, fields, given):
        return given.get("JSESSIONID") in self.waiting and super().accepts(fields, given)


class Wiki(Site):
    """One address for everything, with the login form on each page that a visitor may not see."""

    login, private = "/w/doku.php", "/w/doku.php?do=profile"
    names, cookie, token = ("u", "p"), "DW5c01", None

    def respond(self, seen):
        fields = dict(urllib.parse.parse_qsl(f"{seen.query}&{seen.body.decode()}"))
        if seen.method == "POST" and fields.get("do") == "login":
            return self.log_in(seen)
        if fields.get("do") == "profile" and cookies(seen).get(self.cookie) in self.sessions:
            return page("Orders of ada")
        if fields.get("do") in ("profile", "login"):
            return page(
                f'<form method=post action="/w/doku.php?id=start"><input type=hidden name=do value=login>{self.inputs()}</form>')
        return page("A start.")

    def welcome(self, line):
        return redirect("/w/doku.php?id=start", line)


class Plain(Site):
    """No preset is for its framework."""

    login, action, private = "/enter", "/enter/do?step=2", "/orders/"
    names, cookie = ("acme_user", "acme_word"), "acme"
    token = ("acme_seal", "acme_seal")

    def respond(self, seen):
        if seen.target == self.action and seen.method == "POST":
            return self.log_in(seen)
        return super().respond(seen)


class DiscoveryTestCase(TestCase):
    """With a home that has these tests' presets."""

    def setUp(self):
        self.home = self.folder / "home"
        folder = self.home / ".config/nevod-host/presets/cookie"
        folder.mkdir(parents=True)
        for made in (self.home, *reversed(folder.parents[:3]), folder):
            made.chmod(0o700)
        for name, text in PRESETS.items():
            (folder / f"{name}.preset").write_text(text)
        self.config = self.home / ".config/nevod/config"

    def env(self, **more):
        return {"HOME": str(self.home), "NEVOD_HOST_STORE": "", "NEVOD_PLUGIN_PATH": str(BUILD), **more}

    def run_host(self, *words, env=None, **options):
        return super().run_host(*words, env=self.env(**(env or {})), **options)

    def serve(self, site, **options):
        if isinstance(site, Site):
            self.site, respond = site, site.respond
        else:
            respond = site
        self.server = self.enterContext(RecordingServer(respond, **options))
        return self.server.http

    def discover(self, url, *words, answers=ANSWERS_OF_ADA, **options):
        return self.run_host("login", url, "--yes", *words, *answers, **options)

    def written(self):
        """The lines of the profile."""
        return self.config.read_text().splitlines()

    def expect_nothing_kept(self, posts=0):
        self.assertFalse(self.config.exists(), self.config.exists() and self.config.read_text())
        self.assertIn(b"no session", self.run_host("sessions").out)
        self.assertEqual([seen.method for seen in self.server.requests].count("POST"), posts, self.server.requests)

    def expect_logged_in(self, outcome, site, name="127.0.0.1"):
        """Expects one login, and that the session is used."""
        self.expect(outcome, 0)
        self.assertEqual(len(site.posts), 1, site.posts)
        used = self.run_host("-f", "--profile", name, f"{self.server.http}{site.private}")
        self.expect(used, 0)
        self.assertIn(b"Orders of ada", used.out, used)
        self.assertEqual(len(site.posts), 1, site.posts)


class Presets(DiscoveryTestCase):
    def test_django(self):
        url = self.serve(Django())
        outcome = self.discover(f"{url}/orders/")
        self.expect_logged_in(outcome, self.site)
        self.assertIn('the preset "django" (Django) fits the address of the login, the fields, the CSRF token', outcome.err)
        self.assertEqual(
            self.written(),
            ["[127.0.0.1]", f"url = {url}", "plugin = libCookieAuth.so", "set = preset=django", f"set = site={url}/",
             f"set = probe={url}/orders/"])
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o600)
        self.assertIn(f"added 127.0.0.1 to {self.config}", outcome.err)
        self.assertIn(b"logged in as ada", outcome.out)

    def test_that_the_address_is_the_login_page(self):
        """Its probe comes from the preset, but this site has no such page. So the login fails, and nothing is written."""
        url = self.serve(Django())
        outcome = self.discover(f"{url}/accounts/login/?next=/")
        self.expect(outcome, 112)
        self.assertIn("no profile was written; --set NAME=VALUE changes a setting", outcome.err)
        self.expect_nothing_kept(posts=1)
        self.site.posts.clear()
        self.expect_logged_in(self.discover(f"{url}/accounts/login/?next=/", "--set", "probe=orders/"), self.site)
        self.assertIn("set = probe=orders/", self.written())

    def test_at_another_address(self):
        """The preset's fields and token fit, but not its address."""
        site = Django()
        site.login = "/members/enter"
        url = self.serve(site)
        self.expect_logged_in(self.discover(f"{url}/orders/"), site)
        self.assertIn(f"set = login={url}/members/enter", self.written())

    def test_below_a_path(self):
        site = Django()
        site.login, site.private = "/shop/accounts/login/", "/shop/orders/"
        url = self.serve(site)
        self.expect_logged_in(self.discover(f"{url}/shop/orders/", "--name", "shop"), site, "shop")
        self.assertEqual(self.written()[:2], ["[shop]", f"url = {url}/shop"])
        self.assertIn(f"set = site={url}/shop/", self.written())

    def test_rails(self):
        url = self.serve(Rails())
        outcome = self.discover(f"{url}/orders")
        self.expect_logged_in(outcome, self.site)
        self.assertEqual(self.site.posts[0]["user[remember_me]"], "0")
        self.assertIn("set = preset=rails", self.written())

    def test_wordpress(self):
        url = self.serve(WordPress())
        outcome = self.discover(f"{url}/blog/wp-admin/")
        self.expect_logged_in(outcome, self.site)
        self.assertEqual(
            self.written()[2:],
            ["plugin = libCookieAuth.so", "set = preset=wordpress", f"set = site={url}/blog/",
             f"set = probe={url}/blog/wp-admin/"])

    def test_tomcat(self):
        """The page must be fetched first, and is also the probe."""
        url = self.serve(Tomcat())
        self.expect_logged_in(self.discover(f"{url}/app/orders"), self.site)
        self.assertEqual(
            self.written()[3:],
            ["set = preset=tomcat", f"set = site={url}/app/", f"set = page={url}/app/orders", f"set = probe={url}/app/orders"])

    def test_chosen(self):
        url = self.serve(Django())
        self.expect_logged_in(self.discover(f"{url}/orders/", "--set", "preset=none"), self.site)
        self.assertEqual(
            self.written()[3:],
            [f"set = site={url}/", f"set = login={url}/accounts/login/", f"set = page={url}/accounts/login/",
             "set = username-field=username", "set = password-field=password", "set = request-csrf=input",
             "set = request-csrf-name=csrfmiddlewaretoken", "set = request-csrf-field=csrfmiddlewaretoken",
             "set = request-csrf-header=X-CSRF-Token", f"set = probe={url}/orders/"])

    def test_that_logs_in_by_another_way(self):
        """The page names the other way, which a person must choose."""
        site = Plain()
        site.head = '<meta name="generator" content="Acmewiki 1.2">'
        respond = site.respond

        def answer(seen):
            return site.log_in(seen) if seen.path == "/wiki/api" else respond(seen)

        site.login, site.token, site.private = "/wiki/enter", None, "/wiki/orders/"
        site.accepts = lambda fields, given: (fields.get("api_user"), fields.get("api_word")) == ("ada", SECRET)
        url = self.serve(answer)
        self.site = site
        outcome = self.run_host("login", f"{url}/wiki/orders/")
        self.expect(outcome, 113, 'the page names "acmewiki"', "no preset fits")
        outcome = self.discover(f"{url}/wiki/orders/", "--set", "preset=acmewiki")
        self.expect_logged_in(outcome, site)
        self.assertEqual(
            self.written()[3:], ["set = preset=acmewiki", f"set = site={url}/wiki/", f"set = probe={url}/wiki/orders/"])

    def test_whose_form_stands_on_any_page(self):
        """A field of the form says what the preset's query says. The page that asks is the probe."""
        url = self.serve(Wiki())
        self.expect_logged_in(self.discover(f"{url}/w/doku.php?do=profile"), self.site)
        self.assertEqual(
            self.written()[3:],
            ["set = preset=dokuwiki", f"set = site={url}/w/", f"set = probe={url}/w/doku.php?do=profile"])

    def shop(self, action):
        """A site whose login is recognized by the query."""
        site = Site()
        site.login, site.action, site.private = "/a/in.php", action, "/a/orders/"
        site.names, site.token = ("shop_user", "shop_word"), None
        respond = site.respond
        return site, lambda seen: site.log_in(seen) if (seen.method, seen.path) == ("POST", "/a/in.php") else respond(seen)

    def test_that_has_its_own_sign_of_success(self):
        """The sign belongs to the preset's own probe, which is kept."""
        site, respond = self.shop("in.php?route=%2F&lang=en")
        url = self.serve(respond)
        self.expect_logged_in(self.discover(f"{url}/a/orders/"), site)
        self.assertEqual(self.written()[3:], ["set = preset=shop", f"set = site={url}/a/", f"set = page={url}/a/in.php"])

    def test_whose_query_is_another(self):
        """Only the path shows where the site is."""
        site, respond = self.shop("in.php?x=1")
        url = self.serve(respond)
        self.expect_logged_in(self.discover(f"{url}/a/orders/"), site)
        self.assertEqual(
            self.written()[3:],
            ["set = preset=shop", f"set = site={url}/a/", f"set = login={url}/a/in.php?x=1", f"set = page={url}/a/in.php"])


class Forms(DiscoveryTestCase):
    def test_of_no_preset(self):
        url = self.serve(Plain())
        outcome = self.discover(f"{url}/orders/")
        self.expect_logged_in(outcome, self.site)
        self.assertIn("no preset fits", outcome.err)
        self.assertEqual(
            self.written()[2:],
            ["plugin = libCookieAuth.so", f"set = site={url}/", f"set = login={url}/enter/do?step=2", f"set = page={url}/enter",
             "set = username-field=acme_user", "set = password-field=acme_word", f"set = probe={url}/orders/"])
        self.assertEqual(self.site.posts[0]["commit"], "in")

    def test_whose_signs_are_those_of_any_site(self):
        """Several common names don't prove a preset. The token goes with a form that changes something."""
        url = self.serve(Flask())
        outcome = self.discover(f"{url}/orders/")
        self.expect_logged_in(outcome, self.site)
        self.assertIn("no preset fits", outcome.err)
        self.assertIn("set = request-csrf-name=csrf_token", self.written())
        outcome = self.run_host("-f", "--profile", "127.0.0.1", "-d", "a=1", f"{url}/orders/")
        self.expect(outcome, 0)

    def test_whose_name_is_of_another_type(self):
        """A browser shows a field of an unknown type as text. A customer number is such a field."""
        for kind in ("username", "number"):
            with self.subTest(kind):
                site = Plain()
                site.inputs = lambda: f'<input type={kind} name=acme_user><input type=password name=acme_word>'
                url = self.serve(site)
                self.expect_logged_in(self.discover(f"{url}/orders/", "--name", kind), site, kind)
                self.assertIn("set = username-field=acme_user", self.written())

    def test_that_knows_no_user_names(self):
        site = Plain()
        site.inputs = lambda: "<input type=password name=acme_word>"
        site.accepts = lambda fields, given: fields["acme_word"] == SECRET
        url = self.serve(site)
        outcome = self.discover(f"{url}/orders/", answers=ANSWERS_OF_ADA[2:])
        self.expect_logged_in(outcome, site)
        self.assertIn("set = username-field=", self.written())

    def test_beside_a_registration(self):
        """A form with several passwords, or with more to fill in, isn't a login form."""
        site = Plain()
        form = site.form

        def form_with_others(seen, message=""):
            others = (
                "<form method=post action=/register><input name=mail><input type=password name=one><input type=password name=two></form>"
                "<form method=post action=/join><input name=mail><input name=town><input type=password name=new></form>")
            return form(seen, message + others)

        site.form = form_with_others
        self.expect_logged_in(self.discover(f"{self.serve(site)}/orders/"), site)

    def test_whose_page_has_a_meta_token(self):
        site = Plain()
        site.head = '<meta name="csrf-token" content="m-1">'
        site.change = lambda seen: page("changed") if seen.values("X-CSRF-Token") == ["m-1"] else page("no", status="403 Forbidden")
        url = self.serve(site)
        self.expect_logged_in(self.discover(f"{url}/orders/"), site)
        outcome = self.run_host("-f", "--profile", "127.0.0.1", "-d", "a=1", f"{url}/orders/")
        self.expect(outcome, 0)

    @cases({
        "script": ("<div id=app></div>", "no form with a password field (a script may build it)"),
        "fields_alone": ("<input type=password name=a>", "its password field belongs to no form"),
        "nameless": ("<form method=post><input name=a><input type=password id=b></form>", "its password field has no name"),
        "get": ("<form><input name=a><input type=password name=b></form>", "its method is GET"),
        "registration": (
            "<form method=post><input type=password name=a><input type=password name=b></form>", "several passwords"),
        "elsewhere": (
            "<form method=post action=https://evil.example/steal><input name=a><input type=password name=b></form>",
            "sends user name and password to another origin, https://evil.example"),
        "base_elsewhere": (
            "<base href=//evil.example/><form method=post action=in><input name=a><input type=password name=b></form>",
            "another origin, http://evil.example"),
        "script_address": (
            "<form method=post action=javascript:go()><input name=a><input type=password name=b></form>",
            '"javascript:go()", which is not an http or https address'),
    })
    def test_that_can_not_be_used(self, body, words):
        url = self.serve(lambda seen: page(body))
        self.expect_failure(self.discover(url), 112, words)
        self.assertEqual(len(self.server.requests), 1)
        self.expect_nothing_kept()

    def test_whose_address_names_a_visit(self):
        """The settings leave out a session in the path, and the page to return to."""
        site = Plain()
        respond = site.respond
        site.action = "/enter/do;jsessionid=A1?back_url=%2Fa&step=2"

        def leave_out(seen):
            if seen.path == "/enter/do":
                seen.target = site.action
            return respond(seen)

        url = self.serve(leave_out)
        self.expect_logged_in(self.discover(f"{url}/orders/"), site)
        self.assertIn(f"set = login={url}/enter/do?step=2", self.written())

    def test_that_names_the_way_out(self):
        outcome = self.discover(self.serve(lambda seen: page("<div id=app></div>")))
        self.expect_failure(outcome, 112, "nevod-host profile add NAME --plugin libCookieAuth.so --set login=URL")

    def test_of_another_type(self):
        form = b"<form method=post><input name=a><input type=password name=b></form>"
        url = self.serve(lambda seen: reply("200 OK", "Content-Type: application/json", body=form))
        self.expect_failure(self.discover(url), 112, "no form with a password field")

    def test_that_is_not_there(self):
        self.expect_failure(self.discover(self.serve(Plain()) + "/nothing"), 112, "responded with 404")


class Challenges(DiscoveryTestCase):
    @cases({
        "basic": ('Basic realm="Orders"', 'asks for Basic (realm "Orders")', "nevod-host -u NAME http"),
        "digest": ('Digest realm="Orders", nonce="a"', "asks for Digest", "nevod-host --digest -u NAME http"),
        "bearer": ("Bearer", "asks for Bearer", "nevod-host --bearer env:VARIABLE http"),
        "other": ("Negotiate", "asks for Negotiate", "nevod-host help plugins"),
    })
    def test_are_named(self, line, *words):
        url = self.serve(lambda seen: reply("401 Unauthorized", f"WWW-Authenticate: {line}"))
        self.expect_failure(self.discover(url), 112, *words)
        self.expect_nothing_kept()

    def test_beside_a_form(self):
        """A form takes precedence."""
        site = Plain()
        respond = site.respond

        def refuse(seen):
            answer = respond(seen)
            if seen.target == "/enter":
                return answer.replace(b"200 OK", b'401 Unauthorized\r\nWWW-Authenticate: Basic realm="a"', 1)
            return answer

        self.expect_logged_in(self.discover(f"{self.serve(refuse)}/orders/"), site)


class Bounds(DiscoveryTestCase):
    def test_page_that_never_ends(self):
        def converse(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<form method=post><input type=password name=a>")
            while not server.stopped.is_set():
                connection.sendall(b"<input name=b>" * 1000)

        server = self.enterContext(SocketServer(converse))
        self.expect_failure(self.discover(server.http), 63, "larger than 1 MiB")
        self.assertFalse(self.config.exists())

    def test_redirects_in_a_circle(self):
        url = self.serve(lambda seen: redirect("/a"))
        self.expect_failure(self.discover(url), 47, "more than 10 redirects")
        self.assertEqual(len(self.server.requests), 11)

    def test_page_of_many_fields(self):
        fields = "".join(f"<input type=hidden name=f{index}>" for index in range(5000))
        url = self.serve(lambda seen: page(f"<form method=post>{fields}<input name=a><input type=password name=b></form>"))
        self.expect_failure(self.discover(url), 112, "more forms or fields than are read")
        self.expect_nothing_kept()


class Origins(DiscoveryTestCase):
    def elsewhere(self):
        """A site whose orders lead to the login page of another origin."""
        self.site = Plain()
        other = self.enterContext(RecordingServer(self.site.respond))
        url = self.serve(lambda seen: redirect(f"{other.http}/enter?next=/orders"))
        return url, other

    def test_another_is_shown_and_not_used(self):
        url, other = self.elsewhere()
        outcome = self.discover(f"{url}/orders")
        self.expect(outcome, 112, f"led to another origin: {other.http}/enter", f"nevod-host login {other.http}/enter")
        self.assertEqual([seen.method for seen in other.requests], ["GET"])
        self.expect_nothing_kept()

    def test_another_gets_no_header_of_a_credential(self):
        url, other = self.elsewhere()
        self.discover(f"{url}/orders")
        self.assertEqual([name for seen in other.requests for name, _ in seen.headers if name in ("Authorization", "Cookie")], [])

    def test_without_tls(self):
        """Only loopback is allowed."""
        site = Plain()
        self.serve(site)
        port = self.server.port
        url = f"http://site.test:{port}"
        outcome = self.discover(f"{url}/orders/", "--resolve", f"site.test:{port}:127.0.0.1", "--noproxy", "*")
        self.expect(outcome, 0, f"warning: {url} is not encrypted")
        self.assertIn(f"resolve = site.test:{port}:127.0.0.1", self.written())
        self.assertEqual(self.written()[0], "[site]")

    def upgraded(self, secure_port, *words):
        """A site at http://site.test whose orders lead to the login page over TLS, at a port of that name."""
        self.site = Plain()
        authority().issue("site", "DNS:site.test")
        secure = self.enterContext(RecordingServer(self.site.respond, tls=authority().context("site")))
        at = "" if secure_port == 443 else f":{secure_port}"
        self.serve(lambda seen: redirect(f"https://site.test{at}/enter?next=/orders/"))
        outcome = self.discover(
            "http://site.test/orders/", "--cacert", authority().path("ca.pem"), "--noproxy", "*",
            "--connect-to", f"site.test:80:127.0.0.1:{self.server.port}",
            "--connect-to", f"site.test:{secure_port}:127.0.0.1:{secure.port}", *words)
        return outcome, secure

    def test_over_tls_the_probe_is_too(self):
        """The session's cookies must not be sent unencrypted."""
        outcome, _ = self.upgraded(443)
        self.expect(outcome, 0, "http://site.test/orders/ led to https://site.test/enter?next=/orders/")
        self.assertNotIn("warning", outcome.err)
        self.assertIn("set = probe=https://site.test/orders/", self.written())
        self.assertNotIn("http://", "\n".join(line for line in self.written() if line.startswith(("set", "url"))))
        self.assertEqual([seen.method for seen in self.server.requests], ["GET"])

    def test_another_port_is_another_site(self):
        outcome, secure = self.upgraded(9443)
        self.expect(outcome, 112, "led to another origin: https://site.test:9443/enter")
        self.assertEqual([seen.method for seen in secure.requests], ["GET"])
        self.expect_nothing_kept()

    def test_name_of_the_program_is_kept(self):
        """Sites bind a session to the program's name."""
        url = self.serve(Plain())
        self.expect_logged_in(self.discover(f"{url}/orders/", "-A", "Mozilla/5.0 (a browser)"), self.site)
        self.assertIn("user-agent = Mozilla/5.0 (a browser)", self.written())
        agents = {seen.values("User-Agent")[0] for seen in self.server.requests}
        self.assertEqual(agents, {"Mozilla/5.0 (a browser)"})

    def test_flags_of_the_connection_are_kept(self):
        site = Plain()
        self.serve(site, tls=authority().context())
        url = self.server.https
        outcome = self.discover(f"{url}/orders/", "--cacert", "ca.pem", cwd=authority().folder)
        self.expect(outcome, 0)
        self.assertNotIn("warning", outcome.err)
        self.assertIn(f"cacert = {authority().path('ca.pem')}", self.written())
        self.expect(self.run_host("-f", "--profile", "127.0.0.1", "/orders/"), 0)
        self.assertEqual(len(site.posts), 1)


class Failures(DiscoveryTestCase):
    def test_wrong_password(self):
        url = self.serve(Django())
        outcome = self.discover(f"{url}/orders/", answers=[*ANSWERS_OF_ADA[:2], "--answer", "password=env:WRONG"], env={"WRONG": "no"})
        self.expect(outcome, 112)
        self.assertEqual(len(self.site.posts), 1)
        self.expect_nothing_kept(posts=1)

    def test_secret_as_text(self):
        url = self.serve(Django())
        outcome = self.discover(f"{url}/orders/", "--set", f"password={SECRET}")
        self.expect_failure(outcome, 111, 'the setting "password" is a secret')
        self.assertNotIn(SECRET, outcome.err)
        self.expect_nothing_kept()

    def test_existing_profile(self):
        url = self.serve(Django())
        self.config.parent.mkdir(mode=0o700)
        self.config.write_text("[127.0.0.1]\nurl = https://old.example\n")
        self.config.chmod(0o600)
        for words in ([], ["--name", "127.0.0.1"]):
            outcome = self.discover(f"{url}/orders/", *words)
            self.expect(outcome, 2, 'there is a profile "127.0.0.1" already')
        self.assertEqual(self.site.posts, [])
        self.expect_logged_in(self.discover(f"{url}/orders/", "--name", "new"), self.site, "new")
        self.assertTrue(self.config.read_text().startswith("[127.0.0.1]\nurl = https://old.example\n\n[new]\n"))

    def test_default_profile_is_not_used(self):
        url = self.serve(Django())
        self.config.parent.mkdir(mode=0o700)
        self.config.write_text("default = old\n\n[old]\nurl = https://old.example\nplugin = HMACAuth\n")
        self.config.chmod(0o600)
        self.expect_logged_in(self.discover(f"{url}/orders/", env={"NEVOD_PROFILE": "old"}), self.site)

    @cases({
        "profile": (["login", "URL", "--profile", "old"], "login takes no URL with a profile or a plugin"),
        "plugin": (["login", "URL", "--plugin", "HMACAuth"], "login takes no URL with a profile or a plugin"),
        "two": (["login", "URL", "URL"], "login takes one URL"),
        "scheme": (["login", "URL", "--scheme", "cookie"], "takes no --scheme"),
        "origin": (["login", "URL", "--origin", "https://a.example"], "takes no --origin"),
        "secret": (["login", "URL", "--set", "totp=-"], "can't be kept in a profile"),
        "name_alone": (["login", "--plugin", "HMACAuth", "--name", "a"], "--name is for a login with a URL"),
        "yes_alone": (["login", "--plugin", "HMACAuth", "--yes"], "--yes is for a login with a URL"),
        "name": (["login", "URL", "--name", "a]b"], "can't be a profile's name"),
    })
    def test_mistakes(self, words, fragment):
        url = self.serve(Django())
        self.config.parent.mkdir(mode=0o700)
        self.config.write_text("[old]\nurl = https://old.example\nplugin = HMACAuth\n")
        self.config.chmod(0o600)
        outcome = self.run_host(*(url if word == "URL" else word for word in words), stdin=b"")
        self.expect_failure(outcome, 2, fragment)
        self.assertEqual(self.server.requests, [])


class WithoutTerminal(DiscoveryTestCase):
    def test_needs_yes(self):
        """The command that the error names writes the same profile."""
        url = self.serve(Plain())
        outcome = self.run_host("login", f"{url}/orders/", "--name", "my shop", *ANSWERS_OF_ADA)
        self.expect(outcome, 113, "there is no terminal to ask at; --yes", "to write the profile only: nevod-host profile add 'my shop'")
        self.expect_nothing_kept()
        command = shlex.split(outcome.err.partition("to write the profile only: nevod-host ")[2])
        self.expect(self.run_host(*command), 0)
        before = self.config.read_text()
        self.config.unlink()
        self.expect(self.discover(f"{url}/orders/", "--name", "my shop"), 0)
        self.assertEqual(self.config.read_text(), before)

    def test_needs_answers(self):
        url = self.serve(Plain())
        outcome = self.discover(f"{url}/orders/", answers=[])
        self.expect(outcome, 113, "--answer username=env:VARIABLE --answer password=env:VARIABLE")
        self.expect_nothing_kept()


class AtTheTerminal(DiscoveryTestCase):
    @contextlib.contextmanager
    def terminal(self, *words):
        with contextlib.closing(TerminalSession(["login", *words], self.env())) as session:
            yield session

    def converse(self, session, *steps):
        for prompt, answer in steps:
            start = len(session.shown)
            session.read_until(lambda: prompt in session.shown, prompt)
            session.shown = b""
            session.type(answer + b"\n")
        return session.finish()

    def test_asks(self):
        site = Django()
        site.private = "/"
        url = self.serve(site)
        with self.terminal(f"{url}/accounts/login/", "--set", "preset=none") as session:
            code, out, err = self.converse(
                session, (b"Address that only a logged-in user may see (empty for none): ", b"https://other.example/"),
                (b"Address that only", b"/"), (b"Name of the profile (empty for 127.0.0.1): ", b"a]b"),
                (b"Name of the profile (empty", b"shop"), (f"write the profile to {self.config}? (Y/n) ".encode(), b""),
                (b"User name: ", b"ada"), (b"Password: ", SECRET.encode()))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.written()[0], "[shop]")
        self.assertIn(f"set = probe={url}/", self.written())
        self.assertNotIn(SECRET, err)
        self.assertEqual(len(site.posts), 1)

    def test_no_is_an_answer(self):
        url = self.serve(Django())
        with self.terminal(f"{url}/orders/", "--name", "shop") as session:
            code, _, err = self.converse(session, (b"(Y/n) ", b"n"))
        self.assertEqual((code, err.splitlines()[-1]), (1, "nevod-host: cancelled; no password was sent, and no profile written"))
        self.expect_nothing_kept()

    def test_another_origin_is_confirmed(self):
        site = Plain()
        other = self.enterContext(RecordingServer(site.respond))
        url = self.serve(lambda seen: redirect(f"{other.http}/enter"))
        with self.terminal(f"{url}/orders/", "--name", "shop") as session:
            code, _, err = self.converse(
                session, (b"Address that only", b"/orders/"), (b"(y/N) ", b"y"), (b"User name: ", b"ada"),
                (b"Password: ", SECRET.encode()))
        self.assertEqual(code, 0, err)
        self.assertIn(f"led to another origin: {other.http}/enter, to which the user name and password would be sent", err)
        self.assertEqual(len(site.posts), 1)

    def test_closed_prompt(self):
        url = self.serve(Django())
        with self.terminal(f"{url}/orders/") as session:
            session.read_until(lambda: b"Name of the profile" in session.shown, "the question")
            session.type(b"\x04")
            code, _, err = session.finish()
        self.assertEqual(code, 113, err)
        self.expect_nothing_kept()

    def test_control_characters_of_a_page(self):
        site = Plain()
        site.names = ("acme_\x1b[2Juser", "acme_word")
        url = self.serve(site)
        with self.terminal(f"{url}/orders/", "--name", "shop") as session:
            code, _, err = self.converse(session, (b"(Y/n) ", b"n"))
        self.assertNotIn("\x1b", err + session.shown.decode())
