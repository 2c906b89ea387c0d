"""Shared by the tests: the binaries, servers, and functions that run the command line."""

import atexit
import base64
import contextlib
import fcntl
import functools
import hashlib
import hmac
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
BUILD = pathlib.Path(os.environ["NEVOD_BUILD_DIR"]).resolve()
HOST = BUILD / "nevod-host"
# Tests/Growth/run.py builds the C plugins with its own header.
INCLUDE = pathlib.Path(os.environ.get("NEVOD_INCLUDE", ROOT / "Sources/NevodPluginABI/include"))

# Texts that occur nowhere else. If an output contains one, it leaked.
SECRET = "s3cret-Kq7ZpVdW"
API_KEY = "key-id-4711x"

# Whether tests run in their long forms.
FULL = os.environ.get("NEVOD_FULL") == "1"

# The timeout of every wait, in seconds.
PATIENCE = 60


def wait_until(condition, what):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s in vain for {what}")
        time.sleep(0.005)
    return found


def signature(method, target, timestamp, body=b"", secret=SECRET):
    """Computes the signature as the server does, over the path without the query, and the body's hash, which is empty without a
    body."""
    body_hash = hashlib.sha256(body).hexdigest() if body else ""
    message = "\n".join([method, target.split("?", 1)[0], timestamp, body_hash])
    key = secret if isinstance(secret, bytes) else secret.encode()
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()


# ----------------------------------------------------------------------------------------------------------------------
# Plugins


@functools.cache
def shared_folder():
    """A folder for files that are built once. No other user may write to it, or the host would not load its plugins."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def run_folder():
    """A folder that all processes of a run share, so that everything is built once. run.py makes and removes it."""
    folder = os.environ.get("NEVOD_TEST_RUN")
    return pathlib.Path(folder) if folder else shared_folder()


def built_once(name, build):
    """Returns the path of a file or folder that one process of the run builds for all. `build` gets a path with the same file
    name."""
    folder = run_folder() / "built" / name
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)  # left by a process that has failed
            folder.mkdir(mode=0o700)
            build(folder / name)
            (folder / "done").touch()
    return folder / name


def swift_plugin():
    return BUILD / "libHMACAuth.so"


@functools.cache
def c_example(name):
    """Builds an example with the command in its first comment."""
    source = (ROOT / "Examples" / name).read_text()
    line = re.search(r"^ \* (cc (?:.*\\\n \*)*.*)$", source[: source.index("*/")], re.MULTILINE)[1].replace("\\\n *", "")
    command = [f"-I{INCLUDE}" if word == "-ISources/NevodPluginABI/include" else word for word in shlex.split(line)]
    output = command.index("-o") + 1

    def compile_to(path):
        command[output] = str(path)
        compile_c(command, cwd=ROOT)

    return built_once(pathlib.Path(command[output]).name, compile_to)


def c_plugin():
    return c_example("c-hmac/hmac.c")


def compile_c(command, cwd=None):
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}\n{done.stderr.decode()}")
    # With a umask of 002, the group could write the file, so the host would reject it.
    path = command[command.index("-o") + 1]
    os.chmod(path, 0o755)


def compile_plugin(path, flags=(), **pieces):
    """Compiles plugin.c with some pieces replaced. See plugin.c."""
    defines = [f"-D{name}={text}" for name, text in pieces.items()]
    compile_c(["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", *defines, FOLDER / "plugin.c", *flags, "-o", path])
    return path


@functools.cache
def login_plugin():
    """Compiles login.c, a scheme with many kinds of logins."""
    return c_source_plugin("libLogin.so", FOLDER / "login.c")


def c_source_plugin(name, source, *flags):
    """Compiles a plugin of one source file of this repository, once in a run."""
    command = ["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}", source, *flags, "-o"]
    return built_once(name, lambda path: compile_c([*command, path]))


@functools.cache
def peak_program():
    return built_once("peak", lambda path: compile_c(["cc", "-std=c11", FOLDER / "peak.c", "-o", path]))


# ----------------------------------------------------------------------------------------------------------------------
# Servers


class DemoServer:
    """Examples/demo-server/hmac_server.py in its own process, whose clock may be ahead."""

    LAUNCHER = """
import runpy, sys, time
ahead, now = float(sys.argv[1]), time.time
time.time = lambda: now() + ahead
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

    def __init__(self, folder, ahead=0):
        self.log = folder / "server.log"
        self.log.touch()
        self.seen = 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.LAUNCHER, str(ahead), ROOT / "Examples/demo-server/hmac_server.py", "--log", self.log,
             "--parent-pid", str(os.getpid())],
            env={"PATH": os.environ["PATH"], "DEMO_SECRET": SECRET, "DEMO_API_KEY": API_KEY},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.url = line.removeprefix("listening on ").strip()
        self.port = int(self.url.rpartition(":")[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def forget(self):
        self.seen = len(self.log.read_text().splitlines())

    def requests(self):
        """Returns the requests since `forget`. The server writes its log before it responds."""
        return [json.loads(line) for line in self.log.read_text().splitlines()[self.seen :]]


def streamed(count):
    """Returns the body that the demo server sends for /stream."""
    return (bytes(range(256)) * (count // 256 + 1))[:count]


class CannedServer:
    """Sends the same bytes in response to every request, closes the connection, and keeps the requests. With a TLS context, it
    speaks TLS."""

    def __init__(self, response, tls=None):
        self.response, self.tls = response, tls
        self.requests = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self.thread.join(PATIENCE)
        self.socket.close()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:  # also raised when a client rejects our certificate
                connection.settimeout(PATIENCE)
                if self.tls:
                    with self.tls.wrap_socket(connection, server_side=True) as secure:
                        self.converse(secure)
                else:
                    self.converse(connection)

    def converse(self, connection):
        data = b""
        while b"\r\n\r\n" not in data and not data.startswith(b"\x16"):  # a TLS handshake has no head
            if not (piece := connection.recv(65536)):
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"\r\nContent-Length: *(\d+)", head, re.IGNORECASE)
        while length and len(body) < int(length[1]):
            if not (piece := connection.recv(65536)):
                return
            body += piece
        self.requests.append((head, body))
        connection.sendall(self.response)


def canned(body=b"", *lines, status="200 OK"):
    """Returns a complete response with its length."""
    head = [f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", "Connection: close"]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def header_lines(head):
    """Returns the header lines of a request that a CannedServer kept."""
    return head.decode("latin-1").split("\r\n")[1:]


class Authority:
    """A private certificate authority, made by openssl, with certificates for the servers and a client."""

    KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    def __init__(self, folder):
        self.folder = folder

    def make(self):
        for name in ("ca", "other-ca"):
            self.openssl("req", "-x509", *self.KEY, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "3650")
        self.issue("here", "IP:127.0.0.1,IP:127.0.0.2,DNS:localhost")
        self.issue("elsewhere", "DNS:elsewhere.test")
        self.issue("client", "email:client@example.test")
        self.openssl("req", "-new", "-key", "here.key", "-out", "expired.csr", "-subj", "/CN=expired")
        self.openssl("x509", "-req", "-in", "expired.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "-1", "-out", "expired.pem")
        shutil.copy(self.path("here.key"), self.path("expired.key"))

    def openssl(self, *words):
        done = subprocess.run(
            ["openssl", *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"openssl {shlex.join(words)}\n{done.stderr.decode()}")
        return done.stdout

    def issue(self, name, names):
        self.openssl(
            "req", "-x509", *self.KEY, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "3650",
            "-CA", "ca.pem", "-CAkey", "ca.key", "-addext", f"subjectAltName={names}",
            "-addext", "basicConstraints=critical,CA:FALSE")

    def path(self, name):
        return self.folder / name

    def context(self, name="here"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(f"{name}.pem"), self.path(f"{name}.key"))
        return context

    def pin(self, name="here"):
        """Returns the value of --pinnedpubkey: the digest of the certificate's key."""
        key = self.openssl("pkey", "-in", f"{name}.key", "-pubout", "-outform", "DER")
        return "sha256//" + base64.b64encode(hashlib.sha256(key).digest()).decode()


@functools.cache
def authority():
    """This process's authority. Its tests may issue more certificates. The first ones are made once in a run."""

    def make(folder):
        folder.mkdir()
        Authority(folder).make()

    return Authority(shutil.copytree(built_once("authority", make), shared_folder() / "authority"))


class SocketServer:
    """Serves each connection in its own thread, with TLS if a context is given and the client starts TLS. `converse`, or the
    given function, handles a connection."""

    def __init__(self, converse=None, host="127.0.0.1", port=0, tls=None):
        self.tls, self.host = tls, host
        self.converse = converse or self.converse
        self.stopped = threading.Event()
        self.connections, self.threads, self.lock = [], [], threading.Lock()
        self.socket = socket.create_server((host, port), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.authority = f"{host}:{self.port}"
        self.http, self.https = f"http://{self.authority}", f"https://{self.authority}"
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self.thread.join(PATIENCE)
        self.socket.close()
        with self.lock:
            for connection in self.connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(PATIENCE)

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE)
            thread = threading.Thread(target=self.serve, args=(connection,), daemon=True)
            with self.lock:
                self.connections.append(connection)
                self.threads.append(thread)
            thread.start()

    def serve(self, plain):
        connection = plain
        try:
            if self.tls and plain.recv(1, socket.MSG_PEEK) == b"\x16":
                connection = self.tls.wrap_socket(plain, server_side=True)
                with self.lock:
                    self.connections.append(connection)
            self.converse(connection)
        except OSError:
            pass  # a client that has disconnected or rejects our certificate
        finally:
            connection.close()


class Seen:
    """A request as a RecordingServer received it."""

    def __init__(self, head, connection):
        self.head = head.decode("latin-1")
        self.is_secure = isinstance(connection, ssl.SSLSocket)
        line, *lines = self.head.split("\r\n")
        self.method, self.target, self.version = line.split(" ")
        self.path, _, self.query = self.target.partition("?")
        self.headers = [tuple(line.split(": ", 1)) if ": " in line else (line.rstrip(":"), "") for line in lines]
        self.body = b""

    def values(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def __repr__(self):
        return f"{self.head}\n\n{self.body[:400]!r}"


class RecordingServer(SocketServer):
    """Keeps every request, and sends what `respond`, a function of the request, returns. Connections are kept alive."""

    def __init__(self, respond=lambda seen: reply(), **options):
        super().__init__(**options)
        self.respond, self.requests = respond, []

    def converse(self, connection):
        with connection.makefile("rb") as stream:
            while seen := self.receive(stream, connection):
                connection.sendall(self.respond(seen))
                if seen.values("Connection") == ["close"]:
                    return

    def receive(self, stream, connection):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (line := stream.readline(1 << 20)):
                return None
            head += line
        seen = Seen(head[:-4], connection)
        self.requests.append(seen)
        if "100-continue" in seen.values("Expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if seen.values("Transfer-Encoding") == ["chunked"]:
            while size := int(stream.readline(100) or b"0", 16):  # data before a disconnect is kept
                seen.body += stream.read(size)
                stream.readline(100)
            stream.readline(100)
        elif length := seen.values("Content-Length"):
            seen.body = stream.read(int(length[0]))
        return seen


def reply(status="200 OK", *lines, body=b""):
    """Returns a complete response that keeps the connection open."""
    head = [f"HTTP/1.1 {status}", *lines]
    if not status.startswith(("204", "304")):
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


# ----------------------------------------------------------------------------------------------------------------------
# Test cases


@functools.cache
def documented_codes():
    """The exit codes that the help lists."""
    done = subprocess.run([HOST, "help", "exit-codes"], env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    codes = done.stdout.decode().partition("Exit codes:")[2]
    return {int(code) for code in re.findall(r"(?m)^ {2,4}(\d+)  ", codes)}


def environment(**more):
    """Returns an environment without the developer's proxies, CA bundles, plugin folders and sessions."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "HOME": "/nonexistent", "NEVOD_HOST_STORE": "/dev/null/none.db", "NEVOD_TEST_SECRET": SECRET, **more}


class Outcome:
    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err.decode("utf-8", "backslashreplace")

    def __repr__(self):
        out = self.out if len(self.out) < 400 else self.out[:400] + b"..."
        return f"{shlex.join(self.command)}\nexit code {self.code}\nstdout: {out!r}\nstderr: {self.err}"


def cases(table):
    """Makes a test of each entry, which has a name and the arguments."""

    def mark(function):
        function.cases = table
        return function

    return mark


class TestCase(unittest.TestCase):
    maxDiff = None

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        for name in dir(cls):
            function = getattr(cls, name)
            table = getattr(function, "cases", None)
            if table is not None:
                for case, arguments in table.items():
                    setattr(cls, f"{name}_{case}", cls.one(function, arguments))
                setattr(cls, name, None)

    @staticmethod
    def one(function, arguments):
        arguments = arguments if isinstance(arguments, tuple) else (arguments,)
        return lambda self: function(self, *arguments)

    @functools.cached_property
    def folder(self):
        """A new folder for each test. No other user may write to it."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-")).resolve()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def closed_port(self):
        """A port that refuses connections. It is bound, so that no other process gets it, but not listening."""
        bound = socket.socket()
        self.addCleanup(bound.close)
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]

    def file(self, name, content, mode=0o600):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    def command(self, *words):
        return [str(HOST), *(word if isinstance(word, bytes) else str(word) for word in words)]

    def run_host(self, *words, stdin=None, env=None, cwd="/", **options):
        """Runs the command without a terminal. With one, it would ask the developer for secrets."""
        command = self.command(*words)
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        done = subprocess.run(
            command, env=environment(**(env or {})), cwd=cwd, start_new_session=True, timeout=PATIENCE,
            **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | given | options))
        shown = [word.decode("latin-1") if isinstance(word, bytes) else word for word in command]
        # A negative code is a signal.
        self.assertTrue(done.returncode < 0 or done.returncode in documented_codes(), f"{done.returncode} is not documented: {shown}")
        return Outcome(shown, done.returncode, done.stdout or b"", done.stderr or b"")

    def run_measured(self, *words, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=None):
        """Returns the outcome and the peak memory in bytes. The outcome has the processor seconds, but no standard output."""
        path = shared_folder() / f"peak-{os.urandom(4).hex()}"
        command = [str(peak_program()), str(path), *self.command(*words)]
        done = subprocess.run(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment(**(env or {})), cwd="/",
            start_new_session=True, timeout=PATIENCE)
        peak, seconds = path.read_text().split()
        outcome = Outcome(command[2:], done.returncode, b"", done.stderr)
        outcome.processor_seconds = float(seconds)
        return outcome, int(peak) * 1024

    @contextlib.contextmanager
    def running(self, *words, env=None, **options):
        """Runs the command during a `with` statement, and kills it at the end."""
        process = subprocess.Popen(
            self.command(*words), env=environment(**(env or {})), start_new_session=True,
            **({"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options))
        with process:
            try:
                yield process
            finally:
                process.kill()

    def expect(self, outcome, code, *fragments):
        """Expects the exit code and fragments of standard error."""
        self.assertEqual(outcome.code, code, outcome)
        for fragment in fragments:
            self.assertIn(fragment, outcome.err, outcome)

    def expect_failure(self, outcome, code, *fragments):
        """Expects a failure with one line on standard error and nothing on standard output."""
        self.assertGreaterEqual(outcome.code, 0, f"killed by a signal\n{outcome}")
        self.expect(outcome, code, "nevod-host: ", *fragments)
        self.assertEqual(outcome.out, b"", outcome)
        self.assertEqual(outcome.err.count("\n"), 1, f"not one line\n{outcome}")


class ServerTestCase(TestCase):
    """Shares a demo server among its tests."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-cli-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.server = DemoServer(folder)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.server.forget()

    def url(self, target):
        return self.server.url + target

    def plugin(self):
        return swift_plugin()

    def credentials(self, secret="env:NEVOD_TEST_SECRET"):
        return ["--plugin", self.plugin(), "--set", f"api-key={API_KEY}", "--set", f"secret={secret}"]

    def the_request(self):
        requests = self.server.requests()
        self.assertEqual(len(requests), 1, requests)
        return requests[0]

    def expect_nothing_sent(self):
        self.assertEqual(self.server.requests(), [])

    def expect_verified(self, outcome):
        self.expect(outcome, 0)
        self.assertEqual((json.loads(outcome.out)["reason"], self.the_request()["verified"]), ("", True), outcome)


def with_both_plugins(mixin, names):
    """Defines the same tests for the Swift plugin and the C plugin."""
    for language, plugin in {"Swift": swift_plugin, "C": c_plugin}.items():
        name = f"{mixin.__name__}With{language}Plugin"
        names[name] = type(name, (mixin, ServerTestCase), {"plugin": staticmethod(plugin), "__module__": mixin.__module__})
