import Contests
import Hummingbird
import NIOHTTP1
import TestSupport
import Testing

@testable import GotchuCore
@testable import GotchuServer
@testable import Ledger
@testable import Payments

/// Tests that the numbers and lists in the API description equal those of the server.
@Suite("The limits in the API description")
struct DescribedLimitTests {
    @Test("The limits in the schemas of the description equal those of the server")
    func bounds() async throws {
        let contract = try await ReplyValidator.shared.contract
        func expect(_ schema: JSON, _ keyword: String, _ bound: some BinaryInteger) {
            #expect(schema[keyword]?.integer == Int64(bound), "\(keyword) of \(schema)")
        }
        func expect(_ schema: JSON, _ range: ClosedRange<some BinaryInteger>) {
            expect(schema, "minimum", range.lowerBound)
            expect(schema, "maximum", range.upperBound)
        }
        func member(_ schema: String, _ name: String) -> JSON {
            contract.value("components", "schemas", schema, "properties", name)
        }
        func parameter(_ name: String) -> JSON {
            contract.value("components", "parameters", name, "schema")
        }
        expect(contract.value("components", "schemas", "Cents"), Money.allowedRequest)
        let tips = 0...Money.allowedRequest.upperBound
        expect(contract.value("components", "schemas", "Tip"), tips)
        expect(member("NewSession", "ttl_seconds"), Desk.allowedSeconds)
        expect(member("NewSession", "shares"), Split.allowedShares)
        expect(member("NewSession", "share_cents"), "minItems", Split.allowedShares.lowerBound)
        expect(member("NewSession", "share_cents"), "maxItems", Split.allowedShares.upperBound)
        expect(
            member("NewSession", "ttl_seconds"),
            "default",
            Session.allowedSeconds.upperBound
        )
        for name in ["memo", "payee_reference"] {
            expect(member("NewSession", name), "maxLength", SessionRoutes.maximumTextLength)
        }
        expect(member("DevLogin", "email"), "maxLength", DevelopmentLogin.maximumEmailLength)
        expect(member("Refresh", "refresh_token"), "maxLength", DeviceCredential.lengthLimit)
        expect(member("Wallet", "recent"), "maxItems", WalletRoutes.recentEntries)
        expect(member("Transactions", "transactions"), "maxItems", HistoryRoutes.largestLimit)
        expect(member("Transactions", "limit"), 1...HistoryRoutes.largestLimit)
        expect(member("Transactions", "next_cursor"), "maxLength", HistoryCursor.lengthLimit)
        expect(parameter("page"), 1...HistoryRoutes.largestPage)
        expect(parameter("limit"), 1...HistoryRoutes.largestLimit)
        expect(parameter("limit"), "default", HistoryRoutes.defaultLimit)
        expect(parameter("cursor"), "maxLength", HistoryCursor.lengthLimit)
        let keys = IdempotencyKey.allowedLength
        expect(parameter("key"), "minLength", keys.lowerBound)
        expect(parameter("key"), "maxLength", keys.upperBound)
        expect(parameter("idempotencyKey"), "minLength", keys.lowerBound)
        // The maximum includes the two quotes around a key.
        expect(parameter("idempotencyKey"), "maxLength", keys.upperBound + 2)
    }

    @Test("The numbers in the texts of the description equal those of the server")
    func sentences() async throws {
        let contract = try await ReplyValidator.shared.contract
        let info = contract.text("info")
        let body = Request.bodyLimit / 1_024
        #expect(info.contains("at most \(body) KiB"))
        #expect(contract.text("components", "schemas", "Code").contains("more than \(body) KiB"))
        let heads = HTTPConnector.heads
        let (head, field) = (heads.maxHeaderListSize / 1_024, heads.maxHeaderFieldSize / 1_024)
        let fields = heads.maxHeaderFieldCount
        #expect(info.contains("head of more than \(head) KiB or \(fields) fields"))
        #expect(info.contains("a field of more than \(field) KiB"))
        func text(_ method: String, _ path: String) -> String {
            contract.text("paths", path, method)
        }
        let lease = Session.lease.components.seconds
        #expect(text("post", "/sessions/lock").contains("for \(lease) seconds"))
        let watchers = ChangeFeed.defaultWatchersPerLogin
        for path in ["/sessions/{sid}/events", "/api/wallet/events"] {
            let words = text("get", path).split(whereSeparator: \.isWhitespace)
            #expect(words.joined(separator: " ").contains("\(watchers) sessions and wallets"))
        }
        let rotation = text("post", "/sessions/{sid}/eids")
        #expect(rotation.contains("another \(RotateEID.overlap.components.seconds) seconds"))
        #expect(rotation.contains("\(RotateEID.limit) times"))
        let key = contract.text("components", "parameters", "idempotencyKey")
        let keys = IdempotencyKey.allowedLength
        #expect(key.contains("\(keys.lowerBound) to \(keys.upperBound) visible"))
        #expect(key.contains("beyond \(DailyBudget.unknownRecords) a day"))
    }

    @Test("The currencies, states and id lengths in the description equal those of the server")
    func lists() async throws {
        let contract = try await ReplyValidator.shared.contract
        func names(_ schema: String) -> [String] {
            contract.value("components", "schemas", schema, "enum").elements.compactMap(\.string)
        }
        #expect(names("Currency") == Currency.allCases.map(\.rawValue))
        #expect(names("State") == SessionStatus.allCases.map(\.rawValue))
        for length in 0...80 {
            let text = String(repeating: "a", count: length)
            let isSession = contract.violations(of: .string(text), "SessionID").isEmpty
            #expect(isSession == (SessionID(rawValue: text) != nil), "\(length)")
            #expect(contract.violations(of: .string(text), "EID").isEmpty == (EID(text) != nil))
        }
    }
}
