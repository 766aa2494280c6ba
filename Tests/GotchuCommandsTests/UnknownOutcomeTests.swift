import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("A payment that may be on its way is not reported as refused")
struct UnknownOutcomeTests {
    private static let session = CannedPeer.reply(
        "200 OK",
        body: #"{"sid":"some-id","amount_cents":500,"currency":"usd","payee":"Shop"}"#
    )
    private static let paid = CannedPeer.reply(
        "202 Accepted",
        body: #"{"id":"p","state":"paid","sid":"some-id","amount_cents":500,"currency":"usd","#
            + #""payee":"Shop","created_at":"2026-11-21T09:30:00.000Z","#
            + #""updated_at":"2026-11-21T09:30:00.000Z","detail":"Paid."}"#
    )
    /// An empty answer: the peer closes the connection, so the call's outcome is unknown.
    private static let lost = ""

    private static let pay = ["pay", "0123456789", "--yes", "--max", "50.00"]

    private static func problem(_ status: String, _ code: String) -> String {
        CannedPeer.reply(
            "\(status) Oops",
            body: #"{"type":"about:blank","title":"Oops","status":\#(status),"detail":"It is not."#
                + #"","error":"It is not.","code":"\#(code)"}"#
        )
    }

    @Test(
        "A repeated call leaves the outcome unknown if its answer does not decide the first call",
        arguments: [
            problem("503", "SERVER_UNREACHABLE"), problem("503", "TRY_AGAIN"),
            problem("503", "JOURNAL_UNWRITABLE"), problem("500", "INTERNAL_ERROR"),
            problem("409", "NOT_LOGGED_IN"), problem("403", "NOT_PERMITTED"),
            problem("400", "VALIDATION_ERROR"), problem("422", "IDEMPOTENCY_KEY_REUSED"),
            problem("409", "A_CODE_OF_TOMORROW"),
            CannedPeer.reply("200 OK", api: "2", body: "{}"), "SSH-2.0-OpenSSH_9.2\r\n",
        ]
    )
    func indefinite(reply: String) async throws {
        let peer = try CannedPeer([Self.session, Self.lost, reply])
        let run = try await GotchuCtl.run(Self.pay, socket: peer.socket)
        #expect(run.code == 75, "\(run.err)")
        #expect(
            run.err.contains("it may be paying $5.00 to “Shop”. Do not pay again"),
            "\(run.err)"
        )
        #expect(run.next == "→ gotchu-ctl history")
    }

    @Test(
        "A repeated call that is refused for the amount or the expiry gives a definite outcome",
        arguments: [problem("409", "AMOUNT_CHANGED"), problem("410", "SESSION_EXPIRED")]
    )
    func definite(reply: String) async throws {
        let peer = try CannedPeer([Self.session, Self.lost, reply])
        let run = try await GotchuCtl.run(Self.pay, socket: peer.socket)
        #expect(run.code == 1, "\(run.err)")
        #expect(run.err.contains("It is not."))
    }

    @Test(
        "A payment is repeated while its socket is closed to the user for a moment",
        .enabled(if: getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0)
    )
    func notYetOpen() async throws {
        let isAway = Mutex(false)
        let peer = try CannedPeer([Self.session, Self.lost, Self.paid]) { number, socket in
            guard number == 1 else { return }
            chmod(socket, 0o600)
            isAway.withLock { $0 = true }
        }
        chmod(peer.folder.path, 0o755)
        chmod(peer.socket, 0o666)
        let program = try GotchuCtl.asNobody(Self.pay + ["--socket", peer.socket])
        try await eventually("the daemon is away") { isAway.withLock { $0 } ? true : nil }
        // The test cannot see the repeated attempts to open the closed socket.
        // SAFETY: some attempts happen in this time; more time does no harm.
        try await Task.sleep(for: .milliseconds(600))
        chmod(peer.socket, 0o666)
        #expect(try await program.exitCode() == 0, "\(program.text)")
        #expect(program.text.contains("Paid $5.00"), "\(program.text)")
    }

    @Test(
        "A refund that is answered in another version of the API has an unknown outcome",
        arguments: ["2", nil] as [String?]
    )
    func mismatch(api: String?) async throws {
        let peer = try CannedPeer(CannedPeer.reply("202 Accepted", api: api, body: "{}"))
        let refund = ["refund", "some-id", "5", "--yes"]
        let run = try await GotchuCtl.run(refund, socket: peer.socket)
        #expect(run.code == 75, "\(run.err)")
        #expect(run.err.contains("gotchud has not answered: it may be refunding."))
    }
}
