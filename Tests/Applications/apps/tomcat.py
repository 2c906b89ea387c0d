"""Tomcat's form login, with a small servlet that keeps notes. It requires a GET of a protected page first."""

import shutil

import requests

from apps.debian import package_version
from harness import FOLDER, PATIENCE, Application

HOME = "/usr/share/tomcat10"
SERVER = """\
<Server port="-1">
  <Service name="Catalina">
    <Connector port="{port}" address="127.0.0.1" protocol="HTTP/1.1" maxThreads="8"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Realm className="org.apache.catalina.realm.MemoryRealm"/>
      <Host name="localhost" appBase="webapps" autoDeploy="false"/>
    </Engine>
  </Service>
</Server>
"""
USERS = '<tomcat-users><user username="{user}" password="{password}" roles="user"/></tomcat-users>\n'


class Tomcat(Application):
    title = "Tomcat FORM"
    preset = "tomcat"
    base = "/notes/"
    login_path = "j_security_check"
    private_path = ""
    marker = "Hello ada"
    refusal = "The user name or the password is wrong."
    settings = ("logout=logout",)
    cannot = {"code": "the container has none"}

    def version(self):
        return package_version("libtomcat10-java")

    def prepare(self):
        for name in ("conf", "logs", "temp", "work"):
            (self.folder / name).mkdir()
        information = self.folder / "webapps" / "notes" / "WEB-INF"
        (information / "classes").mkdir(parents=True)
        shutil.copy(FOLDER / "tomcat" / "web.xml", information)
        (self.folder / "conf" / "server.xml").write_text(SERVER.format(port=self.port))
        (self.folder / "conf" / "tomcat-users.xml").write_text(USERS.format(user=self.user, password=self.password))
        (self.folder / "conf" / "web.xml").write_text('<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0"/>\n')
        self.run(
            "javac", "-cp", f"{HOME}/lib/servlet-api.jar", "-d", information / "classes", FOLDER / "tomcat" / "Notes.java")

    def command(self):
        classes = f"{HOME}/bin/bootstrap.jar:{HOME}/bin/tomcat-juli.jar"
        # For a few requests, the second compiler isn't worth it.
        return ["java", "-XX:TieredStopAtLevel=1", "-cp", classes, f"-Dcatalina.home={HOME}", f"-Dcatalina.base={self.folder}",
                f"-Djava.io.tmpdir={self.folder / 'temp'}", "org.apache.catalina.startup.Bootstrap", "start"]

    def is_ready(self):
        return requests.get(self.url(""), timeout=PATIENCE).status_code == 200

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.get(self.url(""), timeout=PATIENCE)
        session.post(
            self.url(self.login_path), {"j_username": user or self.user, "j_password": password or self.password}, timeout=PATIENCE)
        return session

    def reference_write(self, session, value):
        session.post(self.url("note"), {"text": value}, timeout=PATIENCE)

    def reference_logout(self, session):
        session.post(self.url("logout"), timeout=PATIENCE)

    def written(self, value):
        return value in self.reference().get(self.url(""), timeout=PATIENCE).text

    def forget(self):
        # All sessions, except the one that asks.
        requests.get(self.url("forget"), timeout=PATIENCE).raise_for_status()

    def write_words(self, value):
        return ["-d", f"text={value}", self.url("note")]
