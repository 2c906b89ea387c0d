"""Profiles: the command that manages them, how one is chosen, typed values that override them, and the sources of their
secrets."""

import contextlib
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys

import test_sessions
from support import API_KEY, BUILD, PATIENCE, SECRET, RecordingServer, ServerTestCase, TestCase, cases, environment, reply, wait_until
from test_terminal import TerminalSession

TOKEN = f"token {SECRET}".encode()


class ProfileTestCase(TestCase):
    """Has its own config folder."""

    @property
    def config(self):
        return self.folder / "nevod/config"

    def write(self, text):
        self.config.parent.mkdir(mode=0o700, exist_ok=True)
        self.config.write_text(text)
        self.config.chmod(0o600)

    def env(self, **more):
        return {"XDG_CONFIG_HOME": str(self.folder), "NEVOD_PLUGIN_PATH": str(BUILD), **more}

    def run_with(self, *words, env=None, **options):
        return self.run_host(*words, env=self.env(**(env or {})), **options)

    def profile(self, *words, **options):
        return self.run_with("profile", *words, **options)

    def hmac(self, secret="env:NEVOD_TEST_SECRET"):
        return ["--plugin", "HMACAuth", "--set", f"api-key={API_KEY}", "--set", f"secret={secret}"]


class Managing(ProfileTestCase):
    def test_add(self):
        outcome = self.profile("add", "work", "--url", "https://api.example.com/v1", *self.hmac(), "--fail", "-H", "X-A: 1")
        self.expect(outcome, 0)
        self.assertEqual(
            self.config.read_text(),
            f"[work]\nurl = https://api.example.com/v1\nplugin = HMACAuth\nset = api-key={API_KEY}\nset = secret=env:NEVOD_TEST_SECRET\n"
            "fail\nheader = X-A: 1\n")
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.config.parent.stat().st_mode), 0o700)

    def test_add_keeps_the_rest_of_the_file(self):
        before = "# mine\n\n[ old ] # note\n  url=https://old.example\n\n# the end"
        self.write(before)
        self.config.chmod(0o644)
        self.expect(self.profile("add", "new", "--url", "https://new.example"), 0)
        self.assertEqual(self.config.read_text(), before + "\n\n[new]\nurl = https://new.example\n")
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o600)

    def test_add_through_a_link(self):
        self.config.parent.mkdir(mode=0o700)
        target = self.file("real", "[old]\n")
        self.config.symlink_to(target)
        self.expect(self.profile("add", "new", "--url", "https://new.example"), 0)
        self.assertTrue(self.config.is_symlink())
        self.assertEqual(target.read_text(), "[old]\n\n[new]\nurl = https://new.example\n")

    def test_paths_do_not_depend_on_the_working_directory(self):
        self.file("secret", SECRET)
        self.file("ca.pem", "-")
        outcome = self.profile(
            "add", "work", *self.hmac("file:secret"), "--cacert", "ca.pem", "-H", "@lines", cwd=self.folder)
        self.assertIn(f"secret=file:{self.folder}/secret\n", self.config.read_text(), outcome)
        self.assertIn(f"cacert = {self.folder}/ca.pem\nheader = @{self.folder}/lines\n", self.config.read_text(), outcome)

    @cases({
        "literal_secret": (["work", "--plugin", "HMACAuth", "--set", "api-key=a", "--set", f"secret={SECRET}"], 111, "is a secret"),
        "unknown_setting": (["work", "--plugin", "HMACAuth", "--set", "api-kee=a"], 111, "did you mean api-key?"),
        "missing_setting": (["work", "--plugin", "HMACAuth", "--set", "secret=env:NEVOD_TEST_SECRET"], 111, '"api-key"'),
        "unknown_plugin": (["work", "--plugin", "Nope"], 110, "Nope: no such plugin"),
        "url": (["work", "--url", "ftp://h"], 2, "url must begin with https://"),
        "password_in_url": (["work", "--url", "https://a:b@h/"], 2, "url must not have a name or a password"),
        "number": (["work", "--url", "https://h", "--max-time", "x"], 2, "--max-time x is not a number"),
        "existing": (["old", "--url", "https://h"], 2, 'there is a profile "old" already'),
        "none": (["none", "--url", "https://h"], 2, "can't be a profile's name"),
        "bracket": (["a]b", "--url", "https://h"], 2, "can't be a profile's name"),
        "line_break": (["work", "-H", "X-A: 1\nplugin = /evil.so"], 2, "--header has a line break"),
        "space": (["work", "-H", "X-A: 1 "], 2, "a space at its start or end"),
        "no_name": (["--url", "https://h"], 2, "needs a NAME"),
        "nothing": (["work"], 2, "there is no terminal to ask at"),
        "secret_store": (["work", "--url", "https://h", "--secret-store", "cloud"], 2, "--secret-store must be keyring or file"),
        "flag_of_another_word": (["work", "--url", "https://h", "--force"], 2, "profile add takes no --force"),
    })
    def test_add_refuses(self, words, code, fragment):
        self.write("[old]\n")
        outcome = self.profile("add", *words)
        self.expect_failure(outcome, code, fragment)
        self.assertNotIn(SECRET, outcome.err)
        self.assertEqual(self.config.read_text(), "[old]\n")
        self.assertEqual([entry.name for entry in self.config.parent.iterdir()], ["config"])

    def test_add_warns_about_a_source_that_is_not_there_yet(self):
        outcome = self.profile("add", "work", *self.hmac("env:NEVOD_UNSET"))
        self.expect(outcome, 0, "not tried", "NEVOD_UNSET, which is not set")

    def test_added_at_the_same_time(self):
        """Each process adds to what the others wrote."""
        self.write("")
        names = [f"p{number}" for number in range(8)]
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(self.running("profile", "add", name, "--url", "https://h.example", env=self.env())) for name in names]
            self.assertEqual([process.wait(PATIENCE) for process in started], [0] * len(names))
        listed = json.loads(self.profile("list", "--json").out)
        self.assertEqual(sorted(profile["name"] for profile in listed["profiles"]), names)

    def test_list(self):
        self.expect(self.profile("list"), 0)
        self.assertIn(b"no profiles in", self.profile("list").out)
        self.write("default = b\n[a]\nplugin = x.so\n[b]\nurl = https://b.example/\n")
        self.assertEqual(
            self.profile("list").out.decode().splitlines()[:3],
            ["PROFILE  DEFAULT  URL                 PLUGIN", "a        -        -                   x.so",
             "b        yes      https://b.example/  -"])

    def test_show_tells_no_secret(self):
        self.write(
            "[work]\nurl = https://h/\nplugin = HMACAuth\nset = api-key=shown\nset = secret=hidden-1\nheader = X-Key: hidden-2\n"
            "data = hidden-3\nanswer = password=hidden-4\nset = secret=keyring:item\nuser = env:USER_PASSWORD\nlocation\n")
        outcome = self.profile("show", "work")
        self.expect(outcome, 0)
        self.assertNotIn(b"hidden", outcome.out)
        for fragment in [b"line 1", b"4   set       api-key=shown", b"secret=keyring:item", b"env:USER_PASSWORD", b"11  location"]:
            self.assertIn(fragment, outcome.out)
        shown = json.loads(self.profile("show", "work", "--json").out)
        self.assertEqual(shown["entries"][0], {"name": "url", "value": "https://h/", "line": 2})
        self.assertEqual(shown["entries"][-1], {"name": "location", "value": None, "line": 11})

    @cases({
        "data_raw": "data-raw = @hidden", "data_ascii": "data-ascii = hidden", "url_query": "url-query = key=hidden",
        "form_string": "form-string = @a=hidden", "cookie": "cookie = sid=hidden",
        "mark_behind_a_colon": "header = X-Key:\u0301hidden"})
    def test_show_tells_no_content(self, line):
        self.write(f"[work]\nurl = https://h/\n{line}\n")
        for words in ([], ["--json"]):
            outcome = self.profile("show", "work", *words)
            self.expect(outcome, 0)
            self.assertNotIn(b"hidden", outcome.out)
            self.assertIn(line.split(" ")[0].encode(), outcome.out)

    def test_show_names_files(self):
        self.write("[work]\nurl = https://h/\ncookie = jar.txt\ndata-ascii = @body\nurl-query = @query\n")
        outcome = self.profile("show", "work")
        for name in (b"jar.txt", b"@body", b"@query"):
            self.assertIn(name, outcome.out)

    def test_show_without_the_plugin(self):
        self.write("[work]\nplugin = /nowhere.so\nset = secret=hidden\n")
        outcome = self.profile("show", "work")
        self.expect(outcome, 0)
        self.assertNotIn(b"hidden", outcome.out)

    FILE = "# top\n\n[a]\nurl = https://a\n# of a\n\n# about b\n[b]\nurl = https://b\n\n# end\n"

    def test_remove(self):
        self.write(self.FILE)
        self.expect_failure(self.profile("remove", "a"), 2, "--force")
        self.assertEqual(self.config.read_text(), self.FILE)
        self.expect(self.profile("remove", "a", "--force"), 0)
        self.assertEqual(self.config.read_text(), "# top\n\n# about b\n[b]\nurl = https://b\n\n# end\n")
        self.expect(self.profile("remove", "b", "--force"), 0)
        self.assertEqual(self.config.read_text(), "# top\n\n# about b\n# end\n")
        self.expect_failure(self.profile("remove", "b", "--force"), 2, 'there is no profile "b"')

    def test_remove_asks(self):
        self.write(self.FILE)
        for answer, code in ((b"n\n", 2), (b"y\n", 0)):
            session = TerminalSession(["profile", "remove", "a"], env=self.env())
            with contextlib.closing(session):
                session.read_until(lambda: b"(y/N) " in session.shown, "the question")
                session.type(answer)
                self.assertEqual(session.finish()[0], code)
            self.assertEqual("[a]" in self.config.read_text(), code != 0)

    def test_rename(self):
        self.write("default = a\n" + self.FILE)
        self.expect(self.profile("rename", "a", "c"), 0)
        self.assertEqual(self.config.read_text(), "default = c\n" + self.FILE.replace("[a]", "[c]"))
        self.expect_failure(self.profile("rename", "c", "b"), 2, 'there is a profile "b" already')
        self.expect_failure(self.profile("rename", "x", "y"), 2, 'there is no profile "x"')

    def test_default(self):
        self.write(self.FILE)
        self.assertEqual(self.profile("default").out, b"none\n")
        self.expect(self.profile("default", "b"), 0)
        self.assertEqual(self.profile("default").out, b"b\n")
        self.assertEqual(self.config.read_text(), self.FILE.replace("# top\n\n", "# top\n\ndefault = b\n\n"))
        self.expect(self.profile("default", "a"), 0)
        self.assertEqual(self.config.read_text(), self.FILE.replace("# top\n\n", "# top\n\ndefault = a\n\n"))
        self.expect(self.profile("remove", "a", "--force"), 0, "no default profile now")
        self.assertEqual(self.profile("default").out, b"none\n")
        self.expect_failure(self.profile("default", "x"), 2, 'there is no profile "x"')
        self.write("[a]\n")
        self.expect_failure(self.profile("default", "a"), 2, "has no url")
        self.write("default = x\n[a]\n")
        self.expect_failure(self.profile("show", "a"), 2, "config:1: the default names no profile of this file")

    def test_edit(self):
        self.write("[a]\nurl = https://a\n")
        outcome = self.profile("edit", env={"EDITOR": "sed -i 's/https:..a/https:\\/\\/new/'"})
        self.expect(outcome, 0)
        self.assertEqual(self.config.read_text(), "[a]\nurl = https://new\n")
        self.assertEqual(self.profile("edit", env={"VISUAL": "true", "EDITOR": "false"}).out, f"{self.config} is unchanged\n".encode())
        self.expect_failure(self.profile("edit", env={"EDITOR": "no-such-editor"}), 2, "EDITOR")
        self.assertEqual([entry.name for entry in self.config.parent.iterdir()], ["config"])

    def test_edit_of_no_file(self):
        """An unchanged template isn't kept."""
        self.assertEqual(self.profile("edit", env={"EDITOR": "true"}).out, f"{self.config} is unchanged\n".encode())
        self.assertEqual(list(self.config.parent.iterdir()), [])
        self.expect(self.profile("edit", env={"EDITOR": "sh -c 'echo [a] >> \"$0\"'"}), 0)
        self.assertIn("\n[a]\n", self.config.read_text())

    def test_edit_that_is_invalid(self):
        self.write("[a]\nurl = https://a\n")
        outcome = self.profile("edit", env={"EDITOR": "sed -i s/url/ulr/"})
        self.expect_failure(outcome, 2, f"{self.config}.edit:2: ", "did you mean url?", f"{self.config} is unchanged")
        self.assertEqual(self.config.read_text(), "[a]\nurl = https://a\n")
        self.assertEqual((self.config.parent / "config.edit").read_text(), "[a]\nulr = https://a\n")
        self.expect_failure(self.profile("edit", env={"EDITOR": "true"}), 2, "is left from an earlier edit")

    def test_edit_of_a_file_that_changes_meanwhile(self):
        self.write("[a]\n")
        outcome = self.profile("edit", env={"EDITOR": f"sh -c 'echo [b] >> {self.config}; echo [c] >> \"$0\"'"})
        self.expect_failure(outcome, 2, "was changed by another program", f"is kept in {self.config}.edit")
        self.assertEqual(self.config.read_text(), "[a]\n[b]\n")

    def test_check(self):
        self.write(
            "[good]\nurl = https://h\nplugin = HMACAuth\nset = api-key=a\nset = secret=env:NEVOD_TEST_SECRET\n"
            "[bad]\nurl = http://h\nmax-time = x\nplugin = HMACAuth\nset = api-kee=a\n"
            "[gone]\nplugin = Nope\n[unset]\nuser = env:NEVOD_UNSET\n[asked]\nplugin = HMACAuth\nset = api-key=a\n")
        outcome = self.profile("check")
        lines = outcome.out.decode().splitlines()
        where = f"{self.config}"
        self.assertEqual(lines[0], "good: ok")
        for line, fragments in zip(lines[1:], (
                (f"bad: {where}:7: ", "not https"), (f"bad: {where}:8 ([bad]): --max-time x",),
                (f"bad: {where}:10 ([bad]): ", "api-kee"), (f"gone: {where}:12 ([gone]): Nope: no such plugin",),
                (f"unset: {where}:14 ([unset]): ", "NEVOD_UNSET"), ("asked: ok",))):
            for fragment in fragments:
                self.assertIn(fragment, line)
        self.assertEqual(len(lines), 7)
        self.expect(outcome, 2, "5 problems found")
        self.expect(self.profile("check", "good"), 0)
        self.expect(self.profile("check", "unset"), 111, "1 problem found")
        self.expect_failure(self.profile("check", "x"), 2, "there is no profile")

    @cases({"show": ("show", "a", "--set", "b=c"), "list": ("list", "--url", "https://h"), "word": ("shwo",), "none": ()})
    def test_usage(self, *words):
        self.write("[a]\n")
        self.expect_failure(self.profile(*words), 2)


class Secrets(ProfileTestCase, ServerTestCase):
    """Secrets that `profile add` keeps."""

    def add(self, name="work", place="file", secret=SECRET, **options):
        return self.profile(
            "add", name, "--url", self.server.url, *self.hmac("-"), "--secret-store", place, stdin=secret.encode() + b"\n", **options)

    def kept(self):
        """The contents of the secrets' files, by name."""
        return {path.name: path.read_text().strip() for path in (self.config.parent / "secrets").iterdir()}

    def test_in_a_file(self):
        outcome = self.add()
        self.expect(outcome, 0)
        path = self.config.parent / "secrets/work.secret"
        self.assertEqual(path.read_text(), SECRET + "\n")
        self.assertEqual((stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)), (0o600, 0o700))
        self.assertIn("set = secret=file:secrets/work.secret\n", self.config.read_text())
        self.assertNotIn(SECRET.encode(), outcome.out + outcome.err.encode() + self.config.read_bytes())
        self.expect_verified(self.run_with("--profile", "work", "/a"))
        self.expect(self.profile("remove", "work", "--force"), 0)
        self.assertFalse(path.exists())

    def test_that_two_profiles_use_stays(self):
        self.expect(self.add(), 0)
        self.config.write_text(self.config.read_text() + "[b]\nset = secret=file:secrets/work.secret\n")
        self.expect(self.profile("remove", "work", "--force"), 0)
        self.assertTrue((self.config.parent / "secrets/work.secret").exists())

    def test_that_a_profile_by_an_absolute_path_uses_stays(self):
        self.expect(self.add(), 0)
        path = self.config.parent / "secrets/work.secret"
        self.config.write_text(self.config.read_text() + f"[b]\nset = secret=file:{path}\n")
        self.expect(self.profile("remove", "work", "--force"), 0)
        self.assertTrue(path.exists())

    def test_of_a_renamed_profile_stays(self):
        """The name is free again, but its secret's name is not."""
        self.expect(self.add(), 0)
        self.expect(self.profile("rename", "work", "old"), 0)
        self.expect(self.add(secret="another"), 0)
        self.assertEqual(self.kept(), {"work.secret": SECRET, "work.secret-2": "another"})
        self.assertIn("secret=file:secrets/work.secret\n", self.config.read_text().partition("[work]")[0])
        self.assertIn("secret=file:secrets/work.secret-2\n", self.config.read_text().partition("[work]")[2])
        self.expect_verified(self.run_with("--profile", "old", "/a"))

    def test_that_the_file_names_is_not_written(self):
        """Even if the secret itself is missing, so that another one can't take its place."""
        self.write("[old]\nset = secret=file:secrets/work.secret\n")
        self.expect(self.add(), 0)
        self.assertEqual(self.kept(), {"work.secret-2": SECRET})

    def test_of_the_users_own_stays(self):
        (self.config.parent / "secrets").mkdir(parents=True, mode=0o700)
        self.config.parent.chmod(0o700)
        (self.config.parent / "secrets/work.secret").write_text("mine")
        self.expect(self.add(), 0)
        self.assertEqual(self.kept(), {"work.secret": "mine", "work.secret-2": SECRET})

    def test_added_at_the_same_time(self):
        """One of the two wins and keeps its secret."""
        self.write("")
        secrets = ["first", "second"]
        words = ["profile", "add", "work", "--url", self.server.url, *self.hmac("-"), "--secret-store", "file"]
        folder = os.open(self.config.parent, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        with contextlib.ExitStack() as stack:
            started = []
            for secret in secrets:
                process = stack.enter_context(self.running(
                    *words, env=self.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                process.stdin.write(secret.encode())
                process.stdin.close()
                started.append(process)
            for process in started:
                wait_until(lambda: self.waits_for_the_file(process), "a process that waits for the file")
            fcntl.flock(folder, fcntl.LOCK_UN)
            codes = [process.wait(PATIENCE) for process in started]
        self.assertEqual(sorted(codes), [0, 2])
        self.assertEqual(self.kept(), {"work.secret": secrets[codes.index(0)]})

    def waits_for_the_file(self, process):
        """A process opens the folder to lock it."""
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(f"/proc/{process.pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    if os.readlink(entry.path) == str(self.config.parent):
                        return True
        return process.poll() is not None

    def test_of_a_name_like_a_path(self):
        self.expect(self.add("../../x"), 0)
        self.assertEqual([entry.name for entry in (self.config.parent / "secrets").iterdir()], ["..%2F..%2Fx.secret"])
        self.expect_verified(self.run_with("--profile", "../../x", "/a"))

    def test_that_the_plugin_refuses_is_not_kept(self):
        outcome = self.profile("add", "work", *self.hmac("-"), "--secret-store", "file", stdin=b"")
        self.expect_failure(outcome, 111, "empty")
        self.assertFalse(self.config.exists())

    def test_asked_for(self):
        """Everything is asked at the terminal."""
        session = TerminalSession(["profile", "add"], env=self.env())
        with contextlib.closing(session):
            for prompt, answer in (
                    (b"Name of the profile: ", b"work"), (b"empty for none): ", b"nonsense://"),
                    (b"url must begin with https://", None), (b"URL of the service", self.server.url.encode()),
                    (b"libHMACAuth.so\r\n       hmac: HMAC request signature", None), (b"Plugin (number, name or path", b"HMACAuth"),
                    (b"Preset (empty for none): ", b""), (b"api-key (Key id", API_KEY.encode()), (b"is a secret. Keep it in", None),
                    (b"Number: ", b"1")):
                session.read_until(lambda: prompt in session.shown, prompt)
                if answer is not None:
                    session.shown = b""
                    session.type(answer + b"\n")
            session.read_until(lambda: session.shown.endswith(b"secret: ") and not session.echoes(), "the secret's question")
            session.type(SECRET.encode() + b"\n")
            session.read_until(lambda: b"Set others as well" in session.shown, "the last question")
            session.type(b"\n")
            code, out, err = session.finish()
        self.assertEqual((code, err), (0, ""), out)
        self.assertNotIn(SECRET.encode(), session.shown)
        self.assertEqual(
            self.config.read_text(),
            f"[work]\nurl = {self.server.url}\nplugin = HMACAuth\nset = api-key={API_KEY}\nset = secret=file:secrets/work.secret\n")
        self.expect_verified(self.run_with("--profile", "work", "/a"))

    def test_interrupted(self):
        """Ctrl-C at the secret restores the terminal and writes nothing."""
        words = ["profile", "add", "work", "--plugin", "HMACAuth", "--set", f"api-key={API_KEY}", "--secret-store", "file"]
        session = TerminalSession(words, env=self.env())
        with contextlib.closing(session):
            session.read_until(lambda: session.shown.endswith(b"secret: ") and not session.echoes(), "the secret's question")
            session.process.send_signal(signal.SIGINT)
            self.assertEqual(session.finish()[0], -signal.SIGINT)
            self.assertTrue(session.echoes())
        self.assertFalse(self.config.exists())


class Keyring(ProfileTestCase, ServerTestCase):
    """With a session bus and a keyring for the test."""

    start, is_open = test_sessions.Keyring.start, test_sessions.Keyring.is_open

    def setUp(self):
        super().setUp()
        run = self.folder / "run"
        run.mkdir(mode=0o700)
        address = f"unix:path={run}/bus"
        self.session = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(run), "LC_ALL": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": address}
        configuration = self.file("bus.conf", f"""
            <busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth><policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>""")
        self.start(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={configuration}"])
        wait_until((run / "bus").exists, "the bus")
        self.start(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], test_sessions.Keyring.PASSWORD)
        wait_until(self.is_open, "the keyring")

    def env(self, **more):
        return super().env(DBUS_SESSION_BUS_ADDRESS=self.session["DBUS_SESSION_BUS_ADDRESS"], **more)

    def secret_tool(self, *words, stdin=b""):
        return subprocess.run(["secret-tool", *words], env=self.session, input=stdin, capture_output=True, timeout=PATIENCE)

    def test_profile(self):
        outcome = self.profile(
            "add", "work", "--url", self.server.url, *self.hmac("-"), "--secret-store", "keyring", stdin=SECRET.encode())
        self.expect(outcome, 0)
        self.assertIn("set = secret=keyring:work/secret\n", self.config.read_text())
        self.expect_verified(self.run_with("--profile", "work", "/a"))
        names = ["application", "nevod-host", "name", "work/secret"]
        self.assertEqual(self.secret_tool("lookup", *names).stdout, SECRET.encode())
        self.expect(self.profile("check"), 0)
        self.expect(self.profile("remove", "work", "--force"), 0)
        self.assertEqual(self.secret_tool("lookup", *names).stdout, b"")

    def test_of_a_renamed_profile_stays(self):
        for secret in (SECRET, "another"):
            self.expect(self.profile(
                "add", "work", "--url", self.server.url, *self.hmac("-"), "--secret-store", "keyring", stdin=secret.encode()), 0)
            self.expect(self.profile("rename", "work", f"old-{secret}"), 0)
        for name, secret in (("work/secret", SECRET), ("work/secret-2", "another")):
            self.assertIn(f"set = secret=keyring:{name}\n", self.config.read_text())
            self.assertEqual(
                self.secret_tool("lookup", "application", "nevod-host", "name", name).stdout, secret.encode())

    def test_item_of_the_users_own_stays(self):
        """`profile remove` removes only what `profile add` kept for this profile."""
        for name in ("theirs", "work/secret"):
            self.secret_tool("store", "--label", name, "application", "nevod-host", "name", name, stdin=SECRET.encode())
        self.write("[work]\nset = a=keyring:theirs\nset = b=keyring:worker/secret\nset = secret=keyring:work/secret\n")
        outcome = self.profile("remove", "work", "--force")
        self.assertEqual(outcome.out, b"removed work\nremoved its secret keyring:work/secret\n")
        self.expect(outcome, 0, "keyring:theirs stays", "name theirs", "keyring:worker/secret stays")
        for name, kept in (("theirs", SECRET), ("work/secret", "")):
            self.assertEqual(self.secret_tool("lookup", "application", "nevod-host", "name", name).stdout, kept.encode())

    def test_item_of_another_program(self):
        done = self.secret_tool("store", "--label", "theirs", "application", "nevod-host", "name", "theirs", stdin=SECRET.encode())
        self.assertEqual(done.returncode, 0, done)
        self.expect_verified(self.run_with(*self.hmac("keyring:theirs"), self.url("/a")))

    def test_item_that_is_not_there(self):
        outcome = self.run_with(*self.hmac("keyring:no item"), self.url("/a"))
        self.expect_failure(outcome, 111, 'the keyring\'s item "no item", which does not exist', "secret-tool store", "name 'no item'")


class NoKeyring(ProfileTestCase):
    def test_is_an_error_with_a_way_out(self):
        outcome = self.run_with("sign", *self.hmac("keyring:x"), "http://127.0.0.1/")
        self.expect_failure(outcome, 111, '"secret"', "no session bus", "dbus-run-session")


class Selection(ProfileTestCase):
    """The requests' header lines show which profile made them."""

    def setUp(self):
        super().setUp()
        self.here, self.there = (self.enterContext(RecordingServer()) for _ in range(2))
        self.write(
            f"default = here\n[here]\nurl = {self.here.http}/v1\nheader = X-Profile: here\n"
            f"[there]\nurl = {self.there.http}\nheader = X-Profile: there\n"
            f"[other]\nurl = https://other.example\nheader = X-Profile: other\n[bare]\nheader = X-Profile: bare\n")

    def used(self, *words, **options):
        """Returns the path and the profile of the one request."""
        outcome = self.run_with(*words, **options)
        self.expect(outcome, 0)
        (seen,) = self.here.requests + self.there.requests
        self.here.requests.clear(), self.there.requests.clear()
        return seen.target, *seen.values("X-Profile")

    def test_by_origin(self):
        self.assertEqual(self.used(f"{self.there.http}/a"), ("/a", "there"))
        self.assertEqual(self.used(f"{self.here.http}/a"), ("/a", "here"))

    def test_by_origin_says_why(self):
        outcome = self.run_with("-v", f"{self.there.http}/a")
        self.expect(outcome, 0, f"* profile there: it is for {self.there.http}\n")

    def test_by_default(self):
        self.assertEqual(self.used("/a"), ("/v1/a", "here"))

    def test_typed(self):
        self.assertEqual(self.used("--profile", "there", "a"), ("/a", "there"))
        self.assertEqual(self.used("--profile", "there", "/a", env={"NEVOD_PROFILE": "here"}), ("/a", "there"))

    def test_by_environment(self):
        self.assertEqual(self.used("/a", env={"NEVOD_PROFILE": "there"}), ("/a", "there"))
        self.assertEqual(self.used("/a", env={"NEVOD_PROFILE": ""}), ("/v1/a", "here"))

    def test_environment_is_not_for_other_origins(self):
        self.assertEqual(self.used(f"{self.here.http}/a", env={"NEVOD_PROFILE": "there"}), ("/a", "here"))
        outcome = self.run_with("-v", f"{self.here.http}/a", env={"NEVOD_PROFILE": "bare"})
        self.expect(outcome, 0, "the profile bare of NEVOD_PROFILE is not for this URL, so it isn't used")
        self.assertNotIn("bare", "".join(self.here.requests[-1].values("X-Profile")))

    @cases({"flag": (["--no-profile"], {}), "name": (["--profile", "none"], {}), "environment": ([], {"NEVOD_PROFILE": "none"})})
    def test_none(self, words, env):
        self.assertEqual(self.used(*words, f"{self.here.http}/a", env=env), ("/a",))

    def test_typed_credential(self):
        """The user means another credential than the profile's."""
        self.assertEqual(self.used("-u", "env:USER_PASSWORD", f"{self.here.http}/a", env={"USER_PASSWORD": "a:b"}), ("/a",))
        self.assertEqual(self.used(*self.hmac(), f"{self.here.http}/a"), ("/a",))
        self.assertEqual(self.used("-H", "authorization: x", f"{self.here.http}/a"), ("/a",))

    def test_typed_query_is_no_credential(self):
        self.assertEqual(self.used("--url-query", "a=1", f"{self.here.http}/a"), ("/a?a=1", "here"))

    def test_several_for_one_origin(self):
        self.config.write_text(f"[a]\nurl = {self.here.http}\nheader = X-Profile: a\n[b]\nurl = {self.here.http}/b\nheader = X-Profile: b\n")
        outcome = self.run_with(f"{self.here.http}/a")
        self.expect(outcome, 0, 'no profile is used, since "a", "b" are all for', "--no-profile")
        self.assertEqual(self.here.requests.pop().values("X-Profile"), [])
        self.config.write_text("default = b\n" + self.config.read_text())
        self.assertEqual(self.used(f"{self.here.http}/a"), ("/a", "b"))

    def test_several_urls(self):
        """No profile is used outside of its origins, even if it is for one of the URLs."""
        self.expect(self.run_with(f"{self.here.http}/a", f"{self.there.http}/b"), 0)
        self.assertEqual([seen.values("X-Profile") for seen in self.here.requests + self.there.requests], [[], []])

    @cases({"relative": "/a", "query": "?a"})
    def test_relative_without_a_profile(self, operand):
        self.write("[a]\nurl = https://a.example\n")
        self.expect_failure(self.run_with(operand), 2, "is relative, and no profile is chosen", "--profile NAME", "NEVOD_PROFILE", "default NAME")
        self.config.unlink()
        self.expect_failure(self.run_with(operand), 2, "is relative, and no profile is chosen")

    def test_relative_with_a_profile_without_a_url(self):
        self.expect_failure(self.run_with("--profile", "bare", "/a"), 2, 'config:11: the profile "bare" has no url', "url = https://HOST")

    def test_unknown(self):
        self.expect_failure(self.run_with("/a", env={"NEVOD_PROFILE": "heer"}), 2, "did you mean here?", "NEVOD_PROFILE")
        self.config.unlink()
        self.expect_failure(self.run_with("/a", env={"NEVOD_PROFILE": "here"}), 2, "there is no config file for NEVOD_PROFILE")

    def test_broken_config_file(self):
        """The broken file may have a profile for the URL."""
        self.write("[a]\nulr = x\n")
        self.expect_failure(self.run_with(f"{self.here.http}/a"), 2, "config:2: ", "did you mean url?", "write --no-profile")
        self.assertEqual(self.used("--no-profile", f"{self.here.http}/a"), ("/a",))

    def test_config_file_that_others_can_read(self):
        """The warning appears when the file is used."""
        self.config.chmod(0o644)
        self.assertNotIn("warning", self.run_with("http://127.0.0.1:1/").err)
        self.assertIn(f"warning: {self.config} can be read by others", self.run_with(f"{self.here.http}/a").err)

    def test_login(self):
        """A login also uses the default profile. This one's scheme has no login."""
        self.write("default = a\n[a]\nurl = https://a.example\nplugin = HMACAuth\nset = api-key=a\nset = secret=env:NEVOD_TEST_SECRET\n")
        for words in (["login"], ["logout"]):
            self.expect_failure(self.run_with(*words), 2, "has no login")
        self.expect_failure(self.run_with("login", "--no-profile"), 2, "login needs a --plugin")

    def test_without_a_config_file(self):
        self.config.unlink()
        self.assertEqual(self.used(f"{self.here.http}/a"), ("/a",))


class Overriding(ProfileTestCase):
    """Typed values override a profile."""

    def seen(self, profile, *words, code=0, respond=lambda seen: reply(), env=None):
        with RecordingServer(respond) as server:
            self.write(f"[p]\nurl = {server.http}\n{profile}")
            outcome = self.run_with("--profile", "p", *words, "/a", env=env)
        self.expect(outcome, code)
        return outcome, server.requests[0]

    def test_header(self):
        profile = "header = X-A: 1\nheader = x-a: 2\nheader = X-B: 3\n"
        seen = self.seen(profile, "-H", "X-a: 4")[1]
        self.assertEqual((seen.values("X-A"), seen.values("X-B")), (["4"], ["3"]))
        seen = self.seen(profile, "-H", "X-A;")[1]
        self.assertEqual(seen.values("X-A"), [""])
        seen = self.seen(profile, "--no-header", "-H", "X-C: 5")[1]
        self.assertEqual((seen.values("X-A"), seen.values("X-B"), seen.values("X-C")), ([], [], ["5"]))

    def test_setting(self):
        profile = "plugin = HMACAuth\nset = api-key=a\nset = secret=env:NEVOD_TEST_SECRET\n"
        self.assertEqual(self.seen(profile, "--set", "api-key=b")[1].values("X-API-Key"), ["b"])
        self.assertEqual(self.seen(profile)[1].values("X-API-Key"), ["a"])

    def test_no_plugin(self):
        """Flags for the plugin mean nothing without it."""
        seen = self.seen("plugin = HMACAuth\nset = api-key=a\nset = secret=env:NEVOD_TEST_SECRET\n", "--no-plugin")[1]
        self.assertEqual(seen.values("X-API-Key"), [])

    def test_flag_without_a_value(self):
        respond = lambda seen: reply("404 Not Found")
        self.seen("fail\n", code=22, respond=respond)
        self.seen("fail\n", "--no-fail", respond=respond)
        self.seen("fail\n", "--no-fail", "--fail", code=22, respond=respond)
        self.seen("", "--fail", "--no-fail", respond=respond)

    def test_flag_with_a_value(self):
        self.assertEqual(self.seen("request = PUT\n", "--no-request")[1].method, "GET")

    def test_silent_and_verbose(self):
        outcome = self.seen("verbose\n")[0]
        self.assertIn("> GET /a\n", outcome.err)
        self.assertEqual(self.seen("verbose\n", "--no-verbose")[0].err, "")

    @cases({"unknown": ("--no-frobnicate", "unknown option --no-frobnicate"), "value": ("--no-fail=1", "unknown option --no-fail")})
    def test_usage(self, word, fragment):
        self.expect_failure(self.run_with(word, "http://127.0.0.1:1"), 2, fragment)


class Sources(ProfileTestCase):
    """They are put into a header, where a server sees them."""

    def sign(self, source, *, env=None, **options):
        return self.run_with("sign", "--plugin", "HMACAuth", "--set", f"api-key={source}", "--set", "secret=env:NEVOD_TEST_SECRET",
                             "http://127.0.0.1:1/", env=env, **options)

    def expect_value(self, outcome, value):
        self.expect(outcome, 0)
        self.assertIn(f"\r\nX-API-Key: {value}\r\n".encode(), outcome.out)

    def program(self, name, text):
        return self.file(name, f"#!{sys.executable}\n{text}", mode=0o700)

    @cases({
        "words": ("a  b", ["a", "b"]), "quotes": ("'a  b' \"c'd\" e\\ f", ["a  b", "c'd", "e f"]),
        "no_shell": ("$HOME * ;x `y` >z", ["$HOME", "*", ";x", "`y`", ">z"]), "empty": ("'' \"\"", ["", ""]),
        "escapes": ("\"a\\\"b\" 'c\\d'", ['a"b', "c\\d"])})
    def test_command_words(self, words, expected):
        path = self.program("show", "import json, sys; print(json.dumps(sys.argv[1:]))")
        self.expect_value(self.sign(f"command:{path} {words}"), json.dumps(expected))

    def test_command_has_no_input_and_its_errors_are_shown(self):
        path = self.program("c", "import sys; print('key' + sys.stdin.read()); print('a note', file=sys.stderr)")
        outcome = self.sign(f"command:{path}")
        self.expect_value(outcome, "key")
        self.assertEqual(outcome.err, "a note\n")

    def test_command_of_the_path(self):
        self.expect_value(self.sign("command:printf 'a%s' b"), "ab")

    def test_command_that_leaves_a_program_behind(self):
        """The program holds the pipe, but the command doesn't wait for it."""
        path = self.program(
            "c", "import subprocess; print('key', flush=True); "
            f"left = subprocess.Popen(['sleep', '1000'], stderr=subprocess.DEVNULL); open('{self.folder}/pid', 'w').write(str(left.pid))")
        self.expect_value(self.sign(f"command:{path}"), "key")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)  # it still runs

    @cases({
        "status": (f"import sys; print('{SECRET}'); sys.exit(3)", "ended with the exit status 3"),
        "signal": (f"import os; print('{SECRET}', flush=True); os.kill(os.getpid(), 9)", "was ended by the signal 9"),
        "too_much": ("print('x' * (2 << 20))", "prints more than 1 MiB")})
    def test_command_that_fails(self, text, problem):
        outcome = self.sign(f"command:{self.program('c', text)} {API_KEY}")
        self.expect_failure(outcome, 111, f'"{self.folder}/c"', problem)
        self.assertNotIn(SECRET, outcome.err)
        self.assertNotIn(API_KEY, outcome.err)

    @cases({
        "unknown": ("command:no-such-program x", "which is not found in PATH"), "quote": ("command:a 'b", "has an unclosed '"),
        "backslash": ("command:a \\", "ends with a \\"), "empty": ("command:''", "names no program"),
        "nothing": ("command:", "write command:PROGRAM"), "no_variable": ("env:", "write env:VARIABLE"),
        "no_file": ("file:", "write file:PATH"), "no_item": ("keyring:", "write keyring:NAME"),
        "assigned": ("env:A=B", "which is not set")})
    def test_malformed(self, source, problem):
        self.expect_failure(self.sign(source), 111, '"api-key"', problem)

    def test_command_ends_with_the_time_limit(self):
        path = self.program("c", f"import os, time; open('{self.folder}/pid', 'w').write(str(os.getpid())); time.sleep({PATIENCE * 2})")
        outcome = self.run_with("--max-time", "2", *self.hmac(f"command:{path}"), "http://127.0.0.1:1/")
        self.assertIn(outcome.code, (28, 111), outcome)
        child = int((self.folder / "pid").read_text())
        wait_until(lambda: not os.path.exists(f"/proc/{child}") or "State:\tZ" in open(f"/proc/{child}/status").read(), "its end")

    def test_home(self):
        self.file("key", "from-home\n")
        self.expect_value(self.sign("file:~/key", env={"HOME": str(self.folder)}), "from-home")
        self.expect_value(self.sign("command:~/c", env={"HOME": str(self.program("c", "print('out')").parent)}), "out")

    def test_relative_to_the_config_file(self):
        self.write("[p]\nurl = http://127.0.0.1:1\nplugin = HMACAuth\nset = api-key=file:key\nset = secret=command:./c\n")
        (self.config.parent / "key").write_text("beside\n")
        (self.config.parent / "c").write_text("#!/bin/sh\necho x\n")
        (self.config.parent / "c").chmod(0o700)
        self.expect_value(self.run_with("sign", "--profile", "p", "/"), "beside")

    def test_text_like_a_source(self):
        self.expect_value(self.sign("text:command:x"), "command:x")


class Places(ProfileTestCase):
    """An error about a value of a profile names the file and the line."""

    GOOD = ["plugin = HMACAuth", "set = api-key=a", "set = secret=env:NEVOD_TEST_SECRET"]

    @cases({
        "number": (["max-time = x"], 3, 2, "--max-time x is not a number"),
        "unknown_setting": (["plugin = HMACAuth", "set = api-kee=a"], 4, 111, "did you mean api-key?"),
        "choice": (GOOD + ["set = algorithm=md4"], 6, 111, "algorithm"),
        "variable": (["plugin = HMACAuth", "set = api-key=env:NEVOD_UNSET"], 4, 111, "NEVOD_UNSET"),
        "file": (["plugin = HMACAuth", "set = api-key=file:nope"], 4, 26, "nevod/nope"),
        "literal_secret": (["plugin = HMACAuth", f"set = secret={SECRET}"], 4, 111, "is a secret"),
        "plugin": (["plugin = Nope"], 3, 110, "Nope"), "scheme": (GOOD + ["scheme = basic"], 6, 110, "basic"),
        "ca": (["cacert = /dev/null"], 3, 77, "")})
    def test_line(self, lines, line, code, fragment):
        with RecordingServer() as server:
            self.write("\n".join(["[p]", f"url = {server.https}", *lines, ""]))
            outcome = self.run_with("--profile", "p", "/")
        self.expect_failure(outcome, code, f"nevod-host: {self.config}:{line} ([p]): ", fragment)
        self.assertNotIn(SECRET, outcome.err)

    def test_not_for_what_is_typed(self):
        self.write("\n".join(["[p]", "url = https://127.0.0.1:1", "max-time = 5", *self.GOOD, ""]))
        self.expect_failure(self.run_with("--profile", "p", "--max-time", "x", "/"), 2, "nevod-host: --max-time x")
        self.expect_failure(self.run_with("--profile", "p", "--set", "api-key=env:NEVOD_UNSET", "/"), 111, "nevod-host: the setting")
