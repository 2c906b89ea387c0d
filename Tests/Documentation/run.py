"""Runs the documents' commands and compares their output.

In a ```console block, a line that begins with "$ " is a command, and the lines after it are its output, both streams together. A line
"…" matches any lines, "…" within a line matches any text, and a last line "exit code N" is the expected exit code.
http://127.0.0.1:8080 is replaced with the address of the demo server that the document started last, or of hmac_server.py by
default. Each paragraph of a ```swift block must be in a file below Examples or Templates, word for word. The examples are built
and run here. `cd $(mktemp -d)` and `cd -` are the only ways out of the root of the repository and back.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Documentation/run.py
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import test_build  # noqa: E402

PRINTED = "127.0.0.1:8080"
SECONDS = 300


class Failure(Exception):
    pass


def blocks(path, language):
    text = path.read_text()
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, found.start()) + 1, found.group(1)


def commands(block):
    """(command, expected lines) of a block."""
    result = []
    for line in block.splitlines():
        if line.startswith("$ "):
            result.append((line[2:], []))
        elif result:
            result[-1][1].append(line.rstrip())
    return result


def matches(expected, got):
    if not expected:
        return not got
    if expected[0] == "…" or expected[0].strip() == "…":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    line = ".+".join(map(re.escape, expected[0].split("…")))
    return bool(got) and re.fullmatch(line, got[0]) is not None and matches(expected[1:], got[1:])


# Examples that are built in the folder of the unit tests' libraries. The others are plugins in Embedded Swift, like our own.
WITH_TESTS = {"embedding", "shredmate"}
EMBEDDED = ROOT / ".build/embedded"


def build_folder(example):
    return test_build.FOLDER if example in WITH_TESTS else EMBEDDED


def shared(command):
    """The command with the build folders that are used here, and the folder into which it builds."""
    command = re.sub(
        r"Examples/([\w-]+)/\.build", lambda found: str(build_folder(found[1]).relative_to(ROOT)), command)
    found = re.fullmatch(r"swift build .*--package-path Examples/([\w-]+)", command)
    if not found:
        return command, None
    folder = build_folder(found[1])
    words = ["--scratch-path", str(folder), *(test_build.WORDS if found[1] in WITH_TESTS else [])]
    return f"{command} {shlex.join(words)}", folder


class Document:
    """The commands of one file. They share an environment and a server."""

    def __init__(self, path, build_dir):
        self.path = path
        # Packing at the lowest level takes a sixth of the time.
        self.environment = dict(os.environ, DEMO_SECRET="change-me", DPKG_DEB_COMPRESSOR_LEVEL="0")
        self.environment["PATH"] = f"{build_dir}:{os.environ['PATH']}"
        for name in (
                "NEVOD_PLUGIN_PATH", "DEMO_API_KEY", "NEVOD_HOST_STORE", "NEVOD_HOST_STORE_KEY", "XDG_DATA_HOME",
                "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
                # The make that runs this sets them. A document's make would then print its folder.
                "MAKEFLAGS", "MAKELEVEL", "MFLAGS", *test_build.ENVIRONMENT):
            self.environment.pop(name, None)
        self.server = None
        self.address = None
        self.folder = ROOT

    def start_server(self, program="Examples/demo-server/hmac_server.py", words=()):
        self.stop()
        # Debian's Python has the libraries that judge the examples' requests.
        python = "/usr/bin/python3" if program.startswith("Examples/schemes/") else sys.executable
        self.server = subprocess.Popen(
            [python, program, *words, "--parent-pid", str(os.getpid())],
            cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        if not line.startswith("listening on http://"):
            raise Failure(f"the demo server did not start: {line!r}")
        self.address = line.removeprefix("listening on http://").strip()

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(10)
            self.server.stdout.close()
            self.server = None

    def change_folder(self, folder):
        """`cd $(mktemp -d)` goes to an empty folder outside the repository, `cd -` back to its root."""
        if folder == "$(mktemp -d)":
            self.outside = tempfile.TemporaryDirectory()
            folder = self.outside.name
        self.folder = ROOT if folder == "-" else self.folder / folder

    def run(self, line, command, expected):
        if change := re.fullmatch(r"cd (\S+|\$\(mktemp -d\))", command):
            return self.change_folder(change[1])
        if export := re.fullmatch(r"export (\w+)=(\S+)", command):
            value, _ = shared(export[2])
            if self.address is not None:
                value = value.replace(PRINTED, self.address)
            self.environment[export[1]] = re.sub(r"\$(\w+)", lambda name: self.environment.get(name[1], ""), value)
            return
        if server := re.match(r"(?:DEMO_SECRET=change-me )?python3 (Examples/[\w/-]+_server\.py) (.*)&$", command):
            ahead = re.search(r"--ahead \d+", server[2])
            self.start_server(server[1], ahead[0].split() if ahead else ())
            return
        if PRINTED in command and not self.server:
            self.start_server()
        code = 0
        if expected and (found := re.fullmatch(r"exit code (\d+)", expected[-1])):
            code = int(found[1])
            expected = expected[:-1]
        here, folder = shared(command)
        if self.address is not None:
            here = here.replace(PRINTED, self.address)
        environment = {**self.environment, **(test_build.ENVIRONMENT if folder == test_build.FOLDER else {})}
        with test_build.own_plan(folder) if folder else contextlib.nullcontext():
            done = subprocess.run(
                ["bash", "-c", here], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, start_new_session=True)
        output = done.stdout.decode(errors="replace").replace("\r\n", "\n")
        if self.address:
            output = output.replace(self.address, PRINTED)
        got = [text.rstrip() for text in output.splitlines()]
        while got and not got[-1]:
            got.pop()
        while expected and not expected[-1]:
            expected = expected[:-1]
        if done.returncode != code or not matches(expected, got):
            raise Failure(
                f"{self.path.relative_to(ROOT)}:{line}: $ {command}\n"
                + "  expected:\n" + "".join(f"    {text}\n" for text in expected) + f"    exit code {code}\n"
                + "  got:\n" + "".join(f"    {text}\n" for text in got) + f"    exit code {done.returncode}")


def check_swift(path):
    folders = [*ROOT.glob("Examples/**/*.swift"), *ROOT.glob("Templates/**/*.swift")]
    examples = [file.read_text() for file in folders if ".build" not in file.parts]
    for line, block in blocks(path, "swift"):
        for paragraph in block.strip("\n").split("\n\n"):
            if not any(paragraph in text for text in examples):
                raise Failure(f"{path.relative_to(ROOT)}:{line}: this is in no example:\n{paragraph}")
        yield line


def check_patterns():
    """Each pattern of an app's session has a snippet, and the table of the patterns leads to it."""
    text = (ROOT / "Docs/sessions.md").read_text().split("\n# Patterns\n")[1]
    table, *sections = text.split("\n## ")
    for section in sections:
        name = section.split("\n")[0]
        if "```swift\n" not in section:
            raise Failure(f"Docs/sessions.md: {name} has no snippet")
    linked = set(re.findall(r"\]\(#([\w-]+)\)", table))
    unknown = linked - {section.split("\n")[0].lower().replace(" ", "-") for section in sections}
    if unknown or len(linked) < 16:
        raise Failure(f"Docs/sessions.md: the table of patterns has {len(linked)} links; these lead nowhere: {unknown}")
    return len(sections)


EXAMPLES = ROOT / "Examples/embedding"
PROGRAMS = test_build.PROGRAMS


def build_examples():
    """Builds all programs of the package, and their tests."""
    done = test_build.swift("build", "--build-tests", package=EXAMPLES, timeout=2 * SECONDS)
    if done.returncode:
        raise Failure(f"Examples/embedding can't be built:\n{done.stdout[-4000:]}")
    return 1


def check_example_tests():
    done = test_build.swift("test", "--skip-build", "--disable-xctest", package=EXAMPLES, timeout=SECONDS)
    if done.returncode or not re.search(r"Test run with [1-9]", done.stdout):
        raise Failure(f"the tests of Examples/embedding, exit code {done.returncode}:\n{done.stdout}")


def described(package):
    done = subprocess.run(
        ["swift", "package", "--package-path", package, "--scratch-path", test_build.FOLDER, "describe", "--type", "json"],
        cwd=ROOT, timeout=SECONDS, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{package.relative_to(ROOT)} can't be described:\n{done.stderr}")
    return {target["name"]: target for target in json.loads(done.stdout)["targets"]}


def check_imports():
    """Of our modules, an example imports only the ones that come with its declared products. Its build folder has all modules, so
    the compiler wouldn't notice a missing declaration."""
    ours, count = described(ROOT), 0

    def with_dependencies(names, targets):
        found = set()
        while names := set(names) - found:
            found |= names
            names = {other for name in names for other in targets.get(name, {}).get("target_dependencies", ())}
        return found

    for package in (EXAMPLES, ROOT / "Examples/shredmate"):
        targets = described(package)
        for name, target in targets.items():
            own = with_dependencies([name], targets)
            products = {product for other in own for product in targets[other].get("product_dependencies", ())}
            allowed = own | with_dependencies(products, ours)
            for source in target["sources"]:
                path = pathlib.Path(target["path"], source)
                text = (package / path).read_text()
                for module in re.findall(r"^\s*(?:@testable |public )*import (?:\w+ )?(\w+)", text, re.M):
                    count += 1
                    if module in {*ours, *targets} - allowed:
                        raise Failure(f"{(package / path).relative_to(ROOT)} imports {module}, which its target doesn't depend on")
    if not count:
        raise Failure("the examples import nothing")
    return 1


def check_embedding(build_dir):
    """Runs the program that loads a plugin, against the demo server."""
    document = Document(ROOT / "Docs/library.md", build_dir)
    document.environment["NEVOD_PLUGIN_PATH"] = str(build_dir)
    try:
        document.run(0, f"{PROGRAMS}/embedding http://127.0.0.1:8080/orders", ["200"])
    finally:
        document.stop()


def check_storage(home):
    done = subprocess.run(
        [PROGRAMS / "storage", f"{home}/state"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    expect("storage", STORAGE, done)


def run_with_server(program, server, *arguments):
    """Runs a program with its own server. Returns the finished process and the lines that the server printed."""
    server = subprocess.Popen(
        [sys.executable, EXAMPLES / "servers" / server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().removeprefix("listening on ").strip()
        done = subprocess.run(
            [PROGRAMS / program, url, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    finally:
        server.stdin.close()
        seen = server.stdout.read().splitlines()
        server.wait(10)
        server.stdout.close()
    return done, seen


def expect(program, expected, done):
    if done.returncode != 0 or [line.rstrip() for line in done.stdout.splitlines()] != expected.strip().splitlines():
        raise Failure(f"Examples/embedding, {program} printed, with exit code {done.returncode}:\n{done.stdout}")


def check_quick_start():
    done, _ = run_with_server("quick-start", "quick_start.py")
    expect("quick-start", QUICK_START, done)


def check_services():
    """Also checks what each service received: only its own credential."""
    done, seen = run_with_server("services", "services.py")
    expect("services", SERVICES, done)
    if seen != SEEN_BY_SERVICES.strip().splitlines():
        raise Failure("Examples/embedding, the services saw:\n" + "\n".join(seen))


def check_sessions(home):
    """Checks that one refresh renewed the tokens, and that the login carried none."""
    done, seen = run_with_server("sessions", "sessions.py", home)
    expect("sessions", SESSIONS, done)
    refreshes = [line for line in seen if "/auth/refresh" in line]
    if refreshes != ["POST /auth/refresh [] 200", "POST /auth/refresh [] 401"] or "DELETE /sports/ski & run [Authorization] 204" not in seen:
        raise Failure("Examples/embedding, the server of sessions saw:\n" + "\n".join(seen))
    if any("/auth/login [A" in line for line in seen):
        raise Failure("Examples/embedding, a login carried a token:\n" + "\n".join(seen))


def check_sign_in():
    """Checks that the token endpoint gets one request for each renewal, however many requests need it, and two for a logout."""
    done, seen = run_with_server("sign-in", "services.py")
    expect("sign-in", SIGN_IN, done)
    asked = [line.removeprefix("127.0.0.1 POST /token ") for line in seen if " /token " in line]
    read = [line for line in seen if "/.well-known/" in line]
    revoked = [line for line in seen if " /revoke " in line]
    if (asked, len(read), len(revoked)) != (["[] 200", "[] 200", "[] 503", "[] 200", "[] 400", "[] 200"], 1, 2):
        raise Failure("Examples/embedding, the authorization server of sign-in saw:\n" + "\n".join(seen))


def check_shredmate():
    """Runs the tests of Examples/shredmate, which have their own count."""
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "Examples/shredmate/Tests/run.py"], cwd=ROOT, timeout=4 * SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    count = re.search(r"^([1-9][0-9]*) passed, 0 failed$", done.stdout, re.M)
    if done.returncode or not count:
        raise Failure(f"Examples/shredmate/Tests/run.py, exit code {done.returncode}:\n{done.stdout}")
    return int(count[1])


STORAGE = """
abc123
tooLarge: com.example.session: the value has 2097152 bytes, more than 1048576; store it elsewhere, and keep a reference here
com.example.session has changed
true true
abc123 key-file
true
the remote store failed, the local copy is used: Away()
everywhere
the remote store works again
nothing nothing
"""

SESSIONS = """
the server rejected the user name or the password
Ada
10 ["surf"]
uploaded
100000
Ada
renewed: false
please sign in
the server has ended the session
the session has expired; log in again
true
"""

QUICK_START = """
Ada
["Ada", "Bob"]
7
Eva
4000
100000
4000 bytes
there is no such user
1 2 3 4 5
Ada Eve ["file": 100000]
"""

SERVICES = """
main: oauth
admin: API key in a header
legacy: cookie
maps: API key in the query
partner: two headers
signed: HMAC
/api/users: oauth
/public/terms: none
container: oauth
container: cookie
container: API key in a header
status 200
request.X-API-Key: [redacted: token APIKeyToken]
request.X-Tenant: [redacted: token TenantKey]
logged: API key in a header
own interceptor: cookie
limits: none
wrong password; authenticated: false
authenticated: true
authenticated: false
"""

SEEN_BY_SERVICES = """
api.example.com GET /users/me [Authorization] 401
api.example.com POST /oauth/refresh [] 200
api.example.com GET /users/me [Authorization] 200
admin.example.com GET /stats [X-API-Key] 200
legacy.example.com POST /login [] 200
legacy.example.com GET /orders [Cookie] 200
maps.example.com GET /geocode [api_key] 200
partner.example.com GET /offers [X-Client-ID, X-Client-Secret] 200
signed.example.com POST /orders [X-API-Key, X-Signature] 200
api.example.com GET /api/users [Authorization] 200
api.example.com GET /public/terms [] 200
api.example.com GET /users/me [Authorization] 200
legacy.example.com GET /orders [Cookie] 200
admin.example.com GET /stats [X-API-Key] 200
admin.example.com GET /stats [X-API-Key, X-Tenant, User-Agent: MyApp/1.0] 200
legacy.example.com GET /orders [] 401
legacy.example.com GET /orders [Cookie] 200
api.example.com GET /public/terms [] 200
api.example.com POST /auth/login [] 403
api.example.com POST /auth/login [] 200
"""

SIGN_IN = """
nobody is signed in
Ada
10
please try again later; you are still signed in
Ada
please sign in
signed out
true
"""


def main():
    build_dir = pathlib.Path(os.environ.get("NEVOD_BUILD_DIR", ROOT / ".build/release")).resolve()
    if not (build_dir / "nevod-host").exists():
        sys.exit(f"there is no nevod-host in {build_dir}; run make build")
    passed, failures = 0, []
    lock, examples_are_built = threading.Lock(), threading.Event()

    def attempt(check):
        nonlocal passed
        try:
            count = check()
        except (Failure, subprocess.SubprocessError) as failure:
            with lock:
                failures.append(str(failure))
            return False
        with lock:
            passed += count
        return True

    def check_documents(paths, home):
        for path in paths:
            document = Document(path, build_dir)
            # Each document has its own profiles and sessions. Documents that compile share the compilers' caches.
            own = pathlib.Path(home) / (path.stem if path not in compiling else ".")
            own.mkdir(exist_ok=True)
            document.environment["HOME"] = str(own)
            try:
                for line, block in blocks(path, "console"):
                    for command, expected in commands(block):
                        if "Examples/embedding" in command or "Examples/shredmate" in command:
                            examples_are_built.wait()
                        attempt(lambda: document.run(line, command, expected) or 1)
            finally:
                document.stop()
            attempt(lambda: len(list(check_swift(path))))

    def check_examples(home):
        attempt(check_imports)
        built = attempt(build_examples)
        attempt(check_shredmate)
        if built:
            attempt(lambda: check_example_tests() or 1)
        # From here on, only the documents use SwiftPM in this folder, so a plan can be removed safely.
        examples_are_built.set()
        if built:
            attempt(lambda: check_embedding(build_dir) or 1)
            attempt(lambda: check_storage(home) or 1)
            attempt(lambda: check_quick_start() or 1)
            attempt(lambda: check_services() or 1)
            attempt(lambda: check_sign_in() or 1)
            attempt(lambda: check_sessions(home) or 1)
        attempt(check_patterns)

    patterns = ("README.md", "Docs/**/*.md", "Examples/*/README.md", "Examples/schemes/*/README.md", "Sources/*/*.docc/*.md")
    documents = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    # Documents that compile write to the same files, and share the compiler's caches below HOME.
    compiling = [path for path in documents if re.search(r"^\$ (swift build|cc|c\+\+|rustc|\(cd) ", path.read_text(), re.M)]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as other_home, \
            concurrent.futures.ThreadPoolExecutor() as pool:
        # If rustup has installed rustc, it finds its toolchain below HOME.
        os.environ.setdefault("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup"))
        os.environ["HOME"] = home
        tasks = [
            pool.submit(check_examples, home),
            pool.submit(check_documents, compiling, home),
            pool.submit(check_documents, [path for path in documents if path not in compiling], other_home),
        ]
        for task in tasks:
            task.result()
    for library in ("libHMACAuthC.so", "libSessionC.so", "libSignaturesC.so", "libOAuth1Cpp.so", "libHawkRust.so"):
        (ROOT / library).unlink(missing_ok=True)
    print(*failures, sep="\n\n")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures or not passed else 0)


if __name__ == "__main__":
    main()
