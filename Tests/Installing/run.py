#!/usr/bin/env python3
"""Installs the build, removes it again, and tests the Debian packages on a minimal system without Swift.

    NEVOD_BUILD_DIR=.build/release python3 Tests/Installing/run.py [WORD ...]

Needs gdb, binutils, dpkg-dev and mmdebstrap, and Debian's packages from a mirror.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("NEVOD_BUILD_DIR", ".build/release")).resolve()
PATIENCE = 300
SECRET = "s3cret-installed"


def run(command, **options):
    options.setdefault("timeout", PATIENCE)
    environment = {**os.environ, "NEVOD_BUILD_DIR": str(BUILD), **options.pop("env", {})}
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
        **options)


def names(folder):
    """The files and folders below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Installing(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-install-"))
        self.addCleanup(shutil.rmtree, self.folder)
        # A build would fail with an error.
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "swift").write_text("#!/bin/sh\necho a build was started >&2\nexit 1\n")
        (tools / "swift").chmod(0o755)
        self.home = self.folder / "home of a user"
        self.home.mkdir()
        # The make that runs this sets them.
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "DEBUG_FILES", "PREFIX"):
            os.environ.pop(name, None)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(self.home)}

    def make(self, *words):
        return run(["make", "--no-print-directory", *words], env=self.environment)

    def assertDone(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_a_tilde_is_the_home_directory_and_nothing_is_built(self):
        done = self.assertDone(self.make("install", "PREFIX=~/.local"))
        prefix = self.home / ".local"
        self.assertIn(f"{prefix}/bin is not on your PATH", done.stdout)
        self.assertFalse((ROOT / "~").exists())
        host = prefix / "bin/nevod-host"
        self.assertIn("nevod-host ", run([host, "--version"]).stdout)
        self.assertIn("scheme hmac", run([host, "inspect", "HMACAuth"], env={"HOME": str(self.home)}).stdout)
        self.assertIn("github ", run([host, "help", "presets"], env={"HOME": str(self.home)}).stdout)
        for name in ("include/nevod_plugin.h", "share/man/man1/nevod-host.1", "share/nevod/kit/Package.swift",
                     "share/nevod-host/presets/oauth2/github.preset",
                     "share/bash-completion/completions/nevod-host", "share/pkgconfig/nevod-plugin.pc"):
            self.assertTrue((prefix / name).is_file(), name)

    def test_what_is_installed_has_no_symbols(self):
        self.assertDone(self.make("install", f"PREFIX={self.folder}/plain"))
        for path in (self.folder / "plain").rglob("*"):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                self.assertIn("no symbols", run(["nm", path]).stderr, path)
                self.assertLess(path.stat().st_size, 20 << 20, path)

    def test_debug_files_are_found_by_a_debugger(self):
        self.assertDone(self.make("install", f"PREFIX={self.folder}/debug", "DEBUG_FILES=1"))
        host = self.folder / "debug/bin/nevod-host"
        self.assertIn("no symbols", run(["nm", host]).stderr)
        shown = run(["gdb", "-nx", "-batch", "-ex", "info line main", host]).stdout
        self.assertIn("<nevod_host_main>", shown)

    def test_uninstall_leaves_what_was_there(self):
        prefix = self.folder / "prefix"
        for name in ("bin/other", "lib/nevod/plugins/libTheirs.so", "share/man/man1/other.1"):
            (prefix / name).parent.mkdir(parents=True, exist_ok=True)
            (prefix / name).write_text("another's\n")
        before = names(prefix)
        self.assertDone(self.make("install", f"PREFIX={prefix}"))
        self.assertGreater(len(names(prefix)), len(before) + 50)
        # Twice, like an update.
        self.assertDone(self.make("install", f"PREFIX={prefix}"))
        self.assertDone(self.make("uninstall", f"PREFIX={prefix}"))
        self.assertEqual(names(prefix), before)
        again = self.make("uninstall", f"PREFIX={prefix}")
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("nothing was installed", again.stderr)

    def test_a_newer_version_removes_what_it_no_longer_has(self):
        prefix = self.folder / "prefix"
        self.assertDone(self.make("install", f"PREFIX={prefix}"))
        old = prefix / "lib/nevod/plugins/libOldAuth.so"
        old.write_text("an older version's\n")
        kept = prefix / "lib/nevod/plugins/libTheirs.so"
        kept.write_text("another's\n")
        installed = prefix / "share/nevod/installed-files"
        installed.write_text(installed.read_text() + "lib/nevod/plugins/libOldAuth.so\n")
        self.assertDone(self.make("install", f"PREFIX={prefix}"))
        self.assertFalse(old.exists())
        self.assertTrue(kept.exists())

    def test_a_stage_for_packages(self):
        self.assertDone(self.make("install", "PREFIX=/usr", f"DESTDIR={self.folder}/stage"))
        self.assertTrue((self.folder / "stage/usr/bin/nevod-host").is_file())

    def test_mistakes_say_what_to_do(self):
        done = self.make("install", "PREFIX=relative")
        self.assertIn("the prefix relative is not an absolute path", done.stderr)
        empty = run(["scripts/install", self.folder / "p"], env={**self.environment, "NEVOD_BUILD_DIR": str(self.folder)})
        self.assertEqual(empty.returncode, 1)
        self.assertIn("run make build first", empty.stderr)


class Depending(unittest.TestCase):
    MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "app", platforms: [.macOS(.v15)], dependencies: [.package(url: "file://%s", from: "0.2.0")],
    targets: [.executableTarget(name: "app", dependencies: [.product(name: "NevodHost", package: "nevod-host")])])
"""

    def test_a_version_by_url_and_tag(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-depend-"))
        self.addCleanup(shutil.rmtree, folder)
        repository = folder / "nevod-host"
        # The current state, committed or not.
        files = run(["git", "ls-files", "-co", "--exclude-standard", "-z"]).stdout.split("\0")
        for name in filter(None, files):
            if (ROOT / name).is_file():
                (repository / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, repository / name)
        git = ["git", "-C", repository, "-c", "user.name=t", "-c", "user.email=t@localhost"]
        for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "test"], ["tag", "0.2.1"]):
            done = run([*git, *words])
            self.assertEqual(done.returncode, 0, done.stderr)
        (folder / "app/Sources/app").mkdir(parents=True)
        (folder / "app/Package.swift").write_text(self.MANIFEST % repository)
        (folder / "app/Sources/app/main.swift").write_text("import NevodHost\n")
        done = run(["swift", "package", "--package-path", folder / "app", "resolve"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"version" : "0.2.1"', (folder / "app/Package.resolved").read_text())


# Runs on the minimal system: $1 is its root, $2 the server.
ON_THE_SYSTEM = """
set -eu
root=$1
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEMO_SECRET=%(secret)s "$@"; }
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /root/*.deb libsqlite3-0 ca-certificates' \
    >"$root.log" 2>&1 || { cat "$root.log"; exit 1; }
rm "$root.log"
echo "swift: $(find "$root" -name 'libswift*' -o -name swiftc | wc -l)"
inside nevod-host --version
inside nevod-host inspect HMACAuth | head -n 1
inside nevod-host inspect oauth2 | head -n 1
inside nevod-host --plugin libHMACAuth.so --set api-key=demo --set secret=env:DEMO_SECRET %(hmac)s/orders
login="--plugin libCookieAuth.so --set login=%(session)s/signin --set csrf=input --set csrf-name=csrf"
inside nevod-host login $login --answer username=ada --answer password=env:DEMO_SECRET
inside nevod-host $login %(session)s/orders
inside nevod-host sessions
inside sh -c 'test -f /usr/share/man/man1/nevod-host.1.gz && test -f /usr/include/nevod_plugin.h && echo documented'
inside dpkg -S /usr/share/nevod-host/presets/oauth2/github.preset
inside nevod-host help presets | grep -F github-actions
inside dpkg --remove nevod-host nevod-host-dev >/dev/null
echo "left: $(find "$root/usr" -path '*nevod*' | wc -l)"
echo "kept: $(find "$root/root" -name sessions.db | wc -l)"
"""


class Packages(unittest.TestCase):
    """The packages, installed with their dependencies on an otherwise empty system."""

    def server(self, name):
        process = subprocess.Popen(
            [sys.executable, ROOT / "Examples/demo-server" / name, "--parent-pid", str(os.getpid())],
            env={**os.environ, "DEMO_SECRET": SECRET, "DEMO_API_KEY": "demo"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)

        def stop():
            process.terminate()
            process.communicate()

        self.addCleanup(stop)
        return process.stdout.readline().removeprefix("listening on ").strip().rstrip("/")

    def test_packages(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nevod-deb-"))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        # The packed contents are the same at each level, and the lowest takes a sixth of the time.
        fast = {"DPKG_DEB_COMPRESSOR_LEVEL": "0"}
        done = run(["scripts/make-deb", folder], env=fast)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        packages = done.stdout.split()
        self.assertEqual(len(packages), 2, done.stdout)
        first = {path: pathlib.Path(path).read_bytes() for path in packages}
        run(["scripts/make-deb", folder], env=fast)
        for path in packages:
            self.assertEqual(first[path] == pathlib.Path(path).read_bytes(), True, f"{path} differs when it is made again")
        script = folder / "try"
        script.write_text(ON_THE_SYSTEM % {
            "secret": SECRET, "hmac": self.server("hmac_server.py"), "session": self.server("session_server.py")})
        release = run(["sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME"]).stdout.strip()
        tried = run(
            ["mmdebstrap", "--variant=minbase", "--quiet",
             *(f"--customize-hook=copy-in {path} /root" for path in packages),
             f'--customize-hook=sh {script} "$1" >{folder}/output 2>&1 || {{ cat {folder}/output >&2; exit 1; }}', "--format=null", release, "/dev/null"])
        self.assertEqual(tried.returncode, 0, tried.stdout + tried.stderr)
        output = (folder / "output").read_text()
        for expected in ("swift: 0\n", "nevod-host 0.", "HMACAuth 0.", "OAuth2Auth 0.", '"verified": true', "logged in as ada", '"user": "ada"', "cookie",
                         "documented\n", "nevod-host: /usr/share/nevod-host/presets/", "GitHub Actions: ", "left: 0\n", "kept: 1\n"):
            self.assertIn(expected, output)


if __name__ == "__main__":
    unittest.main(verbosity=1)
