internal import HTTPTypes
internal import Hummingbird
internal import ServiceProcess

/// The proxies whose `X-Forwarded-For` is used: their addresses and networks.
struct TrustedProxies: Equatable, Sendable {
    private struct Network: Equatable, Sendable {
        let address: [UInt8]
        let block: NetworkAddress.Block

        /// Parses an address, or a network such as `10.0.0.0/8`. A network of all addresses is
        /// refused: each client could then choose its own address.
        init?(_ text: Substring) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let host = parts.first, parts.count <= 2,
                let address = ClientAddress(String(host))
            else { return nil }
            let most = address.bytes.count * 8
            // `::ffff:10.0.0.0/104` is the network 10.0.0.0/8.
            let unwrapped = host.contains(":") && most == 32 ? 96 : 0
            guard let length = parts.count == 1 ? most + unwrapped : Int(parts[1]),
                (1...most).contains(length - unwrapped)
            else { return nil }
            self.address = address.bytes
            block = NetworkAddress.Block(prefix: address.bytes, length: length - unwrapped)
        }

        func contains(_ bytes: [UInt8]) -> Bool {
            bytes.count == address.count && block.contains(bytes)
        }
    }

    private let networks: [Network]

    /// No proxies.
    init() {
        networks = []
    }

    /// Parses addresses and networks with commas or spaces between them.
    init?(_ text: String) {
        let texts = text.split { $0 == "," || $0 == " " }
        networks = texts.compactMap { Network($0) }
        guard networks.count == texts.count else { return nil }
    }

    func contains(_ address: ClientAddress) -> Bool {
        networks.contains { $0.contains(address.bytes) }
    }

    /// The client of a request.
    struct Client: Sendable {
        var address: ClientAddress
        /// The text that a trusted proxy wrote instead of an address, shortened: empty if it wrote
        /// nothing; `nil` if everything was understood. The address is then the proxy's.
        var unreadable: String?
    }

    /// Returns the client of a request: the last address that no trusted proxy has.
    ///
    /// Each proxy appends the address that it was called from. Only what a trusted proxy has
    /// written is used, because clients may send anything.
    ///
    /// - Parameter peer: The address that the connection comes from.
    func client(of request: Request, from peer: ClientAddress) -> Client {
        var client = Client(address: peer)
        guard contains(peer) else { return client }
        var hasElement = false
        for field in request.headers[values: .forwardedFor].reversed() {
            for element in field.utf8.split(separator: UInt8(ascii: ",")).reversed() {
                let text = element.trimmed
                guard !text.isEmpty else { continue }
                guard let next = ClientAddress(forwarded: text) else {
                    client.unreadable = String(decoding: text.prefix(64), as: UTF8.self)
                    return client
                }
                hasElement = true
                client.address = next
                if !contains(next) { return client }
            }
        }
        if !hasElement { client.unreadable = "" }
        return client
    }
}

extension TrustedProxies: SettingValue {
    static let rule = """
        This must be the IP address that the proxy connects from, or a network such as 10.0.0.0/8.
        """
}

extension Substring.UTF8View {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: Self {
        let (space, tab) = (UInt8(ascii: " "), UInt8(ascii: "\t"))
        let start = drop { $0 == space || $0 == tab }
        return start.lastIndex { $0 != space && $0 != tab }.map { start[...$0] } ?? start.prefix(0)
    }
}
