import Foundation
import GotchuAPI
import GotchuCore
import Ledger
import TestSupport
import Testing

@testable import GotchuServer
@testable import Outbox
@testable import Payments

/// Tests of shared bills as phones and the till see them.
@Suite("Splits in the API")
struct SplitTests {
    private let key = "0123456789abcdef-"

    /// A running server with a payee and payers.
    private struct SplitFixture {
        let server: ServerProcess
        let database: CheckedDatabase
        var wire: Wire { server.wire }
        let payee: String
        let payers: [String]

        init(_ kind: DatabaseKind, payers count: Int) async throws {
            let folder = try TemporaryFolder()
            database = try kind.makeDatabase(in: folder)
            server = try await ServerProcess(folder: folder, database: database.address)
            payee = try await server.wire.login("payee")
            var payers: [String] = []
            for number in 0..<count { payers.append(try await server.wire.login("p\(number)")) }
            self.payers = payers
        }

        func bill(_ cents: Int, _ terms: String) async throws -> (sid: String, eid: String) {
            let reply = try await wire.create(
                payee,
                cents: cents,
                more: #","kind":"split","# + terms
            )
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.members["payee_display"] is [String: String], "\(reply.text)")
            return (reply.string("sid"), reply.string("eid"))
        }

        func resolve(_ eid: String) async throws -> WireReply {
            try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
        }

        func lock(_ sid: String, _ payer: Int, _ more: String = "") async throws -> WireReply {
            try await wire.post(
                "/sessions/lock",
                #"{"sid":"\#(sid)"\#(more)}"#,
                token: payers[payer]
            )
        }

        func balances() async throws -> [Int64?] {
            var balances: [Int64?] = []
            for user in [payee] + payers { balances.append(try await wire.balance(user)) }
            return balances
        }

        func figures(_ reply: WireReply) -> [Int64?] {
            ["places", "places_paid", "places_held", "paid_cents"].map { reply.integer($0) }
        }
    }

    @Test("A phone that sends no split fields pays one share", arguments: DatabaseKind.all)
    func phoneWithoutSplitFields(kind: DatabaseKind) async throws {
        let split = try await SplitFixture(kind, payers: 3)
        let bill = try await split.bill(1_500, #""shares":3"#)
        for payer in 0..<3 {
            let shown = try await split.resolve(bill.eid)
            #expect(shown.integer("amount_cents") == 500 && shown.string("sid") == bill.sid)
            #expect(split.figures(shown) == [3, Int64(payer), 0, Int64(payer) * 500])
            #expect(try await split.lock(bill.sid, payer).status == 200)
            let own = try await split.wire.get("/sessions/\(bill.sid)", token: split.payers[payer])
            #expect(own.string("status") == "LOCKED" && own.integer("amount_cents") == 500)
            let sent = try await split.wire.send(
                bill.sid,
                by: split.payers[payer],
                key: "\(key)\(payer)",
                more: #","expected_amount_cents":500"#
            )
            #expect(sent.integer("new_balance_cents") == 9_500, "\(sent.text)")
            let again = try await split.wire.send(
                bill.sid,
                by: split.payers[payer],
                key: "\(key)\(payer)",
                more: #","expected_amount_cents":500"#
            )
            #expect(again.bytes == sent.bytes)
            let outcome = try await split.wire.get(
                "/wallet/sends/\(key)\(payer)",
                token: split.payers[payer]
            )
            #expect(outcome.string("outcome") == "paid")
        }
        #expect(try await split.resolve(bill.eid).code == "SESSION_PAID")
        #expect(try await split.balances() == [11_500, 9_500, 9_500, 9_500])
        #expect(try split.database.violations() == [])
    }

    @Test("The till's stream reports each locked and paid share", arguments: DatabaseKind.single)
    func tillStream(kind: DatabaseKind) async throws {
        let split = try await SplitFixture(kind, payers: 2)
        let bill = try await split.bill(1_000, #""share_cents":[700,300]"#)
        var events = try await EventStream(split.wire, bill.sid, token: split.payee)
        #expect(try await events.next()?.id == "1")
        let first = try await split.lock(bill.sid, 0, #","expected_amount_cents":300"#)
        let share = try #require(first.members["share"] as? [String: Any])
        #expect(share["place"] as? Int == 2 && share["amount_cents"] as? Int == 300)
        #expect(try await events.next()?.id == "2")
        let held = try await split.wire.get("/sessions/\(bill.sid)", token: split.payee)
        #expect(split.figures(held) == [2, 0, 1, 0] && held.string("kind") == "split")
        #expect(held.string("status") == "ADVERTISING" && held.integer("amount_cents") == 1_000)
        let sid = try #require(share["sid"] as? String)
        _ = try await split.wire.send(sid, by: split.payers[0], key: key + "a")
        #expect(try await events.next()?.id == "3")
        #expect(try await split.lock(bill.sid, 0).code == "SESSION_PAID")
        #expect(
            try await split.lock(bill.sid, 1, #","expected_amount_cents":300"#).code
                == "AMOUNT_CHANGED"
        )
        #expect(try await split.lock(bill.sid, 1, #","place":2"#).code == "SHARE_TAKEN")
        let cancel = try await split.wire.post("/sessions/\(bill.sid)/cancel", token: split.payee)
        #expect(split.figures(cancel) == [2, 1, 0, 300] && cancel.string("status") == "CANCEL")
        #expect(cancel.members["paid_shares"] as? [String] == [sid])
        let refunds = "/sessions/\(bill.sid)/refund"
        let whole = try await split.wire.post(refunds, "{}", token: split.payee, key: key + "b")
        #expect(whole.code == "NOT_REFUNDABLE")
        let one = try await split.wire.post(
            "/sessions/\(sid)/refund",
            "{}",
            token: split.payee,
            key: key + "c"
        )
        #expect(one.integer("amount_cents") == 300, "\(one.text)")
        #expect(try await split.balances() == [10_000, 10_000, 10_000])
        #expect(try split.database.violations() == [])
    }

    @Test(
        "The paid shares of a partly paid all-or-nothing bill are refunded when the bill expires",
        arguments: DatabaseKind.all
    )
    func refundOnExpiry(kind: DatabaseKind) async throws {
        let split = try await SplitFixture(kind, payers: 2)
        let terms = #""shares":3,"is_all_or_nothing":true,"ttl_seconds":10"#
        let bill = try await split.bill(900, terms)
        for payer in 0..<2 {
            _ = try await split.lock(bill.sid, payer)
            let sent = try await split.wire.send(
                bill.sid,
                by: split.payers[payer],
                key: "\(key)\(payer)"
            )
            #expect(sent.status == 200, "\(sent.text)")
        }
        #expect(try await split.balances() == [10_000, 9_700, 9_700])
        let end = try await eventually("the bill has ended") {
            let reply = try await split.wire.get("/sessions/\(bill.sid)", token: split.payee)
            return reply.string("status") == "TIMEOUT" ? reply : nil
        }
        #expect(split.figures(end) == [3, 0, 0, 0] && end.members["paid_shares"] == nil)
        #expect(try await split.balances() == [10_000, 10_000, 10_000])
        let history = try await split.wire.get("/api/wallet/transactions", token: split.payers[0])
        let entries = try #require(history.members["transactions"] as? [[String: Any]])
        #expect(entries.prefix(2).map { $0["type"] as? String } == ["refund", "debit"])
        #expect(entries.first?["session_id"] as? String == bill.sid)
        #expect(try split.database.violations() == [])
    }

    @Test(
        "A bill with invalid terms is refused with the reason",
        arguments: DatabaseKind.single
    )
    func terms(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let payee = try await wire.login("payee")
        let unequal =
            "Each share must be at least the smallest amount, and together they must be the "
            + "whole amount."
        for (more, detail) in [
            (#""kind":"split""#, "A split has either shares or share_cents."),
            (
                #""kind":"split","shares":2,"share_cents":[1,4]"#,
                "A split has either shares or share_cents."
            ),
            (#""kind":"split","shares":1"#, "A split has 2 to 50 shares."),
            (#""kind":"split","shares":51"#, "A split has 2 to 50 shares."),
            (#""kind":"split","shares":6"#, unequal),
            (#""kind":"split","share_cents":[1,3]"#, unequal),
            (#""kind":"split","share_cents":[5,0]"#, unequal),
            (#""kind":"split","shares":2,"allows_tip":true"#, "A split allows no tip."),
            (
                #""kind":"split","shares":2,"ttl_seconds":3601"#,
                "ttl_seconds must be from 1 to 3600."
            ),
            (#""ttl_seconds":3600"#, "ttl_seconds must be from 1 to 300."),
            (#""kind":"heap","shares":2"#, "kind must be split, or be left out."),
            (#""shares":2"#, "shares, share_cents and is_all_or_nothing belong to kind split."),
        ] {
            let reply = try await wire.create(payee, cents: 5, more: "," + more)
            #expect(reply.status == 400 && reply.string("detail") == detail, "\(more)")
        }
        let sole = try await wire.create(payee, cents: 5, more: #","is_all_or_nothing":false"#)
        #expect(sole.status == 200, "\(sole.text)")
    }

    @Test(
        "Four of eight payers at two servers pay the four shares of a bill, one share each",
        arguments: [DatabaseKind.postgresql]
    )
    func race(kind: DatabaseKind) async throws {
        let split = try await SplitFixture(kind, payers: 8)
        let folder = try TemporaryFolder()
        let other = try await ServerProcess(folder: folder, database: split.database.address)
        for terms in [#""shares":4"#, #""shares":4,"is_all_or_nothing":true"#] {
            let before = try await split.balances().compactMap { $0 }
            let bill = try await split.bill(400, terms)
            let paid = try await withThrowingTaskGroup(of: Bool.self) { group in
                for payer in 0..<8 {
                    let wire = payer.isMultiple(of: 2) ? split.wire : other.wire
                    group.addTask {
                        let token = split.payers[payer]
                        guard try await wire.lock(bill.sid, by: token).status == 200 else {
                            return false
                        }
                        let key = "\(self.key)\(bill.sid.suffix(8))\(payer)"
                        let sent = try await wire.send(bill.sid, by: token, key: key)
                        return sent.status == 200
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(paid.count { $0 } == 4)
            let after = try await split.balances().compactMap { $0 }
            #expect(after[0] - before[0] == 400 && after.reduce(0, +) == before.reduce(0, +))
            #expect(zip(before, after).dropFirst().count { $0 - $1 == 100 } == 4)
        }
        #expect(try split.database.violations() == [])
    }
}

/// Tests of the webhooks about shared bills and desks.
@Suite("Webhooks about splits and desks")
struct SplitWebhookTests {
    private func webhookData(
        _ record: Record,
        _ kind: String,
        amount: Int64? = nil
    ) throws -> [String: Any] {
        let now = Timestamp(milliseconds: 9_000)
        let delivery = WebhookDelivery(
            id: .init(endpoint: "e", event: "1"),
            attempt: 1,
            kind: kind,
            record: record.id,
            owner: record.owner,
            at: now,
            amount: amount,
            body: record.body,
            giveUpAt: now,
            url: "",
            secret: []
        )
        let bytes = try WebhookBody(delivery).bytes()
        let body = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return try #require(body?["data"] as? [String: Any])
    }

    private func bill(
        of payee: UserID = .make(),
        isAllOrNothing: Bool = false,
        state: Group.State = .expired,
        paidBy payers: UserID...
    ) -> Group {
        Group(
            id: .makeGroup(),
            purpose: Split.name,
            payee: payee,
            eid: .random(),
            amount: Money(minorUnits: 1_000),
            memo: "Dinner",
            reference: "table 7",
            createdAt: Timestamp(milliseconds: 1_000),
            expiresAt: Timestamp(milliseconds: 5_000),
            isAllOrNothing: isAllOrNothing,
            shares: [600, 400],
            state: state,
            claims: zip([2, 1], payers).map { place, payer in
                Group.Claim(place: place, payer: payer, share: 3 - place, until: nil)
            }.sorted { $0.place < $1.place },
            shareCount: Int64(payers.count)
        )
    }

    @Test("The final event of an all-or-nothing bill has the amount that the payee keeps")
    func allOrNothingEvent() throws {
        let ends: [(Group.State, String)] = [
            (.expired, "session.expired"), (.cancelled, "session.cancelled"),
        ]
        for (state, event) in ends {
            let failed = bill(isAllOrNothing: true, state: state, paidBy: .make())
            let end = try webhookData(failed.record, event)
            #expect(end["places_paid"] as? Int == 0 && end["paid_cents"] as? Int == 0)
            #expect(end["places"] as? Int == 2 && end["amount_cents"] as? Int == 1_000)
        }
        let paidAt = Timestamp(milliseconds: 2_000)
        let whole = bill(isAllOrNothing: true, state: .paid(at: paidAt), paidBy: .make(), .make())
        let end = try webhookData(whole.record, "session.paid")
        #expect(end["places_paid"] as? Int == 2 && end["paid_cents"] as? Int == 1_000)
    }

    @Test("The event of a bill has the number of its places, and a share's event names its bill")
    func billEvent() throws {
        let now = Timestamp(milliseconds: 1_000)
        let (payee, payer) = (UserID.make(), UserID.make())
        let group = bill(of: payee, paidBy: payer)
        let bill = try webhookData(group.record, "session.expired")
        #expect(bill["sid"] as? String == group.id.rawValue && bill["kind"] as? String == "split")
        #expect(bill["places"] as? Int == 2 && bill["places_paid"] as? Int == 1)
        #expect(bill["paid_cents"] as? Int == 400 && bill["amount_cents"] as? Int == 1_000)
        #expect(bill["payee_reference"] as? String == "table 7" && bill["place"] == nil)
        let share = Session(
            id: try #require(SessionID(rawValue: "\(group.id)-1")),
            eid: group.eid,
            payee: payee,
            amount: Money(minorUnits: 400),
            memo: nil,
            reference: nil,
            createdAt: now,
            expiresAt: Timestamp(milliseconds: 5_000),
            state: .paid(by: payer, at: now),
            version: 2,
            role: .share(Session.Share(group: group.id, place: 2))
        )
        let paid = try webhookData(share.record, "session.paid")
        #expect(paid["group_sid"] as? String == group.id.rawValue && paid["place"] as? Int == 2)
        #expect(paid["amount_cents"] as? Int == 400 && paid["places"] == nil)
        #expect(!"\(bill)\(paid)".contains(payer.rawValue))
    }

    @Test("The events of a desk and of a fee paid there name the contest")
    func contestEvent() throws {
        let now = Timestamp(milliseconds: 1_000)
        let (organizer, payer) = (UserID.make(), UserID.make())
        let contest = RecordID.make()
        let desk = Group(
            id: .makeGroup(),
            purpose: "entry",
            payee: organizer,
            eid: .random(),
            amount: Money(minorUnits: 500),
            memo: nil,
            reference: nil,
            createdAt: now,
            expiresAt: Timestamp(milliseconds: 5_000),
            isAllOrNothing: false,
            shares: [500, 500],
            sale: Group.Sale(record: contest, title: "Pub quiz", places: 20, sold: 3),
            state: .cancelled,
            shareCount: 4
        )
        let end = try webhookData(desk.record, "session.cancelled")
        let known = try #require(end["contest"] as? [String: String])
        #expect(known == ["id": contest.rawValue, "title": "Pub quiz"])
        #expect(end["kind"] as? String == "entry" && end["places_paid"] as? Int == 3)
        var share = Session.Share(group: desk.id, place: 2)
        share.stake = Transfer.Key(contest, "in/3")
        let session = Session(
            id: try #require(SessionID(rawValue: "\(desk.id)-4")),
            eid: desk.eid,
            payee: organizer,
            amount: Money(minorUnits: 500),
            memo: nil,
            reference: nil,
            createdAt: now,
            expiresAt: Timestamp(milliseconds: 5_000),
            state: .paid(by: payer, at: now),
            version: 2,
            role: .share(share)
        )
        let paid = try webhookData(session.record, "session.paid")
        #expect(paid["contest"] as? [String: String] == ["id": contest.rawValue])
    }
}

extension CheckedDatabase {
    /// Returns one row for each rule of `verify` that the database breaks.
    fileprivate func violations() throws -> [String] {
        try audit().findings.compactMap(\.violation)
    }
}
