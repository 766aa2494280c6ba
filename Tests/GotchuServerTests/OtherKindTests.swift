import Foundation
import GotchuAPI
import Ledger
import TestSupport
import Testing

@testable import Contests

/// Tests of calls with the id of a record that the route is not about.
@Suite("Ids of other kinds")
struct OtherKindTests {
    /// A route of the API descriptions with an id in its path.
    private struct Route: Hashable {
        let method: String
        let path: String

        /// The beginning of the path, which routes about the same kind share.
        var subject: String { String(path.prefix { $0 != "{" }) }

        func call(_ id: String, on wire: Wire, token: String) async throws -> WireReply {
            let full = path.replacing(#/\{s?id\}/#, with: id)
            if path.hasSuffix("/events") {
                // HEAD has the status of GET, and ends at once.
                let bare = Wire(base: wire.base, isValidated: false)
                return try await bare.call("HEAD", full, token: token)
            }
            return try await method == "GET"
                ? wire.get(full, token: token)
                : wire.call(method, full, "{}", token: token, key: ContestRig.key())
        }

        static func described(by wire: Wire) async throws -> [Route] {
            var routes: [Route] = []
            for document in ["/openapi.yaml", "/contests/openapi.yaml"] {
                var path = ""
                for line in try await wire.get(document).text.split(separator: "\n") {
                    if let match = line.firstMatch(of: #/^  (\/\S*):$/#) { path = String(match.1) }
                    guard path.contains("id}"),
                        let match = line.firstMatch(of: #/^    (get|post|delete|put|patch):$/#)
                    else { continue }
                    routes.append(Route(method: match.1.uppercased(), path: path))
                }
            }
            return routes
        }
    }

    /// Creates a record of each kind and returns their ids, each with the subject of its routes.
    private func ids(_ rig: ContestRig) async throws -> [(id: String, subjects: Set<String>)] {
        let (wire, token) = (rig.wire, rig.organizer)
        let contest = try await rig.published()
        let session = try await wire.create(token, cents: 500).string("sid")
        let bill = try await wire.create(token, cents: 900, more: #","kind":"split","shares":3"#)
            .string("sid")
        let deposit = try await wire.post(
            "/api/payments/intents",
            #"{"amount_cents":500}"#,
            token: token,
            key: ContestRig.key()
        )
        let withdrawal = try await wire.post(
            "/api/wallet/withdrawals",
            #"{"amount_cents":500}"#,
            token: token,
            key: ContestRig.key()
        )
        let contests: Set = ["/api/contests/", "/api/custom-contests/"]
        return [
            (contest, contests), (session, ["/sessions/"]), (bill, ["/sessions/"]),
            (deposit.string("payment_intent_id"), ["/api/payments/intents/"]),
            (withdrawal.string("withdrawal_id"), ["/api/wallet/withdrawals/"]),
            (ContestIndex.id.rawValue, []), (ContestRig.quiz, []),
        ]
    }

    @Test("An id of another kind of record is found by no route", arguments: DatabaseKind.single)
    func otherKinds(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let routes = try await Route.described(by: rig.wire)
        #expect(Set(routes.map(\.subject)).count == 5, "\(routes)")
        for (id, subjects) in try await ids(rig) {
            try #require(!id.isEmpty)
            for route in routes {
                let reply = try await route.call(id, on: rig.wire, token: rig.organizer)
                #expect(reply.status < 500, "\(route) with \(id): \(reply.text)")
                if subjects.contains(route.subject) {
                    #expect(reply.status != 404 || route.method != "GET", "\(route): \(reply.text)")
                } else if route.method == "GET" {
                    #expect(reply.status == 404, "\(route) with \(id): \(reply.text)")
                } else {
                    // A call whose body lacks a member says so first.
                    #expect([400, 404].contains(reply.status), "\(route): \(reply.text)")
                }
            }
        }
    }

    @Test(
        "An id that only resembles that of the payer's share is not found",
        arguments: ["-01", "-abc", "--1", "-1-1", "-2", "-9223372036854775808"]
    )
    func resemblingShare(ending: String) async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        let bill = try await wire.create(payee, cents: 900, more: #","kind":"split","shares":3"#)
            .string("sid")
        #expect(try await wire.lock(bill, by: payer).status == 200)
        let (other, key) = (bill + ending, ContestRig.key())
        var replies = [
            try await wire.lock(other, by: payer),
            try await wire.send(other, by: payer, key: key),
        ]
        for call in ["unlock", "refund"] {
            let path = "/sessions/\(other)/\(call)"
            replies.append(try await wire.post(path, token: payer, key: key + "2"))
        }
        replies.append(try await wire.get("/sessions/\(other)", token: payer))
        for reply in replies { reply.expectProblem(.notFound) }
        #expect(try await wire.balance(payer) == 10_000)
        let own = try await wire.get("/sessions/\(bill)-1", token: payer)
        #expect(own.string("status") == "LOCKED", "\(own.text)")
    }
}
