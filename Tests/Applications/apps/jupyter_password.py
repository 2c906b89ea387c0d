"""Jupyter Server with a password: no user names, a signed cookie, and a token for each change."""

import json

import requests

import harness
from harness import PYTHON, Application


class JupyterServer(Application):
    title = "Jupyter Server"
    preset = "jupyter"
    package = "jupyter_server"
    user = ""
    login_path = "login"
    private_path = "api/contents"
    marker = '"type": "directory"'
    refusal = "Invalid credentials"
    cannot = {
        "logout": "the cookie is signed, and the server keeps no sessions: the old one lives until it expires",
        "code": "Jupyter Server has none",
    }

    def prepare(self):
        (self.folder / "work").mkdir()
        hashed = self.run(PYTHON, "-c", f"from jupyter_server.auth import passwd; print(passwd({self.password!r}))").strip()
        settings = {"ServerApp": {"root_dir": str(self.folder / "work"), "port_retries": 0}, "PasswordIdentityProvider": {
            "hashed_password": hashed}}
        (self.folder / "config.json").write_text(json.dumps(settings))

    def command(self):
        return [
            PYTHON, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={self.port}",
            "--config=config.json"]

    def environment(self):
        # Started without a token: the password is the only way in.
        return {**super().environment(), "JUPYTER_TOKEN": "", "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime")}

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        harness.Form(session.get(self.url("login")), "password").send(session, password=password or self.password)
        return session

    def reference_write(self, session, value):
        headers = {"X-XSRFToken": session.cookies["_xsrf"]}
        session.put(self.url(f"api/contents/{value}.txt"), json=self.document(value), headers=headers).raise_for_status()

    def document(self, value):
        return {"type": "file", "format": "text", "content": value}

    def reference_logout(self, session):
        session.get(self.url("logout"))

    def written(self, value):
        path = self.folder / "work" / f"{value}.txt"
        return path.exists() and path.read_text() == value

    def write_words(self, value):
        return ["-X", "PUT", "--json", json.dumps(self.document(value)), self.url(f"api/contents/{value}.txt")]

    def forget(self):
        self.stop()
        (self.folder / "runtime" / "jupyter_cookie_secret").unlink()
        self.start()
