import Devices
import GotchuCore
import Ledger
import LedgerStore
import Logging
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of several tills of one merchant. The tills share a wallet; each till has its own limits
/// of calls and streams.
@Suite("Tills of one merchant")
struct ChainTests {
    @Test(
        "A till added with --user receives money into that user's wallet but cannot spend from it",
        arguments: DatabaseKind.all
    )
    func wallet(kind: DatabaseKind) async throws {
        let folder = try TemporaryFolder()
        let database = try kind.makeDatabase(in: folder).address
        let server = try await ServerProcess(folder: folder, database: database)
        let wire = server.wire
        let merchant = try await wire.login("merchant")
        let payer = try await wire.login("payer")
        let id = try await wire.get("/api/wallet/balance", token: merchant).string("user_id")
        let first = try await till("Till 1", of: "Merchant@Shop.example", database, wire)
        let second = try await till("Till 2", of: id, database, wire)
        #expect(first.string("user_id") == id && second.string("user_id") == id)
        #expect(first.string("scope") == "payee")
        let token = first.string("access_token")

        let created = try await wire.create(token, cents: 500)
        let sid = created.string("sid")
        let eid = created.string("eid")
        let shown = try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
        #expect((shown.members["payee_display"] as? [String: String])?["name"] == "merchant")
        var events = try await EventStream(wire, sid, token: token)
        #expect(try await events.next()?.status == "ADVERTISING")
        _ = try await wire.lock(sid, by: payer)
        #expect(try await wire.send(sid, by: payer, key: "0123456789abcdef").status == 200)
        #expect(try await wire.balance(merchant) == 10_500)
        let refund = try await wire.post(
            "/sessions/\(sid)/refund",
            #"{"amount_cents":200}"#,
            token: second.string("access_token"),
            key: "fedcba9876543210"
        )
        #expect(refund.status == 200, "\(refund.text)")
        #expect(try await wire.balance(merchant) == 10_300)

        let owed = try await wire.create(payer, cents: 5).string("sid")
        #expect(try await wire.lock(owed, by: token).code == "FORBIDDEN")
        #expect(try await wire.lock(owed, by: merchant).status == 200)
        let sent = try await wire.send(owed, by: token, key: "0123456789abcdef")
        #expect(sent.code == "FORBIDDEN")

        let list = try await ServerProcess.run("devices", "list", "--database", database).text
        let lines = list.split(separator: "\n")
        #expect(lines.count == 2)
        let shownUser = "\t\(id)\tmerchant@shop.example\tgood\t"
        #expect(lines.allSatisfy { $0.contains(shownUser) }, "\(list)")
    }

    /// Registers a till for a user and exchanges its code for a token.
    private func till(
        _ name: String,
        of user: String,
        _ database: String,
        _ wire: Wire
    ) async throws -> WireReply {
        let made = try await ServerProcess.run(
            "devices",
            "add",
            name,
            "--user",
            user,
            "--database",
            database
        )
        #expect(made.code == 0, "\(made.text)")
        let code = try #require(made.text.split(separator: "\n").last)
        return try await wire.post("/auth/token", #"{"refresh_token":"\#(code)"}"#)
    }

    @Test("Each till has its own call and stream limits; a payee's tills share a session limit")
    func limits() async throws {
        let server = try await ServerProcess(more: [
            "--calls-per-second", "2", "--streams-per-login", "1", "--sessions-per-payee", "100",
        ])
        let wire = server.wire
        let tokens = try await tills(100, of: "merchant", server)
        // The calls and streams of all tills together exceed the limits of one till.
        var streams: [EventStream] = []
        for token in tokens {
            let sid = try await wire.create(token, cents: 5).string("sid")
            #expect(try await wire.get("/sessions/\(sid)", token: token).status == 200)
            streams.append(try await EventStream(wire, sid, token: token))
        }
        #expect(streams.count == 100 && streams.allSatisfy { $0.status == 200 })
        #expect(try await wire.metric("gotchu_server_event_streams") == 100)

        let full = try await wire.create(tokens[0], cents: 5)
        #expect(full.code == "RATE_LIMITED" && full.text.contains("sessions of this payee"))
        let mine = try await wire.get("/api/wallet/balance", token: tokens[1])
        #expect(mine.status == 200)
        try await eventually("the till with too many calls is refused") {
            let reply = try await wire.get("/wallet/me", token: tokens[2])
            #expect(reply.headers["ratelimit-policy"] == #""calls";q=12;w=6"#)
            return reply.code == "RATE_LIMITED" ? true : nil
        }
        for token in tokens[3...] {
            #expect(try await wire.get("/wallet/me", token: token).status == 200)
        }
    }

    @Test("A till at its limit of streams is refused another stream, and a second till is not")
    func streams() async throws {
        let server = try await ServerProcess(more: ["--streams-per-login", "1"])
        let tokens = try await tills(2, of: "merchant", server)
        let sid = try await server.wire.create(tokens[0], cents: 5).string("sid")
        var open = [try await EventStream(server.wire, sid, token: tokens[0])]
        #expect(try await EventStream(server.wire, sid, token: tokens[0]).status == 429)
        open.append(try await EventStream(server.wire, sid, token: tokens[1]))
        #expect(open.allSatisfy { $0.status == 200 })
    }

    /// Adds tills to a user and returns their access tokens; each till has its own credential.
    private func tills(
        _ count: Int,
        of user: String,
        _ server: ServerProcess
    ) async throws -> [String] {
        _ = try await server.wire.login(user)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try OpenedDatabase.existing(.sqlite(path: server.path), logger: logger)
        let owner = try await database.user("\(user)@shop.example").id
        var tokens: [String] = []
        for number in 1...count {
            let id = DeviceID.make()
            let credential = DeviceCredential(for: id)
            try await DeviceRegistry(database).add(
                Device(
                    id: id,
                    user: owner,
                    name: "Till \(number)",
                    scopes: "payee",
                    createdAt: .now,
                    family: credential.familyHash,
                    current: credential.secretHash,
                    expiresAt: Timestamp.now.advanced(by: Device.enrolment)
                )
            )
            let reply = try await server.wire.post(
                "/auth/token",
                #"{"refresh_token":"\#(credential.text)"}"#
            )
            tokens.append(reply.string("access_token"))
        }
        return tokens
    }
}
