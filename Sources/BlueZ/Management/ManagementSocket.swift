import CBluetooth
import Glibc

/// A socket of the kernel's Bluetooth management channel, for listening.
///
/// A listener sends a single command: a query that changes nothing. `stopDiscovery(adapter:)` is
/// sent over a separate socket. While any program scans, the kernel copies every report to each
/// such socket of a process with CAP_NET_ADMIN. A listener must not start or stop scans itself:
/// bluetoothd would not notice.
package struct ManagementSocket: ~Copyable, Sendable {
    package let descriptor: Int32

    /// The kernel's receive buffer, in bytes: room for about 2,000 reports, two busy seconds.
    private static let receiveBuffer: Int32 = 1 << 20

    /// Adopts an open socket; for tests, which hold the other end.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens the kernel's channel. This also works without CAP_NET_ADMIN, but no reports arrive.
    package static func open() throws(ManagementFailure) -> ManagementSocket {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(
            AF_BLUETOOTH,
            type | Int32(SOCK_NONBLOCK.rawValue),
            BTPROTO_HCI
        )
        guard descriptor >= 0 else { throw .noSocket(errno) }
        let socket = ManagementSocket(descriptor: descriptor)
        var size = receiveBuffer
        // CAP_NET_ADMIN permits more than the system's limit. If this fails, a smaller buffer works
        // too.
        _ = setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVBUFFORCE,
            &size,
            socklen_t(MemoryLayout<Int32>.size)
        )
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_CONTROL)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard status == 0 else { throw .noSocket(errno) }
        return socket
    }

    deinit { close(descriptor) }

    /// Queries the connections of no adapter; only a privileged socket may send this query. The
    /// kernel checks the permission first. It refuses exactly if it would send no reports.
    package func queryPermission() throws(ManagementFailure) {
        try send(UInt16(MGMT_OP_GET_CONNECTIONS), to: UInt16(MGMT_INDEX_NONE), [])
    }

    /// Asks the kernel to end an adapter's scan. Any program may have started it.
    ///
    /// The command must name the kinds of devices scanned for: Low Energy alone, or both.
    package func stopDiscovery(adapter: UInt16) throws(ManagementFailure) {
        for kinds: UInt8 in [Self.lowEnergy, Self.lowEnergy | Self.classic] {
            try send(UInt16(MGMT_OP_STOP_DISCOVERY), to: adapter, [kinds])
        }
    }

    /// Address types, one bit each (BlueZ, doc/mgmt-api.txt, Start Discovery).
    private static let classic: UInt8 = 1 << 0
    private static let lowEnergy: UInt8 = 1 << 1 | 1 << 2

    private func send(
        _ opcode: UInt16,
        to adapter: UInt16,
        _ parameters: [UInt8]
    ) throws(ManagementFailure) {
        let command =
            [opcode, adapter, UInt16(parameters.count)].flatMap { number in
                [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            } + parameters
        // Some kernels return 0 for a command that they have sent.
        guard Glibc.send(descriptor, command, command.count, Int32(MSG_NOSIGNAL)) >= 0 else {
            throw .lost(errno)
        }
    }

    /// Returns the kernel's reply to `queryPermission()`: true if reports will arrive. `nil` if the
    /// event is not that reply.
    package static func isPermitted(by event: ManagementEvent) -> Bool? {
        guard case .answered(let opcode, let status) = event,
            opcode == UInt16(MGMT_OP_GET_CONNECTIONS)
        else { return nil }
        return status != UInt8(MGMT_STATUS_PERMISSION_DENIED)
    }

    /// The outcome of a read attempt.
    package enum Reading: Equatable, Sendable {
        /// A frame of this many bytes is in the buffer.
        case frame(Int)
        /// A frame was longer than the buffer, and is lost.
        case oversized
        /// There is nothing to read now.
        case empty
        /// The kernel had no room for a frame and dropped it.
        case overflow
    }

    /// Reads one frame, if there is one, without waiting.
    package func read(into buffer: inout [UInt8]) throws(ManagementFailure) -> Reading {
        while true {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
            let count = recv(descriptor, &buffer, buffer.count, flags)
            let number = errno
            switch count {
            case 1...: return count <= buffer.count ? .frame(count) : .oversized
            case 0: throw .lost(0)
            default:
                switch number {
                case EINTR: continue
                case EAGAIN: return .empty
                case ENOBUFS: return .overflow
                default: throw .lost(number)
                }
            }
        }
    }
}
