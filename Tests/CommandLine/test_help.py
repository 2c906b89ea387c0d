"""The help, the manual page, and commands that follow flags."""

import fcntl
import os
import pathlib
import re
import select
import struct
import subprocess
import termios

from support import HOST, PATIENCE, ROOT, ServerTestCase, TestCase, cases, environment

TOPICS = ["exit-codes", "settings", "presets", "secrets", "profiles", "sessions", "environment", "curl", "shorthands", "plugins",
          "authorization", "request", "transfer", "output", "connection", "authoring", "general"]


class HelpTestCase(TestCase):
    def text(self, *words):
        outcome = self.run_host(*words)
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "", outcome)
        return outcome.out.decode()

    def commands(self):
        """Returns the commands that the help lists."""
        block = self.text("--help").partition("Commands:\n")[2].partition("\n\n")[0]
        return re.findall(r"(?m)^  ([a-z-]+)  ", block)

    def flags(self):
        """Returns the flags of the manual page, which is made in another way."""
        return set(re.findall(r"\\fB\\-\\-([a-z0-9\\-]+)\\fR", self.text("manual")))


class Help(HelpTestCase):
    def test_one_screen(self):
        """Examples come first."""
        text = self.text("--help")
        self.assertLessEqual(len(text.splitlines()), 45)
        self.assertEqual(text, self.text("help"))
        self.assertEqual(text, self.text("-h"))
        parts = [text.index(part) for part in ("Usage:", "Examples:", "Commands:", "Topics")]
        self.assertEqual(parts, sorted(parts))
        self.assertGreaterEqual(text.count("\n  nevod-host "), 6)

    def test_topics(self):
        listed = re.search(r"Topics for nevod-host help TOPIC: ([^.]*)\.", self.text("--help"))[1]
        topics = re.split(r",\s+", listed)
        self.assertLessEqual(set(TOPICS), set(topics))
        for topic in topics:
            self.assertGreater(len(self.text("help", topic).splitlines()), 2, topic)

    def test_commands(self):
        commands = self.commands()
        self.assertIn("login", commands)
        for command in commands:
            text = self.text(command, "--help")
            self.assertTrue(text.startswith(f"nevod-host {command}: "), text)
            self.assertLess(text.index("Examples:"), text.index("Usage:"), text)
            self.assertIn("--version", text)
            if command != "sessions":  # this is a topic too
                self.assertEqual(text, self.text("help", command))

    def test_everything(self):
        """In 80 columns, unless a word is longer."""
        text = self.text("help", "all")
        for flag in self.flags():
            self.assertIn("--" + flag.replace("\\", ""), text)
        for line in text.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)

    @cases({"long": ("--retry", "--retry COUNT"), "bare": ("retry", "--retry COUNT"), "letter": ("-L", "-L, --location")})
    def test_flag(self, word, spelling):
        text = self.text("help", word)
        self.assertIn(spelling, text)
        self.assertIn("For requests. See nevod-host help transfer.", text)

    def test_two_flags_of_one_name(self):
        text = self.text("help", "--json")
        self.assertIn("--json DATA", text)
        self.assertIn("Print JSON", text)

    def test_unknown(self):
        self.expect_failure(self.run_host("help", "secretz"), 2, '"secretz"; did you mean secrets?')
        self.expect_failure(self.run_host("help", "--retyr"), 2, "did you mean retry?")
        self.expect_failure(self.run_host("help", "zzzzzzzz"), 2, "the topics are exit-codes, ")
        self.expect_failure(self.run_host("help", "curl", "secrets"), 2, "one topic")

    @cases({"narrow": (50, {}, 50), "wide": (100, {}, 100), "very_wide": (400, {}, 110), "columns": (100, {"COLUMNS": "60"}, 60)})
    def test_width_of_a_terminal(self, columns, env, width):
        text = at_a_terminal(columns, env, "help", "connection")
        lines = [len(line) for line in text.splitlines()]
        self.assertLessEqual(max(lines), width, text)
        self.assertGreater(max(lines), width - 15, text)

    def test_hanging_indents(self):
        lines = self.text("help", "connection").splitlines()
        first = next(number for number, line in enumerate(lines) if "--proxy URL" in line)
        column = lines[first].index("Use this proxy")
        self.assertEqual(re.match(" *", lines[first + 1]).end(), column, lines[first : first + 2])


def at_a_terminal(columns, env, *words):
    """Returns what is shown at a terminal of this width."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [HOST, *words], env=environment(PAGER="cat", **env), stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        start_new_session=True)
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        assert process.wait(PATIENCE) == 0, shown
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)
    return shown.decode().replace("\r\n", "\n")


class Manual(HelpTestCase):
    SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS", "FILES", "SEE ALSO"]

    def page(self):
        return self.file("nevod-host.1", self.text("manual"))

    def test_sections(self):
        self.assertEqual(re.findall(r"(?m)^\.SH (.*)$", self.text("manual")), self.SECTIONS)

    def test_mandoc(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", self.page()], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)

    def test_groff(self):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-T", "utf8", "-P-cbou", self.page()], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        version = self.text("--version").split()[1]
        for text in (f"nevod-host {version}", "--max-time SECONDS", "NEVOD_PLUGIN_PATH"):
            self.assertIn(text, done.stdout)

    def test_examples(self):
        """Each command has one, and the page has all of them."""
        page = self.text("manual").partition(".SH EXAMPLES")[2].partition(".SH OPTIONS")[0].replace("\\-", "-")
        for command in self.commands():
            self.assertRegex(page, rf"nevod-host {command}\b")

    def test_date(self):
        """A release's date comes from the change log."""
        date = re.search(r'^\.TH \S+ 1 "(\d{4}-\d\d-\d\d)" ', self.text("manual"))[1]
        heading = re.search(r"(?m)^## \S+ (.*)$", (ROOT / "CHANGELOG.md").read_text())[1]
        released = re.search(r"\d{4}-\d\d-\d\d", heading)
        if released:
            self.assertEqual(date, released[0])


class Environment(HelpTestCase):
    """The table of variables matches the sources."""

    MODULES = ["nevod-host", "NevodHost", "NevodStorage", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodSupport",
               "NevodPluginTesting", "NevodPluginChecks"]
    # Variables that are read, but not for users. (Other texts in capitals are told apart by the lines that contain them.)
    INTERNAL = {
        "NEVOD_STORM_ROUNDS": "only the tests read it",
    }
    # Read by a library that the program loads: libpq, and the session bus's.
    OF_LIBRARIES = {"PGPASSFILE", "PGSERVICEFILE"}
    READING = re.compile(
        r"getenv\(|trustedEnvironment\(|\benvironment\(|environment\)|first\(\[|folder\(\"|\b(?:value|variable)\(\"|"
        r"\bvariables?\b *[:=]|\bvariables\b")

    def read(self):
        """Returns the variables that the sources name in a line that reads one."""
        names = set()
        for module in self.MODULES:
            for path in (ROOT / "Sources" / module).rglob("*.swift"):
                if path.name == "HelpTopic.swift" or path.parent.name == "Flags":
                    continue
                for line in path.read_text().splitlines():
                    if line.strip().startswith("///") or not self.READING.search(line):
                        continue
                    names.update(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|(?:http|https|all|no)_proxy)"', line))
        return names - set(self.INTERNAL)

    def documented(self):
        section = self.text("manual").partition(".SH ENVIRONMENT")[2].partition(".SH EXIT")[0].replace("\\-", "-")
        return {name for names in re.findall(r"(?m)^\.B (.*)$", section) for name in names.split(", ")}

    def test_all_are_documented(self):
        self.assertEqual(self.read() - self.documented(), set())

    def test_all_are_read(self):
        self.assertEqual(self.documented() - self.read() - self.OF_LIBRARIES, set())


class BehindFlags(ServerTestCase):
    def where(self, *words):
        store = self.folder / "s.db"
        outcome = self.run_host(*(str(store) if word == "STORE" else word for word in words))
        self.expect(outcome, 0)
        return outcome.out.decode()

    @cases({
        "one": ("--store", "STORE", "sessions"), "attached": ("--store=STORE", "sessions"), "letters": ("-vv", "--store", "STORE", "sessions"),
        "on_both_sides": ("-v", "sessions", "--store", "STORE"), "behind": ("sessions", "--store", "STORE"),
    })
    def test_command(self, *words):
        self.assertIn("no sessions", self.where(*words))

    def test_its_words(self):
        self.expect_failure(self.run_host("-v", "store", "verify", "--store", self.folder / "s.db"), 114, "there is no store")

    def test_record(self):
        self.expect_failure(self.run_host("--force", "record"), 2, "record needs a FILE")

    def test_value_of_a_flag(self):
        """A command's name stays the flag's value."""
        self.expect(self.run_host("-o", "sessions", "-f", self.url("/status/200"), cwd=self.folder), 0)
        self.assertTrue((self.folder / "sessions").exists())

    def test_flag_of_two_meanings(self):
        """The flag has a request's meaning."""
        self.expect(self.run_host("--json", '"sessions"', self.url("/echo")), 0)
        self.assertEqual(self.the_request()["method"], "POST")

    def test_flag_of_another_command(self):
        self.expect_failure(self.run_host("-i", "sessions"), 2, "unknown option -i here")

    def test_word_of_a_url(self):
        """A word after the URL isn't a command."""
        outcome = self.run_host("-i", self.url("/status/200"), "sessions")
        self.assertNotIn(b"no sessions", outcome.out)
        self.assertEqual(len(self.server.requests()), 1, outcome)
