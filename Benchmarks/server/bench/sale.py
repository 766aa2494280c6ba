"""Whole sales with our server, another gotchu-server and FastAPI, in turns."""

import json
import subprocess
from contextlib import ExitStack

from . import gotchu, machine, peers

CONNECTIONS = (1, 32, 64)
# These keep the machine busy, and are so few that the CPU of a sale varies little.
TAKE_CONNECTIONS = (32,)
# A fifth of the amount, so that the take from five cents or more is not zero.
TAKE = {"TAKE_BASIS_POINTS": "2000"}


class Seller:
    """A running server with its own books and users."""

    def __init__(self, system, server, books, tokens):
        self.system = system
        self.server = server
        self.books = books
        self.tokens = tokens

    @property
    def name(self):
        return self.system, self.books.kind


def measure(bench, contestants, numbers=CONNECTIONS):
    """Returns a list of rounds for each number of connections. A round has the result of every
    seller."""
    found = {connections: [] for connections in numbers}
    with ExitStack() as stack:
        sellers = [Seller(system, stack.enter_context(server), books, tokens)
                   for system, server, books, tokens in contestants]
        for number in range(bench.options.pairs):
            for connections in numbers:
                bench.say(f"whole sales, {connections} at a time, "
                          f"{number + 1} of {bench.options.pairs}")
                found[connections].append({
                    seller.name: sell(bench, seller, connections)
                    for seller in (sellers if number % 2 == 0 else reversed(sellers))})
    return found


def ours(bench):
    for books, tokens in bench.stores:
        yield "gotchu", bench.server(books.database), books, tokens
    for books, tokens in bench.base_stores:
        yield "base", bench.server(books.database, bench.options.base), books, tokens


def takers(bench):
    """Yields our server without and with a take, each with its own books."""
    yield from ours(bench)
    for books, tokens in bench.take_stores:
        yield "take", bench.server(books.database, settings=TAKE), books, tokens


def contestants(bench):
    yield from ours(bench)
    if hasattr(bench, "peers"):
        books = bench.peers["fastapi"]
        server = peers.FastAPI(books.database, bench.path("fastapi.log"))
        yield "fastapi", server, books, server.tokens(books.users)


def sell(bench, seller, connections):
    """Makes sales, and fails if their number differs from the books. Returns the result."""
    books, options = seller.books, bench.options
    books.checkpoint()
    before, first = books.sold(), books.next
    gotchu.write_tokens(bench.path("tokens"), seller.tokens)
    used = machine.cpu(seller.server.root), books.cpu()
    done = subprocess.run(
        [options.sale, "--port", str(seller.server.port), "--connections", str(connections),
         "--seconds", str(options.seconds), "--warmup", str(options.warmup), "--first",
         str(first), "--users", str(len(seller.tokens)), "--tokens", bench.path("tokens")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    used = machine.cpu(seller.server.root) - used[0], books.cpu() - used[1]
    if done.returncode:
        raise SystemExit(f"The sales of {seller.system} on {books.kind} failed.")
    result = json.loads(done.stdout)
    books.next = result["last"]
    kept = books.sold() - before
    if kept != result["paid"]:
        raise SystemExit(
            f"{seller.system}: {result['paid']} sales were told, {kept} are in the books.")
    if (seller.system == "take") != (books.taken() > 0):
        raise SystemExit(f"{seller.system} on {books.kind}: {books.taken()} cents were taken.")
    result.update(
        system=seller.system, store=books.kind, connections=connections, load=machine.load(),
        server_us=used[0] / kept * 1e6, database_us=used[1] / kept * 1e6)
    return result
