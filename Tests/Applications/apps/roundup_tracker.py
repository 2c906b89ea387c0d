"""Roundup: a login form on every page of a tracker. A field names the form's action, and tokens are for one use."""

import re
import sys

import requests

import harness
from harness import PYTHON, Application


class Roundup(Application):
    title = "Roundup"
    preset = "roundup"
    package = "roundup"
    login_path = ""
    private_path = "issue?@template=item"
    marker = "Logout"
    refusal = "Invalid login"
    cannot = {"code": "Roundup has none"}

    def prepare(self):
        admin = [PYTHON, "-m", "roundup.scripts.roundup_admin", "-i", self.folder / "tracker"]
        self.run(*admin, "install", "classic", "sqlite")
        config = self.folder / "tracker" / "config.ini"
        text = config.read_text()
        for name, value in (("web", self.site), ("domain", "example.org"), ("host", "localhost")):
            text = re.sub(rf"(?m)^#?{name} = NO DEFAULT$", f"{name} = {value}", text)
        # Without its limit of three logins a minute.
        config.write_text(re.sub(r"(?m)^login_attempts_min = \d+$", "login_attempts_min = 0", text))
        self.run(*admin, "initialise", self.password)
        account = [f"username={self.user}", f"password={self.password}", "roles=User", "address=ada@example.org"]
        self.run(*admin, "create", "user", *account)

    def command(self):
        return [PYTHON, __file__, self.port]

    def is_login(self, record):
        return record.method == "POST" and b"__login_password" in record.body

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = harness.Form(session.get(self.site), "__login_password")
        form.send(session, __login_name=user or self.user, __login_password=password or self.password)
        return session

    def reference_write(self, session, value):
        harness.Form(session.get(self.url(self.private_path)), "title").send(session, title=value, priority="bug")

    def reference_logout(self, session):
        session.get(self.url("?@action=logout"))

    def written(self, value):
        return value in self.reference().get(self.url("issue")).text

    def write_words(self, value):
        return ["--data-raw", "@action=new", "-d", f"title={value}", "-d", "priority=bug", self.url("issue")]

    def forget(self):
        self.sql("tracker/db/db-session", "DELETE FROM sessions")


def serve(port):
    import socketserver
    import wsgiref.simple_server

    from roundup.cgi.wsgi_handler import RequestDispatcher

    class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
        daemon_threads = True

    wsgiref.simple_server.make_server("127.0.0.1", port, RequestDispatcher("tracker"), Server).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
