"""`new`: a project in each language, with the commands of its README and the guide, from the build to a request that a server
verifies."""

import functools
import http.server
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import threading
import time
import urllib.parse

from support import FULL, HOST, PATIENCE, ROOT, SECRET, TestCase, cases, shared_folder

LANGUAGES = ("swift", "c", "cpp", "rust", "go")
COMPILERS = {"swift": "swift", "c": "cc", "cpp": "c++", "rust": "cargo", "go": "go"}
# Two compilers run on two processors, beside another suite.
BUILD_SECONDS = 600


def environment(**more):
    """A developer's own environment with caches, because compilers need their homes, but without the developer's sessions and
    plugins."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEVOD_", "XDG_", "DEMO_"))}
    state = shared_folder() / "state"
    state.mkdir(exist_ok=True)
    path = f"{prefix() / 'bin'}:{os.environ['PATH']}"
    return {**kept, "PATH": path, "XDG_CONFIG_HOME": str(state), "XDG_DATA_HOME": str(state), "KEY_SECRET": SECRET,
            "ACME_PASSWORD": SECRET, **more}


def run(command, folder, seconds=PATIENCE, **more):
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=seconds, start_new_session=True)
    return done.returncode, done.stdout.decode("utf-8", "backslashreplace")


def build(command, project):
    # SwiftPM caches a copy of each repository that it has seen for the user.
    caches = {"XDG_CACHE_HOME": str(shared_folder())} if command.startswith("swift ") else {}
    return run(command, project, BUILD_SECONDS, **caches)


@functools.cache
def prefix():
    """An installation like `make install` makes. For a debug build, it has only the program and what authors need."""
    folder = shared_folder() / "prefix"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(HOST, folder / "bin/nevod-host")
    is_release = HOST.resolve() == (ROOT / ".build/release/nevod-host").resolve()
    script = ROOT / "scripts" / ("install" if is_release else "install-kit")
    done = subprocess.run([script, folder], capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return folder


@functools.cache
def repository():
    """The URL of a bare repository of this working tree, with the tag 0.0.1, and its revision."""
    tree, bare = shared_folder() / "tree", shared_folder() / "nevod.git"
    trusted = ["git", "-c", "safe.directory=*"]
    files = subprocess.run(
        [*trusted, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"], cwd=ROOT, check=True,
        capture_output=True).stdout
    for name in files.decode().split("\0"):
        source = ROOT / name
        if name and source.exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, tree / name, follow_symlinks=False)
    own = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "test"], ["tag", "0.0.1"]):
        subprocess.run([*own, *words], cwd=tree, check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", "--bare", tree, bare], check=True, capture_output=True)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, check=True, capture_output=True, text=True).stdout.strip()
    return f"file://{bare}", revision


def readme_commands(project):
    """The commands in the console blocks of a project's README: a list to build and test it, and a list to use it."""
    text = (project / "README.md").read_text()
    return [re.findall(r"^\$ (.*)$", block, re.M) for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)]


def guide_commands(language):
    """What the guide says about a language: the commands that build and test, and the library."""
    text = (ROOT / "Docs/writing-a-plugin.md").read_text().split("<!-- languages -->")[1].split("\n\n")[0]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")]
    row = next(row for row in rows if row[0] == language)
    return row[2:4], row[4]


class Server(http.server.ThreadingHTTPServer):
    """Verifies what the templates send, and issues tokens as JSON, or as lines of text if the client accepts them."""

    def __init__(self):
        self.lock, self.access, self.renewals, self.seen = threading.Lock(), set(), set(), []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join(PATIENCE)
        self.server_close()

    def issue(self):
        access, renewal = secrets.token_hex(8), secrets.token_hex(8)
        self.access, self.renewals = {access}, self.renewals | {renewal}
        return access, renewal


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, text=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        headers, server = self.headers, self.server
        has_key = (headers["X-Key"], headers["X-Secret"]) == ("me", SECRET) and abs(int(headers["X-Time"]) - time.time()) < 300
        with server.lock:
            token = (headers["Authorization"] or "").removeprefix("Bearer ")
            server.seen.append(f"GET {self.path}")
            allowed = has_key or token in server.access
        self.respond(200, "verified") if allowed else self.respond(401)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form, server = dict(urllib.parse.parse_qsl(body)), self.server
        with server.lock:
            server.seen.append(f"POST {self.path}")
            if self.path == "/login":
                if form != {"user": "ada", "password": SECRET}:
                    return self.respond(403)
            elif form.get("renewal") not in server.renewals:
                return self.respond(403)
            server.renewals.discard(form.get("renewal"))
            if self.path == "/logout":
                server.access = set()
                return self.respond(204)
            access, renewal = server.issue()
        if self.headers["Accept"] == "text/plain":
            return self.respond(200, f"{access}\n{renewal}\n3600\n")
        self.respond(200, json.dumps({"access": access, "renewal": renewal, "seconds": 3600}))


class NewTests(TestCase):
    """Everything but the builds."""



    def in_folder(self, *words):
        done = subprocess.run(
            self.command(*words), cwd=self.folder, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def expect_refused(self, code, fragment, *words):
        before = sorted(self.folder.rglob("*"))
        got, out, err = self.in_folder("new", *words)
        self.assertEqual((got, out, err.count("\n")), (code, "", 1), err)
        self.assertIn(fragment, err)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def kit(self):
        """The parts of a kit that the command looks for."""
        kit = self.folder / "kit"
        (kit / "Sources/NevodPluginKit").mkdir(parents=True)
        (kit / "Package.swift").touch()
        return kit

    @cases({f"{language}{flow}": (language, flow) for language in LANGUAGES for flow in ("", "-flow")})
    def test_the_files_are_those_of_the_template(self, language, flow):
        kit = ["--kit", self.kit()] if language == "swift" else []
        code, out, err = self.in_folder("new", "my-bank", "--language", language, *(["--flow"] if flow else []), *kit)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "my-bank is ready; its README.md says how to build and test it\n")
        expected = {}
        for folder in (ROOT / "Templates" / language, ROOT / "Templates" / (language + flow)):
            expected.update({path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()})
        found = {}
        for path in (self.folder / "my-bank").rglob("*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"(?i)acme[-_]?keys", path)
                self.assertEqual(path.stat().st_mode & 0o133, 0, path)
                name = str(path.relative_to(self.folder / "my-bank"))
                found[pathlib.Path(name.replace("MyBankAuth", "AcmeKeysAuth").replace("my_bank", "acme_keys"))] = path
        added = {"c": {"nevod/nevod_plugin.h", "nevod/nevod_helpers.h"}, "cpp": {"nevod/nevod_plugin.h", "nevod/nevod_helpers.h"},
                 "rust": {"src/nevod_plugin.rs"}, "go": {"nevod_plugin.go", "nevod_plugin.h"}, "swift": set()}[language]
        self.assertEqual(set(map(str, found)) - set(map(str, expected)), added)
        self.assertEqual(set(expected) - set(found), set())
        for name, path in expected.items():
            if name != pathlib.Path("Package.swift"):
                text = path.read_text().replace("acme-keys", "my-bank").replace("AcmeKeysAuth", "MyBankAuth")
                self.assertEqual(found[name].read_text(), text.replace("acme_keys", "my_bank"), name)
        copies = {"nevod_plugin.h": "Sources/NevodPluginABI/include", "nevod_helpers.h": "Bindings/C", "nevod_plugin.rs": "Bindings/Rust",
                  "nevod_plugin.go": "Bindings/Go"}
        for name in added:
            name = pathlib.Path(name)
            self.assertEqual(found[name].read_bytes(), (ROOT / copies[name.name] / name.name).read_bytes())

    def test_kit_of_swift(self):
        kit = self.kit()
        for text, dependency, package in [
            ("kit", f'name: "NevodHost", path: "{kit}"', "NevodHost"),
            ("https://h/nevod-host.git#v1.2.3", 'url: "https://h/nevod-host.git", exact: "1.2.3"', "nevod-host"),
            ("https://h/nevod#" + 40 * "a", f'url: "https://h/nevod", revision: "{40 * "a"}"', "nevod"),
        ]:
            shutil.rmtree(self.folder / "my-bank", ignore_errors=True)
            code, _, err = self.in_folder("new", "my-bank", "--language", "swift", "--kit", text)
            self.assertEqual((code, err), (0, ""))
            manifest = (self.folder / "my-bank/Package.swift").read_text()
            self.assertIn(dependency + ",", manifest)
            self.assertEqual(set(re.findall(r'package: ("[^"]*")', manifest)), {f'"{package}"'})

    def test_kit_with_the_templates_names(self):
        kit = self.kit().rename(self.folder / "acme-keys acme_keys AcmeKeysAuth")
        for text, dependency in [
            (kit, f'name: "NevodHost", path: "{kit}"'),
            ("https://acme-keys/acme_keys/AcmeKeysAuth.git#1.2.3", 'url: "https://acme-keys/acme_keys/AcmeKeysAuth.git", exact: "1.2.3"'),
        ]:
            shutil.rmtree(self.folder / "my-bank", ignore_errors=True)
            code, _, err = self.in_folder("new", "my-bank", "--language", "swift", "--kit", text)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(dependency + ",", (self.folder / "my-bank/Package.swift").read_text())

    def test_usage(self):
        refused = functools.partial(self.expect_refused, 2)
        refused("new needs one name", "--language", "c")
        refused("new needs one name", "a", "b", "--language", "c")
        refused("new needs --language swift|c|cpp|rust|go", "my-bank")
        refused("did you mean rust?", "my-bank", "--language", "rsut")
        refused("begins with a letter, such as acme-keys", "My Bank", "--language", "c")
        refused("begins with a letter, such as acme-keys", "sub/..", "--language", "c")
        refused("at most 64", "a" * 65, "--language", "c")
        refused("--kit belongs to --language swift", "my-bank", "--language", "c", "--kit", "/")
        refused("there is no kit in", "my-bank", "--language", "swift", "--kit", self.folder)
        refused("No such file", "my-bank", "--language", "swift", "--kit", self.folder / "none")
        refused("write URL#TAG", "my-bank", "--language", "swift", "--kit", "https://h/a.git#main")

    def test_no_kit_is_installed(self):
        shutil.copy(HOST, self.folder / "nevod-host")
        done = subprocess.run(
            [self.folder / "nevod-host", "new", "my-bank", "--language", "swift"], cwd=self.folder, capture_output=True,
            timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("give --kit URL#TAG", done.stderr.decode())

    def test_places(self):
        (self.folder / "here").mkdir()
        (self.folder / "file").touch()
        os.symlink("nowhere", self.folder / "link")
        for name in ("here", "file", "link", "here/"):
            self.expect_refused(23, f"can't write to {name.rstrip('/')}: File exists", name, "--language", "c")
        self.expect_refused(23, "can't write to none/my-bank: No such file", "none/my-bank", "--language", "c")
        self.expect_refused(23, "can't write to file/my-bank: Not a directory", "file/my-bank", "--language", "c")
        code, out, _ = self.in_folder("new", "here/my-bank/", "--language", "c")
        self.assertEqual((code, out.split()[0]), (0, "here/my-bank"))
        self.assertTrue((self.folder / "here/my-bank/README.md").exists())

    def test_a_full_device_leaves_nothing_behind(self):
        limited = f"ulimit -f 8; cd {self.folder}; exec {HOST} new my-bank --language c"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 23, done.stderr)
        self.assertIn("File too large", done.stderr.decode())
        self.assertEqual(list(self.folder.iterdir()), [])


class ProjectTests(TestCase):
    """For each language: the README's commands, `inspect`, `check`, and requests that a server verifies."""

    def need(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")

    def make(self, language, name, flow, kit=(), built=None):
        """Makes a project and runs the commands of its README. `built` is the build folder of a project that had the same path."""
        self.need(COMPILERS[language])
        flags = " --flow" if flow else ""
        code, out = run(f"nevod-host new {name} --language {language}{flags} {' '.join(kit)}", self.folder)
        self.assertEqual(code, 0, out)
        project = self.folder / name
        building, using = readme_commands(project)
        if built:
            built.rename(project / ".build")
            for plan in project.glob(".build/*.yaml"):
                plan.unlink()  # SwiftPM would follow the other project's plan
        commands, library = guide_commands(language)
        self.assertEqual((building, using[0]), (commands, f"nevod-host check {library.replace('AcmeKeys', 'MyBank')}"))
        outputs = []
        for command in building:
            code, out = build(command, project)
            self.assertEqual(code, 0, f"{command}\n{out}")
            self.assertNotIn("warning:", out)
            outputs.append(out)
        self.assertRegex(outputs[1], r"(?m)^passed$|^ok |test result: ok\. [1-9]|Test run with [1-9]\d* tests? .*passed")
        return project, using

    def use(self, project, using, name, flow):
        plugin = next(word for word in using[0].split() if word.endswith(".so"))
        code, out = run(f"nevod-host inspect {plugin if '/' in plugin else './' + plugin}", project)
        self.assertEqual(code, 0, out)
        self.assertIn(f"scheme {name}:", out)
        code, out = run(using[0], project, BUILD_SECONDS)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?m)^\d{2,} passed")
        with Server() as server:
            self.use_flow(project, using, server) if flow else self.use_settings(project, using, server)

    def use_settings(self, project, using, server):
        sign = using[1]
        code, out = run(sign, project)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?m)^X-Key: me\r?$")
        self.assertRegex(out, r"(?m)^X-Secret: s3cret\r?$")
        send = sign.replace(" sign ", " ").replace("KEY_SECRET=s3cret ", "").replace("https://api.example.com", server.url)
        self.assertEqual(run(send, project), (0, "verified"))
        code, out = run(send, project, KEY_SECRET="wrong")
        self.assertEqual(code, 0, out)
        self.assertIn("refused the credential of the scheme", out)
        code, out = run(f"{send} --fail", project, KEY_SECRET="wrong")
        self.assertEqual(code, 119, out)

    def use_flow(self, project, using, server):
        login, send = (command.replace("https://id.example.com", server.url) for command in using[1:])
        code, out = run(f"{login} --answer user=ada --answer password=env:ACME_PASSWORD", project)
        self.assertEqual(code, 0, out)
        self.assertEqual(run(send, project), (0, "verified"))
        with server.lock:
            server.access = set()
        self.assertEqual(run(send, project), (0, "verified"))
        code, out = run(login.replace(" login ", " logout "), project)
        self.assertEqual(code, 0, out)
        self.assertEqual(
            server.seen,
            ["POST /login", "GET /orders", "GET /orders", "POST /renew", "GET /orders", "POST /logout"])
        code, out = run(f"{login} --answer user=ada --answer password=env:ACME_PASSWORD", project, ACME_PASSWORD="wrong")
        self.assertEqual(code, 112, out)
        self.assertIn("the server refused it", out)

    @cases({f"{language}{flow}": (language, flow) for language in LANGUAGES[1:] for flow in ("", "_flow")})
    def test_project(self, language, flow):
        project, using = self.make(language, "my-bank", bool(flow))
        self.use(project, using, "my-bank", bool(flow))

    def test_go_with_a_name_of_its_library(self):
        """In Go, a path without a dot in its first element belongs to the standard library."""
        self.need("go")
        code, out = run("nevod-host new fmt --language go", self.folder)
        self.assertEqual(code, 0, out)
        for command in readme_commands(self.folder / "fmt")[0]:
            code, out = build(command, self.folder / "fmt")
            self.assertEqual(code, 0, f"{command}\n{out}")

    @cases({"c": ("c",), "cpp": ("cpp",)})
    def test_installed_contract(self, language):
        """Uses the installed header instead of the copy."""
        code, out = run(f"nevod-host new my-bank --language {language} && rm -r my-bank/nevod", self.folder)
        self.assertEqual(code, 0, out)
        make = 'make NEVOD="$(pkg-config --cflags nevod-plugin)" test'
        code, out = run(make, self.folder / "my-bank", BUILD_SECONDS, PKG_CONFIG_PATH=str(prefix() / "share/pkgconfig"))
        self.assertEqual(code, 0, out)
        self.assertIn("passed", out)

    def test_swift_with_an_installed_kit(self):
        """Both forms, one after another in the same folder, so that the kit is built once."""
        built = None
        for flow in (False, True):
            project, using = self.make("swift", "my-bank", flow, built=built)
            self.assertIn(f'path: "{prefix()}/share/nevod/kit"', (project / "Package.swift").read_text())
            self.use(project, using, "my-bank", flow)
            built = (project / ".build").rename(self.folder / "built")
            shutil.rmtree(project)

    def test_swift_with_a_kit_by_url(self):
        """With a tag, SwiftPM plans the project and compiles one module of the kit, by its rules for other people's packages. In
        the long form (NEVOD_FULL=1), the project is built, tested and used. A revision is only resolved: it is the same commit,
        and SwiftPM would rebuild all of it."""
        self.need("swift")
        url, revision = repository()
        kit = ["--kit", f"{url}#0.0.1"]
        if FULL:
            project, using = self.make("swift", "my-bank", True, kit)
            self.use(project, using, "my-bank", True)
        else:
            project = self.folder / "my-bank"
            for command in (f"nevod-host new my-bank --language swift --flow {' '.join(kit)}",
                            "cd my-bank && swift build -c release --target NevodSupport"):
                code, out = run(command, self.folder, BUILD_SECONDS, XDG_CACHE_HOME=str(shared_folder()))
                self.assertEqual(code, 0, out)
            self.assertIn("NevodSupport", out)
            self.assertNotIn("warning:", out)
        self.assertIn('"version" : "0.0.1"', (project / "Package.resolved").read_text())
        code, out = run(f"mkdir other && nevod-host new other/my-bank --language swift --flow --kit {url}#{revision}", self.folder)
        self.assertEqual(code, 0, out)
        shutil.copy(self.folder / "other/my-bank/Package.swift", project / "Package.swift")
        self.assertIn(revision, (project / "Package.swift").read_text())
        (project / "Package.resolved").unlink()
        code, out = build("swift package resolve", project)
        self.assertEqual(code, 0, out)
        self.assertIn(revision, (project / "Package.resolved").read_text())
        self.assertNotIn("0.0.1", (project / "Package.resolved").read_text())


class InstalledTests(TestCase):
    def test_prefix(self):
        root = prefix()
        variables = {}
        for name in ("includedir", "kitdir", "bindingsdir", "plugindir"):
            code, out = run(f"pkg-config --variable={name} nevod-plugin", root, PKG_CONFIG_PATH=str(root / "share/pkgconfig"))
            self.assertEqual(code, 0, out)
            variables[name] = pathlib.Path(out.strip()).resolve()
        self.assertEqual(variables["plugindir"], root / "lib/nevod/plugins")
        for name, file in (("includedir", "nevod_plugin.h"), ("includedir", "nevod_helpers.h"), ("kitdir", "Package.swift"),
                           ("bindingsdir", "nevod_plugin.rs"), ("bindingsdir", "nevod_plugin.go")):
            self.assertTrue((variables[name] / file).is_file(), variables[name] / file)
        for path in root.rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o022, 0, path)

    def test_a_second_installation_leaves_no_old_file(self):
        old = self.folder / "share/nevod/kit/Sources/NevodPluginKit/Old.swift"
        for _ in range(2):
            subprocess.run([ROOT / "scripts/install-kit", self.folder], check=True, capture_output=True, timeout=PATIENCE)
            self.assertFalse(old.exists())
            old.write_text("")

    def test_umask(self):
        command = f"umask 077; {ROOT}/scripts/install-kit {self.folder}/prefix"
        subprocess.run(["bash", "-c", command], check=True, capture_output=True, timeout=PATIENCE)
        for path in (self.folder / "prefix/share/nevod").rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o044, 0o044, path)
