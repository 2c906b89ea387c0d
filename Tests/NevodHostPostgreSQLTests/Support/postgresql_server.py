"""A PostgreSQL server for one test: in its own folder, on a Unix socket only, as an unprivileged user.

    postgresql_server.py [FOLDER]

When it accepts connections, prints the folder of the socket and the data. With another server's FOLDER, it is that server's
standby. SIGUSR1 restarts it immediately, as after a crash; SIGHUP restarts it cleanly; SIGUSR2 stops it or starts it again;
SIGALRM promotes a standby. Each then prints "done". SIGTERM or its parent's end ends it and removes the folder.
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGALRM}


class Server:
    def __init__(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.programs = programs[-1]
        # initdb and the server refuse to run as root.
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="nevod-pg-", dir="/tmp")
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
            # The test's user, which differs from the server's, opens the socket.
            os.chmod(self.folder, 0o711)
        self.is_running = False

    def run(self, program, *arguments):
        other = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": self.folder}
        subprocess.run(
            [f"{self.programs}/{program}", *arguments], check=True, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=sys.stderr, timeout=120, **other)

    def create(self):
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with open(f"{self.folder}/data/pg_hba.conf", "w") as file:
            file.write("local all guarded,guarded_by_file,guarded_crowd scram-sha-256\nlocal all,replication all trust\n")
        with open(f"{self.folder}/data/postgresql.conf", "a") as file:
            file.write(
                f"\nlisten_addresses = ''\nunix_socket_directories = '{self.folder}'\nunix_socket_permissions = 0777\n"
                "max_connections = 200\nfsync = off\nlogging_collector = off\n")

    def copy(self, primary):
        self.run("pg_basebackup", "-h", primary, "-U", "postgres", "-D", f"{self.folder}/data", "-R", "-X", "stream", "-c", "fast")
        with open(f"{self.folder}/data/postgresql.conf", "a") as file:
            file.write(f"\nunix_socket_directories = '{self.folder}'\n")

    def start(self):
        self.run("pg_ctl", "start", "-w", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log")
        self.is_running = True

    def stop(self, mode="immediate"):
        if self.is_running:
            self.run("pg_ctl", "stop", "-w", "-m", mode, "-D", f"{self.folder}/data")
        self.is_running = False

    def serve(self):
        parent = os.getppid()
        while os.getppid() == parent:
            found = signal.sigtimedwait(SIGNALS, 0.5)
            if found is None:
                continue
            if found.si_signo == signal.SIGUSR1:
                self.stop()
                self.start()
            elif found.si_signo == signal.SIGHUP:
                self.stop("fast")
                self.start()
            elif found.si_signo == signal.SIGALRM:
                self.run("pg_ctl", "promote", "-w", "-D", f"{self.folder}/data")
            elif found.si_signo == signal.SIGUSR2:
                if self.is_running:
                    self.stop()
                else:
                    self.start()
            else:
                return
            print("done", flush=True)


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    server = Server()
    try:
        if len(sys.argv) > 1:
            server.copy(sys.argv[1])
        else:
            server.create()
        server.start()
        print(server.folder, flush=True)
        server.serve()
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


main()
