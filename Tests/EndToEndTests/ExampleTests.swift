import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// The example tills in docs/examples, started as an integrator starts them.
@Suite("The examples of a till")
struct ExampleTests {
    /// A wrapper that unblocks all signals and then runs a command. The test process blocks some
    /// signals, and its children would inherit that.
    private static let unblocked = [
        "python3", "-c",
        """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(sys.argv[1], sys.argv[1:])
        """,
    ]

    /// Starts a till and waits until it has printed its request.
    private func start(
        _ command: [String],
        on kiosk: Device
    ) async throws -> (till: Program, request: RequestView) {
        let till = try Program(
            "/usr/bin/env",
            Self.unblocked + [command[0], Python.file(command[1]), "700", "Tea"],
            environment: ["GOTCHU_SOCKET": kiosk.socket]
        )
        let eid = try await eventually("the till waits for a payment; it said: \(till.text)") {
            till.text.firstMatch(of: /([0-9a-f]{10}): waiting for 700 cents/).map { $0.1 }
        }
        let requests = try await kiosk.get("/v1/requests", as: RequestsReply.self).requests
        let request = try #require(requests.first { $0.eid.description == eid })
        #expect(request.amountCents == 700 && request.memo == "Tea")
        return (till, request)
    }

    @Test(
        "An example till is paid despite a restart of gotchud, and cancels its request at SIGINT",
        arguments: [["python3", "docs/examples/till.py"], ["node", "docs/examples/till.mjs"]]
    )
    func till(command: [String]) async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let (paid, request) = try await start(command, on: kiosk)
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start()
        let wish = NewPayment(sid: request.id, confirmAmountCents: 700)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        #expect(try await paid.exitCode() == 0, "\(paid.text)")
        #expect(paid.text.hasSuffix("\npaid\n"))

        let (cancelled, other) = try await start(command, on: kiosk)
        cancelled.signal(SIGINT)
        #expect(try await cancelled.exitCode() == 1, "\(cancelled.text)")
        #expect(cancelled.text.hasSuffix("\ncancelled\n"))
        let end = try await kiosk.get("/v1/requests/\(other.id)", as: RequestView.self)
        #expect(end.state == .cancelled)
    }

    @Test(
        "An example till whose request is refused prints the reason and exits with 1",
        arguments: [["python3", "docs/examples/till.py"], ["node", "docs/examples/till.mjs"]]
    )
    func refused(command: [String]) async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let till = try Program(
            "/usr/bin/env",
            [command[0], Python.file(command[1]), "700"],
            environment: ["GOTCHU_SOCKET": kiosk.socket]
        )
        #expect(try await till.exitCode() == 1)
        #expect(till.text.contains("Refused") && till.text.contains("NOT_LOGGED_IN"))
    }
}
