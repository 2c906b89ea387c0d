"""Presets: what a user types for a service, where presets are found, what they may set, and the shipped ones."""

import contextlib
import functools
import json
import pathlib
import re
import shutil
import subprocess
from unittest import mock

import support
import test_terminal
from support import API_KEY, BUILD, ROOT, SECRET, ServerTestCase, TestCase, cases, compile_plugin, shared_folder
from test_profiles import ProfileTestCase
from test_sessions import ANSWERS_OF_ADA, SessionServer
from test_terminal import TerminalSession


def apart(test):
    """Runs a test with a copy of the program that has no shipped presets."""

    @functools.wraps(test)
    def run(self, *arguments):
        folder = self.folder / "apart"
        folder.mkdir()
        for name in ("nevod-host", "libHMACAuth.so"):
            try:
                (folder / name).hardlink_to((BUILD / name).resolve())
            except OSError:
                shutil.copy2(BUILD / name, folder / name)
        host = folder / "nevod-host"
        with mock.patch.object(support, "HOST", host), mock.patch.object(test_terminal, "HOST", host):
            test(self, *arguments)

    return run


class PresetTestCase(ProfileTestCase):
    """Has its own presets for the scheme of libHMACAuth.so."""

    def preset(self, text, name="acme", scheme="hmac", mode=0o600):
        folder = self.folder / "nevod-host/presets" / scheme
        folder.mkdir(parents=True, exist_ok=True)
        for path in (folder, *folder.parents):
            if path.is_relative_to(self.folder):
                path.chmod(0o700)
        path = folder / f"{name}.preset"
        path.write_text(text)
        path.chmod(mode)
        return path

    def sign(self, *words, **options):
        """What the request would be, as text."""
        outcome = self.run_with("sign", *self.hmac(), *words, "https://api.example.com/a", **options)
        self.expect(outcome, 0)
        self.assertEqual(outcome.err, "", outcome)
        return outcome.out.decode()

    def refused(self, *words, fragments, **options):
        outcome = self.run_with("sign", *self.hmac(), *words, "https://api.example.com/a", **options)
        self.expect_failure(outcome, 111, *fragments)
        return outcome


class TextsOfSeveralLines(PresetTestCase):
    """A repeatable setting whose values are statements, one on each line. A file has many."""

    SETTING = '.name = NEVOD_BYTES("recipe"), .flags = NEVOD_SETTING_REPEATABLE'
    URL = "https://api.example.com/a"
    # Logs its values, with escaped line breaks.
    SHOW = ("for (uint32_t i = 0; i < value_count; i++) host->log(host->host, NEVOD_LOG_ERROR, values[i].value)")
    PRESET = "# Acme\n\nrecipe = let a = b\nrecipe = header Accept: x = {a}\nrecipe = text:query x={a}\n"

    def given(self, *words):
        plugin = compile_plugin(self.folder / "libTest.so", SETTING=self.SETTING, CREATE=self.SHOW)
        outcome = self.run_with("sign", "-p", plugin, *words, self.URL)
        self.expect(outcome, 0)
        return [line.removeprefix("nevod-host: Test: error: ") for line in outcome.err.splitlines()]

    def problem(self, message, *words, setting=SETTING, subject="recipe"):
        create = f'REPORT("{subject}", "{message}"); return NEVOD_BAD_SETTINGS'
        plugin = compile_plugin(self.folder / "libTest.so", SETTING=setting, CREATE=create)
        outcome = self.run_with("sign", "-p", plugin, *words, self.URL, cwd=self.folder)
        self.expect_failure(outcome, 111)
        lead = f'nevod-host: {plugin}: the scheme "test" needs corrected settings: '
        self.assertTrue(outcome.err.startswith(lead), outcome)
        return outcome.err.removeprefix(lead).removesuffix("\n")

    def test_a_file_is_one_value_with_its_line_breaks(self):
        path = self.file("mine.recipe", "# mine\n\nlet a = {time}\r\nheader X = {a}\n")
        self.assertEqual(
            self.given("--set", f"recipe=file:{path}", "--set", "recipe=x"),
            [r"# mine\u{a}\u{a}let a = {time}\u{d}\u{a}header X = {a}", "x"])

    def test_all_lines_of_a_preset_are_replaced(self):
        """A statement isn't a pair, which would replace only the pair of the same name."""
        self.preset(self.PRESET, scheme="test")
        self.assertEqual(
            self.given("--set", "preset=acme"), ["let a = b", "header Accept: x = {a}", "query x={a}"])
        path = self.file("mine.recipe", "let a = c\n")
        for own in ("let a = c", f"file:{path}"):
            self.assertEqual(self.given("--set", "preset=acme", "--set", f"recipe={own}"), ["let a = c"])

    def test_lines_of_a_profile_are_replaced_by_typed_ones(self):
        plugin = compile_plugin(self.folder / "libTest.so", SETTING=self.SETTING, CREATE=self.SHOW)
        self.write(f"[p]\nurl = {self.URL}\nplugin = {plugin}\nset = recipe=let a = b\nset = recipe=header X = {{a}}\n")
        for words, shown in (((), ["let a = b", "header X = {a}"]), (("--set", "recipe=let a = c"), ["let a = c"])):
            outcome = self.run_with("sign", "--profile", "p", *words, self.URL)
            self.assertEqual([line.removeprefix("nevod-host: Test: error: ") for line in outcome.err.splitlines()], shown)

    def test_an_error_names_the_line_of_the_file(self):
        self.file("mine.recipe", "let a = b\n\nlet c = {x}\n")
        self.file("other.recipe", "one\ntwo\n")
        mine, other = "recipe=file:mine.recipe", "recipe=file:other.recipe"
        for line, words, shown in (
                (3, [mine], "mine.recipe:3:12: no value x"),
                (3, [mine, other], "mine.recipe:3:12: no value x"),
                (5, [mine, other], "other.recipe:2:12: no value x"),
                (4, [mine, "recipe=typed", other], "recipe line 4, column 12: no value x"),
                (6, [mine, "recipe=typed", other], "other.recipe:2:12: no value x"),
                (99, [mine], "recipe line 99, column 12: no value x (in mine.recipe)"),
                (0, [mine, other], "recipe line 0, column 12: no value x (in mine.recipe and other.recipe)"),
                (1, ["recipe=typed"], "recipe line 1, column 12: no value x")):
            with self.subTest(line=line, words=words):
                settings = [word for text in words for word in ("--set", text)]
                self.assertEqual(self.problem(f"line {line}, column 12: no value x", *settings), shown)

    @cases({"words": "no value", "line": "line 3: no value", "large": "line 99999999999999999999, column 1: no value"})
    def test_an_error_without_line_and_column_names_the_file(self, message):
        self.file("mine.recipe", "a\nb\nc\n")
        shown = "mine.recipe:3: no value" if message.startswith("line 3") else f"recipe {message} (in mine.recipe)"
        self.assertEqual(self.problem(message, "--set", "recipe=file:mine.recipe"), shown)

    def test_an_error_names_the_line_of_a_preset(self):
        path = self.preset(self.PRESET, scheme="test")
        self.assertEqual(self.problem("line 2, column 8: no", "--set", "preset=acme"), f"{path}:4: column 8: no")
        self.assertEqual(self.problem("is empty", "--set", "preset=acme"), f"recipe is empty (in {path})")
        self.file("mine.recipe", "let a = c\n")
        self.assertEqual(
            self.problem("line 1, column 8: no", "--set", "preset=acme", "--set", "recipe=file:mine.recipe"), "mine.recipe:1:8: no")

    def test_an_error_about_another_setting_names_no_file(self):
        self.file("mine.recipe", "let a = c\n")
        self.assertEqual(
            self.problem("line 1, column 1: no", "--set", "recipe=file:mine.recipe", subject="api-key"),
            "api-key line 1, column 1: no")

    def test_a_value_of_the_wrong_kind_names_the_file(self):
        self.file("number", "many\n")
        setting = '.name = NEVOD_BYTES("count"), .kind = NEVOD_SETTING_INTEGER'
        plugin = compile_plugin(self.folder / "libTest.so", SETTING=setting)
        outcome = self.run_with("sign", "-p", plugin, "--set", "count=file:number", self.URL, cwd=self.folder)
        self.expect_failure(outcome, 111, 'the setting "count" of the scheme "test" must be an integer, not "many" (in number)')


class Using(PresetTestCase):
    ACME = "# Acme\n# source: https://acme.example/docs\nsignature-header = X-Acme\nkey-header = X-Acme-Key\n"

    def test_its_settings_are_used(self):
        self.preset(self.ACME)
        text = self.sign("--set", "preset=acme")
        self.assertRegex(text, r"\r\nX-Acme: [0-9a-f]{64}\r\n")
        self.assertIn(f"\r\nX-Acme-Key: {API_KEY}\r\n", text)

    def test_the_order_of_the_words_means_nothing(self):
        self.preset(self.ACME)
        outcome = self.run_with("sign", "--set", "preset=acme", *self.hmac(), "https://api.example.com/a")
        self.assertIn(b"X-Acme: ", outcome.out, outcome)

    def test_what_is_typed_wins(self):
        self.preset(self.ACME)
        text = self.sign("--set", "key-header=X-Mine", "--set", "preset=acme")
        self.assertIn(f"\r\nX-Mine: {API_KEY}\r\n", text)
        self.assertIn("\r\nX-Acme: ", text)
        self.assertNotIn("X-Acme-Key", text)

    def test_in_a_profile(self):
        self.preset(self.ACME)
        self.preset("# Other\nsignature-header = X-Other\n", "other")
        self.write("[work]\nplugin = HMACAuth\nset = api-key=k\nset = secret=env:NEVOD_TEST_SECRET\nset = preset=acme\n"
                   "set = key-header=X-Profile\n")
        outcome = self.run_with("sign", "--profile", "work", "https://api.example.com/a", "--origin", "https://api.example.com")
        self.assertIn(b"\r\nX-Profile: k\r\n", outcome.out, outcome)
        self.assertIn(b"\r\nX-Acme: ", outcome.out, outcome)
        outcome = self.run_with(
            "sign", "--profile", "work", "https://api.example.com/a", "--origin", "https://api.example.com", "--set", "preset=other")
        self.assertIn(b"\r\nX-Other: ", outcome.out, outcome)
        self.assertNotIn(b"X-Acme", outcome.out, outcome)

    def test_an_error_names_the_line_of_the_profile(self):
        self.write("[work]\nplugin = HMACAuth\nset = preset=none\n")
        outcome = self.run_with("sign", "--profile", "work", "https://api.example.com/a", "--origin", "https://api.example.com")
        self.expect_failure(outcome, 111, f"{self.config}:3 ([work]): the scheme \"hmac\" has no preset \"none\"")

    def test_placeholders(self):
        self.preset("# Acme\n{region} = The region, such as eu-1\nsignature-value = {region}/{signature}\n")
        self.assertRegex(self.sign("--set", "preset=acme", "--set", "region=us-2"), r"\r\nX-Signature: us-2/[0-9a-f]{64}\r\n")
        self.assertIn("X-Signature: us-3/", self.sign("--set", "preset=acme", "--set", "region=env:REGION", env={"REGION": "us-3"}))
        self.refused("--set", "preset=acme", fragments=[
            'the preset "acme" needs "region" (The region, such as eu-1) among the settings; write --set region=VALUE'])
        outcome = self.refused("--set", "preset=acme", "--set", "region=a/b@c", fragments=['"region" of the preset "acme"'])
        self.assertNotIn("a/b@c", outcome.err)
        self.refused("--set", "preset=acme", "--set", "region=a", "--set", "region=b", fragments=["more than once"])

    def test_a_placeholder_that_nothing_needs(self):
        self.preset("# Acme\n{region} = The region\nsignature-value = {region}/{signature}\n")
        text = self.sign("--set", "preset=acme", "--set", "signature-value={signature}")
        self.assertRegex(text, r"\r\nX-Signature: [0-9a-f]{64}\r\n")

    def test_a_mistyped_setting_beside_it(self):
        self.preset(self.ACME)
        outcome = self.refused("--set", "preset=acme", "--set", "colour=literal-hunter2", fragments=['"colour"', "api-key, secret"])
        self.assertNotIn("literal-hunter2", outcome.err)

    def test_the_session_is_that_of_the_settings(self):
        """A preset and the same typed settings share a session: it belongs to the settings, not to a name."""
        server = SessionServer()
        self.addCleanup(server.stop)
        self.preset("# Demo\ncsrf = input\ncsrf-name = csrf\n", "demo", scheme="cookie")
        words = ["--plugin", "CookieAuth", "--set", f"login={server.url}/signin"]
        home = {"HOME": str(self.folder), "NEVOD_HOST_STORE": ""}
        self.expect(self.run_with("login", *words, "--set", "preset=demo", *ANSWERS_OF_ADA, env=home), 0)
        for same in (["--set", "preset=demo"], ["--set", "csrf-name=csrf", "--set", "csrf=input"]):
            outcome = self.run_with(*words, *same, f"{server.url}/orders", env=home)
            self.expect(outcome, 0)
            self.assertEqual(json.loads(outcome.out)["user"], "ada")
        outcome = self.run_with(*words, "--set", "preset=demo", "--set", "csrf-name=other", f"{server.url}/orders", env=home)
        self.assertNotEqual(outcome.code, 0, "other settings are another session")


class Choosing(PresetTestCase):
    @cases({"near": ("acne", "; did you mean acme?"), "far": ("zzzzzz", "its presets are acme"), "case": ("Acme", "did you mean acme?"),
            "path": ("../hmac/acme", "its presets are acme"), "empty": ("", "its presets are acme")})
    @apart
    def test_unknown(self, name, fragment):
        self.preset("# A\nkey-header = X-A\n")
        self.refused("--set", f"preset={name}", fragments=[f'the scheme "hmac" has no preset "{name}"', fragment])

    @apart
    def test_none_at_all(self):
        self.refused("--set", "preset=acme", fragments=["it has none"])

    def test_twice(self):
        self.preset("# A\nkey-header = X-A\n")
        self.refused("--set", "preset=acme", "--set", "preset=acme", fragments=["--set preset was given more than once"])

    def test_from_the_environment(self):
        self.preset("# A\nkey-header = X-A\n")
        self.assertIn("X-A: ", self.sign("--set", "preset=env:SERVICE", env={"SERVICE": "acme"}))

    def test_of_another_scheme(self):
        self.preset("# A\nheader = X-A\n", scheme="api-key")
        self.refused("--set", "preset=acme", fragments=['the scheme "hmac" has no preset "acme"'])

    def test_file(self):
        path = self.file("mine.preset", "# Mine\nkey-header = X-Mine\n")
        self.assertIn("X-Mine: ", self.sign("--set", f"preset=file:{path}"))
        self.assertIn("X-Mine: ", self.sign("--set", "preset=file:mine.preset", cwd=self.folder))
        self.assertIn("X-Mine: ", self.sign("--set", "preset=file:~/mine.preset", env={"HOME": str(self.folder)}))
        self.refused("--set", f"preset=file:{path}x", fragments=["no such file"])

    def test_file_of_a_profile_is_relative_to_it(self):
        self.write("[work]\nplugin = HMACAuth\nset = api-key=k\nset = secret=env:NEVOD_TEST_SECRET\n"
                   "set = preset=file:mine.preset\n")
        (self.folder / "nevod/mine.preset").write_text("# Mine\nkey-header = X-Mine\n")
        (self.folder / "nevod/mine.preset").chmod(0o600)
        outcome = self.run_with("sign", "--profile", "work", "https://api.example.com/a", "--origin", "https://api.example.com")
        self.assertIn(b"\r\nX-Mine: k\r\n", outcome.out, outcome)

    def test_a_scheme_with_a_setting_of_that_name(self):
        path = compile_plugin(shared_folder() / "libOwnPreset.so", SETTING='.name = NEVOD_BYTES("preset")')
        outcome = self.run_with("sign", "--plugin", path, "--set", "preset=anything", "https://api.example.com/a")
        self.expect(outcome, 0)


class Safety(PresetTestCase):
    @cases({
        "secret": ("secret = literal-hunter2", "secret is a secret, and a preset holds none"),
        "unknown": ("nonsense = literal-hunter2", 'has no setting "nonsense"'),
        "file": ("key-header = file:/etc/passwd", "a preset can't read a file"),
        "command": ("key-header = command:touch literal-hunter2", "a preset can't read a file"),
        "no_title": ("", "first line"), "choice": ("algorithm = md5", "must be one of"),
    })
    def test_refused(self, line, fragment):
        self.preset(f"# Acme\n{line}\n" if line else "key-header = X-A\n")
        outcome = self.refused("--set", "preset=acme", fragments=["acme.preset:", fragment])
        self.assertNotIn("literal-hunter2", outcome.err)

    def test_that_others_can_change(self):
        path = self.preset("# A\nkey-header = X-A\n", mode=0o666)
        self.refused("--set", "preset=acme", fragments=["others could change it", str(path)])
        path.chmod(0o600)
        path.parent.parent.chmod(0o777)
        self.refused("--set", "preset=acme", fragments=["others could change it", str(path.parent.parent)])

    def test_a_file_from_elsewhere_reads_no_variables(self):
        """The file could send them to its own server."""
        path = self.file("mine.preset", "# Mine\nkey-header = env:NEVOD_TEST_SECRET\n")
        outcome = self.refused("--set", f"preset=file:{path}", fragments=["env: is for presets that are found by their name"])
        self.assertNotIn(SECRET, outcome.err)

    def test_a_file_from_elsewhere_names_no_files(self):
        """The file could send them to its own server."""
        path = self.file("mine.preset", "# Mine\ntoken-url = https://evil.example/\nassertion-file = /etc/machine-id\n")
        outcome = self.run_with("login", "--plugin", "OAuth2Auth", "--set", f"preset=file:{path}", "--set", "grant=jwt-bearer")
        self.expect_failure(outcome, 111, "mine.preset:3: assertion-file is for presets that are found by their name")

    def test_a_variable(self):
        self.preset("# A\nkey-header = env:ACME_HEADER\n")
        self.assertIn("X-Env: ", self.sign("--set", "preset=acme", env={"ACME_HEADER": "X-Env"}))
        self.refused("--set", "preset=acme", fragments=["the environment variable ACME_HEADER, which is not set"])

    def test_plain_http(self):
        self.preset("# A\nlogin = http://app.example.com/login\n", scheme="cookie")
        outcome = self.run_with("login", "--plugin", "CookieAuth", "--set", "preset=acme")
        self.expect_failure(outcome, 111, "login must begin with https://")

    @apart
    def test_text_for_a_terminal(self):
        self.preset("# Acme \u202e\n{region} = The \u2066 region\nkey-header = X-{region}\n")
        self.refused("--set", "preset=acme", fragments=["The \\u{2066} region"])
        outcome = self.run_with("inspect", "HMACAuth")
        self.assertIn("Acme \\u{202e} (needs region)", outcome.out.decode(), outcome)


class Showing(PresetTestCase):
    @apart
    def test_inspect(self):
        self.preset("# Acme, for all\n{region} = The region\nkey-header = X-{region}\n")
        self.preset("# Broken\nnonsense = a\n", "broken")
        text = self.run_with("inspect", "HMACAuth").out.decode()
        self.assertIn("\n  --set preset=acme    Acme, for all (needs region)\n", text)
        self.assertRegex(text, r"\n  --set preset=broken  can't be used: .*broken.preset:2: the scheme \"hmac\" has no setting")
        scheme = json.loads(self.run_with("inspect", "HMACAuth", "--json").out)["schemes"][0]
        self.assertEqual(
            [{key: preset.get(key) for key in ("name", "title", "needs")} for preset in scheme["presets"]],
            [{"name": "acme", "title": "Acme, for all", "needs": [{"name": "region", "help": "The region"}]},
             {"name": "broken", "title": None, "needs": None}])
        self.assertIn("nonsense", scheme["presets"][1]["problem"])

    @apart
    def test_many(self):
        """If there are more than fit on a screen, they are listed by name. Unusable ones are listed with the reason."""
        for number in range(90):
            self.preset(f"# Vendor {number}, for all\nkey-header = X-A\n", f"vendor-{number:02}")
        self.preset("# Broken\nnonsense = a\n", "broken")
        text = self.run_with("inspect", "HMACAuth").out.decode()
        start, _, presets = text.partition("  --set preset=NAME, one of 91; nevod-host help presets says what each is for:\n")
        self.assertTrue(presets, start)
        self.assertNotIn("vendor", start)
        self.assertNotIn("for all", presets)
        *names, problem = presets.splitlines()
        self.assertEqual(", ".join(line.strip(" ,") for line in names).split(", "),
                         ["broken"] + [f"vendor-{number:02}" for number in range(90)])
        self.assertTrue(all(line.startswith("    ") and len(line) <= 80 for line in names), names)
        self.assertRegex(problem, r"^  --set preset=broken  can't be used: .*broken.preset:2: ")
        self.assertEqual(len(json.loads(self.run_with("inspect", "HMACAuth", "--json").out)["schemes"][0]["presets"]), 91)
        self.assertIn("  vendor-07  Vendor 7, for all\n", self.run_with("help", "presets").out.decode())

    @cases({
        "near": ("vendor-077", "; did you mean vendor-07 or vendor-77?"),
        "far": ("nothing", "; nevod-host help presets lists them"),
    })
    @apart
    def test_one_that_is_not_among_many(self, name, hint):
        for number in range(90):
            self.preset(f"# Vendor {number}, for all\nkey-header = X-A\n", f"vendor-{number:02}")
        outcome = self.refused("--set", f"preset={name}", fragments=[])
        self.assertEqual(outcome.err, f'nevod-host: the scheme "hmac" has no preset "{name}"; it has 90{hint}\n')

    def test_help(self):
        self.preset("# Acme, for all\n{region} = The region\nkey-header = X-{region}\n")
        self.preset("no title\n", "broken")
        text = self.run_with("help", "presets").out.decode()
        self.assertRegex(text, r"(?m)^hmac:\n\n?  acme +Acme, for all \(needs region\)$")
        self.assertIn("can't be used", text)
        self.assertRegex(text, r"(?m)^oauth2:$")
        self.assertRegex(text, r"(?m)^  github  ")

    def ask(self, *words):
        outcome = self.run_with("complete-for-shell", "setting", "-p", "HMACAuth", *words)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out.decode().splitlines()

    @apart
    def test_completions(self):
        self.assertNotIn("preset=", self.ask("--set", ""))
        self.preset("# Acme\n{region} = The region\nkey-header = X-{region}\n")
        self.preset("# Other\nkey-header = X-O\n", "other")
        self.assertIn("preset=", self.ask("--set", ""))
        self.assertEqual(self.ask("--set", "preset="), ["preset=acme", "preset=other"])
        chosen = self.ask("--set", "preset=acme", "--set", "")
        self.assertIn("region=", chosen)
        self.assertNotIn("preset=", chosen)


class Profiles(PresetTestCase, ServerTestCase):
    ACME = "# Acme\n{region} = The region\nsignature-header = X-{region}\n"

    def test_add(self):
        self.preset(self.ACME)
        outcome = self.profile("add", "work", *self.hmac(), "--set", "preset=acme", "--set", "region=a")
        self.expect(outcome, 0)
        self.assertIn("set = preset=acme\nset = region=a\n", self.config.read_text())
        shown = self.profile("show", "work").out.decode()
        self.assertIn("preset=acme", shown)
        self.assertIn("region=a", shown)
        self.expect(self.profile("check", "work"), 0)

    @cases({"unknown": (["--set", "preset=acne"], "did you mean acme?"), "needs": (["--set", "preset=acme"], "--set region=VALUE")})
    def test_add_what_is_refused(self, words, fragment):
        self.preset(self.ACME)
        self.expect_failure(self.profile("add", "work", *self.hmac(), *words), 111, fragment)
        self.assertFalse(self.config.exists())

    def test_add_with_a_variable_that_is_not_set_here(self):
        self.preset("# Acme\nsignature-header = env:ACME_HEADER\n")
        outcome = self.profile("add", "work", *self.hmac(), "--set", "preset=acme")
        self.expect(outcome, 0, "warning: not tried: ", "ACME_HEADER")

    def test_check(self):
        self.preset(self.ACME)
        self.write("[work]\nplugin = HMACAuth\nset = api-key=k\nset = secret=env:NEVOD_TEST_SECRET\nset = preset=acme\n")
        outcome = self.profile("check", "work")
        self.expect(outcome, 111)
        self.assertIn(f"{self.config}:5 ([work]): the preset \"acme\" needs \"region\"", outcome.err + outcome.out.decode())

    @apart
    def test_asked_for(self):
        self.preset("# Acme\n{region} = The region\n{level} = The level\nalgorithm = sha256\nsignature-header = X-Signature\n"
                    "message = {method}\\n{path}\\n{timestamp}\\n{body-hash}\nnonce-header = X-{region}\n"
                    "timestamp-header = X-{level}\n")
        # Nothing needs the level.
        given = ["--set", "timestamp-header=X-Timestamp"]
        session = TerminalSession(["profile", "add", *given], env=self.env())
        with contextlib.closing(session):
            for prompt, answer in (
                    (b"Name of the profile: ", b"work"), (b"URL of the service", self.server.url.encode()),
                    (b"Plugin (number, name or path", b"HMACAuth"), (b"Presets: acme\r\n", None),
                    (b"Preset (empty for none): ", b"acne"), (b"no preset acne; did you mean acme?", b"acme"),
                    (b"region (The region): ", b"a/b"), (b"must be letters, digits", b"Nonce"), (b"api-key (Key id", API_KEY.encode()),
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
        self.assertIn("set = preset=acme\nset = region=Nonce\nset = api-key=", self.config.read_text())
        self.expect_verified(self.run_with("--profile", "work", "/a"))


class Shipped(PresetTestCase):
    """Each preset in the sources, read by its scheme."""

    # Values that presets require, and values that they leave to the user.
    VALUES = {"tenant": "common", "domain": "acme.okta.com", "host": "login.example.com:8443", "realm": "master",
              "region": "eu-central-1", "pool": "eu-central-1_a1B2c3D4e"}

    def shipped(self):
        files = sorted((ROOT / "Presets/oauth2").glob("*.preset"))
        self.assertGreater(len(files), 20)
        return files

    def key(self):
        """A key as PEM, for grants that sign."""
        made = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], capture_output=True, check=True)
        return self.file("key.pem", made.stdout)

    def test_all_are_read(self):
        scheme = json.loads(self.run_with("inspect", "OAuth2Auth", "--json").out)["schemes"][0]
        found = {preset["name"]: preset for preset in scheme["presets"]}
        for path in self.shipped():
            with self.subTest(path.stem):
                preset = found[path.stem]
                self.assertNotIn("problem", preset)
                self.assertEqual(pathlib.Path(preset["path"]), path)
                self.assertLessEqual({need["name"] for need in preset["needs"]}, set(self.VALUES))

    def test_the_scheme_accepts_all(self):
        key = self.key()
        lines = []
        for path in self.shipped():
            text = path.read_text()
            lines += [f"[{path.stem}]", "plugin = OAuth2Auth", f"set = preset={path.stem}"]
            for name in re.findall(r"(?m)^\{([a-z-]+)\} =", text):
                lines.append(f"set = {name}={self.VALUES[name]}")
            if "grant = metadata" not in text and "grant = jwt-bearer" not in text:
                lines += ["set = client-id=0123", "set = client-secret=env:NEVOD_TEST_SECRET"]
            if "grant = jwt-bearer" in text:
                lines += [f"set = assertion-key=file:{key}", "set = assertion-issuer=robot@example.com", "set = scope=a"]
        self.write("\n".join(lines) + "\n")
        outcome = self.profile("check", env={
            "ACTIONS_ID_TOKEN_REQUEST_URL": "https://token.example.com/?api-version=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": SECRET})
        self.expect(outcome, 0)
        self.assertNotIn(SECRET, outcome.out.decode() + outcome.err)

    def test_cookie_accepts_all(self):
        lines = []
        for path in self.cookies():
            text = path.read_text()
            lines += [
                f"[{path.stem}]", "plugin = CookieAuth", f"set = preset={path.stem}", "set = password=env:NEVOD_TEST_SECRET"]
            if not re.search(r"(?m)^site =", text):
                lines.append("set = site=https://app.example.com/base")
            for name in re.findall(r"(?m)^\{([a-z-]+)\} =", text):
                lines.append(f"set = {name}={self.VALUES[name]}")
        self.write("\n".join(lines) + "\n")
        outcome = self.profile("check")
        self.expect(outcome, 0)
        self.assertNotIn(SECRET, outcome.out.decode() + outcome.err)

    def cookies(self):
        files = sorted((ROOT / "Presets/cookie").glob("*.preset"))
        self.assertGreater(len(files), 20)
        return files

    def test_addresses_of_applications_are_relative_to_the_site(self):
        """An application may be below a path of the site."""
        for path in self.cookies():
            text = path.read_text()
            for name in ("login", "page", "probe", "logout", "logout-page", "request-csrf-page", "mfa", "mfa-page"):
                for address in re.findall(rf"(?m)^{name} = (.*)$", text):
                    self.assertRegex(address, r"^(https://\{host\}/|[^/:?#]+(/|\?|$)|\?)", path.name)

    def test_none_has_a_placeholder_left(self):
        """A mistyped placeholder would become text."""
        for path in self.shipped() + self.cookies():
            text = path.read_text()
            declared = set(re.findall(r"(?m)^\{([a-z-]+)\} =", text))
            lines = [line for line in text.splitlines() if line and line[0] not in "#{"]
            used = {name for line in lines for name in re.findall(r"\{([^}]*)\}", line)}
            self.assertEqual(used, declared, path.name)

    def test_http_is_for_machines(self):
        for path in self.shipped():
            for url in re.findall(r"(?m)^[a-z-]+ = (http://\S+)$", path.read_text()):
                self.assertRegex(url, r"^http://(169\.254\.169\.254/|127\.0\.0\.1/|localhost$)", path.name)


class Found(TestCase):
    def test_beside_the_build(self):
        """Without an installation, the presets of the checkout are found."""
        outcome = self.run_host("help", "presets")
        self.expect(outcome, 0)
        self.assertIn(b"  github-actions ", outcome.out)
