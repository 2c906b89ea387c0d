"""The sources of a scheme's settings."""

from support import API_KEY, SECRET, cases, with_both_plugins


class Settings:
    LITERAL = "literal-hunter2"

    def with_settings(self, *settings, **options):
        words = [word for setting in settings for word in ("--set", setting)]
        return self.run_host("--plugin", self.plugin(), *words, self.url("/a"), **options)

    def with_secret(self, source, **options):
        return self.with_settings(f"api-key={API_KEY}", f"secret={source}", **options)

    def expect_refused(self, outcome, code, *fragments):
        self.expect_failure(outcome, code, *fragments)
        self.assertNotIn(self.LITERAL, outcome.err)
        self.assertNotIn(SECRET, outcome.err)
        self.expect_nothing_sent()

    def test_unknown(self):
        outcome = self.with_settings(f"api-key={API_KEY}", "secret=env:NEVOD_TEST_SECRET", f"colour={self.LITERAL}")
        self.expect_refused(outcome, 111, '"colour"', "api-key, secret")

    def test_mistyped_secret(self):
        """The error names the mistake, and the command doesn't ask for the secret."""
        outcome = self.with_settings(f"api-key={API_KEY}", "secrt=env:NEVOD_TEST_SECRET")
        self.expect_refused(outcome, 111, '"secrt"', "api-key, secret")

    def test_missing(self):
        self.expect_refused(self.with_settings("secret=env:NEVOD_TEST_SECRET"), 111, '"api-key"', "Key id")

    def test_missing_secret_without_terminal(self):
        self.expect_refused(self.with_settings(f"api-key={API_KEY}"), 111, '"secret"', "terminal", "secret=env:", "file:")

    @cases({"plain": "{}", "as_text": "text:{}", "leading_space": " {}", "upper_case_source": "ENV:{}"})
    def test_literal_secret(self, value):
        outcome = self.with_secret(value.format(self.LITERAL))
        self.expect_refused(outcome, 111, '"secret"', "env:", "file:")

    def test_literal_secret_that_begins_with_a_combining_mark(self):
        self.expect_refused(self.with_secret(f"\u0301{self.LITERAL}"), 111, '"secret"')

    def test_no_equals_sign(self):
        self.expect_refused(self.with_settings("secret"), 2, "NAME=VALUE")

    def test_wrong_sign_for_equals(self):
        """The text after a known secret's name may be the secret."""
        self.expect_refused(self.with_settings(f"secret:{self.LITERAL}"), 2, "NAME=VALUE")

    @cases({"text": ("api-key", "a", "b"), "secret": ("secret", "env:NEVOD_TEST_SECRET", "env:NEVOD_TEST_SECRET")})
    def test_twice(self, name, first, second):
        outcome = self.with_settings(
            f"api-key={API_KEY}", "secret=env:NEVOD_TEST_SECRET", f"{name}={first}", f"{name}={second}")
        self.expect_refused(outcome, 111, f'"{name}"', "more than once")

    def test_unknown_scheme(self):
        outcome = self.run_host(*self.credentials(), "--scheme", "basic", self.url("/a"))
        self.expect_refused(outcome, 110, '"basic"', "hmac")

    def test_named_scheme(self):
        self.expect_verified(self.run_host(*self.credentials(), "--scheme", "hmac", self.url("/a")))

    def test_line_break_in_a_value(self):
        outcome = self.with_settings("api-key=a\r\nX-Injected: b", "secret=env:NEVOD_TEST_SECRET")
        self.expect_failure(outcome, 110, "X-API-Key")
        self.expect_nothing_sent()

    # Sources of a value

    def test_environment(self):
        self.expect_verified(self.with_secret("env:ELSEWHERE", env={"ELSEWHERE": SECRET}))

    def test_environment_for_a_text(self):
        self.expect_verified(
            self.with_settings("api-key=env:KEY", "secret=env:NEVOD_TEST_SECRET", env={"KEY": API_KEY}))

    def test_environment_variable_not_set(self):
        self.expect_refused(self.with_secret("env:NEVOD_UNSET"), 111, '"secret"', "NEVOD_UNSET")

    def test_empty_secret(self):
        self.expect_refused(self.with_secret("env:EMPTY", env={"EMPTY": ""}), 111, "secret", "empty")

    @cases({"bare": "", "line_feed": "\n", "windows": "\r\n"})
    def test_file(self, end):
        self.expect_verified(self.with_secret(f"file:{self.file('secret', SECRET + end)}"))

    def test_file_loses_one_line_end_only(self):
        outcome = self.with_secret(f"file:{self.file('secret', SECRET + chr(10) + chr(10))}")
        self.expect(outcome, 0)
        self.assertIs(self.the_request()["verified"], False)

    def test_file_for_a_text(self):
        path = self.file("key", API_KEY + "\n", mode=0o644)
        outcome = self.with_settings(f"api-key=file:{path}", "secret=env:NEVOD_TEST_SECRET")
        self.expect_verified(outcome)
        self.assertEqual(outcome.err, "")

    def test_missing_file(self):
        self.expect_refused(self.with_secret("file:/nonexistent/secret"), 26, "/nonexistent/secret")

    def test_empty_file(self):
        self.expect_refused(self.with_secret(f"file:{self.file('secret', chr(10))}"), 111, "secret", "empty")

    def test_file_with_a_nul(self):
        self.expect_refused(self.with_secret(f"file:{self.file('secret', SECRET + chr(0))}"), 111, '"secret"', "NUL")

    def test_file_that_everyone_can_read(self):
        path = self.file("secret", SECRET, mode=0o644)
        outcome = self.with_secret(f"file:{path}")
        self.expect_verified(outcome)
        self.assertIn(f"warning: {path}", outcome.err)

    def test_file_that_only_its_owner_can_read(self):
        outcome = self.with_secret(f"file:{self.file('secret', SECRET)}")
        self.expect_verified(outcome)
        self.assertEqual(outcome.err, "")

    @cases({"bare": "", "line_feed": "\n", "windows": "\r\n"})
    def test_standard_input(self, end):
        self.expect_verified(self.with_secret("-", stdin=(SECRET + end).encode()))

    def test_standard_input_that_is_empty(self):
        self.expect_refused(self.with_secret("-", stdin=b""), 111, "secret", "empty")

    def test_text_that_looks_like_a_source(self):
        outcome = self.run_host(
            "sign", "--plugin", self.plugin(), "--set", "api-key=text:env:HOME", "--set", "secret=env:NEVOD_TEST_SECRET",
            self.url("/a"))
        self.expect(outcome, 0)
        self.assertIn(b"\r\nX-API-Key: env:HOME\r\n", outcome.out)

    def test_text_that_is_no_utf8(self):
        """It is sent unchanged or rejected, never silently changed."""
        outcome = self.run_host(
            "sign", "--plugin", self.plugin(), "--set", b"api-key=k\xff", "--set", "secret=env:NEVOD_TEST_SECRET", self.url("/a"))
        if outcome.code == 0:
            self.assertIn(b"\r\nX-API-Key: k\xff\r\n", outcome.out, outcome)


with_both_plugins(Settings, globals())
