package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// The stand-in for Stripe, `Tests/Python/stripe_stand_in.py`, as a process of one test.
package final class StripeStandIn: Sendable {
    package let port: Int
    /// The origin of the stand-in's API.
    package var address: String { "http://127.0.0.1:\(port)" }
    private let program: Program
    package let http: HTTPClient

    private init(_ program: Program, port: Int) {
        self.program = program
        self.port = port
        http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .init()
        )
    }

    /// Starts a stand-in, runs `body`, and stops the stand-in.
    ///
    /// - Throws: The error of `body`, or `NeverHappened` if a request, a reply or an event did not
    ///   match Stripe's description.
    package static func with<Result: Sendable>(
        _ body: (StripeStandIn) async throws -> Result
    ) async throws -> Result {
        let standIn = try await start()
        do {
            let result = try await body(standIn)
            let violations = try await standIn.state()["violations"]
            guard violations?.texts?.isEmpty == true else {
                throw NeverHappened(description: "all messages are valid: \(violations as Any)")
            }
            try await standIn.http.shutdown()
            return result
        } catch {
            try? await standIn.http.shutdown()
            throw error
        }
    }

    private static func start() async throws -> StripeStandIn {
        let program = try await Python.run("stripe_stand_in.py")
        let port = try await eventually("the stand-in listens; it said: \(program.text)") {
            program.text.firstMatch(of: /port (\d+)\n/).flatMap { Int($0.1) }
        }
        return StripeStandIn(program, port: port)
    }

    /// Sends a control command to the stand-in, such as `["do": "pay", "name": …]`.
    @discardableResult
    package func order(_ name: String, _ values: [String: ControlValue] = [:]) async throws
        -> [String: ControlValue]
    {
        var request = HTTPClientRequest(url: address + "/_control")
        request.method = .POST
        let body = try JSONEncoder().encode(values.merging(["do": .text(name)]) { $1 })
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await http.execute(request, timeout: .seconds(60))
        let reply = try await response.body.collect(upTo: 64 * 1024 * 1024)
        guard response.status == .ok else {
            throw NeverHappened(description: "\(name) works: \(String(buffer: reply))")
        }
        return try JSONDecoder().decode(
            [String: ControlValue].self,
            from: Data(reply.readableBytesView)
        )
    }

    /// Sets a fault for a call, such as `POST /v1/transfers`.
    package func fault(
        _ kind: String,
        of call: String = "",
        times: Int64 = 1,
        _ more: [String: ControlValue] = [:]
    ) async throws {
        let values: [String: ControlValue] = [
            "kind": .text(kind), "call": .text(call), "times": .integer(times),
        ]
        try await order("fault", values.merging(more) { $1 })
    }

    /// Returns all objects of the stand-in.
    package func state() async throws -> [String: ControlValue] { try await order("state") }
}

/// A JSON value in the stand-in's commands and state.
package enum ControlValue: Codable, Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case list([ControlValue])
    case object([String: ControlValue])
    case null

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([ControlValue].self) {
            self = .list(list)
        } else if let object = try? value.decode([String: ControlValue].self) {
            self = .object(object)
        } else {
            self = .null
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .boolean(let boolean): try container.encode(boolean)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        case .null: try container.encodeNil()
        }
    }

    package subscript(name: String) -> ControlValue? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    package var integer: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    package var list: [ControlValue]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    package var texts: [String]? { list?.compactMap(\.text) }
}
