"""The payment server that one usually writes: FastAPI, asyncpg, one transaction for each change.

It takes the same requests, checks what gotchu-server checks, writes the same rows of the same
tables, and answers the same. It is what gotchu-server is compared with, so it is written with care:
prepared statements (asyncpg's own), a pool, rows locked in the order of their ids, nothing that
needs a thread, uvloop and httptools; streams are told by LISTEN and NOTIFY, without reading
anything again.
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

import asyncpg
import jwt
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

SECRET = bytes.fromhex(os.environ["BENCH_SECRET"])
DATABASE = os.environ["BENCH_DATABASE"]
CHANNEL = "bench_sessions"
LIVE_LIMIT = 1_000
LEASE_MS = 60_000
QUIET_SECONDS = 15
FINAL = ("PAID", "TIMEOUT", "CANCEL")


class News(NamedTuple):
    """A session's state as its streams are told of it."""

    version: int
    status: str
    payer: str | None
    text: str


class Feed:
    """Hands what any worker has committed to the streams of this one."""

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


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.feed = Feed()
    listener = await asyncpg.connect(DATABASE)
    await listener.add_listener(CHANNEL, app.state.feed.hear)
    async with asyncpg.create_pool(
        DATABASE, min_size=10, max_size=int(os.environ["BENCH_POOL"])
    ) as pool:
        app.state.pool = pool
        yield
    await listener.close()


app = FastAPI(lifespan=lifespan)


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
    # Not a plain function: FastAPI would run it on another thread.
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
    """A UUID of version 7, as gotchu-server's names are."""
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
            "SELECT EXISTS (SELECT FROM wallets WHERE user_id = $1 AND currency = $2) AS wallet,"
            " (SELECT count(*) FROM open_sessions WHERE payee_id = $1) AS live,"
            " EXISTS (SELECT FROM retired_eids WHERE eid = $3) AS taken", user, body.currency, eid)
        if not known["wallet"]:
            raise HTTPException(409, "There is no wallet in this currency.")
        if known["live"] >= LIVE_LIMIT:
            raise HTTPException(429, "Too many sessions are not over.")
        if known["taken"]:
            raise HTTPException(503, "No EID is free just now.")
        await connection.execute(
            "WITH made AS (INSERT INTO sessions (id, eid, payee_id, amount, currency, memo,"
            " reference, created_at, expires_at, status, version, rotations, refunded)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'ADVERTISING', 1, 0, 0))"
            " INSERT INTO open_sessions (payee_id, session_id, due_at) VALUES ($3, $1, $9)",
            sid, eid, user, body.amount_cents, body.currency, body.memo, body.payee_reference, now,
            expires_at)
    return CreateReply(sid=sid, eid=eid, exp_at=shown(expires_at))


@app.post("/sessions/resolve")
async def resolve(
    body: Resolve, request: Request, authorization: str | None = Header(default=None)
) -> ResolveReply:
    if authorization:
        claims(authorization)
    now = present()
    found = await request.app.state.pool.fetchrow(
        "SELECT sessions.*, display_name, NULL::bigint AS resolves_until FROM sessions"
        " JOIN users ON users.id = payee_id WHERE sessions.eid = $1"
        " UNION ALL SELECT sessions.*, display_name, resolves_until FROM retired_eids"
        " JOIN sessions ON sessions.id = session_id JOIN users ON users.id = payee_id"
        " WHERE retired_eids.eid = $1 LIMIT 1", body.eid)
    if found is None or (found["resolves_until"] or now + 1) <= now:
        raise HTTPException(404, "Nobody asks for money under this EID.")
    if found["status"] in FINAL or found["expires_at"] <= now:
        raise HTTPException(410, "The session is over.")
    return ResolveReply(
        sid=found["id"], amount_cents=found["amount"],
        payee_display=PayeeDisplay(name=found["display_name"]),
        payee_id=hashlib.sha256(f"gotchu-payee.{found['payee_id']}".encode()).hexdigest()[:16],
        currency=found["currency"], memo=found["memo"], exp_at=shown(found["expires_at"]),
        status=found["status"])


@app.post("/sessions/lock")
async def lock(body: Lock, request: Request, user: Payer) -> LockReply:
    now = present()
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        session = await connection.fetchrow(
            "SELECT * FROM sessions WHERE id = $1 FOR UPDATE", body.sid)
        if session is None:
            raise HTTPException(404, "There is no such session.")
        if session["payee_id"] == user:
            raise HTTPException(403, "Nobody pays himself.")
        if session["status"] in FINAL or session["expires_at"] <= now:
            raise HTTPException(410, "The session is over.")
        if session["status"] == "LOCKED" and session["lock_expires_at"] > now:
            if session["payer_id"] != user:
                raise HTTPException(409, "Another payer holds the session.")
            return LockReply(ok=True, lock_expires_at=shown(session["lock_expires_at"]))
        until = min(now + LEASE_MS, session["expires_at"])
        locked = await connection.fetchrow(
            "WITH due AS (UPDATE open_sessions SET due_at = $3"
            " WHERE payee_id = $4 AND session_id = $1)"
            " UPDATE sessions SET status = 'LOCKED', payer_id = $2, lock_expires_at = $3,"
            " version = version + 1 WHERE id = $1 RETURNING *",
            body.sid, user, until, session["payee_id"])
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
    # Followed before it is read, so that no change falls between the two.
    queue: Annotated[asyncio.Queue, Depends(following)],
    last_event_id: int | None = Header(default=None),
) -> StreamingResponse:
    session = await request.app.state.pool.fetchrow("SELECT * FROM sessions WHERE id = $1", sid)
    if session is None or user not in (session["payee_id"], session["payer_id"]):
        raise HTTPException(404, "There is no such session.")
    return StreamingResponse(
        told(queue, session, user, last_event_id), media_type="text/event-stream",
        headers={"Cache-Control": "no-store"})


async def told(queue, session, user, known):
    """What a stream says: the whole state, then each newer one, until the session is over."""
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
        if user not in (session["payee_id"], later.payer):
            return
        news = later
        yield event(news)


def event(news: News) -> str:
    return f"id: {news.version}\ndata: {news.text}\n\n"


def state(session) -> News:
    reply = SessionReply(
        sid=session["id"], status=session["status"], amount_cents=session["amount"],
        currency=session["currency"], memo=session["memo"], exp_at=shown(session["expires_at"]),
        lock_expires_at=shown(session["lock_expires_at"]), paid_at=shown(session["paid_at"]),
        version=session["version"])
    return News(
        session["version"], session["status"], session["payer_id"],
        reply.model_dump_json(exclude_none=True))


async def notify(connection, session) -> None:
    """Tells every worker's streams, as soon as this transaction is committed."""
    news = state(session)
    await connection.execute(
        "SELECT pg_notify($1, $2)", CHANNEL,
        f"{session['id']} {news.version} {news.status} {news.payer or ''} {news.text}")


@app.post("/wallet/send")
async def send(
    body: Send,
    request: Request,
    user: Payer,
    key: str = Header(alias="Idempotency-Key", min_length=16, max_length=255),
) -> SendReply:
    fingerprint = hashlib.sha256(f"{body.sid}\n{body.expected_amount_cents}".encode()).digest()
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        return await pay(connection, user, key, fingerprint, body)


async def pay(connection, user, key, fingerprint, body) -> SendReply:
    now = present()
    known = await connection.fetchrow(
        "SELECT fingerprint, transfer_id, new_balance FROM sends"
        " WHERE user_id = $1 AND idempotency_key = $2", user, key)
    if known:
        if known["fingerprint"] != fingerprint:
            raise HTTPException(422, "The key was used for another payment.")
        return SendReply(
            ok=True, new_balance_cents=known["new_balance"], transfer_id=known["transfer_id"])
    session = await connection.fetchrow(
        "SELECT payee_id, amount, currency, expires_at, status, payer_id, lock_expires_at"
        " FROM sessions WHERE id = $1 FOR UPDATE", body.sid)
    check(session, user, body, now)
    wallets = await connection.fetch(
        "SELECT id, user_id, balance, entry_count FROM wallets"
        " WHERE user_id IN ($1, $2) AND currency = $3 ORDER BY id FOR UPDATE",
        user, session["payee_id"], session["currency"])
    by_user = {wallet["user_id"]: wallet for wallet in wallets}
    source, destination = by_user[user], by_user[session["payee_id"]]
    amount = session["amount"]
    if source["balance"] < amount:
        raise HTTPException(402, "There is not enough money in the wallet.")
    transfer = identifier(now)
    await connection.execute(
        "UPDATE wallets SET balance = balance - $2, entry_count = entry_count + 1 WHERE id = $1",
        source["id"], amount)
    await connection.execute(
        "UPDATE wallets SET balance = balance + $2, entry_count = entry_count + 1 WHERE id = $1",
        destination["id"], amount)
    await connection.execute(
        "INSERT INTO transfers (id, kind, amount, currency, created_at, session_id, user_id,"
        " idempotency_key) VALUES ($1, 'PAYMENT', $2, $3, $4, $5, $6, $7)",
        transfer, amount, session["currency"], now, body.sid, user, key)
    await connection.execute(
        "INSERT INTO entries (wallet_id, number, transfer_id, amount)"
        " VALUES ($1, $2, $5, -$6::bigint), ($3, $4, $5, $6)",
        source["id"], source["entry_count"] + 1, destination["id"],
        destination["entry_count"] + 1, transfer, amount)
    paid = await connection.fetchrow(
        "UPDATE sessions SET status = 'PAID', paid_at = $2, lock_expires_at = NULL,"
        " version = version + 1 WHERE id = $1 RETURNING *", body.sid, now)
    await connection.execute(
        "DELETE FROM open_sessions WHERE payee_id = $1 AND session_id = $2",
        session["payee_id"], body.sid)
    await connection.execute(
        "INSERT INTO sends (user_id, idempotency_key, fingerprint, session_id, request_id,"
        " decided_at, transfer_id, new_balance) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        user, key, fingerprint, body.sid, secrets.token_hex(6), now, transfer,
        source["balance"] - amount)
    await notify(connection, paid)
    return SendReply(
        ok=True, new_balance_cents=source["balance"] - amount, transfer_id=transfer)


def check(session, user: str, body: Send, now: int) -> None:
    if session is None:
        raise HTTPException(404, "There is no such session.")
    if session["payee_id"] == user:
        raise HTTPException(403, "Nobody pays himself.")
    if session["status"] != "LOCKED" or session["lock_expires_at"] <= now:
        raise HTTPException(409, "The session is not locked.")
    if session["payer_id"] != user:
        raise HTTPException(409, "Another payer holds the session.")
    if session["expires_at"] <= now:
        raise HTTPException(410, "The session has run out.")
    if body.expected_amount_cents not in (None, session["amount"]):
        raise HTTPException(409, "The amount is another.")


@app.exception_handler(asyncpg.PostgresError)
async def unavailable(_: Request, error: asyncpg.PostgresError) -> JSONResponse:
    return JSONResponse({"detail": "The books cannot be written just now."}, status_code=503)
