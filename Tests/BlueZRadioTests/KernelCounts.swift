import BlueZ
import BlueZRadio
import Radio
import Synchronization
import TestSupport

/// The kernel's counts of a controller that answers each command, except after `lostCommand()`.
final class KernelCounts: Sendable {
    private let traffic = Mutex(ControllerTraffic(commands: 0, events: 0))
    private let looks = Mutex(0)

    /// The function that a radio calls instead of reading the kernel's counts.
    var reader: BlueZRadio.TrafficReader {
        { _ in
            self.looks.withLock { $0 += 1 }
            return self.traffic.withLock { $0 }
        }
    }

    /// Waits until the radio has read the counts twice more.
    func looked() async throws {
        let before = looks.withLock(\.self)
        try await eventually("the counts are read") {
            looks.withLock { $0 > before + 1 ? true : nil }
        }
    }

    /// Adds a command without an answer.
    func lostCommand() { traffic.withLock { $0.commands &+= 1 } }

    func commanded(_ count: UInt32) {
        traffic.withLock { traffic in
            traffic.commands &+= count
            traffic.events &+= count
        }
    }
}
