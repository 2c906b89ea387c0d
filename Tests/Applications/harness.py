"""Runs an application on loopback, and checks what the command line does with its sessions. Each cell of the table is a check."""

import base64
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import hmac
import html
import http.client
import http.server
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse

import requests

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
# Debian's Python, for which the packages are installed.
PYTHON = "/usr/bin/python3"
PACKAGES = ROOT / ".build" / "applications"
SLOW_PACKAGES = ROOT / ".build" / "slow-applications"

# The timeouts of every wait, and of a slow application's start, in seconds.
PATIENCE = 60
LONG_PATIENCE = 300
# How many requests a failure shows, and how many commands meet an expiry at once.
SHOWN = 12
AT_ONCE = 4
DONE = "✓"
CELLS = {
    "login": "Login",
    "get": "GET",
    "unsafe": "Unsafe request",
    "renewal": "Renewal",
    "refusal": "Wrong password",
    "logout": "Logout",
    "code": "One-time code",
}


class Failed(Exception):
    """A wrong cell, with everything that is needed to see why."""


def expect(condition, problem):
    if not condition:
        raise Failed(problem)


def wait_until(condition, what, patience=PATIENCE):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + patience
    while not (found := condition()):
        expect(time.monotonic() < end, f"waited {patience} s in vain for {what}")
        time.sleep(0.05)
    return found


def totp(secret):
    """Returns the one-time code of a base32 secret (RFC 6238, six digits of SHA-1). It is valid for at least ten more seconds."""
    wait_until(lambda: time.time() % 30 < 20, "the next period of one-time codes")
    step = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.new(base64.b32decode(secret), step, hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack_from('>I', digest, offset)[0] & 0x7FFFFFFF) % 10**6:06}"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


# ----------------------------------------------------------------------------------------------------------------------
# The requests that the server saw


@dataclasses.dataclass
class Record:
    """A request as it passed the proxy."""

    method: str
    path: str
    query: str
    status: int
    agent: str
    body: bytes
    # The response's.
    location: str
    answer: bytes

    def target(self):
        return self.path + (f"?{self.query}" if self.query else "")

    def __str__(self):
        return f"{self.method} {self.target()} {self.status}" + (f" -> {self.location}" if self.location else "")


class Proxy(http.server.ThreadingHTTPServer):
    """A reverse proxy that records each request, so that attempts are counted independent of the client and the application."""

    daemon_threads = True

    def __init__(self, port):
        self.backend = port
        self.records = []
        # Called with each request before it is forwarded.
        self.gate = lambda record: None
        super().__init__(("127.0.0.1", 0), Forwarder)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that disconnects isn't an error."""

    def close(self):
        self.shutdown()
        self.server_close()


class Forwarder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without an encoding, so that records are readable.
    HOP = {
        "accept-encoding", "connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "content-length",
        "proxy-connection"}

    def forward(self):
        body = self.body()
        path, _, query = self.path.partition("?")
        record = Record(self.command, path, query, 0, self.headers.get("User-Agent", ""), body, "", b"")
        self.server.gate(record)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.backend, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in self.HOP:
                    connection.putheader(name, value)
            if body or self.command in ("POST", "PUT", "PATCH"):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read()
        record.status, record.location, record.answer = response.status, response.getheader("Location", ""), content
        # Before the response, so that a client that has the response finds its record.
        self.server.records.append(record)
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in self.HOP:
                self.send_header(name, value)
        if response.status not in (204, 304):
            length = response.getheader("Content-Length", "0") if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline(100)
        self.rfile.readline(100)
        return body

    def log_message(self, *_):
        pass

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = forward


# ----------------------------------------------------------------------------------------------------------------------
# Applications


class Application:
    """An application with an account: how to start it, and how to recognize a page that only its user sees.

    A subclass gives the facts below and the functions of "The reference". Each is verified without the plugin before it is
    checked with it, so a failing cell is the plugin's fault.
    """

    title = ""
    preset = ""
    # Its Python distribution. Other applications report their version themselves.
    package = ""
    is_slow = False
    # The user "" means that the application knows only the password.
    user, password, wrong_password = "ada", "s3cret-Kq7ZpVdW", "wr0ng-Kq7ZpVdW"
    # Below the origin, with a trailing slash. The settings' relative addresses begin there.
    base = "/"
    # The profile's lines in addition to preset, site, user name and password.
    settings = ()
    login_path = ""
    private_path = ""
    # Occurs in the private page and nowhere else.
    marker = ""
    # The application's words in the error for a wrong password. Empty if its response has no marked message.
    refusal = ""
    # The user with a one-time code, and the base32 secret of it.
    code_user, code_secret = "", ""
    code_settings = ()
    # The cells that are impossible, with the reasons.
    cannot = {}

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-application-")).resolve()
        self.port = free_port()
        self.proxy = Proxy(self.port)
        self.origin = f"http://127.0.0.1:{self.proxy.port}"
        self.site = self.origin + self.base
        self.process = None

    # How it runs

    def version(self):
        """The version that runs."""
        return self.run(PYTHON, "-c", f"from importlib.metadata import version; print(version('{self.package}'))").strip()

    def prepare(self):
        """Creates its files and its account in `folder`."""

    def command(self):
        """The command that starts it at `port`."""
        raise NotImplementedError

    def environment(self):
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        # An application's file is also its server, and must find this module.
        packages = [FOLDER, *([SLOW_PACKAGES] if self.is_slow else []), PACKAGES]
        return {**kept, "HOME": str(self.folder), "PYTHONPATH": ":".join(map(str, packages)), "PYTHONUNBUFFERED": "1"}

    def is_ready(self):
        with contextlib.suppress(OSError):
            return requests.get(self.url(self.login_path), timeout=PATIENCE).status_code < 500
        return False

    def start(self):
        self.log = self.folder / "server.log"
        with self.log.open("ab") as log:
            # It ends with this process, even if this process is killed.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, self.command())], cwd=self.folder, env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

        def ready():
            expect(self.process.poll() is None, f"it exited with {self.process.poll()}")
            return self.answers() and self.is_ready()

        wait_until(ready, "its start", LONG_PATIENCE if self.is_slow else PATIENCE)

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def stop(self):
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.process = None

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        self.stop()
        self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, **options):
        """Runs a command of the application, and returns what it printed."""
        done = subprocess.run(
            [str(word) for word in words], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONG_PATIENCE, **options)
        expect(done.returncode == 0, f"{shlex.join(map(str, words))}\n{done.stdout.decode(errors='replace')}")
        return done.stdout.decode(errors="replace")

    def sql(self, file, *statements):
        with contextlib.closing(sqlite3.connect(self.folder / file, timeout=PATIENCE)) as database, database:
            for statement in statements:
                database.execute(statement)

    def url(self, path):
        return urllib.parse.urljoin(self.site, path)

    # The requests that the proxy saw

    def is_login(self, record):
        """Whether a request is an attempt with a password."""
        return record.method == "POST" and record.path == urllib.parse.urlsplit(self.url(self.login_path)).path

    def logins(self):
        return [record for record in self.proxy.records if self.is_login(record)]

    # The reference: the same in `requests`

    def reference(self, user=None, password=None, code_secret=None):
        """Logs in like a browser, and returns the `requests.Session`, which isn't logged in if the login was refused."""
        raise NotImplementedError

    def reference_write(self, session, value):
        """Sends the unsafe request with the session of `reference`."""
        raise NotImplementedError

    def reference_logout(self, session):
        """Logs out as a browser does."""
        raise NotImplementedError

    def is_private(self, session):
        """Whether the session is logged in."""
        return self.marker in session.get(self.url(self.private_path), timeout=PATIENCE).text

    def written(self, value):
        """Whether the application has what an unsafe request wrote."""
        raise NotImplementedError

    def forget(self):
        """Removes all sessions at the server."""
        raise NotImplementedError

    def allow_code_again(self):
        """Lets a one-time code be used again within its period."""

    # The same with the command line

    def write_words(self, value):
        """The unsafe request's arguments, after `nevod-host --profile app`."""
        raise NotImplementedError


class Form:
    """A page's form that has a field, parsed as simply as the applications' pages allow."""

    def __init__(self, page, field):
        from html.parser import HTMLParser

        forms = []

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attributes):
                attributes = dict(attributes)
                if tag == "form":
                    forms.append((attributes, {}))
                elif tag in ("input", "button", "textarea") and forms and attributes.get("name"):
                    kind = attributes.get("type", "").lower()
                    if kind in ("checkbox", "radio") and "checked" not in attributes:
                        return
                    if tag == "button" or kind in ("submit", "image", "reset", "button", "file"):
                        return
                    forms[-1][1].setdefault(attributes["name"], attributes.get("value") or "")

        Reader().feed(page.text)
        for self.attributes, self.fields in forms:
            if field in self.fields:
                break
        else:
            raise Failed(f"{page.url} ({page.status_code}) has no form with the field {field}:\n{page.text[:2000]}")
        self.url = urllib.parse.urljoin(page.url, self.attributes.get("action") or page.url)
        self.page = page.url

    def send(self, session, **fields):
        """Posts the form's own fields and the given ones, with the header lines that frameworks check."""
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(self.page))
        return session.post(self.url, {**self.fields, **fields}, headers={"Referer": self.page, "Origin": origin}, timeout=PATIENCE)


# ----------------------------------------------------------------------------------------------------------------------
# The command line


class Host:
    """nevod-host with its own home, and a profile for the application."""

    def __init__(self, application, name, password=None, with_code=False, settings=()):
        self.application = application
        self.password = application.password if password is None else password
        # The answer to the question for a one-time code. None means the right one.
        self.one_time_code = None
        self.build = pathlib.Path(os.environ["NEVOD_BUILD_DIR"]).resolve()
        self.home = application.folder / f"home-{name}"
        user = application.code_user if with_code else application.user
        lines = [f"site={application.site}", *([f"username={user}"] if user else []), "password=env:NEVOD_TEST_PASSWORD"]
        lines += [*application.settings, *settings]
        self.write(".config/nevod/config", "\n".join(
            ["[app]", f"url = {application.site}", f"plugin = {self.build / 'libCookieAuth.so'}",
             f"set = preset={application.preset}", *(f"set = {line}" for line in lines)]) + "\n")
        # The program may have no presets beside it.
        preset = ROOT / "Presets" / "cookie" / f"{application.preset}.preset"
        self.write(f".config/nevod-host/presets/cookie/{preset.name}", preset.read_text())

    def write(self, name, text):
        path = self.home / name
        for folder in reversed([path.parent, *path.parent.parents]):
            if folder.is_relative_to(self.home):
                folder.mkdir(mode=0o700, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)

    def run(self, *words):
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        command = [str(self.build / "nevod-host"), *map(str, words)]
        environment = {
            **kept, "HOME": str(self.home), "NEVOD_TEST_PASSWORD": self.password, "NEVOD_TEST_TOTP": self.application.code_secret,
            "NEVOD_TEST_CODE": (self.one_time_code or totp(self.application.code_secret)) if "--answer" in words else ""}
        seen = len(self.application.proxy.records)
        done = subprocess.run(
            command, cwd=self.home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True,
            timeout=PATIENCE)
        return Outcome(command, done, self.application.proxy.records[seen:])

    def app(self, *words):
        """Runs a request, or a command, with the profile."""
        return self.run(*words, "--profile", "app")

    def get(self):
        return self.app("-f", "-L", self.application.url(self.application.private_path))

    def sessions(self):
        done = self.run("sessions", "--json").expect(0)
        return json.loads(done.out)["sessions"]


class Outcome:
    def __init__(self, command, done, records):
        self.command, self.code, self.records = command, done.returncode, records
        self.out, self.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def __str__(self):
        seen = "\n".join(f"  {record}" for record in self.records[:SHOWN]) + ("\n  …" if len(self.records) > SHOWN else "")
        return f"$ {shlex.join(self.command)}\nexit code {self.code}\n{self.err[:2000]}{self.out[:600]}\nthe server saw:\n{seen}"

    def expect(self, code, *words):
        expect(self.code == code, f"the exit code is not {code}\n{self}")
        for word in words:
            expect(word in self.out, f"the response has no {word!r}\n{self}")
        return self

    def expect_logins(self, application, count):
        found = sum(application.is_login(record) for record in self.records)
        expect(found == count, f"{found} logins, and not {count}\n{self}")
        return self


# ----------------------------------------------------------------------------------------------------------------------
# The cells


def check_reference(app):
    """Verifies the facts about an application without the plugin."""
    expect(not app.is_private(requests.Session()), "its private page shows the marker to everybody")
    session = app.reference()
    expect(app.is_private(session), "its private page doesn't show the marker to its user")
    if "unsafe" not in app.cannot:
        app.reference_write(session, "value-of-requests")
        expect(app.written("value-of-requests"), "the reference's unsafe request wrote nothing")
    seen = len(app.proxy.records)
    expect(not app.is_private(app.reference(password=app.wrong_password)), "it accepts a wrong password")
    answers = [html.unescape(record.answer.decode(errors="replace")) for record in app.proxy.records[seen:]]
    expect(any(app.refusal in answer for answer in answers), f"no answer says {app.refusal!r}\n" + "\n".join(answers)[-3000:])
    session = app.reference()
    cookies = session.cookies.copy()
    app.reference_logout(session)
    expect(not app.is_private(session), "the reference's logout does nothing")
    session.cookies = cookies
    expect(
        app.is_private(session) == ("logout" in app.cannot),
        "the old cookie is dead after a logout" if "logout" in app.cannot else "the old cookie lives after a logout")
    session = app.reference()
    if "renewal" not in app.cannot:
        app.forget()
        expect(not app.is_private(session), "it doesn't forget sessions")
    if "code" not in app.cannot:
        app.allow_code_again()
        expect(app.is_private(app.reference(user=app.code_user, code_secret=app.code_secret)), "it doesn't accept a one-time code")


class Cells:
    """The checks of one application, in order. Each continues with the session of the checks before it."""

    def __init__(self, app):
        self.app = app
        self.host = Host(app, "main")

    def login(self):
        self.host.app("login").expect(0).expect_logins(self.app, 1)
        expect(len(self.host.sessions()) == 1, "the session is not stored")

    def get(self):
        self.host.get().expect(0, self.app.marker).expect_logins(self.app, 0)

    def write(self, value, logins):
        outcome = self.host.app("-f", *self.app.write_words(value)).expect(0)
        expect(self.app.written(value), f"nothing was written\n{outcome}")
        outcome.expect_logins(self.app, logins)

    def unsafe(self):
        # Twice, because some tokens are valid for one request only.
        self.write("value-of-the-host", 0)
        self.write("another-of-the-host", 0)

    def renewal(self):
        self.app.forget()
        self.host.get().expect(0, self.app.marker).expect_logins(self.app, 1)
        self.host.get().expect(0, self.app.marker).expect_logins(self.app, 0)
        if "unsafe" not in self.app.cannot:
            self.app.forget()
            self.write("value-after-a-renewal", 1)
        for outcome in self.expired_at_once(self.host):
            outcome.expect(0, self.app.marker)

    def expired_at_once(self, host):
        """Ends the sessions at the server, and returns the outcomes of several commands, which must make a single attempt to log
        in."""
        self.app.forget()
        seen, arrived = len(self.app.logins()), []

        def hold_login(record):
            # Until all have met the expiry. A later command finds the session renewed or cleared, which is another case.
            if record.method == "GET" and self.app.url(self.app.private_path) == self.app.origin + record.target():
                arrived.append(record)
            elif self.app.is_login(record):
                with contextlib.suppress(Failed):
                    wait_until(lambda: len(arrived) >= AT_ONCE, "the other commands", 10)

        self.app.proxy.gate = hold_login
        try:
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                outcomes = list(pool.map(lambda _: host.get(), range(AT_ONCE)))
        finally:
            self.app.proxy.gate = lambda record: None
        found = len(self.app.logins()) - seen
        expect(found == 1, f"{found} attempts of {AT_ONCE} commands at once, and not one\n{outcomes[-1]}")
        return outcomes

    def refusal(self):
        host = Host(self.app, "refused", password=self.app.wrong_password)
        outcome = host.app("login").expect(112).expect_logins(self.app, 1)
        expect(self.app.refusal in outcome.err, f"the error doesn't say {self.app.refusal!r}\n{outcome}")
        expect(self.app.wrong_password not in outcome.err, "the error has the password")
        expect(not host.sessions(), f"a session is stored\n{outcome}")
        if "renewal" not in self.app.cannot:
            # A changed password counts once, not once for each command, because accounts are locked after a few attempts.
            host = Host(self.app, "changed")
            host.app("login").expect(0)
            host.password = self.app.wrong_password
            for outcome in self.expired_at_once(host):
                outcome.expect(112)

    def logout(self):
        # Some sessions are bound to a User-Agent.
        agent = self.host.get().expect(0, self.app.marker).records[-1].agent
        outcome = self.host.app("header", self.app.url(self.app.private_path)).expect(0)
        lines = {"User-Agent": agent, **dict(line.split(": ", 1) for line in outcome.out.splitlines())}
        session = requests.Session()
        session.headers.update(lines)
        expect("Cookie" in lines and self.app.is_private(session), f"the printed cookie is not the session's\n{outcome}")
        outcome = self.host.app("logout")
        session = requests.Session()
        session.headers.update(lines)
        if "logout" not in self.app.cannot:
            outcome.expect(0)
            expect(not self.app.is_private(session), f"the old cookie lives\n{outcome}")
        else:
            # A server that keeps no sessions can't end one. If there is a probe, the user must be told.
            expect(outcome.code == 0 or "the server still knows the session" in outcome.err, f"the logout failed\n{outcome}")
            expect(self.app.is_private(session), f"the old cookie is dead\n{outcome}")
        expect(not self.host.sessions(), f"the session is still stored\n{outcome}")

    def code(self):
        for name, settings, words in (
            ("totp", ["totp=env:NEVOD_TEST_TOTP"], []), ("code", [], ["--answer", "code=env:NEVOD_TEST_CODE"]),
        ):
            self.app.allow_code_again()
            host = Host(self.app, name, with_code=True, settings=[*self.app.code_settings, *settings])
            host.app("login", *words).expect(0).expect_logins(self.app, 1)
            host.get().expect(0, self.app.marker).expect_logins(self.app, 0)
        # A wrong code leaves an incomplete login, often with the session's cookie.
        host = Host(self.app, "wrong-code", with_code=True, settings=self.app.code_settings)
        host.one_time_code = "000000"
        outcome = host.app("login", "--answer", "code=env:NEVOD_TEST_CODE")
        expect(outcome.code != 0, f"a wrong code is taken for a login\n{outcome}")
        expect(not host.sessions(), f"a session is stored\n{outcome}")


def check(application, with_host=True):
    """Starts an application, and returns its version, the text of each cell, the problems, and the duration of the start in
    seconds."""
    app, row, problems, started = application(), {}, [], 0.0
    try:
        begin = time.monotonic()
        app.prepare()
        app.start()
        started = time.monotonic() - begin
        check_reference(app)
        cells = Cells(app) if with_host else None
        for cell in CELLS if with_host else ():
            try:
                # A logout is made even if the cookie survives it, because the local session must be gone.
                if cell not in app.cannot or cell == "logout":
                    getattr(cells, cell)()
                row[cell] = app.cannot.get(cell, DONE)
            except Exception as problem:
                row[cell] = "✗"
                problems.append(f"{app.title}, {CELLS[cell]}: {described(problem)}")
        return app.version(), row, problems, started
    except Exception as problem:
        log = app.folder / "server.log"
        lines = log.read_text(errors="replace").splitlines()[-40:] if log.exists() else []
        problems.append("\n".join([f"{app.title}: {described(problem)}", *(f"  log: {line}" for line in lines)]))
        return "?", row, problems, started
    finally:
        app.close()


def described(problem):
    if isinstance(problem, Failed):
        return str(problem)
    trace = problem.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return f"{type(problem).__name__}: {problem} ({pathlib.Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
