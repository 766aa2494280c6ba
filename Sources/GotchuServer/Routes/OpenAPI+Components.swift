extension OpenAPI {
    /// What the paths refer to.
    static let components = """
        security: [{bearer: []}]
        components:
          securitySchemes:
            bearer: {type: http, scheme: bearer, bearerFormat: JWT}
          parameters:
            sid:
              name: sid
              in: path
              required: true
              schema: {$ref: "#/components/schemas/SessionID"}
            key:
              name: key
              in: path
              required: true
              description: The idempotency key, percent-encoded.
              schema: {type: string, minLength: 16, maxLength: 255}
            idempotencyKey:
              name: Idempotency-Key
              in: header
              required: true
              description: |
                16 to 255 visible ASCII characters, bare or quoted. The same key and parameters get
                the same answer for ever, refusals included, with Idempotent-Replayed: true.
              schema: {type: string, minLength: 16, maxLength: 257}
            lastEventID:
              name: Last-Event-ID
              in: header
              required: false
              schema: {type: string}
          responses:
            Problem:
              description: A problem; its code says which.
              headers:
                Retry-After: {description: With 429 and 503., schema: {type: integer}}
              content:
                application/problem+json: {schema: {$ref: "#/components/schemas/Problem"}}
            Unauthorized: {$ref: "#/components/responses/Problem", description: UNAUTHORIZED}
            InsufficientWalletBalance:
              $ref: "#/components/responses/Problem"
              description: INSUFFICIENT_WALLET_BALANCE
            ContentTooLarge:
              $ref: "#/components/responses/Problem"
              description: CONTENT_TOO_LARGE
            UnsupportedMediaType:
              $ref: "#/components/responses/Problem"
              description: UNSUPPORTED_MEDIA_TYPE
            IdempotencyKeyReused:
              $ref: "#/components/responses/Problem"
              description: IDEMPOTENCY_KEY_REUSED
            RateLimited: {$ref: "#/components/responses/Problem", description: RATE_LIMITED}
            TryAgain: {$ref: "#/components/responses/Problem", description: TRY_AGAIN}
          schemas:
            SessionID: {type: string, pattern: "^[A-Za-z0-9-]{1,64}$"}
            EID: {type: string, pattern: "^[0-9a-fA-F]{10}$"}
            Cents: {type: integer, format: int64, minimum: 1, maximum: 100000000}
            Currency: {enum: [usd, eur, gbp, chf, sek, cad, aud, jpy]}
            State: {enum: [CREATED, ADVERTISING, LOCKED, PAID, TIMEOUT, CANCEL]}
            Code:
              enum:
                - VALIDATION_ERROR
                - IDEMPOTENCY_KEY_REQUIRED
                - UNAUTHORIZED
                - INSUFFICIENT_WALLET_BALANCE
                - FORBIDDEN
                - OWN_SESSION
                - NOT_FOUND
                - METHOD_NOT_ALLOWED
                - SESSION_BUSY
                - SESSION_NOT_LOCKED
                - SESSION_PAID
                - SESSION_CANCELLED
                - AMOUNT_CHANGED
                - TOO_MANY_ROTATIONS
                - SESSION_NOT_PAID
                - SESSION_REFUNDED
                - REFUND_TOO_LARGE
                - SESSION_EXPIRED
                - CONTENT_TOO_LARGE
                - UNSUPPORTED_MEDIA_TYPE
                - IDEMPOTENCY_KEY_REUSED
                - RATE_LIMITED
                - INTERNAL_ERROR
                - TRY_AGAIN
            Problem:
              type: object
              required: [type, title, status, detail, error, code, request_id]
              properties:
                type: {type: string}
                title: {type: string}
                status: {type: integer}
                detail: {type: string}
                error: {type: string}
                code: {$ref: "#/components/schemas/Code"}
                fix: {type: string}
                retryable: {type: boolean}
                required_cents: {type: integer, format: int64}
                available_cents: {type: integer, format: int64}
                request_id: {type: string}
            DevLogin:
              type: object
              additionalProperties: false
              required: [email]
              properties:
                email: {type: string, maxLength: 254}
            Login:
              type: object
              required: [token, user_id]
              properties:
                token: {type: string}
                user_id: {type: string}
            Refresh:
              type: object
              additionalProperties: false
              required: [refresh_token]
              properties:
                refresh_token: {type: string, maxLength: 256}
            Token:
              type: object
              required:
                [access_token, token_type, expires_in, refresh_token, user_id, scope]
              properties:
                access_token: {type: string}
                token_type: {const: Bearer}
                expires_in: {type: integer, minimum: 1}
                refresh_token: {type: string}
                user_id: {type: string}
                scope: {type: string}
            Wallet:
              type: object
              required: [wallet_id, available_cents, recent]
              properties:
                wallet_id: {type: string}
                available_cents: {type: integer, format: int64}
                currency: {$ref: "#/components/schemas/Currency"}
                recent: {type: array, maxItems: 20, items: {$ref: "#/components/schemas/Entry"}}
            Entry:
              type: object
              required: [id, type, direction, amount_cents, created_at]
              properties:
                id: {type: string}
                type: {enum: [SEND_P2P, RECEIVE_P2P, SEND_REFUND, RECEIVE_REFUND, DEV_OPENING]}
                direction: {enum: [DEBIT, CREDIT]}
                amount_cents: {type: integer, format: int64}
                currency: {$ref: "#/components/schemas/Currency"}
                memo: {type: string}
                created_at: {type: string, format: date-time}
            NewSession:
              type: object
              additionalProperties: false
              required: [amount_cents]
              properties:
                amount_cents: {$ref: "#/components/schemas/Cents"}
                currency: {$ref: "#/components/schemas/Currency"}
                memo: {type: string, maxLength: 140}
                ttl_seconds: {type: integer, minimum: 1, maximum: 300}
                payee_reference: {type: string, maxLength: 140}
            CreatedSession:
              type: object
              required: [sid, eid, exp_at]
              properties:
                sid: {$ref: "#/components/schemas/SessionID"}
                eid: {$ref: "#/components/schemas/EID"}
                exp_at: {type: string, format: date-time}
            Eid:
              type: object
              additionalProperties: false
              required: [eid]
              properties:
                eid: {$ref: "#/components/schemas/EID"}
            Rotate:
              type: object
              additionalProperties: false
              properties:
                replaces:
                  description: The EID on the air; the same one again gets the same answer.
                  $ref: "#/components/schemas/EID"
            Rotated:
              type: object
              required: [eid, exp_at, replaced_eid, replaced_until]
              properties:
                eid: {$ref: "#/components/schemas/EID"}
                exp_at: {type: string, format: date-time}
                replaced_eid: {$ref: "#/components/schemas/EID"}
                replaced_until: {type: string, format: date-time}
            ResolvedSession:
              type: object
              required: [sid, amount_cents, payee_display]
              properties:
                sid: {$ref: "#/components/schemas/SessionID"}
                amount_cents: {$ref: "#/components/schemas/Cents"}
                payee_display: {type: object, required: [name], properties: {name: {type: string}}}
                currency: {$ref: "#/components/schemas/Currency"}
                memo: {type: string}
                exp_at: {type: string, format: date-time}
                status: {$ref: "#/components/schemas/State"}
            Sid:
              type: object
              additionalProperties: false
              required: [sid]
              properties:
                sid: {$ref: "#/components/schemas/SessionID"}
            Lock:
              type: object
              required: [ok]
              properties:
                ok: {const: true}
                lock_expires_at: {type: string, format: date-time}
            Session:
              type: object
              required: [sid, status, amount_cents, exp_at, version]
              properties:
                sid: {$ref: "#/components/schemas/SessionID"}
                status: {$ref: "#/components/schemas/State"}
                amount_cents: {$ref: "#/components/schemas/Cents"}
                currency: {$ref: "#/components/schemas/Currency"}
                memo: {type: string}
                exp_at: {type: string, format: date-time}
                lock_expires_at: {type: string, format: date-time}
                paid_at: {type: string, format: date-time}
                refunded_cents: {$ref: "#/components/schemas/Cents"}
                version: {type: integer, minimum: 1}
            Send:
              type: object
              additionalProperties: false
              required: [sid]
              properties:
                sid: {$ref: "#/components/schemas/SessionID"}
                expected_amount_cents: {type: integer, format: int64}
            Sent:
              type: object
              required: [ok, new_balance_cents]
              properties:
                ok: {const: true}
                new_balance_cents: {type: integer, format: int64}
                transfer_id: {type: string}
            Refund:
              type: object
              additionalProperties: false
              properties:
                amount_cents:
                  description: All that has not gone back yet unless said.
                  $ref: "#/components/schemas/Cents"
            Refunded:
              type: object
              required: [ok, amount_cents, refunded_cents, new_balance_cents, transfer_id]
              properties:
                ok: {const: true}
                amount_cents: {$ref: "#/components/schemas/Cents"}
                refunded_cents: {$ref: "#/components/schemas/Cents"}
                new_balance_cents: {type: integer, format: int64}
                transfer_id: {type: string}
            Outcome:
              type: object
              required: [outcome, status, sid]
              properties:
                outcome: {enum: [paid, declined]}
                status: {type: integer}
                sid: {$ref: "#/components/schemas/SessionID"}
                transfer_id: {type: string}
                new_balance_cents: {type: integer, format: int64}
                code: {$ref: "#/components/schemas/Code"}
                detail: {type: string}
            Balance:
              type: object
              additionalProperties: false
              required: [wallet_id, user_id, balance_cents, currency, last_updated]
              properties:
                wallet_id: {type: string}
                user_id: {type: string}
                balance_cents: {type: integer, format: int64}
                currency: {const: usd}
                last_updated: {type: string, format: date-time}
            Transactions:
              type: object
              additionalProperties: false
              required: [transactions, total_count, limit, total_pages]
              properties:
                transactions:
                  type: array
                  maxItems: 100
                  items: {$ref: "#/components/schemas/Transaction"}
                total_count: {type: integer, minimum: 0}
                page: {type: integer, minimum: 1}
                limit: {type: integer, minimum: 1, maximum: 100}
                total_pages: {type: integer, minimum: 0}
                next_cursor: {type: string, maxLength: 64}
            Transaction:
              type: object
              additionalProperties: false
              required:
                - transaction_id
                - wallet_id
                - user_id
                - type
                - direction
                - amount_cents
                - currency
                - created_at
                - status
              properties:
                transaction_id: {type: string}
                wallet_id: {type: string}
                user_id: {type: string}
                type: {enum: [deposit, debit, credit, refund]}
                direction: {enum: [DEBIT, CREDIT]}
                amount_cents: {type: integer, format: int64, minimum: 1}
                currency: {$ref: "#/components/schemas/Currency"}
                memo: {type: string}
                session_id: {$ref: "#/components/schemas/SessionID"}
                created_at: {type: string, format: date-time}
                status: {const: confirmed}
            Status:
              type: object
              required: [status]
              properties:
                status: {type: string}

        """
}
