extension OpenAPI {
    /// The paths for devices, and for those who watch over the server.
    static let operations = """
          /auth/token:
            post:
              summary: A short access token for a registered device's credential.
              description: |
                Each use spends the credential and returns its successor, which must be kept
                before it is used. If the reply is lost, the spent one may be shown again until
                the successor has been seen; after that it revokes the device.
              security: []
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: "#/components/schemas/Refresh"}}
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Token"}}
                "400": {$ref: "#/components/responses/Problem", description: "VALIDATION_ERROR"}
                "401": {$ref: "#/components/responses/Unauthorized"}
                "413": {$ref: "#/components/responses/ContentTooLarge"}
                "415": {$ref: "#/components/responses/UnsupportedMediaType"}
                "429": {$ref: "#/components/responses/RateLimited"}
                "503": {$ref: "#/components/responses/TryAgain"}
          /healthz:
            get:
              summary: The process answers.
              security: []
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Status"}}
            head:
              summary: The same without a body.
              security: []
              responses:
                "200": {description: Done.}
          /readyz:
            get:
              summary: The books can be written, proved by writing.
              security: []
              responses:
                "200":
                  description: Done.
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Status"}}
                "503": {$ref: "#/components/responses/TryAgain"}
            head:
              summary: The same without a body.
              security: []
              responses:
                "200": {description: Done.}
                "503": {description: "TRY_AGAIN"}
          /metrics:
            get:
              summary: Prometheus's text, for this machine only unless the operator opens it.
              security: []
              responses:
                "200":
                  description: Done.
                  content:
                    text/plain: {schema: {type: string}}
                "403": {$ref: "#/components/responses/Problem", description: "FORBIDDEN"}
          /openapi.yaml:
            get:
              summary: This document.
              security: []
              responses:
                "200":
                  description: Done.
                  content:
                    application/yaml: {schema: {type: string}}

        """
}
