"""A typical payment server, with FastAPI, asyncpg and one transaction for each change.

It accepts the same requests as gotchu-server, makes the same checks, writes the same rows of the
same tables, and gives the same answers. gotchu-server is compared with it, so it is written for
speed: asyncpg's prepared statements, a pool, rows locked in the order of their keys, no threads,
uvloop and httptools. Streams get changes by LISTEN and NOTIFY, without another read. Each database
connection has its own chain of seals, so that no connection waits for another.
"""

import asyncio
import hashlib
import os
import secrets
import time
from collections import defaultdict
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Annotated, NamedTuple
from uuid import UUID

import asyncpg
import jwt
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

SECRET = bytes.fromhex(os.environ["BENCH_SECRET"])
DATABASE = os.environ["BENCH_DATABASE"]
CHANNEL = "bench_sessions"
LIVE_LIMIT = 1_000
LEASE_MS = 60_000
QUIET_SECONDS = 15
FINAL = ("PAID", "TIMEOUT", "CANCEL")


class News(NamedTuple):
    """A session's state, as its streams send it."""

    version: int
    status: str
    payer: str | None
    text: str


class Feed:
    """Passes the changes that any worker has committed to this worker's streams."""

    def __init__(self):
        self.streams = defaultdict(set)

    def hear(self, _connection, _process, _channel, payload):
        sid, version, status, payer, text = payload.split(" ", 4)
        for queue in self.streams.get(sid, ()):
            queue.put_nowait(News(int(version), status, payer or None, text))

    @contextmanager
    def follow(self, sid):
        queue = asyncio.Queue()
        self.streams[sid].add(queue)
        try:
            yield queue
        finally:
            self.streams[sid].discard(queue)
            if not self.streams[sid]:
                del self.streams[sid]


class Chain:
    """The seals of one connection's payments. Each seal is chained to the one before."""

    async def begin(self, connection):
        self.name = f"{present():012x}{secrets.token_hex(4)}"
        self.number = 0
        newest = "SELECT hash FROM seals ORDER BY chain DESC, number DESC LIMIT 1"
        self.head = await connection.fetchval(newest) or bytes(32)

    def next(self, transfer: bytes) -> bytes:
        text = f"{self.name}\n{self.number + 1}\n"
        return hashlib.sha256(self.head + text.encode() + transfer).digest()

    def goes_on(self, head: bytes):
        """Advances the chain after the commit."""
        self.number += 1
        self.head = head


class Connection(asyncpg.Connection):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.chain = Chain()


async def begin_chain(connection):
    await connection.chain.begin(connection)


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.feed = Feed()
    listener = await asyncpg.connect(DATABASE)
    await listener.add_listener(CHANNEL, app.state.feed.hear)
    async with asyncpg.create_pool(
        DATABASE, min_size=10, max_size=int(os.environ["BENCH_POOL"]),
        connection_class=Connection, init=begin_chain,
    ) as pool:
        app.state.pool = pool
        yield
    await listener.close()


app = FastAPI(lifespan=lifespan)


class Particulars(BaseModel):
    """The members of a session's record that are not columns, in order."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    amount: int
    currency: str
    eid: str
    expires_at: int
    locked_until: int | None = None
    memo: str | None = None
    paid_at: int | None = None
    payer: str | None = None
    reference: str | None = None
    refunded: int = 0
    rotations: int = 0

    def text(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_none=True)


class Session(NamedTuple):
    """A session's record, parsed."""

    id: str
    payee: str
    status: str
    version: int
    body: Particulars

    @classmethod
    def read(cls, record) -> "Session | None":
        if record is None:
            return None
        return cls(record["id"], record["owner"], record["state"], record["version"],
                   Particulars.model_validate_json(record["body"]))

    def changed(self, status: str, **members) -> "Session":
        return self._replace(status=status, version=self.version + 1,
                             body=self.body.model_copy(update=members))


class Create(BaseModel):
    amount_cents: int = Field(ge=1, le=100_000_000)
    currency: str = Field(default="usd", pattern="^[a-z]{3}$")
    memo: str | None = Field(default=None, max_length=140)
    ttl_seconds: int = Field(default=300, ge=1, le=300)
    payee_reference: str | None = Field(default=None, max_length=140)


class CreateReply(BaseModel):
    sid: str
    eid: str
    exp_at: str


class Resolve(BaseModel):
    eid: str = Field(pattern="^[0-9a-f]{10}$")


class PayeeDisplay(BaseModel):
    name: str


class ResolveReply(BaseModel):
    sid: str
    amount_cents: int
    payee_display: PayeeDisplay
    payee_id: str
    currency: str
    memo: str | None
    exp_at: str
    status: str


class Lock(BaseModel):
    sid: str


class LockReply(BaseModel):
    ok: bool
    lock_expires_at: str


class SessionReply(BaseModel):
    sid: str
    status: str
    amount_cents: int
    currency: str
    memo: str | None
    exp_at: str
    lock_expires_at: str | None = None
    paid_at: str | None = None
    version: int


class Send(BaseModel):
    sid: str
    expected_amount_cents: int | None = None


class SendReply(BaseModel):
    ok: bool
    new_balance_cents: int
    transfer_id: str


def claims(authorization: str) -> dict:
    scheme, _, token = authorization.partition(" ")
    try:
        if scheme.lower() != "bearer":
            raise jwt.InvalidTokenError
        return jwt.decode(token, SECRET, algorithms=["HS256"], issuer="bench")
    except jwt.InvalidTokenError:
        raise HTTPException(401, "The call needs a valid bearer token.")


def needing(scope: str | None):
    # The function is async, because FastAPI would run a plain function on another thread.
    async def user(authorization: str = Header()) -> str:
        found = claims(authorization)
        if scope and scope not in found["scope"].split():
            raise HTTPException(403, "The token does not allow this.")
        return found["sub"]

    return user


User = Annotated[str, Depends(needing(None))]
Payee = Annotated[str, Depends(needing("payee"))]
Payer = Annotated[str, Depends(needing("payer"))]


def present() -> int:
    return time.time_ns() // 1_000_000


def shown(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def identifier(now: int) -> str:
    """A UUID of version 7, like gotchu-server's ids."""
    random = secrets.randbits(74)
    value = now << 80 | 7 << 76 | (random >> 62) << 64 | 2 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@app.post("/sessions/create")
async def create(body: Create, request: Request, user: Payee) -> CreateReply:
    now = present()
    sid, eid, expires_at = identifier(now), secrets.token_hex(5), now + body.ttl_seconds * 1000
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        known = await connection.fetchrow(
            "SELECT EXISTS (SELECT FROM accounts WHERE owner = $1 AND currency = $2) AS account,"
            " (SELECT count(*) FROM due WHERE owner = $1) AS live,"
            " EXISTS (SELECT FROM names WHERE name = $3) AS taken", user, body.currency,
            f"eid:{eid}")
        if not known["account"]:
            raise HTTPException(409, "There is no wallet in this currency.")
        if known["live"] >= LIVE_LIMIT:
            raise HTTPException(429, "Too many sessions are not over.")
        if known["taken"]:
            raise HTTPException(503, "No EID is free just now.")
        particulars = Particulars(
            amount=body.amount_cents, currency=body.currency, eid=eid, expires_at=expires_at,
            memo=body.memo, reference=body.payee_reference)
        await connection.execute(
            "WITH made AS (INSERT INTO records (id, kind, owner, state, version, created_at,"
            " due_at, body) VALUES ($1, 'session', $2, 'ADVERTISING', 1, $3, $4, $5)),"
            " named AS (INSERT INTO names (name, target) VALUES ($6, $1))"
            " INSERT INTO due (owner, record, kind, due_at) VALUES ($2, $1, 'session', $4)",
            sid, user, now, expires_at, particulars.text(), f"eid:{eid}")
    return CreateReply(sid=sid, eid=eid, exp_at=shown(expires_at))


@app.post("/sessions/resolve")
async def resolve(
    body: Resolve, request: Request, authorization: str | None = Header(default=None)
) -> ResolveReply:
    if authorization:
        claims(authorization)
    now = present()
    found = await request.app.state.pool.fetchrow(
        "SELECT records.*, display_name, until FROM names JOIN records ON records.id = target"
        " JOIN users ON users.id = owner WHERE name = $1", f"eid:{body.eid}")
    if found is None or (found["until"] or now + 1) <= now:
        raise HTTPException(404, "There is no request with this EID.")
    session = Session.read(found)
    if session.status in FINAL or session.body.expires_at <= now:
        raise HTTPException(410, "The session is over.")
    return ResolveReply(
        sid=session.id, amount_cents=session.body.amount,
        payee_display=PayeeDisplay(name=found["display_name"]),
        payee_id=hashlib.sha256(f"gotchu-payee.{session.payee}".encode()).hexdigest()[:16],
        currency=session.body.currency, memo=session.body.memo,
        exp_at=shown(session.body.expires_at), status=session.status)


@app.post("/sessions/lock")
async def lock(body: Lock, request: Request, user: Payer) -> LockReply:
    now = present()
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        session = Session.read(await connection.fetchrow(
            "SELECT * FROM records WHERE id = $1 FOR UPDATE", body.sid))
        if session is None:
            raise HTTPException(404, "There is no such session.")
        if session.payee == user:
            raise HTTPException(403, "Nobody pays himself.")
        if session.status in FINAL or session.body.expires_at <= now:
            raise HTTPException(410, "The session is over.")
        if session.status == "LOCKED" and session.body.locked_until > now:
            if session.body.payer != user:
                raise HTTPException(409, "Another payer holds the session.")
            return LockReply(ok=True, lock_expires_at=shown(session.body.locked_until))
        until = min(now + LEASE_MS, session.body.expires_at)
        locked = session.changed("LOCKED", payer=user, locked_until=until)
        await connection.execute(
            "WITH due AS (UPDATE due SET due_at = $5 WHERE owner = $6 AND record = $1)"
            " UPDATE records SET state = $2, version = $3, body = $4, due_at = $5 WHERE id = $1",
            locked.id, locked.status, locked.version, locked.body.text(), until, locked.payee)
        await notify(connection, locked)
    return LockReply(ok=True, lock_expires_at=shown(until))


async def following(sid: str, request: Request):
    with request.app.state.feed.follow(sid) as queue:
        yield queue


@app.get("/sessions/{sid}/events")
async def events(
    sid: str,
    request: Request,
    user: User,
    # The stream subscribes before the read, so that it misses no change.
    queue: Annotated[asyncio.Queue, Depends(following)],
    last_event_id: int | None = Header(default=None),
) -> StreamingResponse:
    session = Session.read(
        await request.app.state.pool.fetchrow("SELECT * FROM records WHERE id = $1", sid))
    if session is None or user not in (session.payee, session.body.payer):
        raise HTTPException(404, "There is no such session.")
    return StreamingResponse(
        told(queue, session, user, last_event_id), media_type="text/event-stream",
        headers={"Cache-Control": "no-store"})


async def told(queue, session, user, known):
    """Yields a stream's events: the state, then each newer state, until the session is over."""
    news = state(session)
    yield "retry: 1000\n\n" + ("" if news.version == known else event(news))
    while news.status not in FINAL:
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                later = await queue.get()
        except TimeoutError:
            yield ":\n\n"
            continue
        if later.version <= news.version:
            continue
        if user not in (session.payee, later.payer):
            return
        news = later
        yield event(news)


def event(news: News) -> str:
    return f"id: {news.version}\ndata: {news.text}\n\n"


def state(session: Session) -> News:
    body = session.body
    reply = SessionReply(
        sid=session.id, status=session.status, amount_cents=body.amount, currency=body.currency,
        memo=body.memo, exp_at=shown(body.expires_at), lock_expires_at=shown(body.locked_until),
        paid_at=shown(body.paid_at), version=session.version)
    return News(
        session.version, session.status, body.payer, reply.model_dump_json(exclude_none=True))


async def notify(connection, session) -> None:
    """Notifies the streams of all workers when this transaction is committed."""
    news = state(session)
    await connection.execute(
        "SELECT pg_notify($1, $2)", CHANNEL,
        f"{session.id} {news.version} {news.status} {news.payer or ''} {news.text}")


@app.post("/wallet/send")
async def send(
    body: Send,
    request: Request,
    user: Payer,
    key: str = Header(alias="Idempotency-Key", min_length=16, max_length=255),
) -> SendReply:
    fingerprint = hashlib.sha256(f"{body.sid}\n{body.expected_amount_cents}".encode()).digest()
    async with request.app.state.pool.acquire() as connection:
        async with connection.transaction():
            reply, seal = await pay(connection, user, key, fingerprint, body)
        if seal:
            connection.chain.goes_on(seal)
        return reply


async def pay(connection, user, key, fingerprint, body) -> tuple[SendReply, bytes | None]:
    """Returns the answer, and the payment's seal if the payment was made by this call."""
    now = present()
    known = await connection.fetchrow(
        "SELECT fingerprint, outcome FROM answers"
        " WHERE user_id = $1 AND command = 'pay' AND key = $2", user, key)
    if known:
        if known["fingerprint"] != fingerprint:
            raise HTTPException(422, "The key was used for another payment.")
        return Outcome.model_validate_json(known["outcome"]).reply(), None
    session = Session.read(await connection.fetchrow(
        "SELECT * FROM records WHERE id = $1 FOR UPDATE", body.sid))
    check(session, user, body, now)
    amount, currency = session.body.amount, session.body.currency
    accounts = await connection.fetch(
        "SELECT owner, balance, earned, entry_count, changed_at FROM accounts"
        " WHERE owner IN ($1, $2) AND currency = $3 ORDER BY owner FOR UPDATE",
        user, session.payee, currency)
    # The entries are in the order of their owners, as in the hash.
    entries = [
        Entry(
            account["owner"], currency, account["entry_count"] + 1,
            max(now, account["changed_at"]), moved, account["balance"] + moved,
            account["earned"] + max(moved, 0))
        for account in accounts
        for moved in [-amount if account["owner"] == user else amount]]
    new_balance = next(entry.balance for entry in entries if entry.owner == user)
    if new_balance < 0:
        raise HTTPException(402, "There is not enough money in the wallet.")
    for entry in entries:
        await connection.execute(
            "UPDATE accounts SET balance = $3, earned = $4, entry_count = $5, changed_at = $6"
            " WHERE owner = $1 AND currency = $2", entry.owner, entry.currency, entry.balance,
            entry.earned, entry.number, entry.at)
    digest = transfer_hash(session.id, now, entries)
    seal = connection.chain.next(digest)
    await connection.execute(
        "INSERT INTO transfers (record, step, kind, at, chain, seal, hash)"
        " VALUES ($1, 'paid', 'PAYMENT', $2, $3, $4, $5)",
        session.id, now, connection.chain.name, connection.chain.number + 1, digest)
    await connection.executemany(
        "INSERT INTO entries (owner, currency, number, at, amount, balance, earned, record, step,"
        " kind) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'paid', 'PAYMENT')",
        [(*entry, session.id) for entry in entries])
    paid = session.changed("PAID", locked_until=None, paid_at=now)
    await connection.execute(
        "UPDATE records SET state = $2, version = $3, body = $4, due_at = NULL WHERE id = $1",
        paid.id, paid.status, paid.version, paid.body.text())
    await connection.execute(
        "DELETE FROM due WHERE owner = $1 AND record = $2", paid.payee, paid.id)
    outcome = Outcome(new_balance=new_balance, transfer=transfer_id(paid.id))
    await connection.execute(
        "INSERT INTO answers (user_id, command, key, fingerprint, outcome, record, step,"
        " request_id, decided_at) VALUES ($1, 'pay', $2, $3, $4, $5, 'paid', $6, $7)",
        user, key, fingerprint, outcome.model_dump_json(by_alias=True), paid.id,
        secrets.token_hex(6), now)
    await connection.execute(
        "INSERT INTO seals (chain, number, previous, hash) VALUES ($1, $2, $3, $4)",
        connection.chain.name, connection.chain.number + 1, connection.chain.head, seal)
    await notify(connection, paid)
    return outcome.reply(), seal


class Entry(NamedTuple):
    owner: str
    currency: str
    number: int
    at: int
    amount: int
    balance: int
    earned: int


class Outcome(BaseModel):
    """The stored answer, with the members in order."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    new_balance: int
    transfer: str

    def reply(self) -> SendReply:
        return SendReply(
            ok=True, new_balance_cents=self.new_balance, transfer_id=self.transfer)


def transfer_hash(sid: str, now: int, entries: list[Entry]) -> bytes:
    lines = [(sid, "paid", "PAYMENT", now, len(entries)), *entries]
    text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    return hashlib.sha256(text.encode()).digest()


def transfer_id(sid: str) -> str:
    """A UUID of version 8, derived from the transfer's identity."""
    digest = hashlib.sha256(f"transfer\n{sid}\npaid".encode()).digest()[:16]
    value = int.from_bytes(digest) & ~(0xF << 76 | 0x3 << 62) | 8 << 76 | 2 << 62
    return str(UUID(int=value))


def check(session: Session | None, user: str, body: Send, now: int) -> None:
    if session is None:
        raise HTTPException(404, "There is no such session.")
    if session.payee == user:
        raise HTTPException(403, "Nobody pays himself.")
    if session.status != "LOCKED" or session.body.locked_until <= now:
        raise HTTPException(409, "The session is not locked.")
    if session.body.payer != user:
        raise HTTPException(409, "Another payer holds the session.")
    if session.body.expires_at <= now:
        raise HTTPException(410, "The session has run out.")
    if body.expected_amount_cents not in (None, session.body.amount):
        raise HTTPException(409, "The amount is another.")


@app.exception_handler(asyncpg.PostgresError)
async def unavailable(_: Request, error: asyncpg.PostgresError) -> JSONResponse:
    return JSONResponse({"detail": "The books cannot be written just now."}, status_code=503)
