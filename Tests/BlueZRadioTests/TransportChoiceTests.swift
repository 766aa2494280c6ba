import BlueZ
import GotchuCore
import Radio
import Testing

@testable import BlueZRadio

@Suite("The choice of the transport") struct TransportChoiceTests {
    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(sinceStart: .seconds(seconds))
    }

    @Test("A missing capability is final, and any other failure is retried after growing pauses")
    func pauses() {
        var choice = TransportChoice(policy: .best)
        let never = choice.failed(.noCapability)
        #expect(never == nil)
        var pauses: [Duration] = []
        for _ in 0..<10 { pauses.append(choice.failed(.noSocket(97)) ?? .zero) }
        #expect(pauses.first == .seconds(2) && pauses[1] == .seconds(4))
        #expect(pauses.last == TransportChoice.maximumPause)
        choice.opened()
        #expect(choice.transport == .management && choice.note == nil)
        // A socket that opens but delivers nothing keeps the long pause.
        let unproven = choice.failed(.lost(0))
        #expect(unproven == TransportChoice.maximumPause)
        choice.opened()
        choice.heard()
        let proven = choice.failed(.lost(5))
        #expect(proven == .seconds(2))
    }

    @Test(
        "An unusable socket causes a note, and a problem only for a radio that must use the socket"
    )
    func noteAndProblem() {
        for policy in [TransportPolicy.best, .management] {
            var choice = TransportChoice(policy: policy)
            _ = choice.failed(.noCapability)
            #expect(choice.note == "no CAP_NET_ADMIN: listening over D-Bus")
            #expect(!choice.hadManagement)
            #expect((choice.problem?.code == .noManagement) == (policy == .management))
            choice.opened()
            choice.heard()
            _ = choice.failed(.silent)
            #expect(choice.hadManagement)
        }
        #expect(TransportChoice(policy: .dbus).note == nil)
    }

    @Test("The socket counts as silent if only bluetoothd reports devices for three seconds")
    func silent() {
        var choice = TransportChoice(policy: .best)
        choice.opened()
        #expect(heardOverDBus(&choice, 0, 1, 2.9, 3) == [false, false, false, true])
        choice.opened()
        #expect(heardOverDBus(&choice, 10, 12) == [false, false])
        choice.heard()
        #expect(heardOverDBus(&choice, 13, 14, 16) == [false, false, true])
        _ = choice.failed(.silent)
        #expect(heardOverDBus(&choice, 30, 40, 50) == [false, false, false])
    }

    private func heardOverDBus(_ choice: inout TransportChoice, _ times: Double...) -> [Bool] {
        times.map { choice.heardOverDBus(now: time($0)) }
    }
}
