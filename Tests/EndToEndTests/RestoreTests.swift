import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Payments whose answer was lost, and whose server was then restored from a backup.
@Suite("A server that was restored")
struct RestoreTests {
    /// A backup of a shop's database, from which the server can be restored.
    private struct OldBooks {
        let shop: Shop
        let copy: String

        /// Backs up the database, as an operator does.
        init(of shop: Shop) async throws {
            self.shop = shop
            copy = "\(shop.folder.path)/backup.db"
            let backup = try Program(
                "gotchu-server",
                ["backup", copy, "--database", shop.database]
            )
            #expect(try await backup.exitCode() == 0, "\(backup.text)")
        }

        /// Stops the server, restores the backup and starts a server at the same address.
        func restore() async throws -> Program {
            shop.server.signal(SIGTERM)
            _ = try await shop.server.exitCode()
            let folder = shop.folder.path
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(folder)/books.db\(end)")
            }
            try FileManager.default.copyItem(atPath: copy, toPath: "\(folder)/books.db")
            return try await restart()
        }

        /// Starts a server at the same address.
        func restart() async throws -> Program {
            let server = try Program(
                "gotchu-server",
                [
                    "serve", "--listen", String(shop.url.dropFirst("http://".count)),
                    "--database", shop.database, "--dev", "--dev-opening-balance", "10000",
                ]
            )
            try await eventually("the restored server listens; it said: \(server.text)") {
                server.text.contains("listening on ") ? true : nil
            }
            return server
        }
    }

    @Test("A server whose secret is gone, beside books in use, warns of what that means")
    func lostSecret() async throws {
        let shop = try await Shop()
        _ = try await shop.pair()
        let books = try await OldBooks(of: shop)
        try FileManager.default.removeItem(atPath: "\(shop.folder.path)/books.db.dev-secret")
        let server = try await books.restore()
        let warning = "the secret that signs their tokens was missing"
        #expect(server.text.contains(warning) && server.text.contains("devices renew"))
        // Of new books, or with its secret, a server does not say that.
        #expect(!shop.server.text.contains(warning))
        server.signal(SIGTERM)
        try await server.exitCode()
        #expect(!(try await books.restart()).text.contains(warning))
    }

    /// Makes a payment, kills the payer and removes the payment's end from the payer's journal. The
    /// journal is then the same as after a kill before the last write.
    private func payAndForgetTheEnd(
        _ shop: Shop,
        _ kiosk: Device,
        _ payer: Device
    ) async throws -> PaymentView {
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 1500)
        )
        let wish = NewPayment(eid: request.eid, confirmAmountCents: 1500)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        try payer.signal(SIGKILL)
        _ = try await payer.exitCode()
        let file = "\(shop.folder.path)/payer/journal"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4 && lines[3].contains(JournalText.paid))
        try (lines.dropLast().joined(separator: "\n") + "\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        return payment
    }

    @Test(
        "A payment for a session that the restored server does not know is declined with the reason"
    )
    func sessionIsGone() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let books = try await OldBooks(of: shop)
        let payment = try await payAndForgetTheEnd(shop, kiosk, payer)
        let server = try await books.restore()
        try await payer.start()
        let ended = try await end(of: payment, on: payer)
        #expect(ended.state == .declined && ended.code == "NOT_FOUND")
        #expect(ended.detail.contains("restore from a backup"))
        #expect(try await payer.balance() == 10_000)
        let status = try await payer.get("/v1/status", as: StatusReply.self)
        #expect(!status.health.contains { $0.code == "payment-unresolved" })
        #expect(try await shop.verify().exitCode == 0)
        server.signal(SIGTERM)
        _ = try await server.exitCode()
    }

    @Test(
        "If the restored server does not know the payer, the payment stays open under any new login"
    )
    func payerIsGone() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let books = try await OldBooks(of: shop)
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        let payment = try await payAndForgetTheEnd(shop, kiosk, payer)
        let server = try await books.restore()
        try await payer.start()
        try await eventually("the status has an unresolved payment") {
            let status = try await payer.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == "payment-unresolved" } ? true : nil
        }
        let open = try await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
        #expect(open.state == .unknown && open.code == "UNAUTHORIZED")
        #expect(open.detail.contains("does not accept the login"))
        #expect(open.nextStep == "gotchu-ctl login")
        // The server creates a new user for the same address; the payment is not sent as that user.
        try await payer.logIn()
        try await eventually("the payment waits for its own user") {
            let view = try await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
            return view.detail.contains("under another login") && view.state == .unknown
                ? true : nil
        }
        // A call for the same payment under the new login is refused too.
        let same = NewPayment(sid: payment.sid, confirmAmountCents: 1500)
        await #expect {
            let key = "0123456789abcdef"
            let _: PaymentView = try await payer.call("POST", "/v1/payments", same, key: key)
        } throws: { ($0 as? Problem)?.errorCode == .paymentInProgress }
        #expect(try await payer.balance() == 10_000)
        server.signal(SIGTERM)
        _ = try await server.exitCode()
    }
}
