#!/usr/bin/env python3
"""Builds the example and runs its Swift tests, the program's tests, and the snippets of the module's guide.

    python3 Examples/shredmate/Tests/run.py [--write]

The snippets are compiled in a package outside the repository, in one module with the example's folder Auth, as in an app. A line
that differs from the guide's ends with "// changed: WHY"; imports are not counted. The README lists the snippets and their
changes; --write rewrites its table. The last line says "N passed, N failed".
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[1]
ROOT = EXAMPLE.parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import test_build  # noqa: E402

SNIPPETS = sorted((EXAMPLE / "Guide").glob("*.swift"))
SECONDS = 600

MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "riders",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NevodHost", path: "%s")],
    targets: [
        .target(name: "SwiftUIDeclarations"),
        .target(name: "Riders", dependencies: ["SwiftUIDeclarations", .product(name: "NevodSessions", package: "NevodHost")]),
    ],
    swiftLanguageModes: [.v6]
)
"""


class Failure(Exception):
    pass


def swift(command, *words, package):
    """Runs swift in the folder where the unit tests' build of the library is."""
    done = test_build.swift(command, *words, package=package, timeout=SECONDS)
    return done.returncode, done.stdout


def build():
    status, output = swift("build", "--build-tests", package=EXAMPLE)
    if status:
        raise Failure(f"Examples/shredmate can't be built:\n{output[-6000:]}")
    return 1


def check_swift_tests():
    status, output = swift("test", "--skip-build", "--disable-xctest", package=EXAMPLE)
    count = re.search(r"Test run with ([1-9][0-9]*) tests?", output)
    if status or not count:
        raise Failure(f"the Swift tests of Examples/shredmate, exit code {status}:\n{output[-6000:]}")
    return int(count[1])


def check_program():
    environment = os.environ | {"SHREDMATE_PROGRAM": str(test_build.PROGRAMS / "shredmate")}
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "discover", EXAMPLE / "Tests/Program"], env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    count = re.search(r"^Ran ([1-9][0-9]*) tests?", done.stdout, re.M)
    if done.returncode or not count:
        raise Failure(f"the tests of the program, exit code {done.returncode}:\n{done.stdout[-6000:]}")
    return int(count[1])


def compile_snippets(folder):
    """Returns the names of the snippets that don't compile, and the compiler's output."""
    (folder / "Package.swift").write_text(MANIFEST % ROOT)
    shutil.copytree(EXAMPLE / "Guide/SwiftUIDeclarations", folder / "Sources/SwiftUIDeclarations")
    shutil.copytree(EXAMPLE / "Sources/shredmate/Auth", folder / "Sources/Riders/Auth")
    for snippet in SNIPPETS:
        shutil.copy(snippet, folder / "Sources/Riders")
    status, output = swift("build", package=folder)
    failed = {pathlib.Path(path).name for path in re.findall(r"^(/\S+\.swift):\d+:\d+: error:", output, re.M)}
    if status and not failed:
        raise Failure(f"the package of the snippets can't be built:\n{output[-6000:]}")
    return failed, output


def table_of_snippets(failed):
    lines = ["| Section | Snippet | Compiles |", "|---|---|---|"]
    unchanged = 0
    for snippet in SNIPPETS:
        text = snippet.read_text()
        changes = re.findall(r"// changed: (.*)$", text, re.M)
        unchanged += not changes and snippet.name not in failed
        verdict = "not at all" if snippet.name in failed else "; ".join(changes) if changes else "unchanged"
        title = text.split("\n", 1)[0].removeprefix("// ")
        lines.append(f"| {title} | [`{snippet.name}`](Guide/{snippet.name}) | {verdict} |")
    return "\n".join(lines + ["", f"{unchanged} of {len(SNIPPETS)} compile unchanged."])


def check_snippets():
    with tempfile.TemporaryDirectory(prefix="riders-") as folder:
        failed, output = compile_snippets(pathlib.Path(folder))
    readme = EXAMPLE / "README.md"
    text = readme.read_text()
    found = re.search(r"(?<=<!-- snippets -->\n).*?(?=\n<!-- end of snippets -->)", text, re.S)
    if not found:
        raise Failure("README.md has no table of snippets")
    table = table_of_snippets(failed)
    if "--write" in sys.argv[1:]:
        readme.write_text(text[: found.start()] + table + text[found.end() :])
    elif found[0] != table:
        raise Failure(f"README.md lists other snippets; run.py --write writes this:\n{table}\n\n{output[-4000:] if failed else ''}")
    if failed:
        raise Failure(f"these snippets don't compile: {', '.join(sorted(failed))}\n{output[-6000:]}")
    return len(SNIPPETS)


def main():
    passed, failures = 0, []
    for check in (build, check_swift_tests, check_program, check_snippets):
        start = time.monotonic()
        try:
            passed += check()
        except (Failure, subprocess.SubprocessError) as failure:
            failures.append(str(failure))
            if check is build:
                break
        print(f"{check.__name__.replace('_', ' ')}: {time.monotonic() - start:.1f} s", flush=True)
    print(*failures, sep="\n\n")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures or not passed else 0)


main()
