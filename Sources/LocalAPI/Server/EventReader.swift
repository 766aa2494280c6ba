import HummingbirdCore
import NIOCore

/// What one reader of the hub gets, in order, but for what the hub writes to it directly.
struct EventReader: AsyncSequence, Sendable {
    private let stream: AsyncStream<Delivery>
    private let output: AsyncStream<Delivery>.Continuation
    private let hub: EventHub
    private let id: Int

    init(
        stream: AsyncStream<Delivery>,
        output: AsyncStream<Delivery>.Continuation,
        hub: EventHub,
        id: Int
    ) {
        self.stream = stream
        self.output = output
        self.hub = hub
        self.id = id
    }

    func makeAsyncIterator() -> AsyncStream<Delivery>.Iterator { stream.makeAsyncIterator() }

    /// Ends it behind what waits already.
    func end() { output.finish() }

    /// A delivery has been written.
    func noteWritten(_ delivery: Delivery) { hub.noteWritten(delivery, by: id) }

    /// Everything that was handed to the connection is with the kernel: unless more waits, the hub
    /// itself may write from here on.
    func handOver(_ socket: EventSocket) { hub.handOver(socket, of: id) }
}

extension EventReader {
    /// Writes what comes to a connection until it is over.
    ///
    /// - Parameters:
    ///   - first: The first line.
    ///   - writer: Writes where the kernel has no room, and as long as it has none.
    @concurrent func write(
        behind first: Delivery,
        to channel: any Channel,
        _ writer: inout any ResponseBodyWriter
    ) async throws {
        let socket = await EventSocket.of(channel)
        try await writer.write(ByteBuffer(bytes: first.line))
        if let socket, await channel.hasWrittenAll { handOver(socket) }
        for await delivery in self {
            try await writer.write(ByteBuffer(bytes: delivery.line))
            noteWritten(delivery)
            if let socket, await channel.hasWrittenAll { handOver(socket) }
        }
    }
}

extension Channel {
    /// Whether the kernel has taken all that was written.
    fileprivate var hasWrittenAll: Bool {
        get async { (try? await getOption(.bufferedWritableBytes).get()) == 0 }
    }
}
