"""Debian's MariaDB for PHP applications that need it, with its files and its socket in the test's folder."""

import getpass
import subprocess

from apps.php import PHPApplication
from harness import PATIENCE, expect, wait_until


class MariaDBApplication(PHPApplication):
    is_slow = True
    database = None

    @property
    def socket(self):
        return self.folder / "mariadb.sock"

    def start_database(self):
        data, user = self.folder / "database", f"--user={getpass.getuser()}"
        self.run(
            "mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", user,
            f"--datadir={data}")
        with (self.folder / "mariadb.log").open("wb") as log:
            self.database = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "mariadbd", "--no-defaults", user, f"--datadir={data}",
                 f"--socket={self.socket}", f"--pid-file={self.folder / 'mariadb.pid'}", "--skip-networking"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

        def ready():
            expect(self.database.poll() is None, (self.folder / "mariadb.log").read_text()[-2000:])
            return subprocess.run([*self.client, "-e", "SELECT 1"], capture_output=True, check=False).returncode == 0

        wait_until(ready, "the start of the database")

    @property
    def client(self):
        return ["mariadb", "--no-defaults", "--user=root", f"--socket={self.socket}", "--batch", "--skip-column-names"]

    def query(self, statements):
        return self.run(*self.client, "-e", statements)

    def close(self):
        if self.database:
            self.database.kill()
            self.database.wait(PATIENCE)
        super().close()
