"""Runs gotchu-server, and creates its users."""

import http.client
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

OPENING = 100_000_000
LOGINS_PER_ADDRESS = 200


class Server:
    """A server, which a `with` statement starts and ends."""

    arguments = ()

    def __init__(self, program, database, log, settings=None):
        self.program = program
        self.database = database
        self.log = log
        self.settings = settings or {}

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--listen", "127.0.0.1:0", "--database", self.database,
                 "--dev", "--dev-opening-balance", str(OPENING), *self.arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env=os.environ | {f"GOTCHU_SERVER_{name}": value
                                  for name, value in self.settings.items()})
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.kill()
            raise SystemExit(f"gotchu-server did not start; see {self.log}.")
        self.port = int(line.rpartition(":")[2])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(30) != 0:
            raise SystemExit(f"gotchu-server did not stop as it should; see {self.log}.")

    @property
    def root(self):
        return self.process.pid


def log_in(port, users):
    """Creates users by logins. Returns their ids and tokens in order."""

    def some(group):
        # Each group has its own address, because the server limits the logins of an address.
        connection = http.client.HTTPConnection(
            "127.0.0.1", port, source_address=(f"127.2.0.{group[0] // LOGINS_PER_ADDRESS + 1}", 0))
        found = []
        for index in group:
            connection.request(
                "POST", "/auth/dev-login", json.dumps({"email": f"user{index}@bench.example"}),
                {"Content-Type": "application/json"})
            reply = connection.getresponse()
            body = json.loads(reply.read())
            if reply.status != 200:
                raise SystemExit(f"A login was refused: {body}")
            found.append((body["user_id"], body["token"]))
        connection.close()
        return found

    groups = [range(start, min(start + LOGINS_PER_ADDRESS, users))
              for start in range(0, users, LOGINS_PER_ADDRESS)]
    with ThreadPoolExecutor(8) as pool:
        found = [entry for group in pool.map(some, groups) for entry in group]
    return [user for user, _ in found], [token for _, token in found]


def distribute(program, database):
    """Creates tables that are distributed over a cluster."""
    subprocess.run([program, "migrate", "--distributed", "--database", database], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def verify(program, database):
    """Runs `gotchu-server verify`, and fails if the books are not right."""
    done = subprocess.run([program, "verify", "--database", database], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"The books of {database} are not right:\n{done.stdout}")


def write_tokens(path, tokens):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.writelines(token + "\n" for token in tokens)
