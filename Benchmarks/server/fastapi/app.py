"""The payment server that one usually writes: FastAPI, asyncpg, one transaction for each payment.

It takes the same request, checks what gotchu-server checks, writes the same rows of the same tables,
and answers the same. It is what gotchu-server is compared with, so it is written with care: prepared
statements (asyncpg's own), a pool, rows locked in the order of their ids, uvloop and httptools.
"""

import hashlib
import os
import secrets
import time
from contextlib import asynccontextmanager

import asyncpg
import jwt
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

SECRET = bytes.fromhex(os.environ["BENCH_SECRET"])


@asynccontextmanager
async def lifespan(app: FastAPI):
    async with asyncpg.create_pool(
        os.environ["BENCH_DATABASE"], min_size=10, max_size=int(os.environ["BENCH_POOL"])
    ) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=lifespan)


class Send(BaseModel):
    sid: str
    expected_amount_cents: int | None = None


class SendReply(BaseModel):
    ok: bool
    new_balance_cents: int
    transfer_id: str


def payer(authorization: str = Header()) -> str:
    scheme, _, token = authorization.partition(" ")
    try:
        if scheme.lower() != "bearer":
            raise jwt.InvalidTokenError
        claims = jwt.decode(token, SECRET, algorithms=["HS256"], issuer="bench")
    except jwt.InvalidTokenError:
        raise HTTPException(401, "The call needs a valid bearer token.")
    if "payer" not in claims["scope"].split():
        raise HTTPException(403, "The token does not allow this.")
    return claims["sub"]


def identifier(now: int) -> str:
    """A UUID of version 7, as gotchu-server's names are."""
    random = secrets.randbits(74)
    value = now << 80 | 7 << 76 | (random >> 62) << 64 | 2 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@app.post("/wallet/send")
async def send(
    body: Send,
    request: Request,
    user: str = Depends(payer),
    key: str = Header(alias="Idempotency-Key", min_length=16, max_length=255),
) -> SendReply:
    fingerprint = hashlib.sha256(f"{body.sid}\n{body.expected_amount_cents}".encode()).digest()
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        return await pay(connection, user, key, fingerprint, body)


async def pay(connection, user, key, fingerprint, body) -> SendReply:
    now = time.time_ns() // 1_000_000
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
    await connection.execute(
        "UPDATE sessions SET status = 'PAID', paid_at = $2, lock_expires_at = NULL,"
        " version = version + 1 WHERE id = $1", body.sid, now)
    await connection.execute(
        "DELETE FROM open_sessions WHERE payee_id = $1 AND session_id = $2",
        session["payee_id"], body.sid)
    await connection.execute(
        "INSERT INTO sends (user_id, idempotency_key, fingerprint, session_id, request_id,"
        " decided_at, transfer_id, new_balance) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        user, key, fingerprint, body.sid, secrets.token_hex(6), now, transfer,
        source["balance"] - amount)
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
