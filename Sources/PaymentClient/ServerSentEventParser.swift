/// Splits a byte stream into the data of server-sent events (HTML Living Standard, 9.2.6).
///
/// Only `data` is used. Every event of the payment server carries the full state, so ids and event
/// names are not needed.
struct ServerSentEventParser {
    /// The error for a line or an event over the limit. No payment server sends one.
    struct TooLong: Error {}

    private let lineLimit: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var skipsLineFeed = false

    init(lineLimit: Int) {
        self.lineLimit = lineLimit
    }

    /// Parses the next bytes. Returns the data of each event that they complete.
    mutating func add(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [[UInt8]] {
        var events: [[UInt8]] = []
        for byte in bytes {
            let isSecondOfPair = skipsLineFeed && byte == UInt8(ascii: "\n")
            skipsLineFeed = byte == UInt8(ascii: "\r")
            if isSecondOfPair { continue }
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
                guard line.count < lineLimit else { throw TooLong() }
                line.append(byte)
                continue
            }
            if line.isEmpty {
                if !data.isEmpty { events.append(data) }
                data = []
            } else {
                try popLine()
            }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    private mutating func popLine() throws(TooLong) {
        let field = Array("data:".utf8)
        guard line.starts(with: field) else { return }
        var value = line.dropFirst(field.count)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
        guard data.count + value.count <= lineLimit else { throw TooLong() }
        data.append(contentsOf: value)
    }
}
