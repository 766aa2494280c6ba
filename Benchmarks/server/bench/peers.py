"""The programs with which gotchu-server is compared, on the same PostgreSQL and the same tables."""

import glob
import http.client
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time

import jwt

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKERS = 2
POOL = 20


def pgbench(cluster, database, script, connections, seconds, warmup, folder, **variables):
    """Runs a script with pgbench, and reads the time of each transaction from pgbench's log."""
    prefix = os.path.join(folder, "pgbench")
    threads = min(connections, os.cpu_count())
    defined = [f"-D{name}={value}" for name, value in variables.items()]
    started = time.time()
    subprocess.run(
        [f"{cluster.bin}/pgbench", "-n", "-M", "prepared", "-f", f"{HERE}/pgbench/{script}",
         "-c", str(connections), "-j", str(threads), "-T", str(round(seconds + warmup)),
         "-l", f"--log-prefix={prefix}", "-h", cluster.folder, "-U", "postgres", *defined,
         database],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    total, times, first, last = 0, [], started + warmup, 0
    for path in glob.glob(prefix + "*"):
        with open(path) as file:
            for line in file:
                _, _, latency, _, second, fraction = line.split()[:6]
                end = int(second) + int(fraction) / 1e6
                total += 1
                if end >= first:
                    times.append(int(latency) / 1000)
                    last = max(last, end)
        os.unlink(path)
    if len(times) < 2:
        raise SystemExit("pgbench did nothing in its time: give it longer (--seconds).")
    times.sort()
    return {
        "paid": total, "per_second": len(times) / (last - first),
        "p50_ms": statistics.median(times), "p99_ms": times[int(0.99 * (len(times) - 1))],
    }


class FastAPI:
    """A typical server with two workers, which a `with` statement starts and ends."""

    def __init__(self, database, log):
        self.database = database
        self.log = log
        self.secret = secrets.token_bytes(32)

    def tokens(self, users):
        now = int(time.time())
        return [jwt.encode({"sub": user, "iss": "bench", "iat": now, "exp": now + 86_400,
                            "scope": "payee payer"}, self.secret, "HS256") for user in users]

    def __enter__(self):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        environment = dict(
            os.environ, BENCH_SECRET=self.secret.hex(), BENCH_DATABASE=self.database,
            BENCH_POOL=str(POOL))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", "--app-dir", f"{HERE}/fastapi", "app:app",
                 "--port", str(self.port), "--workers", str(WORKERS), "--loop", "uvloop",
                 "--http", "httptools", "--no-access-log", "--log-level", "warning",
                 "--backlog", "1024"],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.process.kill()
                raise SystemExit(f"FastAPI did not start; see {self.log}.")
            time.sleep(0.2)
        return self

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/openapi.json")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    @property
    def root(self):
        return self.process.pid
