"""Measures payments while 60 callers at once make the heaviest reads of the server: lists and
leaderboards of contests, results that are declared, files and reports of earnings."""

import argparse
import http.client
import json
import multiprocessing
import os
import shutil
import tempfile
import threading
import time
import urllib.parse
import uuid
from concurrent.futures import ThreadPoolExecutor

from bench import gotchu, machine

QUIZ = "01999f00-0000-7000-8000-000000000002"
HOST = "127.0.0.1:7777"
ORIGIN = f"http://{HOST}"
CALLERS = 60
PAYMENTS = 20
ENTRANTS = 14
AIM = 100
# Users: the organiser of the contests, the payee of the file, the measured payee and payer, and
# the entrants.
ORGANIZER, SELLER, PAYEE, PAYER, FIRST = range(5)


class Server(gotchu.Server):
    arguments = ("--contests", "--web", "--public-url", ORIGIN, "--calls-per-second", "10000")


class Caller:
    """A connection to the server. A closed one is opened again."""

    def __init__(self, port, token=None):
        self.port, self.token, self.connection = port, token, None

    def call(self, method, path, body=None, headers=None):
        """Returns the status and the bytes of a reply."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = dict(headers or {})
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            self.connection.request(method, path, body, headers)
            reply = self.connection.getresponse()
            return reply.status, reply.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            return 0, b""

    def post(self, path, body):
        status, reply = self.call("POST", path, json.dumps(body), {
            "Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())})
        if status != 200:
            raise SystemExit(f"{path} was refused: {reply.decode()}")
        return json.loads(reply)


class Setup:
    """The data: many public contests, one with many revisions, and a payee with many payments."""

    def __init__(self, options, port, tokens):
        self.options, self.port, self.tokens = options, port, tokens

    def caller(self, user):
        return Caller(self.port, self.tokens[user])

    def contest(self, caller, description):
        end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
        made = caller.post("/api/contests", {
            "template_id": QUIZ, "title": "Flood", "description": description,
            "entry_fee_cents": 0, "currency": "usd", "locks_at": end, "starts_at": end,
            "settle_after_seconds": 600,
            "tiers": [{"rank_min": 1, "rank_max": 1, "share_bps": 10_000}]})
        caller.post(f"/api/contests/{made['id']}/publish", {})
        return made["id"]

    def contests(self):
        """Makes the public contests with long descriptions."""
        def some(count):
            caller = self.caller(ORGANIZER)
            for _ in range(count):
                self.contest(caller, "\N{GRINNING FACE}" * 2_000)

        # An organiser may have 1,000 contests.
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(some, [self.options.contests // 8] * 8))

    def scored(self):
        """Makes a contest with many revisions of its scores. Returns its id."""
        organizer = self.caller(ORGANIZER)
        contest = self.contest(organizer, "Flood")
        for user in range(FIRST, FIRST + ENTRANTS):
            self.caller(user).post(f"/api/contests/{contest}/join", {"entry_fee_cents": 0})
        organizer.post(f"/api/contests/{contest}/lock", {})
        for base in range(self.options.revisions):
            organizer.post(f"/api/contests/{contest}/scores", {
                "base_revision": base,
                "scores": [{"entry_number": number, "points": (base * number) % 1_009}
                           for number in range(1, ENTRANTS + 1)]})
        organizer.post(f"/api/contests/{contest}/complete", {"revision": self.options.revisions})
        return contest

    def pay(self, payee, payer, amount=100):
        """Makes a payment. Returns the milliseconds that the payer's request took."""
        made = payee.post("/sessions/create", {"amount_cents": amount, "memo": "Coffee"})
        payer.post("/sessions/lock", {"sid": made["sid"]})
        started = time.perf_counter()
        payer.post("/wallet/send", {"sid": made["sid"]})
        return (time.perf_counter() - started) * 1_000

    def payments(self):
        """Makes the payments of the file."""
        def some(number):
            payee, payer = self.caller(SELLER), self.caller(FIRST + number)
            for _ in range(self.options.payments // 8):
                self.pay(payee, payer)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(some, range(8)))

    def cookie(self):
        """Logs the seller in to the web pages. Returns the cookie."""
        form = urllib.parse.urlencode({"email": f"user{SELLER}@bench.example",
                                       "to": "/web/earnings"})
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", "/web/login/dev", form, {
            "Content-Type": "application/x-www-form-urlencoded", "Origin": ORIGIN,
            "Host": HOST})
        reply = connection.getresponse()
        reply.read()
        if reply.status != 303:
            raise SystemExit(f"The login to the pages was refused: {reply.status}")
        return "; ".join(line.split(";")[0] for line in reply.headers.get_all("Set-Cookie"))


def flood(port, calls, started, stop, counts):
    """Repeats calls from 60 connections until it is told to stop, in a process of its own."""
    os.nice(10)
    lock = threading.Lock()

    def some(number):
        caller = Caller(port)
        while not stop.is_set():
            method, path, body, headers = calls[number % len(calls)]
            status, _ = caller.call(method, path, body, headers)
            with lock:
                counts[status] = counts.get(status, 0) + 1
            started.set()

    threads = [threading.Thread(target=some, args=(number,)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(setup, calls):
    """Returns the slowest of the payments beside a flood of calls, in milliseconds, and the number
    of the calls' replies by status."""
    payee, payer = setup.caller(PAYEE), setup.caller(PAYER)
    with multiprocessing.Manager() as manager:
        counts = manager.dict()
        started, stop = multiprocessing.Event(), multiprocessing.Event()
        process = multiprocessing.Process(
            target=flood, args=(setup.port, calls, started, stop, counts))
        if calls:
            process.start()
            started.wait(60)
            time.sleep(1)  # All callers are at work by then.
        try:
            slowest = max(setup.pay(payee, payer) for _ in range(PAYMENTS))
        finally:
            stop.set()
            if calls:
                process.join()
        return slowest, dict(counts)


def run(options, folder):
    database = f"sqlite:{os.path.join(folder, 'books.db')}"
    with Server(options.server, database, os.path.join(folder, "server.log")) as server:
        _, tokens = gotchu.log_in(server.port, FIRST + ENTRANTS)
        setup = Setup(options, server.port, tokens)
        setup.contests()
        contest = setup.scored()
        setup.payments()
        cookie = {"Cookie": setup.cookie(), "Host": HOST}
        organizer = {"Authorization": f"Bearer {tokens[ORGANIZER]}"}
        seller = {"Authorization": f"Bearer {tokens[SELLER]}"}
        entrants = [{"Authorization": f"Bearer {tokens[FIRST + n]}"} for n in range(ENTRANTS)]
        place = f"/api/contests/{contest}"
        keyed = {**organizer, "Content-Type": "application/json"}
        body = json.dumps({"revision": options.revisions})
        dispute = ("POST", f"{place}/dispute", json.dumps({"reason": "Flood."}), keyed)
        kinds = {
            "alone": [],
            "lists": [("GET", f"/api/contests?state=CANCELLED&limit={n + 1}", None, None)
                      for n in range(CALLERS)],
            "pages of lists": [("GET", f"/api/contests?limit=100&page={n % 5 + 1}", None, None)
                               for n in range(CALLERS)],
            "leaderboards": [dispute] + [
                ("GET", f"{place}/leaderboard?limit=200", None, entrants[n % ENTRANTS])
                for n in range(CALLERS - 1)],
            "declarations": [dispute] + [
                ("POST", f"{place}/complete", body, keyed) for _ in range(CALLERS - 1)],
            "files": [("GET", "/web/earnings.csv?period=month", None, cookie)],
            "reports": [("GET", "/api/payments/earnings?from=2026-01-01&to=2027-02-04", None, seller)],
            "pages of reports": [
                ("GET", "/web/earnings?from=2026-01-01&to=2027-02-04", None, cookie)],
        }
        found = {name: measure(setup, calls) for name, calls in kinds.items()}
    gotchu.verify(options.server, database)
    return found


def report(found):
    alone = found["alone"][0]
    print(f"The slowest of {PAYMENTS} payments, alone: {alone:.1f} ms")
    for name, (slowest, counts) in found.items():
        if not counts:
            continue
        verdict = "ok" if slowest - alone <= AIM else "MISSED"
        replies = ", ".join(f"{counts[status]} × {status}" for status in sorted(counts))
        print(f"  beside {CALLERS} callers of {name}: {slowest:.1f} ms"
              f" (aim ≤ alone + {AIM} ms: {verdict}); replies {replies}")


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--contests", type=int, default=960, help="public contests (960)")
    parser.add_argument("--revisions", type=int, default=900, help="of one contest's scores (900)")
    parser.add_argument("--payments", type=int, default=4_000, help="in the file (4000)")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="gotchu-bench-")
    try:
        print("\n".join(machine.describe(folder)))
        found = run(options, folder)
        report(found)
        with open(options.results, "w") as file:
            json.dump(found, file, indent=1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
