"""Parameters of a scheme: `--param`, and a session for each set of them."""

import functools
import json

from support import ROOT, RecordingServer, TestCase, c_source_plugin, reply


@functools.cache
def parameters_plugin():
    """Compiles the plugin of the host's own tests."""
    return c_source_plugin("libParameters.so", ROOT / "Tests/NevodHostTests/TestPlugins/parameters.c")


class Parameters(TestCase):
    def setUp(self):
        self.refused = set()
        server = RecordingServer(lambda seen: reply("401 X" if set(seen.values("X-Token")) & self.refused else "200 OK"))
        self.server = self.enterContext(server)
        self.url = self.server.http
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)

    def scheme(self, *words, scheme="session"):
        return ["--plugin", parameters_plugin(), "--scheme", scheme, "--set", f"url={self.url}", *words]

    def run_host(self, *words, **options):
        return super().run_host(*words, env={"HOME": str(self.home), "NEVOD_HOST_STORE": ""}, **options)

    def get(self, *words, **options):
        return self.run_host(*self.scheme(*words, **options), f"{self.url}/api")

    def calls(self):
        return [f"{seen.path} {seen.body.decode()}" for seen in self.server.requests if seen.method == "POST"]

    def seen(self, name):
        return [value for seen in self.server.requests if seen.method == "GET" for value in seen.values(name)]

    def sessions(self):
        outcome = self.run_host("sessions", "--json")
        self.expect(outcome, 0)
        return json.loads(outcome.out)["sessions"]

    def test_request(self):
        """The scheme gets the values in order, and each set of values has a stored session."""
        for _ in range(2):
            self.expect(self.get("--param", "scope=a b", "--param", "scope=c=d", "--param", "acr=high"), 0)
        self.expect(self.get(), 0)
        self.assertEqual(self.seen("X-Parameters"), ["scope=a b|scope=c=d|acr=high"] * 2 + ["acr=low"])
        self.assertEqual(self.calls(), ["/login scope=a b|scope=c=d|acr=high ", "/login acr=low "])

    def test_renewal(self):
        """A rejected token is renewed, and the others are not."""
        for scope in ("a", "b"):
            self.expect(self.get("--param", f"scope={scope}"), 0)
        self.refused.add("1 scope=a|acr=low")
        # The plugin numbers the tokens of each process, so the renewed one would have the rejected one's number.
        self.expect(self.get("-f", "--param", "scope=b"), 0)
        self.assertEqual(len(self.calls()), 2)
        self.expect(self.get("-f", "--param", "scope=a"), 119)
        self.assertEqual(self.calls()[2:], ["/refresh scope=a|acr=low 1 scope=a|acr=low"])

    def test_login_and_list(self):
        self.expect(self.run_host("login", *self.scheme("--account", "ann", "--param", "scope=orders:write")), 0)
        self.expect(self.run_host("login", *self.scheme("--account", "ann")), 0)
        long = "x" * 100
        self.expect(self.run_host("login", *self.scheme("--account", "ann", "--param", f"scope={long}")), 0)
        found = {session["parameters"]: session["account"] for session in self.sessions()}
        self.assertEqual(len(found), 3)
        self.assertEqual(set(found.values()), {"ann"})
        self.assertLess({"", "scope=orders:write"}, set(found))
        text = self.run_host("sessions").out.decode()
        self.assertIn("ann (scope=orders:write)", text)
        number = next(session["number"] for session in self.sessions() if session["parameters"] == "scope=orders:write")
        self.assertIn("parameters    scope=orders:write", self.run_host("sessions", "show", str(number)).out.decode())
        self.expect(self.get("--account", "ann", "--param", "scope=orders:write"), 0)
        self.assertEqual(len(self.calls()), 3)

    def test_logout(self):
        """One logout ends the sessions of all sets."""
        for words in ([], ["--param", "scope=a"], ["--param", "acr=high"]):
            self.expect(self.get(*words), 0)
        self.expect(self.run_host("logout", *self.scheme()), 0)
        self.assertEqual(
            sorted(self.calls()[3:]),
            ["/logout acr=high 1 acr=high", "/logout acr=low 1 acr=low", "/logout scope=a|acr=low 1 scope=a|acr=low"])
        self.assertEqual(self.sessions(), [])

    def test_logout_without_a_default_session(self):
        self.expect(self.get("--param", "scope=a"), 0)
        self.expect(self.run_host("logout", *self.scheme()), 0)
        self.assertEqual(self.calls()[1:], ["/logout scope=a|acr=low 1 scope=a|acr=low"])
        self.assertEqual(self.sessions(), [])

    def test_no_store(self):
        self.expect(self.get("--no-store", "--param", "scope=a"), 0)
        self.assertEqual(self.seen("X-Token"), ["1 scope=a|acr=low"])
        self.assertEqual(self.sessions(), [])

    def test_sign(self):
        outcome = self.run_host("sign", *self.scheme("--param", "resource=http://h/", scheme="strict"), f"{self.url}/api")
        self.expect(outcome, 0)
        self.assertIn(b"X-Parameters: resource=http://h/", outcome.out)

    def test_mistakes(self):
        """Nothing is sent, and no session is looked for."""
        self.expect_failure(self.get("--param", "scop=a"), 111, 'has no parameter "scop"; its parameters are scope, acr, age')
        self.expect_failure(self.get("--param", "acr=middle"), 111, '"acr"', "must be one of low, high")
        self.expect_failure(self.get(scheme="strict"), 111, 'needs the parameter "resource"')
        self.expect_failure(self.get("--param", "scope"), 2, "--param NAME=VALUE")
        self.expect_failure(self.run_host("--param", "scope=a", f"{self.url}/api"), 2, "--param needs a --plugin")
        self.assertEqual(self.server.requests, [])

    def test_inspect(self):
        outcome = self.run_host("inspect", parameters_plugin())
        self.assertIn(b"--param scope  What the request may do (text, repeatable)", outcome.out)
        schemes = json.loads(self.run_host("inspect", parameters_plugin(), "--json").out)["schemes"]
        self.assertEqual([parameter["name"] for parameter in schemes[0]["parameters"]], ["scope", "acr", "age"])
        self.assertEqual(schemes[1]["parameters"][0]["required"], True)
