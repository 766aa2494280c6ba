import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import NIOCore
import TestSupport
import Testing

@testable import GotchuAPI
@testable import GotchuServer

/// Tests of the API description, of the server's conformance to it, and of the validator.
@Suite("The API description")
struct DescriptionTests {
    private static let file = Python.file("Sources/GotchuServer/openapi.yaml")

    @Test("The file of the API description is served and printed unchanged")
    func served() async throws {
        let kept = try String(contentsOfFile: Self.file, encoding: .utf8)
        let printed = try await ServerProcess.run("openapi")
        #expect(printed.code == 0 && printed.text == kept)
        let server = try await ServerProcess()
        let served = try await server.wire.get("/openapi.yaml")
        #expect(served.text == kept)
        #expect(served.headers["content-type"] == "application/yaml")
    }

    @Test("The server has exactly the addresses and methods of the description")
    func addresses() async throws {
        let routes = try Routes.addresses(of: [:])
        let registered = Set(routes.map { "\($0.method.rawValue) \($0.path)" })
        #expect(registered == (try await ReplyValidator.shared.contract.operations))
    }

    @Test("Each example matches its schema")
    func examples() async throws {
        let contract = try await ReplyValidator.shared.contract
        #expect(contract.examples.count > 20)
        for (name, example) in contract.examples {
            #expect(contract.violations(of: example, name) == [], "\(name)")
        }
    }

    @Test("The description explains each code with its status; operations list only these codes")
    func codes() async throws {
        let contract = try await ReplyValidator.shared.contract
        let explained = contract.text("components", "schemas", "Code")
            .matches(of: #/- `([A-Z_]+)` ([0-9]+): /#).map { "\($0.output.1) \($0.output.2)" }
        let codes = contract.value("components", "schemas", "Code", "enum").elements
            .compactMap { $0.string.flatMap(ErrorCode.init) }
        #expect(explained == codes.map { "\($0.rawValue) \($0.httpStatus)" })
        #expect(Set(codes.map(\.rawValue)) == contract.codes)
        let refusals = Refusal.Reason.allCases.map(\.code.rawValue)
        let contests = try await ReplyValidator.shared.contests
        #expect(contract.codes.union(contests.codes).isSuperset(of: refusals))
        #expect(contract.problems.count > 80)
        for problem in contract.problems {
            #expect(!problem.codes.isEmpty, "\(problem.operation) \(problem.status)")
            for code in problem.codes {
                let status = ErrorCode(rawValue: code)?.httpStatus
                #expect(status.map(String.init) == problem.status, "\(problem.operation) \(code)")
                #expect(contract.codes.contains(code), "\(code)")
            }
        }
    }

    @Test("Each operation lists the problems that its token, body, session and key can cause")
    func problems() async throws {
        let contract = try await ReplyValidator.shared.contract
        var listed: [String: Set<String>] = [:]
        for problem in contract.problems {
            listed[problem.operation, default: []].formUnion(problem.codes)
        }
        for (name, operation) in contract.described {
            var expected: Set<ErrorCode> = []
            if operation["security"]?.elements != [] {
                expected.formUnion([.rateLimited, .tryAgain])
                if operation["security"] == nil { expected.insert(.unauthorized) }
            }
            if operation["requestBody"] != nil {
                expected.formUnion([.validationError, .contentTooLarge])
                // Stripe's webhook accepts any content type: its signature covers the bytes.
                if name != "POST /api/webhooks/stripe" { expected.insert(.unsupportedMediaType) }
            }
            let parameters = operation["parameters"]?.elements.compactMap { $0["$ref"]?.string }
            for parameter in parameters ?? [] {
                switch parameter.split(separator: "/").last {
                case "sid": expected.formUnion([.forbidden, .notFound])
                case "idempotencyKey":
                    expected.formUnion([.idempotencyKeyRequired, .idempotencyKeyReused])
                case "key": expected.formUnion([.validationError, .notFound])
                case "id": expected.formUnion([.fundingNotConfigured, .notFound])
                case "page", "limit", "cursor": expected.insert(.validationError)
                default: break
                }
            }
            let missing = Set(expected.map(\.rawValue)).subtracting(listed[name] ?? [])
            #expect(missing == [], "\(name)")
        }
        // METHOD_NOT_ALLOWED and INTERNAL_ERROR need not be listed by an operation.
        let everywhere = [ErrorCode.methodNotAllowed, .internalError].map(\.rawValue)
        let somewhere = listed.values.reduce(into: Set(everywhere)) { $0.formUnion($1) }
        #expect(somewhere == contract.codes)
    }

    @Test("The validator of replies finds each planted violation of the description")
    func planted() async throws {
        let contract = try await ReplyValidator.shared.contract
        func reply(
            _ status: Int,
            _ body: String,
            _ type: String = "application/json"
        ) -> WireReply {
            WireReply(status: status, headers: ["content-type": type], bytes: Data(body.utf8))
        }
        let lock = ("POST", "/sessions/lock")
        #expect(contract.violations(lock.0, lock.1, reply(200, #"{"ok":true}"#)).isEmpty)
        let problem = """
            {"code":"SESSION_BUSY","detail":"x","error":"x","request_id":"1","status":409,\
            "title":"Conflict","type":"about:blank"}
            """
        let type = "application/problem+json"
        #expect(contract.violations(lock.0, lock.1, reply(409, problem, type)).isEmpty)
        let planted = [
            reply(200, #"{"ok":false}"#), reply(200, "{}"), reply(200, #"{"ok":true,"x":1}"#),
            reply(200, #"{"ok":true,"lock_expires_at":"soon"}"#), reply(200, "[]"), reply(200, ""),
            reply(201, #"{"ok":true}"#), reply(200, #"{"ok":true}"#, "text/plain"),
            reply(409, problem), reply(402, problem, type), reply(404, problem, type),
            reply(409, problem.replacing("SESSION_BUSY", with: "SESSION_MOODY"), type),
            reply(409, problem.replacing("SESSION_BUSY", with: "SESSION_EXPIRED"), type),
            reply(409, problem.replacing("409", with: "410"), type),
            reply(409, problem.replacing(#""detail":"x","#, with: ""), type), reply(500, "{}"),
        ]
        for planted in planted {
            let found = contract.violations(lock.0, lock.1, planted)
            #expect(!found.isEmpty, "\(planted.status) \(planted.text)")
        }
        #expect(!contract.violations("POST", "/nowhere", reply(200, "{}")).isEmpty)
        #expect(!contract.violations("PUT", lock.1, reply(200, "{}")).isEmpty)
        // The validator refuses a correct reply if the description has an error.
        let wrongYAML = String(buffer: OpenAPI.document)
            .replacing("required: [status]", with: "required: [mood]")
        let wrongContract = try await Contract(yaml: wrongYAML)
        #expect(
            !wrongContract.violations("GET", "/healthz", reply(200, #"{"status":"ok"}"#)).isEmpty
        )
    }

    @Test(
        "The validator checks the items of an array with free members, and the limits of fractions"
    )
    func itemsAndFractions() async throws {
        let contract = try await Contract(
            yaml: """
                components:
                  schemas:
                    List: {type: array, additionalProperties: true, items: {type: integer}}
                    Part: {type: number, minimum: 0.5, maximum: 1}
                """
        )
        for (name, valid, invalid) in [
            ("List", "[1]", #"["x"]"#), ("Part", "0.5", "0.25"), ("Part", "0.75", "1.5"),
        ] {
            #expect(contract.violations(of: Data(valid.utf8), name) == [], "\(valid)")
            #expect(!contract.violations(of: Data(invalid.utf8), name).isEmpty, "\(invalid)")
        }
    }

    private struct Report: Decodable {
        let statuses: [String: [String: Int]]
        let findings: [String]
        let without_success: [String]
        let in_time: Bool
    }

    @Test(
        "All operations but GET /openapi.yaml pass schemathesis, each with a successful call",
        arguments: DatabaseKind.single
    )
    func schemathesis(kind: DatabaseKind) async throws {
        let server = try await kind.server(
            opening: 100_000_000,
            environment: ["GOTCHU_SERVER_BALANCE_MAXIMUM": "100000000000"]
        )
        let validator = try await Python.run("contract.py", [server.wire.base, "60"])
        let code = try await validator.exitCode(within: .seconds(150))
        #expect(code == 0, "\(validator.text)")
        let line = try #require(validator.text.split(separator: "\n").last { $0.hasPrefix("{") })
        let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
        for finding in report.findings { Issue.record("\(finding)") }
        #expect(report.without_success == [], "\(report.statuses)")
        let described = try await ReplyValidator.shared.contract.operations
        // Schemathesis does not call GET /openapi.yaml.
        #expect(Set(report.statuses.keys) == described.subtracting(["GET /openapi.yaml"]))
        #expect(!server.program.text.contains("A request failed."), "\(server.program.text)")
        print("schemathesis: \(report.statuses)")
    }
}
