import Glibc
import NIOCore

/// The user at the other end of a TCP connection within this machine, as the kernel reports it.
///
/// Each end has a line in `/proc/net/tcp` (proc_net_tcp(5)), with the user who created the socket.
struct TCPPeer {
    /// The two addresses in the client's line: `0100007F:A1B2 0100007F:1D29`.
    private let ends: String

    /// - Returns: `nil` if an address is not IPv4.
    init?(client: SocketAddress, server: SocketAddress) {
        guard let client = client.inTable, let server = server.inTable else { return nil }
        ends = "\(client) \(server)"
    }

    /// Looks up the client's user; `nil` if the kernel reports none. Blocks briefly.
    func userID() -> UInt32? {
        // If a socket closes while the table is read, an adjacent line can be missing. Retry once.
        Self.read().flatMap(userID) ?? Self.read().flatMap(userID)
    }

    /// The maximum size of the table in bytes. This is enough for some 100,000 connections.
    private static let tableLimit = 16 << 20

    /// Reads the table. The kernel returns it in pieces that may be shorter than requested. Only an
    /// empty piece is the end.
    private static func read() -> String? {
        let descriptor = open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var table: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while table.count < tableLimit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return String(decoding: table, as: UTF8.self) }
            if count < 0, errno != EINTR { return nil }
            table += piece.prefix(max(0, count))
        }
        return nil
    }

    /// Returns the client's user from a table; `nil` if it has no valid line of the client.
    ///
    /// The kernel reports user 0 for a socket that its program has closed. The user is therefore
    /// valid only if the connection is established and has an inode.
    func userID(in table: String) -> UInt32? {
        guard let ends = table.utf8.firstRange(of: " \(ends) ".utf8) else { return nil }
        let line = table[ends.upperBound...].utf8.prefix { $0 != UInt8(ascii: "\n") }
        // The columns are state, queues, timer, retransmissions, user, timeout and inode.
        let columns = line.split(separator: UInt8(ascii: " ")).map { Substring($0) }
        guard columns.count > 6, columns[0] == "01", let inode = UInt64(columns[6]), inode > 0
        else { return nil }
        return UInt32(columns[4])
    }
}

extension SocketAddress {
    /// The address in the table's format: the bytes in the kernel's memory order, and the port.
    fileprivate var inTable: String? {
        guard case .v4 = self,
            let bytes = ipAddress?.split(separator: ".").compactMap({ UInt8($0) }),
            bytes.count == 4, let port
        else { return nil }
        let host = UInt32(bigEndian: bytes.reduce(0) { $0 << 8 | UInt32($1) })
        return Self.hexadecimal(host) + ":" + Self.hexadecimal(UInt16(truncatingIfNeeded: port))
    }

    private static func hexadecimal(_ number: some FixedWidthInteger) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: type(of: number).bitWidth / 4 - digits.count) + digits
    }
}
