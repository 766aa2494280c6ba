import FoundationEssentials
import Glibc

/// A radio's connection to the simulated air: a Unix datagram socket in the air's folder.
///
/// Each process that can write to the folder can send and receive, as over real air. No call
/// blocks.
struct AirSocket: ~Copyable {
    /// The longest datagram that is read; a longer one is truncated, and is not one of ours.
    private static let datagramLimit = 256
    private static let suffix = ".radio"

    private let descriptor: Int32
    private let folder: String
    private let ownName: String

    /// Joins the air, creating its folder if it does not exist.
    init(folder: String, name: String) throws(RadioFailure) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw Self.failure("mkdir", errno)
        }
        let ownName = name + Self.suffix
        let descriptor = try Self.boundDescriptor(path: folder + "/" + ownName)
        self.descriptor = descriptor
        self.folder = folder
        self.ownName = ownName
    }

    deinit {
        unlink(folder + "/" + ownName)
        close(descriptor)
    }

    /// Sends to all other radios on the air. A radio that cannot receive the datagram now misses
    /// it, as with real radios.
    func broadcast(_ datagram: [UInt8]) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return
        }
        for name in names where name.hasSuffix(Self.suffix) && name != ownName {
            let path = folder + "/" + name
            let result = Self.withAddress(path) { address, length in
                sendto(descriptor, datagram, datagram.count, 0, address, length) < 0 ? errno : 0
            }
            // The socket of a radio that ended without removing it.
            if result == ECONNREFUSED { unlink(path) }
        }
    }

    /// Returns the next received datagram; `nil` if there is none.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.datagramLimit)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count >= 0 ? Array(buffer.prefix(count)) : nil
    }

    private static func boundDescriptor(path: String) throws(RadioFailure) -> Int32 {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("socket", errno) }
        unlink(path)
        let code = withAddress(path) { address, length in
            bind(descriptor, address, length) == 0 ? 0 : errno
        }
        guard code == 0 else {
            close(descriptor)
            throw failure("bind", code ?? ENAMETOOLONG)
        }
        return descriptor
    }

    private static func failure(_ call: String, _ code: Int32) -> RadioFailure {
        RadioFailure(.airUnavailable, underlying: "\(call): \(String(cString: strerror(code)))")
    }

    /// - Returns: The result of `body`, or `nil` for a path that is too long for a socket address.
    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
