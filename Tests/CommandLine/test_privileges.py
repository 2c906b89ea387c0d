"""A set-user-ID program has more rights than its user, so the user's variables must not choose the code that it runs."""

import os
import shutil
import stat
import subprocess
import unittest

from support import HOST, PATIENCE, TestCase, environment, swift_plugin

NOBODY = 65534


class Privileges(TestCase):
    def privileged(self):
        """Returns a copy of the command that runs as another user than its caller. Making it needs root."""
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make a program for another user")
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            raise unittest.SkipTest("the folder for temporary files is mounted nosuid")
        folder = self.folder
        folder.chmod(0o755)
        copy = folder / "nevod-host"
        shutil.copy(HOST, copy)
        os.chown(copy, NOBODY, NOBODY)
        copy.chmod(0o755 | stat.S_ISUID)
        return copy

    def run_as(self, program, *words, **env):
        done = subprocess.run(
            [program, *words], env=environment(**env), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_plugin_path(self):
        program = self.privileged()
        plugins = self.folder / "plugins"
        plugins.mkdir(mode=0o755)
        shutil.copy(swift_plugin(), plugins / "libElsewhere.so")
        (plugins / "libElsewhere.so").chmod(0o755)
        for env in ({"NEVOD_PLUGIN_PATH": str(plugins)}, {"XDG_DATA_HOME": str(self.data(plugins))}, {"HOME": str(self.home(plugins))}):
            with self.subTest(env):
                code, out, err = self.run_as(HOST, "inspect", "Elsewhere", **env)
                self.assertEqual((code, "hmac" in out), (0, True), err)
                code, out, err = self.run_as(program, "inspect", "Elsewhere", **env)
                self.assertEqual((code, out), (110, ""), err)
                self.assertNotIn(str(next(iter(env.values()))), err)

    def test_config_file(self):
        program = self.privileged()
        folder = self.folder / "config-home" / "nevod"
        folder.mkdir(parents=True, mode=0o755)
        (folder / "config").write_text("[work]\nurl = http://127.0.0.1:1/\n")
        env = {"XDG_CONFIG_HOME": str(folder.parent)}
        code, _, err = self.run_as(HOST, "--profile", "work", "/", **env)
        self.assertEqual(code, 7, err)
        code, _, err = self.run_as(program, "--profile", "work", "/", **env)
        self.assertEqual(code, 2, err)
        self.assertIn("--profile", err)

    def data(self, plugins):
        """A folder for data whose plugins are these."""
        folder = self.folder / "data" / "nevod"
        folder.mkdir(parents=True, mode=0o755)
        shutil.copytree(plugins, folder / "plugins")
        return folder.parent

    def home(self, plugins):
        folder = self.folder / "home" / ".local/share/nevod"
        folder.mkdir(parents=True, mode=0o755)
        shutil.copytree(plugins, folder / "plugins")
        return self.folder / "home"
