import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@Suite(
    "Commands that pay, request and refund warn of mix-ups",
    .enabled(if: access("/usr/bin/script", X_OK) == 0)
)
struct ChoiceTests {
    @Test("A till is warned of its second open request, and a payer chooses between the two")
    func twoRequests() async throws {
        let system = try await LiveSystem()
        let first = try await system.request("5", ["--memo", "Tea"])
        let second = ["request", "7", "--memo", "Cake", "--no-wait"]
        let warned = try await GotchuCtl.run(second, socket: system.kiosk)
        #expect(
            warned.err.contains(
                "Another request is on the air here, so that payers must choose between them."
            ),
            "\(warned.err)"
        )
        #expect(warned.err.contains("gotchu-ctl cancel \(first.id)"), "\(warned.err)")

        try await eventually("a scan shows both requests") {
            let near = try await GotchuCtl.run(["scan", "--near", "--once"], socket: system.payer)
            let lines = near.out.split(separator: "\n").filter { $0.contains("ambiguous") }
            return lines.count == 2 && lines.allSatisfy { $0.contains("$") } ? true : nil
        }
        let unasked = ["pay", "--yes", "--max", "9"]
        let refused = try await GotchuCtl.run(unasked, socket: system.payer)
        #expect(refused.code == 1, "\(refused.err)")
        #expect(refused.err.contains("equally near, so none was picked."), "\(refused.err)")

        let pay = "exec \(GotchuCtl.path) pay --socket \(system.payer)"
        let none = try TerminalSession(pay)
        try await none.type("\n", after: "Which one? [1-2, Enter for none] ")
        #expect(try await none.program.exitCode() == 1)
        #expect(none.program.text.contains("Nothing was paid."))
        let session = try TerminalSession(pay)
        let question = "Which one? [1-2, Enter for none] "
        try await eventually("the program lists both requests") {
            session.program.text.contains(question) ? true : nil
        }
        let line = session.program.text.split(whereSeparator: \.isNewline)
            .first { $0.contains("$7.00 to “shop” for “Cake”") }
        let number = try #require(line?.first { $0.isNumber }, "\(session.program.text)")
        try await session.type("\(number)\n", after: question)
        #expect(try await session.answer("y\n") == 0, "\(session.program.text)")
        #expect(session.program.text.contains("Pay $7.00 to “shop” for “Cake”? [y/N] "))
        try await eventually("one request is paid, and the other is open") {
            try await Set(system.requestStates()) == ["paid", "advertising"] ? true : nil
        }
    }

    @Test("Neither of two equally near tills is picked, even if the payment server is slow")
    func slowServer() async throws {
        let system = try await LiveSystem(distance: 0.05, delay: .milliseconds(800))
        let other = try await system.addTill(at: 0.1)
        _ = try await system.request("5")
        _ = try await GotchuCtl.run(["request", "7", "--no-wait"], socket: other)
        for _ in 0..<4 {
            let unasked = ["pay", "--yes", "--max", "9"]
            let refused = try await GotchuCtl.run(unasked, socket: system.payer)
            #expect(refused.code == 1, "\(refused.err)")
            #expect(refused.err.contains("equally near, so none was picked."), "\(refused.err)")
        }
        #expect(try await system.requestStates() == ["advertising"])
        let far = try await LiveSystem(distance: 0.05, delay: .milliseconds(800))
        let distant = try await far.addTill(at: 1)
        _ = try await far.request("5")
        _ = try await GotchuCtl.run(["request", "7", "--no-wait"], socket: distant)
        let paid = try await GotchuCtl.run(["pay", "--yes", "--max", "9"], socket: far.payer)
        #expect(paid.code == 0 && paid.out.contains("$5.00"), "\(paid.err)")
    }

    @Test("A payee's id is shown to new payers and beside an equal name, and --payee requires it")
    func payees() async throws {
        let system = try await LiveSystem()
        func pay(_ more: String...) async throws -> GotchuCtl {
            let eid = try await system.request("2").eid
            let arguments = ["pay", eid, "--yes", "--max", "2"] + more
            return try await GotchuCtl.run(arguments, socket: system.payer)
        }
        let first = try await pay()
        let told = try #require(
            first.err.firstMatch(
                of: /This device has not paid this payee \(([0-9a-f]+)\) before\./
            ),
            "\(first.err)"
        )
        let id = String(told.1)
        let second = try await pay("--payee", id)
        #expect(second.code == 0 && !second.err.contains("before."), "\(second.err)")
        let other = try await pay("--payee", "0123456789abcdef")
        #expect(other.code == 1)
        #expect(
            other.err.contains(
                "This is a request of “shop” (\(id)), not of 0123456789abcdef. Nothing was paid."
            ),
            "\(other.err)"
        )
        let socket = try await system.addTill(at: 0.4)
        _ = try await GotchuCtl.run(["request", "3", "--no-wait"], socket: socket)
        try await eventually("a scan shows the other shop's amount") {
            let near = try await GotchuCtl.run(["scan", "--near", "--once"], socket: system.payer)
            return near.out.contains("$3.00") ? true : nil
        }
        let beside = try await pay()
        #expect(beside.code == 0, "\(beside.err)")
        let warning = "Another payee near has the same name. This one is \(id)."
        #expect(beside.err.contains(warning), "\(beside.err)")
    }

    @Test("The question before a refund names the payment, and the EID finds the request")
    func refund() async throws {
        let system = try await LiveSystem()
        let request = try await system.request("5", ["--memo", "Tea"])
        let pay = ["pay", request.eid, "--yes", "--max", "5"]
        #expect(try await GotchuCtl.run(pay, socket: system.payer).code == 0)
        let wait = ["wait", "--for", "paid:\(request.eid)"]
        #expect(try await GotchuCtl.run(wait, socket: system.kiosk).code == 0)
        let refund = "exec \(GotchuCtl.path) refund \(request.eid) --socket \(system.kiosk)"
        let no = try TerminalSession(refund)
        #expect(try await no.answer("n\n") == 1)
        let question = /Refund \$5\.00, all that is left, of \$5\.00 for “Tea”, [0-9]+:[0-9:]+\?/
        #expect(no.program.text.contains(question), "\(no.program.text)")
        #expect(no.program.text.contains("Nothing was refunded."))
        let part = "exec \(GotchuCtl.path) refund \(request.eid) 2 --socket \(system.kiosk)"
        let some = try TerminalSession(part)
        #expect(try await some.answer("y\n") == 0, "\(some.program.text)")
        let of = "Refund $2.00 of the $5.00 that is left of $5.00 for “Tea”, "
        #expect(some.program.text.contains(of), "\(some.program.text)")
        let yes = try TerminalSession(refund)
        #expect(try await yes.answer("y\n") == 0, "\(yes.program.text)")
        #expect(yes.program.text.contains("Refund $3.00, all that is left, of $5.00 for "))
    }

    @Test("A request is found by its printed EID even after the EID has changed")
    func rotated() async throws {
        let system = try await LiveSystem(distance: 5, eidSeconds: 1)
        let request = try await system.request("5")
        let client = LocalClient(socketPath: system.kiosk)
        try await eventually("the request has its second EID") {
            let second = try await client.requests().first?.eid
            guard second?.description != request.eid else { return nil as Bool? }
            return try await eventually("the request has its third EID") {
                try await client.requests().first?.eid != second ? true : nil
            }
        }
        let cancel = ["cancel", request.eid]
        let cancelled = try await GotchuCtl.run(cancel, socket: system.kiosk)
        #expect(cancelled.code == 0, "\(cancelled.err)")
        let wait = ["wait", "--for", "paid:\(request.eid)"]
        let impossible = try await GotchuCtl.run(wait, socket: system.kiosk)
        #expect(impossible.code == 1, "\(impossible.err)")
        #expect(impossible.err.contains("The request is cancelled."), "\(impossible.err)")
    }
}
