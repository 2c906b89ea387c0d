"""Real authorization servers on loopback, each in a process of its own, and a person with a browser for them. See the programs
in `oauth/`: django-oauth-toolkit and Authlib from Debian, idpyoidc of Tests/NevodHostTests/Probes/peers.txt, Glewlwyd from
Debian."""

import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import urllib.request

from support import FOLDER, PATIENCE, ROOT

# Those of oauth/pages.py.
USER, PASSWORD = "ada", "pa55-Xw3Rt9Lm"
# Long enough for a key of HS256 (RFC 7518 §3.2).
CLIENT_SECRET = "cl1ent-Zq8VnB4Td2Hs6Jk0Lp5Wf7Cx1Gy"
BROWSER = ROOT / "Examples/demo-server/browser.py"
# The libraries of the servers are those of Debian's Python.
PYTHON = "/usr/bin/python3"


class AuthorizationServer:
    """One server, in a process of its own."""

    name = program = None
    path = ""
    # Whether a second use of a refresh token ends its family (RFC 9700 §4.14.2).
    revokes_families = False
    # What the ID token calls the person.
    account = USER
    # Whether a refresh of a token that is bound to a key returns one that is bound as well.
    renews_bound_tokens = True
    # The client that may revoke its tokens, and how it authenticates.
    revoking = ("app", None)
    # What an authorization request needs besides.
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
        """What every login needs, besides the issuer."""
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
    """Rotates refresh tokens, and revokes a family of which one is used twice."""

    name, program, path = "django-oauth-toolkit 1.7", "toolkit_server.py", "/o"
    revokes_families = True

    def settings(self):
        # Its metadata name no endpoint for revocation.
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
    # A name of the server's own, since its ID token has no other.
    account = "[0-9A-Za-z]{32}"

    def assertion_audience(self):
        return self.issuer + "/token"


SERVERS = (Toolkit, Authlib, Idpy, Glewlwyd)


def browser(*words):
    """The value of BROWSER for a person who logs in and consents, or with --deny refuses."""
    return shlex.join(map(str, (BROWSER, *words)))


def browsing(*words):
    """The environment for a login with that person."""
    return {"BROWSER": browser(*words), "DEMO_SECRET": PASSWORD}


def visit(url, *words):
    """Lets that person open an address, and returns whether all pages came."""
    done = subprocess.run([PYTHON, BROWSER, *words, url], env={"DEMO_SECRET": PASSWORD, "PATH": "/usr/bin:/bin"}, timeout=PATIENCE)
    return done.returncode == 0
