import BlueZ
import BlueZRadio
import Radio
import Synchronization

/// What a kernel counts of its controller, which answers each command.
final class KernelCounts: Sendable {
    private let traffic = Mutex(ControllerTraffic(commands: 0, events: 0))

    /// For a radio, instead of the kernel's own.
    var reader: BlueZRadio.TrafficReader {
        { _ in self.traffic.withLock { $0 } }
    }

    func commanded(_ count: UInt32) {
        traffic.withLock { traffic in
            traffic.commands &+= count
            traffic.events &+= count
        }
    }
}
