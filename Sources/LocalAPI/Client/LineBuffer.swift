/// Cuts a stream of bytes into lines, whatever the pieces are in which it arrives.
struct LineBuffer {
    /// The longest line in bytes; a longer one is refused rather than kept.
    let limit: Int

    private var bytes: [UInt8] = []
    /// The end of the bytes that were returned.
    private var start = 0
    /// The end of the bytes that were searched and hold no line feed.
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

    /// The next whole line without its line feed; empty lines are keep-alives and are skipped.
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
