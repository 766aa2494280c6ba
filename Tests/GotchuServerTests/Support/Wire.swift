import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A plain HTTP client for a server, without retries.
struct Wire: Sendable {
    let base: String
    /// A Boolean that is true if replies are validated against the API description of
    /// gotchu-server.
    var isValidated = true
    /// The server that this value keeps running; `nil` if the test does so.
    var server: ServerProcess?
    /// The time limit for a reply. After it, the connection is closed.
    var timeLimit: Duration = .seconds(30)

    /// The shared client, with up to 256 connections: with the default of eight, requests would
    /// wait.
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    func call(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        token: String? = nil,
        key: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> WireReply {
        var request = HTTPClientRequest(url: base + path)
        request.method = .init(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        let response = try await Self.client.execute(request, timeout: TimeAmount(timeLimit))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        let reply = WireReply(
            status: Int(response.status.code),
            headers: Dictionary(
                response.headers.map { ($0.name.lowercased(), $0.value) },
                uniquingKeysWith: { first, _ in first }
            ),
            bytes: Data(bytes.readableBytesView)
        )
        if isValidated { try await ReplyValidator.shared.validate(method, path, reply) }
        return reply
    }

    func post(
        _ path: String,
        _ body: String = "{}",
        token: String? = nil,
        key: String? = nil
    ) async throws -> WireReply {
        try await call("POST", path, body, token: token, key: key)
    }

    func get(_ path: String, token: String? = nil) async throws -> WireReply {
        try await call("GET", path, token: token)
    }
}

/// A reply of the server.
struct WireReply: Sendable {
    let status: Int
    let headers: [String: String]
    let bytes: Data

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var members: [String: Any] {
        (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any] ?? [:]
    }

    /// The names of the body's members, sorted and joined by spaces.
    var names: String { members.keys.sorted().joined(separator: " ") }

    var code: String? { members["code"] as? String }

    func string(_ name: String) -> String { members[name] as? String ?? "" }

    func integer(_ name: String) -> Int64? { (members[name] as? NSNumber)?.int64Value }
}
