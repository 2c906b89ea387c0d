"""CherryPy's session authentication: without a login, every page is the login form, with status 200."""

import shutil
import sys

import requests

from harness import PYTHON, Application


class CherryPySessionAuth(Application):
    title = "CherryPy"
    preset = "cherrypy"
    package = "cherrypy"
    login_path = "do_login"
    private_path = "notes"
    marker = "Notes of "
    # The page doesn't mark its message as a message.
    refusal = ""
    cannot = {"code": "CherryPy has none"}

    def prepare(self):
        (self.folder / "sessions").mkdir()

    def command(self):
        return [PYTHON, __file__, self.port]

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        fields = {"username": user or self.user, "password": password or self.password, "from_page": "/notes"}
        session.post(self.url("do_login"), fields)
        return session

    def reference_write(self, session, value):
        session.post(self.url("notes"), {"note": value}).raise_for_status()

    def reference_logout(self, session):
        session.post(self.url("do_logout"))

    def written(self, value):
        return value in self.reference().get(self.url("notes")).text

    def write_words(self, value):
        return ["-d", f"note={value}", self.url("notes")]

    def forget(self):
        for path in (self.folder / "sessions").glob("session-*"):
            path.unlink(missing_ok=True)


def serve(port):
    import cherrypy

    class Root:
        kept = []

        @cherrypy.expose
        def index(self):
            return "Welcome"

        @cherrypy.expose
        def notes(self, note=None):
            if note:
                self.kept.append(note)
            return f"Notes of {cherrypy.request.login}: {', '.join(self.kept)}"

    def check(name, password):
        if (name, password) != (CherryPySessionAuth.user, CherryPySessionAuth.password):
            return "Incorrect username or password"

    cherrypy.config.update({"server.socket_host": "127.0.0.1", "server.socket_port": port, "engine.autoreload.on": False})
    cherrypy.quickstart(Root(), "/", {"/": {
        "tools.sessions.on": True, "tools.sessions.storage_class": cherrypy.lib.sessions.FileSession,
        "tools.sessions.storage_path": "sessions", "tools.session_auth.on": True,
        "tools.session_auth.check_username_and_password": check}})


if __name__ == "__main__":
    serve(int(sys.argv[1]))
