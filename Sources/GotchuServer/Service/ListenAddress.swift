/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`. With port 0 the system chooses a port.
struct ListenAddress: Equatable, Sendable {
    let host: String
    let port: Int

    static let `default` = ListenAddress(host: "127.0.0.1", port: 8080)

    private init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]"), host.contains(":") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ Self.isVisible($0) }) else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Returns true for a visible ASCII character other than a bracket.
    private static func isVisible(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "]")
    }

    /// A Boolean that is true if only this machine can connect to the address.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The address in the format that `init` parses.
    var text: String { text(port: port) }

    /// Returns the URL of the server, given the port that was actually assigned.
    func url(port: Int) -> String { "http://\(text(port: port))" }

    private func text(port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
