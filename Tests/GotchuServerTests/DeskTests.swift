import Foundation
import TestSupport
import Testing

/// Tests of the desks of contests, at which payers enter a contest by a tap.
@Suite("Desks in the API")
struct DeskTests {
    /// A contest, and payers who enter it at its desks.
    private struct DeskRig {
        let rig: ContestRig
        let contest: String
        let payers: [String]
        var wire: Wire { rig.wire }

        init(_ kind: DatabaseKind, payers count: Int, places: Int = 10, rate: Int = 200)
            async throws
        {
            rig = try await ContestRig(kind, more: ["--calls-per-second", "\(rate)"])
            contest = try await rig.published(ContestRig.body(more: #","max_entries":\#(places)"#))
            payers = try await rig.users(count)
        }

        func open(_ more: String = "") async throws -> (sid: String, eid: String) {
            let body = #"{"kind":"entry","contest_id":"\#(contest)"\#(more)}"#
            let reply = try await wire.post("/sessions/create", body, token: rig.organizer)
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.members["payee_display"] is [String: String], "\(reply.text)")
            return (reply.string("sid"), reply.string("eid"))
        }

        func lock(_ sid: String, _ payer: Int) async throws -> WireReply {
            try await wire.lock(sid, by: payers[payer])
        }

        func send(
            _ sid: String,
            _ payer: Int,
            key: String = ContestRig.key()
        ) async throws -> WireReply {
            try await wire.send(
                sid,
                by: payers[payer],
                key: key,
                more: #","expected_amount_cents":500"#
            )
        }

        /// Returns the number of free places. An entry or a hold at any desk takes a place.
        func freePlaces(_ eid: String) async throws -> Int? {
            let body = #"{"eid":"\#(eid)"}"#
            let shown = try await wire.post("/sessions/resolve", body)
            return (shown.members["contest"] as? [String: Any])?["places_left"] as? Int
        }

        func balances() async throws -> [Int64?] {
            var balances: [Int64?] = []
            for user in payers { balances.append(try await wire.balance(user)) }
            return balances
        }
    }

    @Test(
        "Old phones enter a contest at its desk; leaving or a cancellation refunds the fee",
        arguments: DatabaseKind.all
    )
    func oldPhones(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 2)
        let (wire, rig) = (deskRig.wire, deskRig.rig)
        let desk = try await deskRig.open()
        let shown = try await wire.post("/sessions/resolve", #"{"eid":"\#(desk.eid)"}"#)
        #expect(shown.integer("amount_cents") == 500 && shown.string("kind") == "entry")
        #expect(shown.string("memo") == "Pub <quiz>")
        let contest = try #require(shown.members["contest"] as? [String: Any])
        #expect(contest["id"] as? String == deskRig.contest && contest["places_left"] as? Int == 10)
        #expect(try await deskRig.lock(desk.sid, 0).status == 200)
        #expect(try await deskRig.freePlaces(desk.eid) == 9)
        let held = try await wire.get("/sessions/\(desk.sid)", token: deskRig.payers[0])
        #expect(held.string("status") == "LOCKED" && held.integer("amount_cents") == 500)
        let key = ContestRig.key()
        let sent = try await deskRig.send(desk.sid, 0, key: key)
        #expect(sent.integer("new_balance_cents") == 9_500, "\(sent.text)")
        #expect(try await deskRig.send(desk.sid, 0, key: key).bytes == sent.bytes)
        let outcome = try await wire.get("/wallet/sends/\(key)", token: deskRig.payers[0])
        let share = outcome.string("sid")
        #expect(outcome.string("outcome") == "paid" && share.hasPrefix(desk.sid + "-"))
        // An old phone knows only the id of the desk's session. It gets its own payment by this id.
        let own = try await wire.get("/sessions/\(desk.sid)", token: deskRig.payers[0])
        #expect(own.string("sid") == share && own.string("status") == "PAID")
        #expect(try await wire.get("/sessions/\(desk.sid)", token: deskRig.payers[1]).status == 403)
        let seen = try await wire.get("/sessions/\(desk.sid)", token: rig.organizer)
        #expect(seen.integer("places_paid") == 1 && seen.integer("paid_cents") == 500)
        #expect(seen.integer("places") == 10 && seen.string("status") == "ADVERTISING")
        #expect(
            try await rig.show(deskRig.contest, by: deskRig.payers[0]).members["user_has_entered"]
                as? Bool == true
        )
        #expect(try await deskRig.lock(desk.sid, 0).code == "ALREADY_JOINED")
        for sid in [share, desk.sid] {
            let path = "/sessions/\(sid)/refund"
            let refund = try await wire.post(
                path,
                "{}",
                token: rig.organizer,
                key: ContestRig.key()
            )
            #expect(refund.code == "NOT_REFUNDABLE")
        }
        #expect(try await rig.post(deskRig.contest, "leave", by: deskRig.payers[0]).status == 200)
        #expect(try await deskRig.balances() == [10_000, 10_000])
        // Another tap after leaving makes another entry.
        #expect(try await deskRig.lock(desk.sid, 0).status == 200)
        #expect(try await deskRig.send(desk.sid, 0).status == 200)
        let cancelled = try await rig.post(deskRig.contest, "cancel", #"{"reason":"Rain."}"#)
        #expect(cancelled.string("state") == "CANCELLED", "\(cancelled.text)")
        #expect(try await deskRig.balances() == [10_000, 10_000])
        #expect(try await deskRig.lock(desk.sid, 1).code == "CONTEST_CANCELLED")
        try await rig.verify()
    }

    @Test(
        "A held place is refused to other payers until its holder releases it",
        arguments: DatabaseKind.all
    )
    func holds(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 4, places: 2)
        let desks = [try await deskRig.open(), try await deskRig.open()]
        let first = try await deskRig.lock(desks[0].sid, 0)
        #expect(first.status == 200)
        #expect(try await deskRig.lock(desks[1].sid, 1).status == 200)
        #expect(try await deskRig.lock(desks[1].sid, 2).code == "CONTEST_FULL")
        #expect(
            try await deskRig.rig.join(deskRig.contest, by: deskRig.payers[2]).code
                == "CONTEST_FULL"
        )
        #expect(try await deskRig.lock(desks[0].sid, 0).text == first.text)
        let free = "/sessions/\(desks[0].sid)/unlock"
        #expect(try await deskRig.wire.post(free, token: deskRig.payers[0]).status == 200)
        #expect(try await deskRig.rig.join(deskRig.contest, by: deskRig.payers[2]).status == 200)
        #expect(try await deskRig.lock(desks[0].sid, 0).code == "CONTEST_FULL")
        // A payer with a hold may also join directly. The desk then does not charge again.
        #expect(try await deskRig.rig.join(deskRig.contest, by: deskRig.payers[1]).status == 200)
        #expect(try await deskRig.send(desks[1].sid, 1).code == "ALREADY_JOINED")
        #expect(try await deskRig.balances() == [10_000, 9_500, 9_500, 10_000])
        try await deskRig.rig.verify()
    }

    @Test(
        "Ten of fifteen payers who tap at two desks at once get the ten places",
        arguments: DatabaseKind.all
    )
    func race(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 15)
        let desks = [try await deskRig.open(), try await deskRig.open()]
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for payer in 0..<15 {
                group.addTask {
                    let sid = desks[payer % 2].sid
                    let locked = try await deskRig.lock(sid, payer)
                    guard locked.status == 200 else { return locked.code }
                    return try await deskRig.send(sid, payer).code
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 10, "\(codes)")
        #expect(codes.count { $0 == "CONTEST_FULL" } == 5)
        #expect(try await deskRig.balances().compactMap { $0 }.reduce(0, +) == 150_000 - 5_000)
        try await deskRig.rig.verify()
    }

    @Test("A payer who pays at two desks with two keys enters once", arguments: DatabaseKind.all)
    func twice(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 1)
        let desks = [try await deskRig.open(), try await deskRig.open()]
        for desk in desks { #expect(try await deskRig.lock(desk.sid, 0).status == 200) }
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for desk in desks { group.addTask { try await deskRig.send(desk.sid, 0).code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == "ALREADY_JOINED" } == 1, "\(codes)")
        #expect(try await deskRig.balances() == [9_500])
        try await deskRig.rig.verify()
    }

    @Test(
        "A hold is not charged once the desk has expired or its contest is locked or cancelled",
        arguments: DatabaseKind.all
    )
    func ends(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 2)
        let expiring = try await deskRig.open(#","ttl_seconds":1"#)
        #expect(try await deskRig.lock(expiring.sid, 0).status == 200)
        #expect(try await deskRig.freePlaces(expiring.eid) == 9)
        let late = try await eventually("the desk has expired") {
            let reply = try await deskRig.lock(expiring.sid, 1)
            return reply.status == 410 ? reply : nil
        }
        #expect(late.code == "SESSION_EXPIRED")
        #expect(try await deskRig.send(expiring.sid, 0).code == "SESSION_EXPIRED")
        let desk = try await deskRig.open()
        // An expired hold takes no place.
        #expect(try await deskRig.freePlaces(desk.eid) == 10)
        #expect(try await deskRig.lock(desk.sid, 0).status == 200)
        try await deskRig.rig.post(deskRig.contest, "lock")
        #expect(try await deskRig.send(desk.sid, 0).code == "CONTEST_LOCKED")
        #expect(try await deskRig.lock(desk.sid, 1).code == "CONTEST_LOCKED")
        // The lock of the contest cancels the desk's session.
        let heard = try await deskRig.wire.post("/sessions/resolve", #"{"eid":"\#(desk.eid)"}"#)
        #expect(heard.code == "SESSION_CANCELLED", "\(heard.text)")
        let reopened = try await deskRig.wire.post(
            "/sessions/create",
            #"{"kind":"entry","contest_id":"\#(deskRig.contest)"}"#,
            token: deskRig.rig.organizer
        )
        #expect(reopened.code == "CONTEST_LOCKED")
        _ = try await deskRig.rig.post(deskRig.contest, "cancel", #"{"reason":"Rain."}"#)
        #expect(try await deskRig.send(desk.sid, 0).code == "CONTEST_CANCELLED")
        #expect(try await deskRig.balances() == [10_000, 10_000])
        try await deskRig.rig.verify()
    }

    @Test(
        "The events of a desk report places taken elsewhere and the lock of the contest",
        arguments: DatabaseKind.all
    )
    func events(kind: DatabaseKind) async throws {
        let deskRig = try await DeskRig(kind, payers: 2)
        let desk = try await deskRig.open()
        var events = try await EventStream(deskRig.wire, desk.sid, token: deskRig.rig.organizer)
        let first = try await events.next()
        #expect(first == .init(id: "1", status: "ADVERTISING", placesLeft: 10))
        #expect(try await deskRig.rig.join(deskRig.contest, by: deskRig.payers[0]).status == 200)
        let joined = try await events.next()
        #expect(joined == .init(id: "", status: "ADVERTISING", placesLeft: 9))
        #expect(try await deskRig.lock(desk.sid, 1).status == 200)
        // One commit changes the session and its free places; they arrive in one or two events.
        var ids: [String] = []
        var held = first
        repeat {
            held = try await events.next()
            ids.append(held?.id ?? "3")
        } while !ids.contains("3") && !(ids.contains("2") && held?.placesLeft == 8)
        #expect(ids.contains("2") && held?.status == "ADVERTISING", "\(ids)")
        try await deskRig.rig.post(deskRig.contest, "lock")
        var end = try await events.next()
        while end?.id == "" { end = try await events.next() }
        #expect(end == .init(id: "3", status: "CANCEL", placesLeft: 8))
        #expect(try await events.next() == nil)
        try await deskRig.rig.verify()
    }

    @Test("A contest has at most sixteen desks at a time, and a closed desk makes room for another")
    func limit() async throws {
        let deskRig = try await DeskRig(.sqlite, payers: 1)
        var last = ""
        for _ in 0..<16 { last = try await deskRig.open().sid }
        let body = #"{"kind":"entry","contest_id":"\#(deskRig.contest)"}"#
        let token = deskRig.rig.organizer
        let more = try await deskRig.wire.post("/sessions/create", body, token: token)
        #expect(more.status == 429, "\(more.text)")
        let over = try await deskRig.wire.post("/sessions/\(last)/cancel", token: token)
        #expect(over.string("status") == "CANCEL")
        _ = try await deskRig.open()
    }

    @Test(
        "A payer who pays while the contest is cancelled keeps an unchanged balance",
        arguments: DatabaseKind.all
    )
    func cancelled(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind, more: ["--calls-per-second", "500"])
        let payer = try await rig.users(1)[0]
        for _ in 0..<12 {
            let id = try await rig.published()
            let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
            let desk = try await rig.wire.post("/sessions/create", body, token: rig.organizer)
            #expect(try await rig.wire.lock(desk.string("sid"), by: payer).status == 200)
            async let cancel = rig.post(id, "cancel", #"{"reason":"Rain."}"#)
            let sent = try await rig.wire.send(
                desk.string("sid"),
                by: payer,
                key: ContestRig.key()
            )
            #expect(sent.status == 200 || sent.code == "CONTEST_CANCELLED", "\(sent.text)")
            #expect(try await cancel.status == 200)
            #expect(try await rig.wire.balance(payer) == 10_000)
        }
        try await rig.verify()
    }

    @Test("A browser without scripts enters a contest at its desk once")
    func page() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let id = try await rig.published()
        let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
        let desk = try await rig.wire.post("/sessions/create", body, token: rig.organizer)
        let path = "/p/\(desk.string("eid"))"
        let email = "entrant1@shop.example"
        let browser = try await Browser.loggedIn(email, at: rig.server, for: "/web/wallet")
        let page = try await browser.open(path)
        #expect(page.text.contains("Pub &lt;quiz&gt;") && page.text.contains("$5.00"))
        var form = try page.fields(beside: "sid")
        let token = try await rig.wire.login("entrant1")
        for title in ["Paid", "You are in"] {
            let pressed = try await browser.send(path, form, from: page)
            let end = try await browser.open(try #require(pressed.location, "\(pressed.text)"))
            #expect(end.title == title, "\(end.text)")
            #expect(try await rig.wire.balance(token) == 9_500)
            form["key"] = ContestRig.key()
        }
        let again = try await browser.open(path)
        #expect(again.title == "You are in" && again.text.contains("/contests/\(id)"))
        #expect(!again.text.contains("name=\"sid\""))
        // An entrant who has left can enter again.
        #expect(try await rig.post(id, "leave", by: token).status == 200)
        #expect(try await browser.open(path).text.contains("Pay $5.00"))
        try await rig.verify()
    }

    @Test("A desk is refused for another user, a free or unknown contest, and bad terms")
    func refused() async throws {
        let deskRig = try await DeskRig(.sqlite, payers: 1)
        let (rig, wire) = (deskRig.rig, deskRig.wire)
        func open(_ more: String, by token: String? = nil) async throws -> WireReply {
            let body = #"{"kind":"entry"\#(more)}"#
            return try await wire.post("/sessions/create", body, token: token ?? rig.organizer)
        }
        let own = #","contest_id":"\#(deskRig.contest)""#
        #expect(try await open(own, by: deskRig.payers[0]).code == "FORBIDDEN")
        #expect(try await open(own + #","amount_cents":499"#).code == "AMOUNT_CHANGED")
        #expect(try await open(own + #","ttl_seconds":43201"#).code == "VALIDATION_ERROR")
        #expect(try await open(own + #","shares":2"#).code == "VALIDATION_ERROR")
        #expect(try await open("").code == "VALIDATION_ERROR")
        let unknown = #","contest_id":"\#(ContestRig.key().lowercased())""#
        #expect(try await open(unknown).code == "CONTEST_NOT_FOUND")
        let free = try await rig.published(ContestRig.body(fee: 0))
        let reply = try await open(#","contest_id":"\#(free)""#)
        #expect(reply.string("detail").contains("free contest"), "\(reply.text)")
        let made = try await open(own + #","ttl_seconds":43200"#)
        let contest = try await wire.post(
            "/sessions/resolve",
            #"{"eid":"\#(made.string("eid"))"}"#
        )
        let shown = try #require(contest.members["contest"] as? [String: Any])
        // The desk expires at the lock time of its contest, although twelve hours were requested.
        #expect(made.string("exp_at") == shown["locks_at"] as? String)
        let other = try await ServerProcess()
        let token = try await other.wire.login("payee")
        let body = #"{"kind":"entry"\#(own)}"#
        let off = try await other.wire.post("/sessions/create", body, token: token)
        #expect(off.code == "VALIDATION_ERROR")
        try await rig.verify()
    }
}
