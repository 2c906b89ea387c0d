"""What the PHP applications have in common: the development server, with their sessions in the test's folder."""

import os

from apps.debian import package_version
from harness import Application


class PHPApplication(Application):
    # The folder of its files.
    document_root = ""
    php_settings = ()

    def version(self):
        return package_version(self.preset)

    def php(self, *words):
        settings = ("session.save_path=sessions", "sys_temp_dir=temporary", "display_errors=0", *self.php_settings)
        (self.folder / "sessions").mkdir(exist_ok=True)
        (self.folder / "temporary").mkdir(exist_ok=True)
        options = []
        for line in settings:
            name, _, value = line.partition("=")
            options += ["-d", f"{name}={self.place(value)}"]
        return ["php", *options, *words]

    def place(self, value):
        """Moves the paths of files that belong to the test below its folder."""
        return self.folder / value if value in ("sessions", "temporary", "prepend.php") else value

    def command(self):
        return self.php("-S", f"127.0.0.1:{self.port}", "-t", self.document_root)

    def forget(self):
        for file in (self.folder / "sessions").glob("sess_*"):
            os.remove(file)
