import GotchuCore

/// Deliveries that are one chunk of a body (RFC 9112, section 7.1), as it is written directly.
struct EventChunk: Sendable {
    /// The longest in bytes. A Unix socket takes so much wholly or not at all: Linux cuts only
    /// above 36,544 bytes, and then may have room for the first piece alone.
    static let limit = 32 * 1024
    /// Its length in hex, and two line ends.
    private static let frameLimit = 16

    let deliveries: ArraySlice<Delivery>
    let bytes: [UInt8]

    fileprivate init(_ deliveries: ArraySlice<Delivery>) {
        self.deliveries = deliveries
        let length = deliveries.reduce(0) { $0 + $1.line.count }
        var text = TextBytes(capacity: length + Self.frameLimit)
        text.add(hex: UInt64(length), width: 1)
        text.add("\r\n")
        for delivery in deliveries { text.add(delivery.line) }
        text.add("\r\n")
        bytes = text.bytes
    }

    /// Cuts deliveries into chunks that are no longer than the limit, but for one that is by
    /// itself.
    static func chunks(of deliveries: [Delivery]) -> [EventChunk] {
        var chunks: [EventChunk] = []
        var (start, length) = (0, frameLimit)
        for (index, delivery) in deliveries.enumerated() {
            if index > start, length + delivery.line.count > limit {
                chunks.append(EventChunk(deliveries[start..<index]))
                (start, length) = (index, frameLimit)
            }
            length += delivery.line.count
        }
        if start < deliveries.count { chunks.append(EventChunk(deliveries[start...])) }
        return chunks
    }
}
