extension OpenAPI {
    /// The paths of the wallet's public reads.
    static let walletReads = """
          /api/wallet/balance:
            get:
              summary: The caller's balance.
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Balance"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /api/wallet/transactions:
            get:
              summary: The caller's entries, newest first, by page or by cursor.
              parameters:
                - name: page
                  in: query
                  required: false
                  description: 1 unless said. Not together with a cursor.
                  schema: {type: integer, minimum: 1, maximum: 1000000000}
                - name: limit
                  in: query
                  required: false
                  description: 25 unless said.
                  schema: {type: integer, minimum: 1, maximum: 100}
                - name: cursor
                  in: query
                  required: false
                  description: |
                    The next_cursor of an earlier answer: what comes right behind it, whatever has
                    arrived since.
                  schema: {type: string, maxLength: 64}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Transactions"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
                "404": {$ref: "#/components/responses/Problem", description: "NOT_FOUND"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}

        """
}
