"""The modules of the debug build, as a compiler outside this package finds them."""

import os
import pathlib

import test_build

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("NEVOD_DEBUG_BUILD_DIR", test_build.PROGRAMS)).resolve()


def flags():
    """Compiler flags for an import of any module; exits if there is no build."""
    if not (BUILD / "Modules" / "NevodHostFoundation.swiftmodule").exists():
        raise SystemExit(f"there is no debug build in {BUILD}; run swift build --build-tests")
    maps = sorted(ROOT.glob("Sources/System/*/module.modulemap")) + sorted(BUILD.glob("*.build/module.modulemap"))
    found = ["-I", str(BUILD / "Modules")]
    for path in maps:
        found += ["-Xcc", f"-fmodule-map-file={path}"]
    for path in sorted(ROOT.glob("Sources/*/include")) + sorted(ROOT.glob("Sources/C/*/include")):
        found += ["-Xcc", f"-I{path}"]
    return found
