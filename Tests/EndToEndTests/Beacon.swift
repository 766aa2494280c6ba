import Foundation
import GotchuCore

/// Sends an advertisement of each EID every 0.3 s to one radio on the simulated air.
struct Beacon {
    private let thread: Thread

    /// Advertises `count` random EIDs.
    init(to path: String, count: Int, at distance: Double) {
        self.init(to: path, (0..<count).map { _ in EID.random() }, at: distance)
    }

    init(to path: String, _ eids: [EID], at distance: Double) {
        thread = Thread {
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let place = [distance, 0].flatMap { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (8 * $0)) }
            }
            while !Thread.current.isCancelled {
                for eid in eids {
                    let datagram = place + eid.serviceData
                    withUnsafePointer(to: address) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            _ = sendto(
                                descriptor,
                                datagram,
                                datagram.count,
                                Int32(MSG_DONTWAIT),
                                $0,
                                socklen_t(MemoryLayout<sockaddr_un>.size)
                            )
                        }
                    }
                    Thread.sleep(forTimeInterval: 0.3 / Double(eids.count))
                }
            }
        }
        thread.start()
    }

    func stop() { thread.cancel() }
}
