import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("A program is run for each payment and refund")
struct HookTests {
    /// Creates an executable script with these lines, and returns its path.
    private func script(_ lines: String, in folder: TemporaryFolder) throws -> String {
        let file = try folder.write("#!/bin/sh\n\(lines)\n", to: "hook")
        chmod(file, 0o755)
        return file
    }

    private func refund() throws -> Settlement {
        let view = PaymentView(
            id: "r1",
            kind: .refund,
            state: .paid,
            sid: try #require(SessionID(rawValue: "0123456789abcdef")),
            eid: nil,
            amountCents: 500,
            currency: .usd,
            payee: "Shop",
            createdAt: .now,
            updatedAt: .now,
            code: nil,
            detail: String(repeating: "A long story. ", count: 20_000),
            nextStep: nil,
            newBalanceCents: nil,
            transferID: nil
        )
        return try #require(Settlement(view))
    }

    @Test("A hook runs once for each event in order, even if it fails or the daemon dies")
    func once() async throws {
        let system = try await LiveSystem()
        let folder = try TemporaryFolder()
        func pay(_ amount: String) async throws -> String {
            let request = try await system.request(amount)
            let wait = ["wait", "--for", "tap"]
            #expect(try await GotchuCtl.run(wait, socket: system.payer).code == 0)
            let arguments = ["pay", request.eid, "--yes", "--max", "20"]
            #expect(try await GotchuCtl.run(arguments, socket: system.payer).code == 0)
            let paid = ["wait", "--for", "paid:\(request.id)"]
            #expect(try await GotchuCtl.run(paid, socket: system.kiosk).code == 0)
            return request.id
        }
        _ = try await pay("1")
        let ran = "\(folder.path)/ran"
        let hook = try script(
            "{ printf '%s ' \"$GOTCHU_EVENT\"; cat; } >>'\(ran)'; exit 3",
            in: folder
        )
        let watch = try Program("gotchu-ctl", ["watch", "--run", hook, "--socket", system.kiosk])
        try await eventually("the snapshot is shown") { watch.text.contains("---") ? true : nil }
        func runs(_ count: Int) async throws -> [Substring] {
            try await eventually("the hook has run \(count) times; the watch said: \(watch.text)") {
                let text = try? String(contentsOfFile: ran, encoding: .utf8)
                let lines = text?.split(separator: "\n") ?? []
                return lines.count >= count ? lines : nil
            }
        }
        let second = try await pay("2")
        _ = try await runs(1)
        // While the watch is stopped, two requests are paid and the daemon is killed and restarted.
        watch.signal(SIGSTOP)
        let (third, fourth) = (try await pay("3"), try await pay("4"))
        system.signalTill(SIGKILL)
        try await system.restartTill()
        watch.signal(SIGCONT)
        _ = try await runs(3)
        let back = try await GotchuCtl.run(["refund", third, "--yes"], socket: system.kiosk)
        #expect(back.code == 0, "\(back.err)")
        let fifth = try await pay("5")
        let lines = try await runs(5)
        let events = try lines.map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            let event = try JSONDecoder().decode(Event.self, from: Data(words[1].utf8))
            switch event {
            case .requestChanged(let request): return "\(words[0]) \(request.id)"
            case .paymentChanged(let payment): return "\(words[0]) \(payment.sid)"
            default: return "\(event)"
            }
        }
        let expected = ["paid \(second)", "paid \(third)", "paid \(fourth)"]
        #expect(events == expected + ["refunded \(third)", "paid \(fifth)"])
        #expect(watch.text.contains("\(hook) ended with 3."), "\(watch.text)")
        watch.signal(SIGTERM)
        #expect(try await watch.exitCode() == 0)
    }

    @Test("A failed run is reported, and a slow run is ended with its child processes")
    func failures() async throws {
        let folder = try TemporaryFolder()
        let refund = try refund()
        // These programs do not read their input, which is larger than a pipe's buffer.
        #expect(try await Hook(program: "/bin/true").run(refund) == nil)
        #expect(try await Hook(program: "/bin/false").run(refund) == "/bin/false ended with 1.")
        let dead = try script("kill -KILL $$", in: folder)
        #expect(try await Hook(program: dead).run(refund) == "\(dead) was ended by signal 9.")
        let none = try await Hook(program: "/nonexistent/hook").run(refund)
        #expect(none?.hasPrefix("/nonexistent/hook cannot be run: ") == true)
        let slow = try script("sleep 600 & echo $! >'\(folder.path)/child'; wait", in: folder)
        let ended = try await Hook(program: slow, limit: .seconds(2)).run(refund)
        #expect(ended == "\(slow) was ended: it took more than 2 seconds.")
        let child = try String(contentsOfFile: "\(folder.path)/child", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try await eventually("the hook's child has ended") {
            let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
            return state.map { $0.contains(") Z ") } ?? true ? true : nil
        }
    }

    @Test("A watch is refused for a user without access and for a program that cannot be run")
    func refused() async throws {
        let run = try await GotchuCtl.run(["watch", "--run", "/nonexistent/hook"])
        #expect(run.code == 74)
        #expect(run.err.contains("/nonexistent/hook cannot be run: No such file or directory."))
        guard getuid() == 0 else { return }
        let system = try await LiveSystem()
        system.openTill()
        let arguments = ["watch", "--run", "/bin/true", "--socket", system.kiosk]
        let stranger = try GotchuCtl.asNobody(arguments)
        #expect(try await stranger.exitCode() == 77, "\(stranger.text)")
    }
}
