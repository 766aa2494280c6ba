import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// A connection that receives the events of a session or a wallet.
struct EventStream {
    struct Event: Equatable {
        /// The event's id; empty if the event has none, because it repeats a version.
        let id: String
        let status: String
        var tip: Int64?
        var noticedAt: String?
        /// The number of free places of a contest; `nil` if the session is no desk.
        var placesLeft: Int?
    }

    /// The state of a wallet: its balance and its newest entry.
    struct Wallet: Equatable {
        let balance: Int64
        var type: String?
        /// The amount; negative for a debit.
        var amount: Int64?
        var memo: String?
    }

    let status: Int
    /// A Boolean that is true if the reply has `Connection: close`: it is the connection's last.
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
        let path = "/sessions/\(sid)/events"
        try await self.init(wire, path: path, token, lastEventID: lastEventID, body: body)
    }

    /// Opens the events of a user's wallet.
    init(_ wire: Wire, walletOf token: String) async throws {
        try await self.init(wire, path: "/api/wallet/events", token)
    }

    private init(
        _ wire: Wire,
        path: String,
        _ token: String,
        lastEventID: String? = nil,
        body: String? = nil
    ) async throws {
        var request = HTTPClientRequest(url: wire.base + path)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await Wire.client.execute(request, timeout: .seconds(60))
        status = Int(response.status.code)
        isLast = response.headers["Connection"] == ["close"]
        contract = try await ReplyValidator.shared.contract
        parts = response.body.makeAsyncIterator()
    }

    /// Returns the next event; `nil` after the server has closed the stream.
    @concurrent mutating func next() async throws -> Event? {
        guard let (fields, session) = try await nextObject("Session") else { return nil }
        return Event(
            id: fields["id"] ?? "",
            status: session["status"] as? String ?? "",
            tip: (session["tip_cents"] as? NSNumber)?.int64Value,
            noticedAt: session["noticed_at"] as? String,
            placesLeft: (session["contest"] as? [String: Any])?["places_left"] as? Int
        )
    }

    /// Returns the next state of the wallet; `nil` after the server has closed the stream.
    @concurrent mutating func nextWallet() async throws -> Wallet? {
        guard let (fields, wallet) = try await nextObject("Balance") else { return nil }
        #expect(fields["event"] == "wallet.changed")
        let newest = wallet["newest"] as? [String: Any]
        let amount = (newest?["amount_cents"] as? NSNumber)?.int64Value
        return Wallet(
            balance: (wallet["balance_cents"] as? NSNumber)?.int64Value ?? .min,
            type: newest?["type"] as? String,
            amount: amount.map { newest?["direction"] as? String == "DEBIT" ? -$0 : $0 },
            memo: newest?["memo"] as? String
        )
    }

    /// Returns the fields and the data of the next event that has data, validated against a schema.
    @concurrent private mutating func nextObject(
        _ schema: String
    ) async throws -> (fields: [Substring: String], object: [String: Any])? {
        while let block = try await nextBlock() {
            if let event = event(in: block, schema) { return event }
        }
        return nil
    }

    @concurrent private mutating func nextBlock() async throws -> String? {
        while true {
            if let end = rest.range(of: "\n\n") {
                defer { rest = String(rest[end.upperBound...]) }
                return String(rest[..<end.lowerBound])
            }
            guard let part = try await parts.next() else { return nil }
            rest += String(buffer: part)
        }
    }

    private func event(
        in block: String,
        _ schema: String
    ) -> (fields: [Substring: String], object: [String: Any])? {
        var fields: [Substring: String] = [:]
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            fields[parts[0]] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        guard let data = fields["data"] else { return nil }
        for violation in contract.violations(of: Data(data.utf8), schema) {
            Issue.record("an event: \(violation): \(data)")
        }
        let object = (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any]
        return (fields, object ?? [:])
    }
}
