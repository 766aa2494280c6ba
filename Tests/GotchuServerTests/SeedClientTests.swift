import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Tests of the calls and replies that the product's documents print, with nothing but what their
/// clients have: a plain `JSONDecoder`, and an `ISO8601DateFormatter` that reads whole seconds.
@Suite("Clients of the product's documents")
struct SeedClientTests {
    private typealias Custom = SeedClient.Contest<SeedClient.Lifecycle, SeedClient.SettlementState>
    private typealias Listed =
        SeedClient.Contest<SeedClient.ContestStatus, SeedClient.LeaderboardState>

    private static let origin = "https://pay.example"
    private static let tiers = """
        [{"rank_min":1,"rank_max":1,"share_bps":6250},\
        {"rank_min":2,"rank_max":4,"share_bps":3750}]
        """

    private func read<Reply: Decodable>(
        _ reply: WireReply,
        as type: Reply.Type = Reply.self,
        _ status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Reply {
        #expect(reply.status == status, "\(reply.text)", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(type, from: reply.bytes)
    }

    /// Starts a server whose new wallets are empty.
    private func wire(_ kind: DatabaseKind) async throws -> Wire {
        let server = try await kind.server(opening: 0)
        var wire = server.wire
        wire.server = server
        return wire
    }

    private func date(_ text: String?) -> Date? {
        text.flatMap { ISO8601DateFormatter().date(from: $0) }
    }

    private struct Login: Decodable {
        let token: String
        let user_id: String
    }

    private func login(_ wire: Wire, _ name: String) async throws -> Login {
        try read(try await wire.post("/auth/dev-login", #"{"email":"\#(name)@shop.example"}"#))
    }

    private func deposit(
        _ wire: Wire,
        _ user: Login,
        _ members: String,
        key: String = UUID().uuidString,
        as name: String? = nil
    ) async throws -> WireReply {
        try await wire.call(
            "POST",
            "/api/payments/intents",
            "{\(members)}",
            token: user.token,
            key: key,
            headers: ["X-User-Id": name ?? user.user_id.uppercased()]
        )
    }

    private func balance(_ wire: Wire, _ token: String) async throws -> SeedClient.WalletBalance {
        try read(try await wire.get("/api/wallet/balance", token: token))
    }

    private func history(
        _ wire: Wire,
        _ token: String
    ) async throws -> SeedClient.WalletTransactionHistory {
        try read(try await wire.get("/api/wallet/transactions?page=1&limit=50", token: token))
    }

    @Test(
        "A deposit for a contest is made once for its key, and the balance grows",
        arguments: DatabaseKind.all
    )
    func deposit(kind: DatabaseKind) async throws {
        let wire = try await self.wire(kind)
        let user = try await login(wire, "payer")
        let (key, contest) = (UUID().uuidString, UUID().uuidString)
        let body = #""contest_instance_id":"\#(contest)","amount_cents":5000"#
        let reply = try await deposit(wire, user, body, key: key)
        let made = try read(reply, as: SeedClient.PaymentIntent.self)
        #expect(UUID(uuidString: made.payment_intent_id) != nil && !made.client_secret.isEmpty)
        #expect(made.amount_cents == 5000 && made.currency == "usd")
        #expect(made.status == made.status.uppercased())
        #expect(reply.string("reference") == contest.lowercased())
        let again = #""amount_cents":5000,"contest_instance_id":"\#(contest.lowercased())""#
        let second = try read(
            try await deposit(wire, user, again, key: key),
            as: SeedClient.PaymentIntent.self
        )
        #expect(second.payment_intent_id == made.payment_intent_id)
        let path = "/api/payments/intents/\(made.payment_intent_id.uppercased())"
        let seen = try await wire.get(path, token: user.token)
        #expect(seen.string("payment_intent_id") == made.payment_intent_id, "\(seen.text)")

        let balance = try await eventually("the wallet is credited") {
            let balance = try await self.balance(wire, user.token)
            return balance.balance_cents > 0 ? balance : nil
        }
        #expect(balance.balance_cents == 5000 && balance.currency.uppercased() == "USD")
        #expect(UUID(uuidString: balance.wallet_id) != nil && balance.user_id == user.user_id)
        #expect(date(balance.last_updated) != nil)
        let history = try await history(wire, user.token)
        #expect(history.total_count == 1 && history.page == 1 && history.limit == 50)
        let entry = try #require(history.transactions.first)
        #expect(entry.type == "deposit" && entry.status == "confirmed")
        #expect(entry.amount_cents == 5000 && date(entry.created_at) != nil)
    }

    @Test("A deposit in another user's name, or with an unclear contest, is refused")
    func refusedDeposit() async throws {
        let wire = try await self.wire(.sqlite)
        let (user, other) = (try await login(wire, "payer"), try await login(wire, "other"))
        let amount = #""amount_cents":5000"#
        for name in [other.user_id, "", "payer", user.user_id + " x"] {
            let reply = try await deposit(wire, user, amount, as: name)
            #expect(reply.status == 403 && reply.code == "FORBIDDEN", "\(name): \(reply.text)")
        }
        let id = "01a207b7-19a2-755c-9000-0a72d4969e7e"
        let contest = #""contest_instance_id":"\#(id.uppercased())""#
        for wrong in [
            #""contest_instance_id":"quiz""#, #""contest_instance_id":"""#,
            #""contest_instance_id":7"#, #""contest_instance_id":"\#(id.dropLast())g""#,
            #""contest_instance_id":"\#(id.replacing("-", with: ""))""#,
            #"\#(contest),"reference":"rent""#,
        ] {
            let reply = try await deposit(wire, user, "\(amount),\(wrong)")
            #expect(reply.status == 400 && reply.code == "VALIDATION_ERROR", "\(reply.text)")
        }
        let key = UUID().uuidString
        let both = #"\#(amount),\#(contest),"reference":"\#(id)""#
        #expect(try await deposit(wire, user, both, key: key).status == 200)
        let alone = try await deposit(wire, user, "\(amount),\(contest)", key: key)
        #expect(alone.headers["idempotent-replayed"] == "true", "\(alone.text)")
        #expect(try await deposit(wire, user, amount, key: key).status == 422)
        #expect(try await balance(wire, user.token).balance_cents == 5000)
    }

    private func join(_ rig: ContestRig, _ id: String, _ user: String) async throws -> WireReply {
        try await rig.wire.post(
            "/api/custom-contests/\(id.uppercased())/join",
            #"{"entry_fee_cents":500,"use_wallet":true}"#,
            token: user,
            key: ContestRig.key()
        )
    }

    private func custom(_ rig: ContestRig, _ id: String, _ user: String) async throws -> Custom {
        let path = "/api/custom-contests/\(id.uppercased())"
        let reply = try await rig.wire.get(path, token: user)
        let contest = try read(reply, as: Custom.self)
        let times = [contest.created_at, contest.updated_at, contest.start_time, contest.lock_time]
        #expect(times.allSatisfy { date($0) != nil }, "\(reply.text)")
        #expect(contest.contest_id == id && UUID(uuidString: contest.template_id) != nil)
        return contest
    }

    @Test(
        "A contest is entered, awaited until it is computed, and shows its prizes",
        arguments: DatabaseKind.all
    )
    func settlement(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published(ContestRig.body(tiers: Self.tiers))
        let users = try await rig.users(3)
        for user in users {
            let joined = try read(try await join(rig, id, user), as: Custom.self)
            #expect(joined.status == .SCHEDULED && joined.leaderboard_state == .pending)
            #expect(joined.user_has_entered && joined.entry_fee_cents == 500)
        }
        let open = try await rig.wire.get("/api/custom-contests/\(id)", token: users[0])
        let planned = try read(open, as: SeedClient.CustomContest.self)
        #expect(planned.id == id && planned.payout_table.allSatisfy { $0.amount == nil })
        #expect(planned.payout_table.map(\.payout_percent) == [62.5, 37.5])
        #expect(planned.payout_table[0].place == "first" && planned.payout_table[0].rank_max == 1)

        try await rig.complete(id, [1: 7, 2: 9, 3: 7])
        try await rig.post(id, "settle")
        let paid = try await eventually("the settlement is computed") {
            let contest = try await custom(rig, id, users[0])
            return contest.leaderboard_state == .computed ? contest : nil
        }
        #expect(paid.status == .COMPLETE)
        #expect(paid.payout_table.map(\.amount_cents) == [1072, 428])
        let reply = try await rig.wire.get("/api/custom-contests/\(id)", token: users[0])
        let prizes = try read(reply, as: SeedClient.CustomContest.self).payout_table
        #expect(prizes.map(\.amount) == ["10.72", "4.28"])
        let rows = try read(
            try await rig.wire.get("/api/contests/\(id)/settlement", token: users[0]),
            as: SeedClient.Payouts.self
        ).payouts
        #expect(rows.map(\.username) == ["entrant2", "entrant1", "entrant3"])
        #expect(rows.map(\.payout_cents) == [1072, 214, 214] && rows.map(\.rank) == [1, 2, 2])
        #expect(Set(rows.map(\.user_id)).count == 3)
    }

    @Test("A contest's members, columns and standings have the printed names and words")
    func members() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published(ContestRig.body(tiers: Self.tiers))
        let users = try await rig.users(2)
        for user in users { _ = try await join(rig, id, user) }
        let open = try read(try await rig.show(id, by: users[0]), as: Listed.self)
        #expect(open.contest_id == id && open.status == .active && open.leaderboard_state == .open)
        let times = [open.created_at, open.updated_at, open.start_time, open.lock_time]
        #expect(times.allSatisfy { date($0) != nil })
        try await rig.complete(id, [1: 7, 2: 9])
        try await rig.post(id, "settle")
        let board = try read(
            try await rig.board(id, by: users[0]),
            as: SeedClient.LeaderboardByColumns.self
        )
        #expect(board.leaderboard_state == .settled && date(board.meta.generated_at) != nil)
        #expect(board.columns.map(\.name).contains("Points"))
        #expect(board.standings.map(\.rank) == [1, 2])
        #expect(Set(board.standings.map(\.user_id)).count == 2)
        #expect(board.standings.allSatisfy { $0.values.count == board.columns.count })
        let table = try read(try await rig.board(id), as: SeedClient.Leaderboard.self)
        #expect(table.state == .PAID)
        #expect(table.rows.allSatisfy { Set($0.keys) == Set(table.columns.map(\.key)) })
        let settled = try read(try await rig.show(id, by: users[0]), as: Listed.self)
        #expect(settled.status == .settled && settled.actions.is_scored)
        try await rig.validateDocuments()
    }

    @Test("A cancelled contest says so and gives the fee back, and a poor entrant learns the sums")
    func cancellation() async throws {
        let rig = try await ContestRig(.sqlite, opening: 600)
        let (first, second) = (try await rig.published(), try await rig.published())
        let user = try await rig.users(1)[0]
        #expect(try read(try await join(rig, first, user), as: Custom.self).user_has_entered)
        let refused = try await join(rig, second, user)
        let poor = try JSONDecoder().decode(
            SeedClient.InsufficientBalanceError.self,
            from: refused.bytes
        )
        #expect(poor.error_code == "INSUFFICIENT_WALLET_BALANCE" && !poor.reason.isEmpty)
        #expect(poor.required_cents == 500 && poor.available_cents == 100)
        let again = try await join(rig, first, user)
        #expect(again.status == 403 && again.string("error_code") == "ALREADY_JOINED")
        try await rig.post(first, "cancel", #"{"reason":"Rain."}"#)
        let over = try await custom(rig, first, user)
        #expect(over.status == .CANCELLED && over.leaderboard_state == .error)
        let newest = try #require(try await history(rig.wire, user).transactions.first)
        #expect(newest.type == "refund" && newest.contest_instance_id == first)
        #expect(newest.amount_cents == 500)
        #expect(try await balance(rig.wire, user).balance_cents == 600)
    }

    @Test("The prizes of a contest have a row for each rank, and for each entry that was paid")
    func prizes() async throws {
        let rig = try await ContestRig(.sqlite, more: ["--public-url", Self.origin])
        let id = try await rig.published(ContestRig.body(tiers: Self.tiers))
        for user in try await rig.users(3) { _ = try await rig.join(id, by: user) }
        let planned = try read(try await rig.show(id), as: SeedClient.Detail.self)
        #expect(planned.prizes == ["1 62.5%", "2 12.5%", "3 12.5%", "4 12.5%"])
        try await rig.complete(id, [1: 7, 2: 9, 3: 7])
        try await rig.post(id, "settle")
        let paid = try read(try await rig.show(id), as: SeedClient.Detail.self)
        #expect(paid.state == .PAID && paid.prizes == ["1 $10.72", "2 $2.14", "2 $2.14"])

        let wide = """
            [{"rank_min":1,"rank_max":1,"share_bps":5000},\
            {"rank_min":2,"rank_max":121,"share_bps":5000}]
            """
        let long = try await rig.published(ContestRig.body(tiers: wide))
        let rows = try read(try await rig.show(long), as: SeedClient.Detail.self).prizes
        #expect(rows.count == 100 && rows[98] == "99 0.4166%" && rows[99] == "100 9.1666%")
        let free = try await rig.published(ContestRig.body(fee: 0))
        _ = try await rig.join(free, by: try await rig.users(1)[0], fee: 0)
        _ = try await rig.settled(free, [1: 7])
        let unpaid = try read(try await rig.show(free), as: SeedClient.Detail.self)
        #expect(unpaid.prizes == ["1 $0.00"])

        let list = try read(try await rig.list(), as: SeedClient.List.self)
        #expect(list.contests.count == 3)
        for card in list.contests {
            #expect(card.presentation.hero_image_url.hasPrefix("\(Self.origin)/contest-assets/"))
            #expect(date(card.timing.starts_at) != nil && date(card.timing.locks_at) != nil)
        }
        try await rig.validateDocuments()
        try await rig.verify()
    }

    /// Returns the texts in a value that begin like a date and a time.
    private func times(in value: JSON) -> [String] {
        switch value {
        case .string(let text): text.prefixMatch(of: /\d{4}-\d\d-\d\dT/) == nil ? [] : [text]
        case .array(let elements): elements.flatMap(times)
        case .object(let members): members.values.flatMap(times)
        case .null, .boolean, .integer, .number: []
        }
    }

    @Test("Every time in a reply under /api is read by a formatter that reads only whole seconds")
    func wholeSeconds() async throws {
        let rig = try await ContestRig(.sqlite)
        let wire = rig.wire
        let user = try await login(wire, "entrant1")
        _ = try await deposit(wire, user, #""amount_cents":5000"#)
        let key = ContestRig.key()
        let sum = #"{"amount_cents":1000}"#
        _ = try await wire.post("/api/wallet/withdrawals", sum, token: user.token, key: key)
        let sid = try await wire.lockedSession(user.token, rig.organizer, cents: 700)
        _ = try await wire.send(sid, by: rig.organizer, key: ContestRig.key())
        let locks = ContestRig.body(more: #","ends_at":"2026-12-24T18:00:00.250Z""#)
        let id = try await rig.published(locks.replacing("2026-12-24", with: Self.inAWeek))
        _ = try await join(rig, id, user.token)
        _ = try await rig.settled(id, [1: 7])
        for (path, least) in [
            ("/api/wallet/balance", 1), ("/api/wallet/transactions", 5),
            ("/api/payments/intents", 3), ("/api/wallet/withdrawals", 1),
            ("/api/payments/earnings?period=today&by=hour", 47),
            ("/api/payments/earnings/history", 1), ("/api/contests", 3), ("/api/contests/\(id)", 5),
            ("/api/contests/\(id)/leaderboard", 1), ("/api/contests/\(id)/settlement", 1),
            ("/api/custom-contests/\(id)", 5),
        ] {
            let reply = try await wire.get(path, token: user.token)
            let times = times(in: try read(reply, as: JSON.self))
            #expect(times.count >= least, "\(path): \(reply.text)")
            #expect(times.allSatisfy { date($0) != nil }, "\(path): \(times)")
        }
    }

    @Test("A time with a fraction is read, and is written with whole seconds, rounded down")
    func fractions() throws {
        for text in ["2026-11-23T09:22:51Z", "2026-11-23T09:22:51.999Z"] {
            let time = try JSONDecoder().decode(WireTime.self, from: Data(#""\#(text)""#.utf8))
            #expect(time.description == "2026-11-23T09:22:51Z")
            #expect(time == WireTime(try #require(Timestamp(iso8601: text))))
        }
        #expect(WireTime(Timestamp(milliseconds: -1)).description == "1969-12-31T23:59:59Z")
        #expect(WireTime("2026-11-23") == nil && WireTime("") == nil)
    }

    /// The date in a week, in UTC.
    private static var inAWeek: String {
        String(ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 604_800)).prefix(10))
    }
}
