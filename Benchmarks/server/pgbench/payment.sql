-- One payment, statement by statement, as a usual server would do it; see ../fastapi/app.py. Which
-- session the n-th payment is for is what ../bench/seed.py says.
\set n :first + :client_id + :turn * :clients
\set turn :turn + 1
BEGIN;
SELECT id AS sid, payee_id AS payee, payer_id AS payer, amount AS amount, status, lock_expires_at,
    (extract(epoch from clock_timestamp()) * 1000)::bigint AS now,
    'bench-' || lpad(to_hex(:n::bigint), 16, '0') AS key
    FROM sessions WHERE id = '00000000-0000-7000-8000-' || lpad(to_hex(:n::bigint), 12, '0') FOR UPDATE
\gset
SELECT count(*) AS known FROM sends WHERE user_id = :payer AND idempotency_key = :key
\gset
SELECT id FROM wallets WHERE user_id IN (:payer, :payee) AND currency = 'usd'
    ORDER BY id FOR UPDATE;
UPDATE wallets SET balance = balance - :amount, entry_count = entry_count + 1
    WHERE user_id = :payer AND currency = 'usd'
    RETURNING id AS source, balance AS balance, entry_count AS source_number
\gset
UPDATE wallets SET balance = balance + :amount, entry_count = entry_count + 1
    WHERE user_id = :payee AND currency = 'usd'
    RETURNING id AS destination, entry_count AS destination_number
\gset
INSERT INTO transfers (id, kind, amount, currency, created_at, session_id, user_id, idempotency_key)
    VALUES (:sid, 'PAYMENT', :amount, 'usd', :now, :sid, :payer, :key);
INSERT INTO entries (wallet_id, number, transfer_id, amount) VALUES
    (:source::text, :source_number::bigint, :sid::text, -(:amount::bigint)),
    (:destination::text, :destination_number::bigint, :sid::text, :amount::bigint);
UPDATE sessions SET status = 'PAID', paid_at = :now, lock_expires_at = NULL, version = version + 1
    WHERE id = :sid;
DELETE FROM open_sessions WHERE payee_id = :payee AND session_id = :sid;
INSERT INTO sends (user_id, idempotency_key, fingerprint, session_id, request_id, decided_at,
    transfer_id, new_balance)
    VALUES (:payer, :key, decode(md5(:sid::text) || md5(:key::text), 'hex'), :sid, 'pgbench', :now,
    :sid, :balance);
COMMIT;
