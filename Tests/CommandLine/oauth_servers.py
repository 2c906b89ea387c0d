"""Real authorization servers on loopback, each in its own process, and a simulated person with a browser. The programs are in
`oauth/`: django-oauth-toolkit, Authlib and Glewlwyd from Debian, and idpyoidc from Tests/NevodHostTests/Probes/peers.txt."""

import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import urllib.request

from support import FOLDER, PATIENCE, ROOT

# The same as in oauth/pages.py.
USER, PASSWORD = "ada", "pa55-Xw3Rt9Lm"
# Long enough for a key of HS256 (RFC 7518 §3.2).
CLIENT_SECRET = "cl1ent-Zq8VnB4Td2Hs6Jk0Lp5Wf7Cx1Gy"
BROWSER = ROOT / "Examples/demo-server/browser.py"
# The servers' libraries are in Debian's Python.
PYTHON = "/usr/bin/python3"


class AuthorizationServer:
    """One server, in its own process."""

    name = program = None
    path = ""
    # Whether using a refresh token twice ends its family (RFC 9700 §4.14.2).
    revokes_families = False
    # The person's name in the ID token.
    account = USER
    # Whether refreshing a key-bound token returns a key-bound token.
    renews_bound_tokens = True
    # The client that may revoke its tokens, and how it authenticates.
    revoking = ("app", None)
    # What else an authorization request needs.
    authorization = {}

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-oauth-"))
        self.errors = open(self.folder / "errors", "w+")
        self.process = subprocess.Popen(
            [PYTHON, FOLDER / "oauth" / self.program, self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.errors.seek(0)
            text = self.errors.read()
            self.stop()
            raise AssertionError(f"{self.program} did not start:\n{text}")
        self.issuer = self.url + self.path
        self.api = self.url + "/api"

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def control(self, what="log"):
        with urllib.request.urlopen(f"{self.url}/control/{what}", timeout=PATIENCE) as response:
            return json.load(response)

    def log(self):
        """The requests for tokens: [grant, client, status]."""
        return self.control()["log"]

    def settings(self):
        """What every login needs in addition to the issuer."""
        return {"authorization-parameter": "=".join(item) for item in self.authorization.items()}

    def assertion_audience(self):
        return self.issuer

    def secret_file(self):
        path = self.folder / "client-secret"
        path.write_text(CLIENT_SECRET)
        path.chmod(0o600)
        return f"file:{path}"

    def key_file(self):
        return f"file:{self.folder / 'key.pem'}"


class Toolkit(AuthorizationServer):
    """Rotates refresh tokens, and revokes a token's family if the token is used twice."""

    name, program, path = "django-oauth-toolkit 1.7", "toolkit_server.py", "/o"
    revokes_families = True

    def settings(self):
        # Its metadata has no revocation endpoint.
        return {"revocation-url": self.issuer + "/revoke_token/"}


class Authlib(AuthorizationServer):
    name, program = "Authlib 1.2", "authlib_server.py"


class Idpy(AuthorizationServer):
    name, program = "idpyoidc 5.0", "idpy_server.py"
    # For the scope offline_access (OpenID Connect Core §11).
    authorization = {"prompt": "consent"}
    renews_bound_tokens = False


class Glewlwyd(AuthorizationServer):
    name, program, path = "Glewlwyd 2.7", "glewlwyd_server.py", "/glewlwyd/oidc"
    revokes_families = True
    # Public clients may not.
    revoking = ("web", "basic")
    # The server's own name for the person, because its ID token has no other.
    account = "[0-9A-Za-z]{32}"

    def assertion_audience(self):
        return self.issuer + "/token"


SERVERS = (Toolkit, Authlib, Idpy, Glewlwyd)


def browser(*words):
    """The value of BROWSER for a person who logs in and consents, or who refuses with --deny."""
    return shlex.join(map(str, (BROWSER, *words)))


def browsing(*words):
    """The environment for a login with that person."""
    return {"BROWSER": browser(*words), "DEMO_SECRET": PASSWORD}


def visit(url, *words):
    """Lets that person open an address, and returns whether all pages loaded."""
    done = subprocess.run([PYTHON, BROWSER, *words, url], env={"DEMO_SECRET": PASSWORD, "PATH": "/usr/bin:/bin"}, timeout=PATIENCE)
    return done.returncode == 0
