-- A payment, statement by statement, as a typical server makes it; see ../fastapi/app.py. The n-th
-- payment pays the n-th session of ../bench/seed.py. Each client has its own chain of seals.
\set n :first + :client_id + :turn * :clients
\set turn :turn + 1
\if :turn = 1
SELECT hash AS previous, :run || lpad(to_hex(:client_id::bigint), 8, '0') AS chain
    FROM seals ORDER BY chain DESC, number DESC LIMIT 1
\gset
\endif
BEGIN;
SELECT id AS sid, owner AS payee, body::jsonb->>'payer' AS payer, body::jsonb->>'amount' AS amount,
    state, due_at, (extract(epoch from clock_timestamp()) * 1000)::bigint AS now,
    'bench-' || lpad(to_hex(:n::bigint), 16, '0') AS key
    FROM records WHERE id = '00000000-0000-7000-8000-' || lpad(to_hex(:n::bigint), 12, '0') FOR UPDATE
\gset
SELECT count(*) AS known FROM answers WHERE user_id = :payer AND command = 'pay' AND key = :key
\gset
SELECT balance FROM accounts WHERE owner IN (:payer, :payee) AND currency = 'usd'
    ORDER BY owner FOR UPDATE;
UPDATE accounts SET balance = balance - :amount, entry_count = entry_count + 1,
    changed_at = greatest(changed_at, :now)
    WHERE owner = :payer AND currency = 'usd'
    RETURNING balance AS source_balance, earned AS source_earned, entry_count AS source_number,
        changed_at AS source_at
\gset
UPDATE accounts SET balance = balance + :amount, earned = earned + :amount,
    entry_count = entry_count + 1, changed_at = greatest(changed_at, :now)
    WHERE owner = :payee AND currency = 'usd'
    RETURNING balance AS payee_balance, earned AS payee_earned, entry_count AS payee_number,
        changed_at AS payee_at
\gset
SELECT sha256(convert_to(
    concat_ws(E'\t', :sid::text, 'paid', 'PAYMENT', :now::text, 2) || E'\n' || string_agg(
        line, '' ORDER BY owner), 'UTF8')) AS hash
    FROM (VALUES
        (:payer::text COLLATE "C", concat_ws(E'\t', :payer::text, 'usd', :source_number::text,
            :source_at::text, '-' || :amount::text, :source_balance::text, :source_earned::text)
            || E'\n'),
        (:payee, concat_ws(E'\t', :payee::text, 'usd', :payee_number::text, :payee_at::text,
            :amount::text, :payee_balance::text, :payee_earned::text) || E'\n')
    ) AS lines (owner, line)
\gset
INSERT INTO transfers (record, step, kind, at, chain, seal, hash)
    VALUES (:sid, 'paid', 'PAYMENT', :now, :chain, :turn, :hash);
INSERT INTO entries (owner, currency, number, record, step, kind, at, amount, balance, earned)
    VALUES
    (:payer::text, 'usd', :source_number::bigint, :sid::text, 'paid', 'PAYMENT', :source_at::bigint,
        -(:amount::bigint), :source_balance::bigint, :source_earned::bigint),
    (:payee::text, 'usd', :payee_number::bigint, :sid::text, 'paid', 'PAYMENT', :payee_at::bigint,
        :amount::bigint, :payee_balance::bigint, :payee_earned::bigint);
UPDATE records SET state = 'PAID', version = version + 1, due_at = NULL,
    body = regexp_replace(body, '"lockedUntil":\d+', '"paidAt":' || :now::text) WHERE id = :sid;
DELETE FROM due WHERE owner = :payee AND record = :sid;
SELECT encode(sha256(convert_to(E'transfer\n' || :sid::text || E'\npaid', 'UTF8')), 'hex') AS id
\gset
INSERT INTO answers (user_id, command, key, fingerprint, outcome, record, step, request_id,
    decided_at)
    VALUES (:payer, 'pay', :key, decode(md5(:sid::text) || md5(:key::text), 'hex'),
    '{"newBalance":' || :source_balance::text || ',"transfer":"' || concat_ws('-',
        substr(:id::text, 1, 8), substr(:id::text, 9, 4), '8' || substr(:id::text, 14, 3),
        translate(substr(:id::text, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab')
        || substr(:id::text, 18, 3), substr(:id::text, 21, 12)) || '"}',
    :sid, 'paid', 'pgbench', :now);
INSERT INTO seals (chain, number, previous, hash)
    VALUES (:chain, :turn, :previous::bytea, sha256(
        :previous::bytea || convert_to(:chain::text || E'\n' || :turn::text || E'\n', 'UTF8')
        || :hash::bytea))
    RETURNING hash AS previous
\gset
COMMIT;
