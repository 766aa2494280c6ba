import CBluetooth
import Glibc

/// A socket of the kernel's Bluetooth management channel, for listening.
///
/// A listener sends one command in its life, a question that changes nothing; `stopDiscovery` is
/// sent over a socket of its own. While bluetoothd scans, the kernel copies every report to each
/// such socket of a process with CAP_NET_ADMIN. So a listener cannot interfere with bluetoothd,
/// which does not notice scans that other programs start or stop.
package struct ManagementSocket: ~Copyable, Sendable {
    package let descriptor: Int32

    /// Reports that may wait in the kernel, in bytes: about 2,000 of them, two busy seconds.
    private static let receiveBuffer: Int32 = 1 << 20

    /// Adopts an open socket; for tests, which hold the other end.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens the kernel's channel. Without CAP_NET_ADMIN that works too, and no reports arrive.
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
        // Beyond the system's limit, which CAP_NET_ADMIN permits; it works with less too.
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

    /// Asks for the connections of no adapter, which only a privileged socket may: the kernel
    /// checks the permission first, and refuses where it would send no reports either.
    package func ask() throws(ManagementFailure) {
        try send(UInt16(MGMT_OP_GET_CONNECTIONS), to: UInt16(MGMT_INDEX_NONE), [])
    }

    /// Tells the kernel to end the scan that an adapter is in, by whatever program.
    ///
    /// The command must name the kinds of devices that are scanned for: Low Energy alone, or both.
    package func stopDiscovery(adapter: UInt16) throws(ManagementFailure) {
        for kinds: UInt8 in [Self.lowEnergy, Self.lowEnergy | Self.classic] {
            try send(UInt16(MGMT_OP_STOP_DISCOVERY), to: adapter, [kinds])
        }
    }

    /// Kinds of addresses, a bit each (BlueZ, doc/mgmt-api.txt, Start Discovery).
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

    /// The kernel's answer to `ask()`; `nil` if an event is not that.
    package static func isPermitted(by event: ManagementEvent) -> Bool? {
        guard case .answered(let opcode, let status) = event,
            opcode == UInt16(MGMT_OP_GET_CONNECTIONS)
        else { return nil }
        return status != UInt8(MGMT_STATUS_PERMISSION_DENIED)
    }

    /// The outcome of one attempt to read.
    package enum Reading: Equatable, Sendable {
        /// A frame of this many bytes is in the buffer.
        case frame(Int)
        /// A frame was longer than any can be, and is lost.
        case oversized
        /// Nothing is there now.
        case empty
        /// The kernel had no room for a frame.
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
