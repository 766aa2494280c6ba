import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// One connection to a session's events, read as a browser would.
struct EventStream {
    struct Event: Equatable {
        let id: String
        let status: String
        var tip: Int64?
    }

    let status: Int
    /// Whether the reply said that no other request can follow on its connection.
    let isLast: Bool
    private var parts: HTTPClientResponse.Body.AsyncIterator
    private var rest = ""
    private let contract: Contract

    init(
        _ wire: Wire,
        _ sid: String,
        token: String,
        lastEventID: String? = nil,
        body: String? = nil
    ) async throws {
        var request = HTTPClientRequest(url: "\(wire.base)/sessions/\(sid)/events")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await Wire.client.execute(request, timeout: .seconds(60))
        status = Int(response.status.code)
        isLast = response.headers["Connection"] == ["close"]
        contract = try await ContractJudge.shared.contract
        parts = response.body.makeAsyncIterator()
    }

    /// The next event; `nil` once the server has closed the stream.
    @concurrent mutating func next() async throws -> Event? {
        while true {
            while let end = rest.range(of: "\n\n") {
                let block = String(rest[..<end.lowerBound])
                rest = String(rest[end.upperBound...])
                if let event = event(in: block) { return event }
            }
            guard let part = try await parts.next() else { return nil }
            rest += String(buffer: part)
        }
    }

    private func event(in block: String) -> Event? {
        var fields: [Substring: String] = [:]
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            fields[parts[0]] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        guard let id = fields["id"], let data = fields["data"] else { return nil }
        for violation in contract.violations(of: Data(data.utf8), "Session") {
            Issue.record("an event: \(violation): \(data)")
        }
        let session = (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any]
        return Event(
            id: id,
            status: session?["status"] as? String ?? "",
            tip: (session?["tip_cents"] as? NSNumber)?.int64Value
        )
    }
}
