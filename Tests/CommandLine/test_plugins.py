"""The lookup of plugins, and the errors for unusable ones."""

import os
import re
import shutil
import struct
import unittest

from support import (
    INCLUDE, API_KEY, FOLDER, ServerTestCase, c_plugin, cases, compile_c, compile_plugin, swift_plugin)

DRAFT = re.search(r"define NEVOD_ABI_DRAFT (\d+)u", (INCLUDE / "nevod_plugin.h").read_text())[1]


class Lookup(ServerTestCase):
    SETTINGS = ("--set", f"api-key={API_KEY}", "--set", "secret=env:NEVOD_TEST_SECRET")

    def installed(self, folder, name="libOnlyHere.so"):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.copyfile(c_plugin(), folder / name)
        os.chmod(folder / name, 0o755)
        return folder

    def using(self, plugin, **options):
        return self.run_host("--plugin", plugin, *self.SETTINGS, self.url("/a"), **options)

    @cases({"plugins_name": "OnlyHere", "files_name": "libOnlyHere.so"})
    def test_plugin_path(self, name):
        folder = self.installed(self.folder / "plugins")
        self.expect_verified(self.using(name, env={"NEVOD_PLUGIN_PATH": f"/nonexistent:{folder}"}))

    def test_file_without_lib(self):
        folder = self.installed(self.folder / "plugins", "OnlyHere.so")
        self.expect_verified(self.using("OnlyHere", env={"NEVOD_PLUGIN_PATH": folder}))

    def test_plugin_path_comes_before_the_executables_folder(self):
        folder = self.installed(self.folder / "plugins", "libHMACAuth.so")
        outcome = self.run_host("inspect", "HMACAuth", env={"NEVOD_PLUGIN_PATH": folder})
        self.expect(outcome, 0)
        self.assertIn(str(folder / "libHMACAuth.so"), outcome.out.decode())

    def test_beside_the_executable(self):
        self.expect_verified(self.using("HMACAuth"))

    @cases({"home": ("HOME", ".local/share/nevod/plugins"), "data": ("XDG_DATA_HOME", "nevod/plugins")})
    def test_users_folder(self, variable, below):
        self.installed(self.folder / below)
        self.expect_verified(self.using("OnlyHere", env={variable: str(self.folder)}))

    @cases({"here": "./libOnlyHere.so", "below": "plugins/libOnlyHere.so"})
    def test_relative_path(self, path):
        self.installed((self.folder / path).parent)
        self.expect_verified(self.using(path, cwd=self.folder))

    @cases({"plugins_name": "OnlyHere", "files_name": "libOnlyHere.so"})
    def test_never_the_working_directory(self, name):
        self.installed(self.folder)
        for path in (None, "", ".", ":", "./", f"x::{self.folder.name}"):
            with self.subTest(NEVOD_PLUGIN_PATH=path):
                outcome = self.using(name, cwd=self.folder, env={} if path is None else {"NEVOD_PLUGIN_PATH": path})
                self.expect_failure(outcome, 110, name, "no such plugin")
        self.expect_nothing_sent()

    @cases({"missing_path": "/nonexistent/libOnlyHere.so", "missing_name": "NotThere"})
    def test_not_found(self, name):
        self.expect_failure(self.using(name), 110, name, "no such plugin")
        self.expect_nothing_sent()


class Trust(ServerTestCase):
    """Code that other users could have changed is not loaded."""

    def setUp(self):
        super().setUp()
        self.outer = self.folder / "outer"
        self.inner = self.outer / "inner"
        self.inner.mkdir(mode=0o700, parents=True)
        self.outer.chmod(0o700)
        self.library = self.inner / "libHMACAuthC.so"
        shutil.copyfile(c_plugin(), self.library)
        self.library.chmod(0o755)

    def plugin(self):
        return self.library

    def expect_refused(self, culprit, *fragments):
        outcome = self.run_host(*self.credentials(), self.url("/a"))
        self.expect_failure(outcome, 110, str(self.library), f"{culprit} ", *fragments)
        self.expect_nothing_sent()

    def test_trusted(self):
        self.expect_verified(self.run_host(*self.credentials(), self.url("/a")))

    @cases({"everyone": (0o666, "everyone"), "group": (0o664, "its group")})
    def test_file_that_may_be_written(self, mode, whom):
        self.library.chmod(mode)
        self.expect_refused(self.library, whom, oct(mode)[2:])

    @cases({"everyone": (0o777, "everyone"), "group": (0o775, "its group")})
    def test_folder_that_may_be_written(self, mode, whom):
        self.inner.chmod(mode)
        self.expect_refused(self.inner, whom, oct(mode)[2:])

    def test_folder_further_up_that_may_be_written(self):
        self.outer.chmod(0o777)
        self.expect_refused(self.outer, "everyone")

    def test_sticky_folder(self):
        self.outer.chmod(0o1777)
        self.expect_verified(self.run_host(*self.credentials(), self.url("/a")))

    def test_link_to_a_file_that_may_be_written(self):
        self.library.chmod(0o666)
        link = self.folder / "libLink.so"
        link.symlink_to(self.library)
        outcome = self.run_host("inspect", link)
        self.expect_failure(outcome, 110, str(self.library), "everyone")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_file_of_another_user(self):
        os.chown(self.library, 12345, -1)
        self.expect_refused(self.library, "12345")


class Dependencies(ServerTestCase):
    """Libraries that a plugin loads. If other users could add or change them, they are rejected before any of their code runs."""

    def setUp(self):
        super().setUp()
        self.outer = self.folder / "outer"
        self.outer.mkdir(mode=0o700)
        self.path = self.outer / "libFaulty.so"
        self.mark = self.folder / "a constructor ran"

    def dependency(self, folder, name="libdependency.so", mode=0o755, flags=()):
        """A library with a function that the plugin calls, and a constructor that leaves a mark."""
        folder.mkdir(mode=0o700, exist_ok=True)
        source = self.file(
            "dependency.c",
            '#include <fcntl.h>\n#include <unistd.h>\nint nevod_helper(void) { return 0; }\n'
            f'__attribute__((constructor)) static void loaded(void) {{ close(open("{self.mark}", O_CREAT | O_WRONLY, 0600)); }}\n')
        path = folder / name
        compile_c(["cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", source, *flags, "-o", path])
        path.chmod(mode)
        return path

    def plugin(self, *flags):
        return compile_plugin(
            self.path, flags, AUTHORIZE='extern int nevod_helper(void); nevod_helper(); SET("X-A", TEXT("b"))')

    def linked(self, dependency, run_path, *flags):
        return self.plugin(f"-L{dependency.parent}", f"-l:{dependency.name}", f"-Wl,-rpath,{run_path}", *flags)

    def expect_loaded(self, **options):
        outcome = self.run_host("sign", "--plugin", self.path, self.url("/a"), **options)
        self.expect(outcome, 0)
        self.assertIn(b"X-A: b", outcome.out)
        self.assertTrue(self.mark.exists())

    def expect_refused(self, *fragments, **options):
        outcome = self.run_host("sign", "--plugin", self.path, self.url("/a"), **options)
        self.expect_failure(outcome, 110, str(self.path), "not loaded: ", *fragments)
        self.assertFalse(self.mark.exists(), "code of the library ran")

    @cases({
        "origin": "$ORIGIN/libs", "origin_in_braces": "${ORIGIN}/libs", "absolute": "{outer}/libs",
        "several": "/nonexistent:$ORIGIN/none:$ORIGIN/libs", "dots": "$ORIGIN/../outer/./libs/",
    })
    def test_safe_folder(self, run_path):
        self.linked(self.dependency(self.outer / "libs"), run_path.replace("{outer}", str(self.outer)))
        self.expect_loaded()

    def test_safe_link(self):
        self.linked(self.dependency(self.outer / "libs"), "$ORIGIN/link")
        (self.outer / "link").symlink_to("libs")
        self.expect_loaded()

    @cases({"run_path": (), "old_rpath": ("-Wl,--disable-new-dtags",)})
    def test_folder_that_may_be_written(self, *flags):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, dependency.parent, *flags)
        dependency.parent.chmod(0o777)
        self.expect_refused(f'"{dependency.parent}"', "is writable by everyone (mode 777)", "-rpath '$ORIGIN'")

    def test_sticky_folder(self):
        """The sticky bit keeps other users from replacing a file, but not from adding one."""
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, "$ORIGIN/libs")
        dependency.parent.chmod(0o1777)
        self.expect_refused('"$ORIGIN/libs"', str(dependency.parent), "mode 1777")

    def test_missing_folder_that_others_can_make(self):
        sticky = self.outer / "sticky"
        sticky.mkdir()
        sticky.chmod(0o1777)
        self.linked(self.dependency(self.outer / "libs"), f"{sticky}/later:$ORIGIN/libs")
        self.expect_refused(f'"{sticky}/later"', "later is missing there")

    @cases({"dot": ".", "name": "libs", "empty": "", "end": "/usr/lib:", "begin": ":/usr/lib", "parent": "../libs"})
    def test_relative_folder(self, run_path):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, run_path or ":")
        self.expect_refused("relative to the working directory", cwd=self.outer)

    def test_word_that_only_the_loader_knows(self):
        self.linked(self.dependency(self.outer / "libs"), "/usr/$LIB")
        self.expect_refused('"/usr/$LIB"')

    def test_file_that_may_be_written(self):
        dependency = self.dependency(self.outer / "libs", mode=0o666)
        self.linked(dependency, "$ORIGIN/libs")
        dependency.chmod(0o666)
        self.expect_refused(str(dependency), "is writable by everyone")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_file_of_another_user(self):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, "$ORIGIN/libs")
        os.chown(dependency, 12345, -1)
        self.expect_refused(str(dependency), "12345")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_link_of_another_user(self):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, "$ORIGIN/link")
        link = self.outer / "link"
        link.symlink_to("libs")
        os.chown(link, 12345, -1, follow_symlinks=False)
        self.expect_refused(str(link), "symbolic link of another user (uid 12345)")

    def named_by_path(self, name):
        """A library without a soname is recorded as it was written on the linker's command line."""
        dependency = self.dependency(self.outer / "libs")
        compile_c(["cc", "-shared", "-fPIC", self.folder / "dependency.c", "-o", dependency])
        command = ["cc", "-std=c11", "-fPIC", "-shared", f"-I{INCLUDE}",
                   '-DAUTHORIZE=extern int nevod_helper(void); nevod_helper(); SET("X-A", TEXT("b"))', FOLDER / "plugin.c",
                   name.replace("{libs}", str(dependency.parent)), "-o", self.path]
        compile_c(command, cwd=self.outer)
        return dependency

    def test_library_by_path(self):
        self.named_by_path("{libs}/libdependency.so")
        self.expect_loaded()

    def test_library_by_path_that_may_be_written(self):
        dependency = self.named_by_path("{libs}/libdependency.so")
        dependency.chmod(0o666)
        self.expect_refused(str(dependency), "is writable by everyone")

    @cases({"below": "libs/libdependency.so", "dot": "./libs/libdependency.so"})
    def test_library_by_relative_path(self, name):
        self.named_by_path(name)
        self.expect_refused(name, "the working directory", cwd=self.outer)

    def test_library_of_a_library(self):
        inner = self.dependency(self.outer / "inner")
        source = self.file("between.c", "int nevod_helper(void); int nevod_between(void) { return nevod_helper(); }\n")
        libs = self.outer / "libs"
        libs.mkdir(mode=0o700)
        between = libs / "libbetween.so"
        compile_c([
            "cc", "-shared", "-fPIC", source, f"-L{inner.parent}", "-l:libdependency.so", f"-Wl,-rpath,{inner.parent}",
            "-Wl,-soname,libbetween.so", "-o", between])
        compile_plugin(
            self.path, [between, "-Wl,-rpath,$ORIGIN/libs"],
            AUTHORIZE='extern int nevod_between(void); nevod_between(); SET("X-A", TEXT("b"))')
        self.expect_loaded()
        self.mark.unlink()
        inner.parent.chmod(0o777)
        self.expect_refused(str(between), f'"{inner.parent}"', "mode 777")

    def chained(self, *flags):
        """The plugin has a DT_RPATH; the library between it and the dependency has no folders of its own."""
        inner = self.dependency(self.outer / "inner")
        source = self.file("between.c", "int nevod_helper(void); int nevod_between(void) { return nevod_helper(); }\n")
        libs = self.outer / "libs"
        libs.mkdir(mode=0o700)
        between = libs / "libbetween.so"
        compile_c([
            "cc", "-shared", "-fPIC", source, f"-L{inner.parent}", "-l:libdependency.so", "-Wl,-soname,libbetween.so", *flags,
            "-o", between])
        compile_plugin(
            self.path, [between, f"-Wl,-rpath,$ORIGIN/libs:{inner.parent},--disable-new-dtags",
                        f"-Wl,-rpath-link,{inner.parent}"],
            AUTHORIZE='extern int nevod_between(void); nevod_between(); SET("X-A", TEXT("b"))')
        return inner

    def test_inherited_rpath(self):
        self.chained()
        self.expect_loaded()

    def test_inherited_rpath_of_a_file_that_may_be_written(self):
        inner = self.chained()
        inner.chmod(0o666)
        self.expect_refused(str(inner), "is writable by everyone")

    @cases({"newer": "glibc-hwcaps/x86-64-v2", "older": "tls/haswell/x86_64", "unknown": "glibc-hwcaps/x86-64-v9"})
    def test_folder_for_processors_that_may_be_written(self, name):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, "$ORIGIN/libs")
        folder = dependency.parent / name
        folder.mkdir(mode=0o700, parents=True)
        self.expect_loaded()
        self.mark.unlink()
        folder.chmod(0o777)
        self.expect_refused(f'"{folder}"', "mode 777")

    def test_file_for_processors_that_may_be_written(self):
        dependency = self.dependency(self.outer / "libs")
        self.linked(dependency, "$ORIGIN/libs")
        folder = dependency.parent / "glibc-hwcaps" / "x86-64-v2"
        folder.mkdir(mode=0o700, parents=True)
        copy = folder / dependency.name
        shutil.copy(dependency, copy)
        copy.chmod(0o666)
        self.expect_refused(str(copy), "is writable by everyone")

    def test_executable_stack(self):
        self.linked(self.dependency(self.outer / "libs"), "$ORIGIN/libs", "-Wl,-z,execstack")
        self.expect_refused("it would make every stack of the process executable", "-z noexecstack")

    def test_executable_stack_of_a_library(self):
        dependency = self.dependency(self.outer / "libs", flags=["-Wl,-z,execstack"])
        self.linked(dependency, "$ORIGIN/libs")
        self.expect_refused(f"{dependency} would make every stack of the process executable")

    def test_file_that_does_not_say_whether_its_stack_is_executable(self):
        self.linked(self.dependency(self.outer / "libs"), "$ORIGIN/libs")
        content = bytearray(self.path.read_bytes())
        (start,) = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<HH", content, 54)
        headers = [start + index * size for index in range(count)]
        (stack,) = [header for header in headers if struct.unpack_from("<I", content, header)[0] == 0x6474E551]
        struct.pack_into("<I", content, stack, 0)
        self.path.write_bytes(content)
        self.expect_refused("-z noexecstack")


class Faulty(ServerTestCase):
    """Each refusal names the file and the cause, without a crash and without a request."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "libFaulty.so"

    def expect_refused(self, code, *fragments):
        outcome = self.run_host("--plugin", self.path, self.url("/a"))
        self.expect_nothing_sent()
        self.expect_failure(outcome, code, str(self.path), *fragments)
        return outcome


class FaultyFile(Faulty):
    @cases({
        "text": (b"#!/bin/sh\necho hello, I am not a library and rather a longer text than a header\n", "not an ELF file"),
        "empty": (b"", "too short"),
        "magic_alone": (b"\x7fELF", "too short"),
        "magic_and_zeros": (b"\x7fELF" + bytes(200), ""),
        "magic_and_ones": (b"\x7fELF\2\1" + b"\xff" * 200, ""),
    })
    def test_not_a_library(self, content, fragment):
        self.file("libFaulty.so", content, mode=0o755)
        self.expect_refused(110, "not a shared library", fragment)

    @staticmethod
    def loaded_size(content):
        """Returns the offset up to which the loader maps the file (ELF-64: program headers of type PT_LOAD)."""
        (start,) = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<HH", content, 54)
        headers = [struct.unpack_from("<IIQQQQ", content, start + index * size) for index in range(count)]
        return max(offset + in_file for kind, _, offset, _, _, in_file in headers if kind == 1)

    @cases({
        f"{name}_{language}": (plugin, part)
        for language, plugin in {"swift": swift_plugin, "c": c_plugin}.items()
        for name, part in {"to_the_header": 0, "to_a_tenth": 0.1, "to_a_half": 0.5, "to_nine_tenths": 0.9, "by_a_byte": 1}.items()
    })
    def test_truncated(self, plugin, part):
        """If the loader mapped the file, the process would end with SIGBUS."""
        content = plugin().read_bytes()
        self.file("libFaulty.so", content[: max(64, int(self.loaded_size(content) * part) - 1)], mode=0o755)
        self.expect_refused(110)

    @cases({"swift": swift_plugin, "c": c_plugin})
    def test_without_section_headers(self, plugin):
        """The loader needs no section headers. The file is either rejected, or works and then misses its secret."""
        content = plugin().read_bytes()
        self.file("libFaulty.so", content[: self.loaded_size(content)], mode=0o755)
        outcome = self.run_host("--plugin", self.path, self.url("/a"))
        self.assertIn(outcome.code, (110, 111), outcome)
        self.expect_nothing_sent()

    def test_fifo(self):
        """Opening it would block until there is a writer."""
        os.mkfifo(self.path, 0o700)
        self.expect_refused(110, "not a regular file")

    def test_device(self):
        self.path = "/dev/zero"
        self.expect_refused(110, "writable by everyone")

    def test_folder(self):
        self.path.mkdir(mode=0o755)
        self.expect_refused(110, "not a regular file")

    def program(self, *flags):
        source = self.file("main.c", "int main(void) { return 0; }\nconst void *nevod_plugin_v1(void) { return 0; }\n")
        compile_c(["cc", source, *flags, "-o", self.path])

    def test_program(self):
        self.program("-no-pie", "-fno-pie")
        self.expect_refused(110, "program")

    def test_position_independent_program(self):
        self.program("-pie", "-fPIE")
        self.expect_refused(110)

    def test_program_that_exports_the_entry_point(self):
        self.program("-pie", "-fPIE", "-rdynamic")
        self.expect_refused(110)

    def test_object_file(self):
        compile_c(["cc", "-c", "-fPIC", f"-I{INCLUDE}", FOLDER / "plugin.c", "-o", self.path])
        self.expect_refused(110, "object file")

    def test_other_processor(self):
        content = bytearray(c_plugin().read_bytes())
        content[18:20] = (0x28).to_bytes(2, "little")  # 32-bit ARM
        self.file("libFaulty.so", content, mode=0o755)
        self.expect_refused(110, "processor")


class FaultyExports(Faulty):
    def test_no_entry_point(self):
        compile_plugin(self.path, ENTRY_POINT="something_else")
        self.expect_refused(110, "nevod_plugin_v1")

    def test_later_version_only(self):
        compile_plugin(self.path, ENTRY_POINT="nevod_plugin_v2")
        self.expect_refused(110, "version 2", "this host serves version 1")

    def test_later_version_too(self):
        compile_plugin(self.path, AUTHORIZE="return NEVOD_DENIED; } const void *nevod_plugin_v2(void) { return NULL")
        self.expect_refused(112, "refused to authorize the request")

    def test_no_code_of_a_library_without_entry_point_runs(self):
        compile_plugin(
            self.path, ENTRY_POINT="something_else",
            AUTHORIZE="return 0; } __attribute__((constructor)) static void loaded(void) { abort()")
        self.expect_refused(110, "nevod_plugin_v1")

    def test_undefined_symbol(self):
        compile_plugin(self.path, AUTHORIZE="extern int nevod_gone(void); return nevod_gone()")
        self.expect_refused(110, "nevod_gone")

    def test_missing_library(self):
        gone = self.folder / "libgone.so"
        source = self.file("gone.c", "int nevod_gone(void) { return 0; }\n")
        compile_c(["cc", "-shared", "-fPIC", "-Wl,-soname,libgone.so", source, "-o", gone])
        compile_plugin(self.path, [gone], AUTHORIZE="extern int nevod_gone(void); return nevod_gone()")
        gone.unlink()
        self.expect_refused(110, "libgone.so", "not installed")


class FaultyTable(Faulty):
    @cases({
        "draft": (dict(PLUGIN=".abi_draft = 999"), "version 1 draft 999", f"version 1 draft {DRAFT}"),
        "major": (dict(PLUGIN=".abi_major = 7"), "version 7", "version 1"),
        "null_answer": (dict(ANSWER="NULL"), "nevod_plugin_v1", "NULL"),
        "plugin_size_zero": (dict(PLUGIN=".struct_size = 0"), "nevod_plugin ", "struct_size 0"),
        "plugin_size_short": (dict(PLUGIN=".struct_size = sizeof plugin - 8"), "nevod_plugin ", "struct_size"),
        "scheme_size_short": (dict(SCHEME=".struct_size = sizeof scheme - 1"), "nevod_scheme", "struct_size"),
        "setting_size_short": (dict(SETTING=".struct_size = 8"), "nevod_setting", "struct_size 8"),
        "no_create": (dict(SCHEME=".create = NULL"), '"test"', "create"),
        "no_destroy": (dict(SCHEME=".destroy = NULL"), '"test"', "destroy"),
        "no_authorize": (dict(SCHEME=".authorize = NULL"), '"test"', "authorize"),
        "no_token_free": (dict(SCHEME=".token_decode = token_decode"), '"test"', "token_free"),
        "no_flow_step": (dict(SCHEME="ADD_FLOWS, .flow_step = NULL"), '"test"', "flow_step"),
        "no_body_free": (dict(SCHEME=".body_piece = body_piece"), '"test"', "body_free"),
        "no_body_piece": (dict(SCHEME=".body_free = body_free"), '"test"', "body_piece"),
        "secret_parameter": (
            dict(PARAMETERS="&parameter", PARAMETER=".flags = NEVOD_SETTING_SECRET"), "test.parameters", '"scope"', "secret"),
        "parameter_twice": (dict(PARAMETERS="&parameter, &parameter"), "test.parameters", '"scope"', "twice"),
        "parameters_without_table": (dict(SCHEME=".parameter_count = 2"), "test.parameters", "or its table is NULL"),
        "parameter_size_short": (
            dict(PARAMETERS="&parameter", PARAMETER=".struct_size = 8"), "nevod_setting test.parameters[0]", "struct_size 8"),
        "zero_schemes": (dict(PLUGIN=".scheme_count = 0"), "schemes"),
        "absurdly_many_schemes": (dict(PLUGIN=".scheme_count = 0xFFFFFFFF"), "scheme_count"),
        "no_schemes_table": (dict(PLUGIN=".schemes = NULL"), "schemes"),
        "null_scheme": (dict(SCHEMES="&scheme, NULL"), "schemes[1]", "NULL"),
        "duplicate_ids": (dict(SCHEMES="&other, &scheme, &other"), '"other"', "twice"),
        "id_upper_case": (dict(SCHEME='.id = NEVOD_BYTES("Test")'), "schemes[0].id", '"Test"'),
        "id_empty": (dict(SCHEME='.id = NEVOD_BYTES("")'), "schemes[0].id", "empty"),
        "id_too_long": (dict(SCHEME='.id = NEVOD_BYTES("' + "a" * 65 + '")'), "schemes[0].id", "64"),
        "no_name": (dict(PLUGIN='.name = NEVOD_BYTES("")'), "nevod_plugin.name", "empty"),
        "name_not_utf8": (dict(PLUGIN=r'.name = NEVOD_BYTES("a\xff")'), "nevod_plugin.name", "UTF-8"),
        "name_control": (dict(PLUGIN=r'.name = NEVOD_BYTES("\x1b[2J")'), "nevod_plugin.name", "control"),
        "name_without_data": (dict(PLUGIN=".name = {NULL, 5}"), "nevod_plugin.name", "data"),
        "name_huge": (dict(PLUGIN='.name = {(const uint8_t *)"a", UINT64_MAX}'), "nevod_plugin.name"),
        "title_not_utf8": (dict(SCHEME=r'.title = NEVOD_BYTES("\xc3")'), "title", "UTF-8"),
        "settings_without_table": (dict(SCHEME=".settings = NULL"), "settings"),
        "setting_null": (dict(SETTINGS="NULL"), "settings[0]", "NULL"),
        "setting_twice": (dict(SETTINGS="&setting, &setting"), '"word"', "twice"),
        "setting_kind": (dict(SETTING=".kind = 99"), "kind", "99"),
        "setting_choice_without_choices": (dict(SETTING=".kind = NEVOD_SETTING_CHOICE"), "choices", "empty"),
        "setting_choices_without_table": (dict(SETTING=".kind = NEVOD_SETTING_CHOICE, .choice_count = 3"), "choices"),
        "setting_secret_with_default": (
            dict(SETTING='.flags = NEVOD_SETTING_SECRET, .default_value = NEVOD_BYTES("x")'), "default_value", "secret"),
        "setting_bad_default": (
            dict(SETTING='.kind = NEVOD_SETTING_INTEGER, .default_value = NEVOD_BYTES("many")'), "default_value", "many"),
        "needs_size_short": (dict(NEEDS=".struct_size = 8"), "nevod_needs", "struct_size 8"),
        "needs_unknown_flag": (dict(NEEDS=".struct_size = sizeof(nevod_needs), .flags = 1u << 31"), "needs", "80000000"),
        "needs_unknown_digest": (
            dict(NEEDS='.struct_size = sizeof(nevod_needs), .digest_count = 1,'
                 ' .digests = (const nevod_bytes[]){NEVOD_BYTES("md5")}'), '"test"', "md5"),
        "needs_digests_without_table": (dict(NEEDS=".struct_size = sizeof(nevod_needs), .digest_count = 1"), "digests", "NULL"),
    })
    def test_refused(self, pieces, *fragments):
        compile_plugin(self.path, **pieces)
        self.expect_refused(110, *fragments)

    def test_two_schemes_and_none_chosen(self):
        compile_plugin(self.path, SCHEMES="&scheme, &other")
        outcome = self.expect_refused(110, "test, other")
        self.assertNotIn('""', outcome.err, "complains of a scheme that nobody named")

    @cases({
        "bad_settings": ('REPORT("word", "is no word"); return NEVOD_BAD_SETTINGS', 111, "word is no word"),
        "internal": ('REPORT("", "no memory"); return NEVOD_INTERNAL', 112, "create", "no memory"),
        "nothing_reported": ("return NEVOD_UNAVAILABLE", 112, "can't begin now: no reason given; try again later"),
        "unknown_status": ("return 77", 110, "create", "77"),
        "escape_sequences": (r'REPORT("\x1b]0;x\x07", "a\x1b[2J\nb\r"); return NEVOD_INTERNAL', 112, "a [2J b"),
    })
    def test_create_fails(self, piece, code, *fragments):
        compile_plugin(self.path, CREATE=piece)
        outcome = self.expect_refused(code, *fragments)
        self.assertNotIn("\x1b", outcome.err)
        self.assertNotIn("the detail", outcome.err)


class Reports(Faulty):
    """The detail of an error, and the plugin's own log."""

    DETAIL = r'errors->report(errors->host, TEXT("word"), TEXT("is no word"), TEXT("user ada \x1b[2J\n\xff"))'
    LEVELS = "DEBUG", "INFO", "WARNING", "ERROR"
    LOG = "; ".join(f'host->log(host->host, NEVOD_LOG_{level}, TEXT("says {level}"))' for level in LEVELS)

    def run_with(self, *words):
        return self.run_host(*words, "--plugin", self.path, self.url("/a"))

    def test_detail(self):
        compile_plugin(self.path, AUTHORIZE=f"{self.DETAIL}; return NEVOD_DENIED")
        for words in ((), ("-v",), ("-s", "-v", "-v")):
            outcome = self.run_with(*words)
            self.expect(outcome, 112)
            self.assertNotIn("ada", outcome.err)
        for words in (("-vv",), ("-v", "--verbose")):
            outcome = self.run_with(*words)
            self.expect(outcome, 112, "word is no word")
            self.assertEqual(outcome.err.splitlines()[-1], "nevod-host: detail: user ada \\u{1b}[2J\\u{a}\ufffd")

    def test_detail_of_create(self):
        compile_plugin(self.path, CREATE=f"{self.DETAIL}; return NEVOD_BAD_SETTINGS")
        self.expect(self.run_with("-vv"), 111, "detail: user ada")
        self.assertNotIn("ada", self.run_with("-v").err)

    def test_profile_does_not_ask_for_details(self):
        compile_plugin(self.path, AUTHORIZE=f"{self.DETAIL}; return NEVOD_DENIED")
        config = self.folder / "nevod"
        config.mkdir(mode=0o700)
        self.file("nevod/config", "[p]\nverbose\n")
        outcome = self.run_host(
            "--profile", "p", "-v", "--plugin", self.path, self.url("/a"), env={"XDG_CONFIG_HOME": str(self.folder)})
        self.expect(outcome, 112, "is no word")
        self.assertNotIn("ada", outcome.err)

    @cases({
        "nothing": ([], ["nevod-host: warning: Test: says WARNING", "nevod-host: Test: error: says ERROR"]),
        "verbose": (["-v"], [
            "* Test: info: says INFO", "nevod-host: warning: Test: says WARNING", "nevod-host: Test: error: says ERROR"]),
        "twice": (["-vv"], [
            "* Test: debug: says DEBUG", "* Test: info: says INFO", "nevod-host: warning: Test: says WARNING",
            "nevod-host: Test: error: says ERROR"]),
        "silent": (["-s"], []),
    })
    def test_log(self, words, lines):
        compile_plugin(self.path, CREATE=self.LOG)
        outcome = self.run_with(*words)
        self.expect(outcome, 0)
        self.assertEqual([line for line in outcome.err.splitlines() if "says" in line], lines)

    def test_warning_is_shown_once(self):
        """Three calls give two texts."""
        compile_plugin(
            self.path, CREATE='*out = (void *)host; host->log(host->host, NEVOD_LOG_WARNING, TEXT("says a"))',
            AUTHORIZE='const nevod_host *host = instance; host->log(host->host, NEVOD_LOG_WARNING, TEXT("says a")); '
            'host->log(host->host, NEVOD_LOG_WARNING, TEXT("says b"))')
        outcome = self.run_with(self.url("/b"))
        self.expect(outcome, 0)
        self.assertEqual(
            [line for line in outcome.err.splitlines() if "says" in line],
            ["nevod-host: warning: Test: says a", "nevod-host: warning: Test: says b"])
        self.assertEqual(self.run_with("-s").err, "")

    @cases({"below": (-5, []), "above": (99, ["nevod-host: Test: error: says it"])})
    def test_unknown_level(self, level, lines):
        compile_plugin(self.path, CREATE=f'host->log(host->host, {level}, TEXT("says it"))')
        outcome = self.run_with("-v")
        self.expect(outcome, 0)
        self.assertEqual([line for line in outcome.err.splitlines() if "says" in line], lines)

    def test_escape_sequences_in_the_log(self):
        compile_plugin(self.path, CREATE=r'host->log(host->host, NEVOD_LOG_WARNING, TEXT("a\x1b[2J\nnevod-host: b"))')
        outcome = self.run_with()
        self.expect(outcome, 0)
        own, mark, _ = outcome.err.partition("nevod-host: warning: the server responded with 401 ")
        self.assertEqual((own, mark != ""), ("nevod-host: warning: Test: a\\u{1b}[2J\\u{a}nevod-host: b\n", True), outcome)


# Reasons for rejecting edits.
TOKEN, BREAK, HOSTS = "not a token", "line break", "only the host"


NEWER = "use a newer host"
# Unknown values, and the error's words for them. Bits 0 to 15 are critical, and bit 31 is never assigned.
CRITICAL = {
    **{
        f"bit_{bit}_of_{name}": ({piece: fields + f".flags = 1u << {bit}", **more}, f"0x{1 << bit:x}", place)
        for bit in (15, 31)
        for name, piece, fields, place, more in (
            ("scheme", "SCHEME", "", "flags", {}),
            ("setting", "SETTING", "", "settings[0].flags", {}),
            ("parameter", "PARAMETER", "", "parameters[0].flags", dict(PARAMETERS="&parameter")))
    },
    "kind_of_setting": (dict(SETTING=".kind = 99"), "the kind 99", '"word"'),
    "kind_of_parameter": (dict(PARAMETER=".kind = 99", PARAMETERS="&parameter"), "the kind 99", '"scope"'),
}


class UnknownValues(Faulty):
    """The contract's rule: an unknown critical value makes the host reject the scheme, and an unknown ignorable value is
    ignored."""

    def use(self, scheme):
        return self.run_host("--plugin", self.path, "--scheme", scheme, self.url("/a"))

    def expect_other_works(self):
        self.server.forget()
        self.expect(self.use("other"), 0)
        self.the_request()

    @cases(CRITICAL)
    def test_critical(self, pieces, *fragments):
        compile_plugin(self.path, SCHEMES="&scheme, &other", **pieces)
        self.expect_failure(self.use("test"), 110, str(self.path), 'the scheme "test"', NEWER, *fragments)
        self.expect_nothing_sent()
        self.expect_other_works()

    @cases(CRITICAL)
    def test_critical_in_the_only_scheme(self, pieces, *fragments):
        compile_plugin(self.path, **pieces)
        self.expect_failure(self.run_host("inspect", self.path), 110, str(self.path), 'the scheme "test"', NEWER, *fragments)

    @cases({"bit_15": 15, "bit_31": 31})
    def test_critical_need(self, bit):
        """Needs belong to an instance, so `inspect` can't know them."""
        compile_plugin(
            self.path, SCHEMES="&scheme, &other", NEEDS=f".struct_size = sizeof(nevod_needs), .flags = 1u << {bit}")
        self.expect_failure(self.use("test"), 110, 'the scheme "test"', f"0x{1 << bit:x} of its needs", NEWER)
        self.expect_nothing_sent()
        self.expect_other_works()

    def test_ignorable(self):
        """Bits 16 to 30, including the two that are assigned for schemes."""
        ignorable = ".flags = 0x7fff0000u"
        compile_plugin(
            self.path, SCHEME=ignorable, SETTING=ignorable, PARAMETER=ignorable, PARAMETERS="&parameter",
            NEEDS=".struct_size = sizeof(nevod_needs), " + ignorable, AUTHORIZE='SET("X-A", TEXT("b"))')
        self.expect(self.run_host("--plugin", self.path, self.url("/a")), 0)
        self.assertIn(["X-A", "b"], self.the_request()["headers"])

    def test_status_of_create(self):
        compile_plugin(self.path, CREATE="return 77")
        self.expect_refused(110, "create, which returned the unknown status 77", "a fault in the plugin")

    def test_status_of_authorize(self):
        compile_plugin(self.path, AUTHORIZE='REPORT("X-A", "is too old"); return 77')
        self.expect_refused(110, "authorize", "X-A is too old", "status 77")

    @cases({
        "flow_begin": (dict(BEGIN="return 77"), "flow_begin"),
        "flow_step": (dict(STEP="return -1"), "login of the scheme"),
        "flow_step_after_its_action": (dict(STEP='TOKEN(.bytes = NEVOD_BYTES("t")); return 77'), "login of the scheme"),
        "token_decode": (
            dict(SCHEME="ADD_FLOWS, ADD_DECODE", STEP='TOKEN(.bytes = NEVOD_BYTES("t"))', DECODE="return 77"), "token_decode"),
    })
    def test_status_in_a_login(self, pieces, function):
        compile_plugin(self.path, **{"SCHEME": "ADD_FLOWS", **pieces})
        outcome = self.run_host("--no-store", "--plugin", self.path, self.url("/a"))
        self.expect(outcome, 110, str(self.path), function, "a fault in the plugin: ", "which returned the unknown status ")
        self.expect_nothing_sent()

    @cases({"positive": "77", "negative": "-77", "a_status": "NEVOD_INTERNAL"})
    def test_verdict(self, verdict):
        compile_plugin(
            self.path, SCHEME=".on_response = on_response", RESPOND=f"return {verdict}",
            NEEDS=".struct_size = sizeof(nevod_needs), .flags = NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES")
        self.expect(self.run_host("-f", "--plugin", self.path, self.url("/status/200")), 0)
        self.expect(self.run_host("-f", "--plugin", self.path, self.url("/status/401")), 22)
        self.assertEqual(len(self.server.requests()), 2)

    def test_log_level(self):
        """An unknown level counts as the nearest known one."""
        compile_plugin(self.path, CREATE='host->log(host->host, 99, TEXT("above all")); host->log(host->host, -99, TEXT("below all"))')
        outcome = self.run_host("--plugin", self.path, self.url("/a"))
        self.expect(outcome, 0, "above all")
        self.assertNotIn("below all", outcome.err)
        self.expect(self.run_host("-vv", "--plugin", self.path, self.url("/a")), 0, "Test: error: above all", "Test: debug: below all")


class Negotiation(Faulty):
    def test_later_minor_version(self):
        compile_plugin(self.path, PLUGIN=".abi_minor = 1")
        self.expect_refused(
            110, "needs version 1.1 of the plugin contract, but this host serves version 1.0; use a newer host")

    def test_later_minor_version_in_a_longer_table(self):
        """The host reads the versions before anything that a later version may have changed."""
        compile_plugin(self.path, PLUGIN=".abi_minor = 7, .struct_size = 4096, .scheme_count = 0, .reserved = 1")
        self.expect_refused(110, "needs version 1.7", "serves version 1.0")

    def test_the_hosts_version(self):
        """A plugin learns the host's name, its version, and the minor version that it serves."""
        compile_plugin(
            self.path,
            CREATE='char line[256]; snprintf(line, sizeof line, "%.*s %.*s serves %u.%u", (int)host->name.count,'
            ' (const char *)host->name.data, (int)host->version.count, (const char *)host->version.data, NEVOD_ABI_MAJOR,'
            ' (unsigned)host->abi_minor); host->log(host->host, NEVOD_LOG_WARNING,'
            ' (nevod_bytes){(const uint8_t *)line, strlen(line)})')
        version = self.run_host("--version").out.decode().split()[1]
        self.expect(self.run_host("--plugin", self.path, self.url("/a")), 0, f"NevodHost {version} serves 1.0")


class Sizes(Faulty):
    """A struct has at least the size of its first frozen revision, and may have any number of later fields."""

    def test_longer_tables(self):
        longer = ".struct_size = 1u << 30"
        compile_plugin(
            self.path, PLUGIN=longer, SCHEME=longer + ", ADD_FLOWS", SETTING=longer, PARAMETER=longer, PARAMETERS="&parameter",
            NEEDS=longer, STEP=f'return TOKEN(.bytes = NEVOD_BYTES("t"), {longer})', AUTHORIZE='SET("X-A", TEXT("b"))')
        self.expect(self.run_host("--no-store", "--plugin", self.path, self.url("/a")), 0)
        self.assertIn(["X-A", "b"], self.the_request()["headers"])

    @cases({
        "nevod_token": 'return TOKEN(.bytes = NEVOD_BYTES("t"), .struct_size = NEVOD_TOKEN_MINIMUM - 1)',
        "nevod_question": 'const nevod_question one = {.struct_size = NEVOD_QUESTION_MINIMUM - 1, .kind = NEVOD_QUESTION_TEXT,'
        ' .name = NEVOD_BYTES("a"), .prompt = NEVOD_BYTES("A")};'
        ' return actions->ask(actions->host, (const nevod_question *const[]){&one}, 1)',
        "nevod_flow_request": 'return actions->send(actions->host, &(nevod_flow_request){'
        '.struct_size = NEVOD_FLOW_REQUEST_MINIMUM - 1, .method = NEVOD_BYTES("GET"), .url = NEVOD_BYTES("http://127.0.0.1/")})',
        "nevod_listen": 'return actions->listen(actions->host, &(nevod_listen){.struct_size = NEVOD_LISTEN_MINIMUM - 1,'
        ' .path = NEVOD_BYTES("/a")})',
    })
    def test_shorter_action(self, step):
        compile_plugin(self.path, SCHEME="ADD_FLOWS", STEP=step)
        outcome = self.run_host("--no-store", "--plugin", self.path, "--answer", "a=b", self.url("/a"))
        name = self.id().rpartition("_shorter_action_")[2]
        minimum = int(re.search(rf"define {name.upper()}_MINIMUM (\d+)u", (INCLUDE / "nevod_plugin.h").read_text())[1])
        self.expect(
            outcome, 110, str(self.path), 'login flow of the scheme "test"', name,
            f"struct_size {minimum - 1}, but at least {minimum} is required")
        self.expect_nothing_sent()


class Reserved(Faulty):
    """Reserved fields must be zero, or they could never be used."""

    @cases({
        "plugin": (dict(PLUGIN=".reserved = 1"), "nevod_plugin.reserved is 1, but must be zero"),
    })
    def test_of_a_table(self, pieces, fragment):
        compile_plugin(self.path, **pieces)
        self.expect_refused(110, fragment)

    @cases({
        "nevod_token": 'return TOKEN(.bytes = NEVOD_BYTES("t"), .reserved = 1)',
        "nevod_token_to_keep": 'return actions->keep(actions->host, &(nevod_token){.struct_size = sizeof(nevod_token),'
        ' .reserved = 1, .bytes = NEVOD_BYTES("t")})',
        "nevod_question": 'const nevod_question one = {.struct_size = sizeof one, .kind = NEVOD_QUESTION_TEXT,'
        ' .name = NEVOD_BYTES("a"), .prompt = NEVOD_BYTES("A"), .reserved = 1};'
        ' return actions->ask(actions->host, (const nevod_question *const[]){&one}, 1)',
        "nevod_flow_request": 'return actions->send(actions->host, &(nevod_flow_request){.struct_size = sizeof(nevod_flow_request),'
        ' .method = NEVOD_BYTES("GET"), .url = NEVOD_BYTES("http://127.0.0.1/"), .reserved = 1})',
        "nevod_listen": 'return actions->listen(actions->host, &(nevod_listen){.struct_size = sizeof(nevod_listen),'
        ' .path = NEVOD_BYTES("/a"), .reserved = 1})',
    })
    def test_of_an_action(self, step):
        compile_plugin(self.path, SCHEME="ADD_FLOWS", STEP=step)
        outcome = self.run_host("--no-store", "--plugin", self.path, "--answer", "a=b", self.url("/a"))
        name = self.id().rpartition("_of_an_action_")[2].removesuffix("_to_keep")
        self.expect(outcome, 110, str(self.path), 'login flow of the scheme "test"', f"{name}.reserved is not zero")
        self.expect_nothing_sent()


class FaultyAuthorize(Faulty):
    @cases({
        "break_in_value": (r'SET("X-A", TEXT("b\r\nX-B: c"))', '"X-A"', BREAK),
        "line_feed_in_value": (r'ADD("X-A", TEXT("b\nX-B: c"))', '"X-A"', BREAK),
        "carriage_return_in_value": (r'SET("X-A", TEXT("b\rc"))', '"X-A"', BREAK),
        "nul_in_value": (r'SET("X-A", TEXT("b\0c"))', '"X-A"', "control"),
        "name_with_space": ('SET("X A", TEXT("b"))', '"X A"', TOKEN),
        "name_with_break": (r'SET("X-A: b\r\nX-B", TEXT("c"))', "X-A", TOKEN),
        "name_with_colon": ('SET("X-A:", TEXT("b"))', '"X-A:"', TOKEN),
        "name_empty": ('SET("", TEXT("b"))', '""', TOKEN),
        "name_not_ascii": (r'SET("X-\xc3\xa9", TEXT("b"))', '"X-é"', TOKEN),
        **{
            "writes_" + name.lower().replace("-", "_"): (f'SET("{name}", TEXT("5"))', f'"{name}"', HOSTS)
            for name in (
                "Host", "Content-Length", "transfer-encoding", "CONNECTION", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade",
                "Expect", "Trailer")
        },
        "adds_host": ('ADD("Host", TEXT("other.test"))', '"Host"', HOSTS),
        "proxy_authorization": ('SET("Proxy-Authorization", TEXT("b"))', '"Proxy-Authorization"', "proxy"),
        "value_of_70_kib": ('SET("X-A", letters(70 << 10))', '"X-A"', "71680", "65536"),
        "call_of_300_kib": (
            'for (int i = 0; i < 5; i++) ADD("X-A", letters(60 << 10))', '"X-A"', "262144"),
        "value_without_data": ('SET("X-A", ((nevod_bytes){NULL, 5}))', '"X-A"', "data"),
        "value_huge": ('SET("X-A", one_byte_called(UINT64_MAX))', '"X-A"', "65536"),
        "name_huge": ('edits->set_header(edits->host, one_byte_called(UINT64_MAX), TEXT("b"))', "more than 256"),
        "query_without_name": ('QUERY("", TEXT("b"))', "query", "name"),
        "cookie_with_semicolon": ('COOKIE("a", TEXT("b; c=d"))', '"a"', "cookie"),
        "cookie_name": ('COOKIE("a=b", TEXT("c"))', '"a=b"', "a byte that is not allowed in cookies"),
        "one_of_several": ('SET("X-A", TEXT("b")); SET("Host", TEXT("c")); SET("X-C", TEXT("d"))', '"Host"', HOSTS),
        "status_unknown": ("return 77", "authorize", "77"),
        "status_negative": ("return -1", "authorize", "-1"),
    })
    def test_refused(self, piece, *fragments):
        compile_plugin(self.path, AUTHORIZE=piece)
        self.expect_refused(110, '"test"', *fragments)

    def test_refused_edit_and_own_failure(self):
        """The contract: "the whole `authorize` then fails with the host's reason, whatever the plugin returns"."""
        compile_plugin(self.path, AUTHORIZE='if (SET("Host", TEXT("b")) != NEVOD_OK) return NEVOD_INTERNAL')
        self.expect_refused(110, '"Host"', HOSTS)

    @cases({
        "reported": ('REPORT("X-A", "is too old"); return NEVOD_DENIED', "X-A is too old", "refused to authorize the request: "),
        "not_reported": ("return NEVOD_UNAVAILABLE", "no reason", "now: no reason given; try again later"),
        "reported_twice": ('REPORT("", "first"); REPORT("", "second"); return NEVOD_BAD_TOKEN', "first", "; log in again"),
        "escape_sequences": (r'REPORT("\x1b[1m", "a\x1b[2J\nb"); return NEVOD_INTERNAL', "a [2J b"),
        "after_edits": ('SET("X-A", TEXT("b")); return NEVOD_UNSUPPORTED', "which it doesn't support"),
    })
    def test_fails(self, piece, *fragments):
        compile_plugin(self.path, AUTHORIZE=piece)
        outcome = self.expect_refused(112, '"test"', "authorize", *fragments)
        for text in ("\x1b", "the detail", "second"):
            self.assertNotIn(text, outcome.err)


class Edits(ServerTestCase):
    """The same small plugin without a fault. If this one also failed, the tests above would prove little."""

    def signed(self, piece, target="/a", *words):
        path = compile_plugin(self.folder / "libTest.so", AUTHORIZE=piece)
        outcome = self.run_host("sign", "--plugin", path, *words, self.url(target))
        self.expect(outcome, 0)
        head = outcome.out.partition(b"\r\n\r\n")[0].decode()
        return head.split("\r\n")

    def test_none(self):
        self.assertEqual(self.signed("")[0], "GET /a HTTP/1.1")

    def test_headers(self):
        lines = self.signed(
            'SET("x-a", TEXT("1")); ADD("X-A", TEXT("2")); SET("X-Empty", TEXT(""))', "/a", "-H", "X-A: 0", "-H", "X-A: 9")
        self.assertEqual([line for line in lines if line.lower().startswith("x-a")], ["x-a: 1", "X-A: 2"])
        self.assertIn("X-Empty:", [line.rstrip() for line in lines])

    def test_needs_answered_with_null(self):
        path = compile_plugin(self.folder / "libTest.so", NEEDS_ANSWER="NULL")
        self.assertIn(self.run_host("sign", "--plugin", path, self.url("/a")).code, (0, 110))

    def test_largest_value(self):
        self.assertIn("X-A: " + "a" * 65536, self.signed('SET("X-A", letters(64 << 10))'))

    @cases({"first": ("/a", "/a?k%20%26=v%2F%C3%A9"), "another": ("/a?x=%zz&&", "/a?x=%zz&&&k%20%26=v%2F%C3%A9")})
    def test_query(self, target, sent):
        self.assertEqual(self.signed(r'QUERY("k &", TEXT("v/\xc3\xa9"))', target)[0], f"GET {sent} HTTP/1.1")

    def test_cookies(self):
        lines = self.signed('COOKIE("b", TEXT("2")); COOKIE("c", TEXT("3"))', "/a", "-H", "Cookie: a=1; b=0")
        self.assertEqual([line for line in lines if line.startswith("Cookie")], ["Cookie: a=1; b=2; c=3"])

    def test_sent(self):
        path = compile_plugin(self.folder / "libTest.so", AUTHORIZE='QUERY("k", TEXT("v")); SET("X-A", TEXT("1"))')
        self.expect(self.run_host("--plugin", path, self.url("/a?x")), 0)
        seen = self.the_request()
        self.assertEqual(seen["target"], "/a?x&k=v")
        self.assertIn(["X-A", "1"], seen["headers"])
