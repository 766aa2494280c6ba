/// The contract as OpenAPI 3.1, served as it stands here; a test holds it against the server.
enum OpenAPI {
    static let document = paths + walletReads + operations + components

    private static let paths = """
        openapi: 3.1.0
        info:
          title: gotchu payment server
          version: "1"
          description: |
            Sessions, wallets and payments. Amounts are whole numbers of minor units; 50.0 and 5e1
            are refused. Of several things that are wrong with a request the first of these is
            reported: 404 no such address, 405 METHOD_NOT_ALLOWED, 429 address, 401, 403 scope,
            429 user, 400 key missing or malformed, 415, 413, 400 body; then 422 key reused,
            404 session, 403 own or another's session, 409 and 410 state, 409 amount changed,
            402. A failure of the server itself is 500 INTERNAL_ERROR. What is no HTTP/1.1 at all,
            or has a head of more than 32 KiB, is 400 VALIDATION_ERROR and ends the connection.
            Every reply carries X-Request-ID; what is limited tells how one stands in RateLimit and
            RateLimit-Policy.
        paths:
          /auth/dev-login:
            post:
              summary: Log in to a development server; 404 on any other.
              security: []
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/DevLogin"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Login"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /wallet/me:
            get:
              summary: The caller's balance and newest 20 entries.
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Wallet"}}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/create:
            post:
              summary: Ask for money.
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/NewSession"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/CreatedSession"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/resolve:
            post:
              summary: What an EID asks for, and for whom. Public.
              description: |
                Who guesses is slowed. A payer who sends a token is counted for himself, and not
                with all who share his address.
              security: [{}, {bearer: []}]
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Eid"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/ResolvedSession"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_PAID, SESSION_CANCELLED
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/lock:
            post:
              summary: Hold a session for 60 seconds; the first payer wins.
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Sid"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Lock"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    FORBIDDEN, OWN_SESSION
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_BUSY, SESSION_PAID, SESSION_CANCELLED
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}:
            get:
              summary: A session, for its payee and for the payer who holds it.
              parameters:
                - $ref: "#/components/parameters/sid"
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Session"}}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}/events:
            get:
              summary: The session as server-sent events, the whole state first.
              parameters:
                - $ref: "#/components/parameters/sid"
                - $ref: "#/components/parameters/lastEventID"
              responses:
                "200":
                  description: Done.
                  content:
                    text/event-stream: {}
                "204": {description: The client has seen the end already.}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}/cancel:
            post:
              summary: Call it off; the payee only.
              parameters:
                - $ref: "#/components/parameters/sid"
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Session"}}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_BUSY, SESSION_PAID
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}/eids:
            post:
              summary: Give it another EID; the payee only. The old one resolves 60 s longer.
              parameters:
                - $ref: "#/components/parameters/sid"
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Rotate"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Rotated"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_PAID, SESSION_CANCELLED, TOO_MANY_ROTATIONS
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}/unlock:
            post:
              summary: Give it back; the payer who holds it only.
              parameters:
                - $ref: "#/components/parameters/sid"
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Lock"}}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_NOT_LOCKED, SESSION_PAID, SESSION_CANCELLED
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /sessions/{sid}/refund:
            post:
              summary: Give back what was paid, whole or in part; the payee only.
              parameters:
                - $ref: "#/components/parameters/sid"
                - $ref: "#/components/parameters/idempotencyKey"
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Refund"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Refunded"}}
                "400":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    VALIDATION_ERROR, IDEMPOTENCY_KEY_REQUIRED
                "401": {$ref: "#/components/responses/Unauthorized"}
                "402": {$ref: "#/components/responses/InsufficientWalletBalance"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_NOT_PAID, SESSION_REFUNDED, REFUND_TOO_LARGE
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "422": {$ref: "#/components/responses/IdempotencyKeyReused"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /wallet/send:
            post:
              summary: Pay a session that the caller has locked.
              parameters:
                - $ref: "#/components/parameters/idempotencyKey"
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Send"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Sent"}}
                "400":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    VALIDATION_ERROR, IDEMPOTENCY_KEY_REQUIRED
                "401": {$ref: "#/components/responses/Unauthorized"}
                "402": {$ref: "#/components/responses/InsufficientWalletBalance"}
                "403":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    FORBIDDEN, OWN_SESSION
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "409":
                  $ref: "#/components/responses/Problem"
                  description: >-
                    SESSION_BUSY, SESSION_NOT_LOCKED, SESSION_PAID, SESSION_CANCELLED,
                    AMOUNT_CHANGED
                "410": {$ref: "#/components/responses/Problem", description: "SESSION_EXPIRED"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "422": {$ref: "#/components/responses/IdempotencyKeyReused"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /wallet/sends/{key}:
            get:
              summary: What became of a payment; 404 if nothing was decided under the key.
              parameters:
                - $ref: "#/components/parameters/key"
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Outcome"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}

        """
}
