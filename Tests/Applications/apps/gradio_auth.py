"""Gradio with `auth`: a login that responds in JSON, and sessions in memory."""

import json
import sys

import requests

from harness import PYTHON, Application


class Gradio(Application):
    title = "Gradio"
    preset = "gradio"
    package = "gradio"
    # Because of its size.
    is_slow = True
    login_path = "login"
    private_path = "config"
    marker = '"api_prefix"'
    refusal = "Incorrect credentials"
    cannot = {"code": "Gradio has none"}

    def command(self):
        return [PYTHON, __file__, self.port]

    def environment(self):
        return {**super().environment(), "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}

    def is_ready(self):
        return requests.get(self.url("config")).status_code == 401

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.post(self.url("login"), {"username": user or self.user, "password": password or self.password})
        return session

    def reference_write(self, session, value):
        session.post(self.url("gradio_api/run/note"), json={"data": [value]}).raise_for_status()

    def reference_logout(self, session):
        session.get(self.url("logout"))

    def written(self, value):
        notes = self.folder / "notes"
        return notes.exists() and value in notes.read_text()

    def write_words(self, value):
        return ["--json", json.dumps({"data": [value]}), self.url("gradio_api/run/note")]

    def forget(self):
        self.restart()


def serve(port):
    import gradio

    def note(text):
        with open("notes", "a") as notes:
            print(text, file=notes)
        return text

    gradio.Interface(note, "text", "text", api_name="note").launch(
        server_name="127.0.0.1", server_port=port, auth=(Gradio.user, Gradio.password), show_error=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
