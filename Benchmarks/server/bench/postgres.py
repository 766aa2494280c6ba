"""A private PostgreSQL with durable settings that listens only on a Unix socket, or three of them
as a Citus cluster."""

import glob
import os
import pwd
import shutil
import subprocess
import time

from . import machine

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: int(p.split("/")[4]))
    if not found:
        raise SystemExit("PostgreSQL is not installed.")
    return found[-1]


def unprivileged():
    """Returns the command and the user for PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return [], None
    user = pwd.getpwnam("postgres")
    ids = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ids, user


class Cluster:
    def __init__(self, folder, name="postgres", more=None):
        self.folder = os.path.join(folder, name)
        self.bin = programs()
        self.prefix, user = unprivileged()
        os.mkdir(self.folder, 0o700)
        if user:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                 "--locale=C.UTF-8")
        settings = [f"-c{name}={value}" for name, value in {**SETTINGS, **(more or {})}.items()]
        self.log = open(os.path.join(folder, f"{name}.log"), "wb")
        self.process = subprocess.Popen(
            [*self.prefix, f"{self.bin}/postgres", "-D", self.data, "-k", self.folder, *settings],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.wait()
        self.assert_durable()

    def run(self, program, *arguments):
        subprocess.run([*self.prefix, f"{self.bin}/{program}", *arguments], check=True,
                       cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def wait(self):
        deadline = time.monotonic() + 60
        while subprocess.run(
            [f"{self.bin}/pg_isready", "-q", "-h", self.folder, "-U", "postgres"]
        ).returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                with open(self.log.name, errors="replace") as log:
                    raise SystemExit(f"PostgreSQL did not start:\n{log.read()[-2000:]}")
            time.sleep(0.1)

    def assert_durable(self):
        for name in DURABLE:
            if self.query("postgres", f"SHOW {name}") != "on":
                raise SystemExit(f"PostgreSQL runs without {name}: no figure of it counts.")

    def settings(self):
        version = self.query("postgres", "SHOW server_version")
        shown = " · ".join(f"{name}={value}" for name, value in SETTINGS.items() if value)
        return f"PostgreSQL {version} · {shown}"

    def query(self, database, sql):
        """Runs a script of SQL, and returns its output."""
        done = subprocess.run(
            [f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h",
             self.folder, "-U", "postgres", "-d", database],
            input=sql, text=True, check=True, stdout=subprocess.PIPE)
        return done.stdout.strip()

    def create(self, name, template="template0"):
        self.query("postgres", f"CREATE DATABASE {name} TEMPLATE {template}")

    def url(self, database):
        return f"postgres://postgres@/{database}?host={self.folder}"

    def cpu(self):
        """Returns the CPU seconds that PostgreSQL has used so far."""
        return machine.cpu(self.process.pid)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)


class Citus:
    """A Citus cluster: a coordinator and two workers on this machine."""

    def __init__(self, folder):
        more = {"shared_preload_libraries": "citus"}
        self.nodes = [Cluster(folder, f"citus{number}", more) for number in range(3)]
        self.coordinator, *self.workers = self.nodes

    def create(self, name):
        for node in self.nodes:
            node.create(name)
            node.query(name, "CREATE EXTENSION citus")
        self.query(name, f"SELECT citus_set_coordinator_host('{self.coordinator.folder}')")
        for worker in self.workers:
            self.query(name, f"SELECT citus_add_node('{worker.folder}', 5432)")

    def query(self, database, sql):
        return self.coordinator.query(database, sql)

    def url(self, database):
        return self.coordinator.url(database)

    def cpu(self):
        return sum(node.cpu() for node in self.nodes)

    def settings(self):
        version = self.query("postgres", "SELECT default_version FROM pg_available_extensions"
                             " WHERE name = 'citus'")
        return f"Citus {version}, a coordinator and two workers · {self.coordinator.settings()}"

    def stop(self):
        for node in self.nodes:
            node.stop()
