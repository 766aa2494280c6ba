/// Splits a stream of bytes into lines. The sizes of the received chunks do not matter.
struct LineBuffer {
    /// The maximum length of an incomplete line in bytes. A longer one is an error.
    let limit: Int

    private var bytes: [UInt8] = []
    /// The index after the bytes that were already returned.
    private var start = 0
    /// The index after the bytes that were searched for a line feed.
    private var searched = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes.append(contentsOf: more)
    }

    /// Returns the next complete line without its line feed; `nil` if there is none. Empty lines
    /// are keep-alives and are skipped.
    mutating func nextLine() throws(LocalClientFailure) -> [UInt8]? {
        while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[start..<end]
            start = end + 1
            searched = start
            if !line.isEmpty { return Array(line) }
        }
        searched = bytes.count
        guard bytes.count - start <= limit else {
            throw .unreadableReply(underlying: "a line of over \(limit) bytes")
        }
        return nil
    }
}
