"""Flask-Security with forms: pages whose tokens are bound to a signed session cookie, and a separate page for the code."""

import json
import sys

import requests

import harness
from harness import PYTHON, Application


class FlaskSecurity(Application):
    title = "Flask-Security"
    preset = "flask-security"
    package = "flask-security"
    user = "ada@example.org"
    login_path = "login"
    private_path = "notes"
    marker = "Notes of "
    refusal = "Invalid password"
    code_user, code_secret = "grace@example.org", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    cannot = {"logout": "the cookie is signed, and the server keeps no sessions: the old one lives until it expires"}

    def prepare(self):
        self.run(PYTHON, __file__, "prepare")

    def command(self):
        return [PYTHON, __file__, self.port]

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        form = harness.Form(session.get(self.url("login")), "password")
        answer = form.send(session, email=user or self.user, password=password or self.password)
        if code_secret:
            harness.Form(answer, "code").send(session, code=harness.totp(code_secret))
        return session

    def token(self, session):
        return session.get(self.url("login"), headers={"Accept": "application/json"}).json()["response"]["csrf_token"]

    def reference_write(self, session, value):
        headers = {"X-CSRFToken": self.token(session)}
        session.post(self.url("notes"), json={"note": value}, headers=headers).raise_for_status()

    def reference_logout(self, session):
        session.post(self.url("logout"), headers={"X-CSRFToken": self.token(session)})

    def written(self, value):
        return value in self.reference().get(self.url("notes")).text

    def write_words(self, value):
        return ["--json", json.dumps({"note": value}), self.url("notes")]

    def forget(self):
        # A user's identifier in sessions. Its documentation says to change it in order to end all of them.
        self.sql("instance/site.db", "UPDATE user SET fs_uniquifier = hex(randomblob(16))")


def make():
    """The application from its documentation, with second factors, and with every form protected by Flask-WTF."""
    from flask import Flask, request
    from flask_security import Security, SQLAlchemyUserDatastore, auth_required, current_user
    from flask_security.models import fsqla_v3
    from flask_sqlalchemy import SQLAlchemy
    from flask_wtf import CSRFProtect

    application = Flask("site", root_path=".", instance_path=str(harness.pathlib.Path.cwd() / "instance"))
    application.config.update(
        SECRET_KEY="only-for-tests", SECURITY_PASSWORD_SALT="146585145368132386173505678016728509634",
        SECURITY_TOTP_SECRETS={"1": "only-for-tests-9Yc2kVq8"}, SECURITY_TOTP_ISSUER="site", SECURITY_TWO_FACTOR=True,
        SECURITY_TWO_FACTOR_ENABLED_METHODS=["authenticator"], SECURITY_TWO_FACTOR_ALWAYS_VALIDATE=True,
        SECURITY_TWO_FACTOR_RESCUE_EMAIL=False, SQLALCHEMY_DATABASE_URI="sqlite:///site.db", SECURITY_POST_LOGIN_VIEW="/notes")
    CSRFProtect(application)
    database = SQLAlchemy(application)
    fsqla_v3.FsModels.set_db_info(database)

    class Role(database.Model, fsqla_v3.FsRoleMixin):
        pass

    class User(database.Model, fsqla_v3.FsUserMixin):
        pass

    application.security = Security(application, SQLAlchemyUserDatastore(database, User, Role))
    notes = []

    @application.route("/notes", methods=["GET", "POST"])
    @auth_required("session")
    def page():
        if request.method == "POST":
            notes.append(request.get_json()["note"])
        return f"Notes of {current_user.email}: {', '.join(notes)}"

    return application, database


def prepare():
    from flask_security import hash_password
    from passlib.totp import TOTP

    application, database = make()
    with application.app_context():
        database.create_all()
        store = application.security.datastore
        for email in (FlaskSecurity.user, FlaskSecurity.code_user):
            user = store.create_user(email=email, password=hash_password(FlaskSecurity.password))
            if email == FlaskSecurity.code_user:
                factory = TOTP.using(secrets=application.config["SECURITY_TOTP_SECRETS"])
                store.tf_set(user, "authenticator", factory(key=FlaskSecurity.code_secret).to_json(encrypt=True))
        database.session.commit()


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare()
    else:
        make()[0].run("127.0.0.1", int(sys.argv[1]), threaded=True)
