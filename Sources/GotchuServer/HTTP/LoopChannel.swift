internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTPTypesHTTP1

/// HTTP/1.1 connections whose requests are handled on the thread that reads and writes them.
///
/// Left to themselves, tasks run on the cooperative pool, and each request would cross from the
/// connection's event loop to a thread of the pool and back. No handler here blocks: what waits for
/// the disk does so on the ledger's own threads.
struct LoopChannel: ServerChildChannel {
    /// A connection keeps what it reads into for its next request. Most fit into this, and so many
    /// streams may be open that twice as much would be felt; for a long body it grows.
    private static let reading = AdaptiveRecvByteBufferAllocator(
        minimum: 1_024,
        initial: 1_024,
        maximum: 65_536
    )

    private let base: HTTP1Channel
    private let metrics: RequestMetrics
    private let writeLimit: TimeAmount

    /// - Parameter writeLimit: The time for which a client may take nothing of what waits for it.
    init(
        _ base: HTTP1Channel,
        metrics: RequestMetrics,
        writeLimit: TimeAmount = WriteDeadline.usualLimit
    ) {
        self.base = base
        self.metrics = metrics
        self.writeLimit = writeLimit
    }

    func setup(
        channel: any Channel,
        logger: Logger
    ) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.setOption(.recvAllocator, value: Self.reading).flatMapThrowing {
            try channel.pipeline.syncOperations.addHandler(WriteDeadline(limit: writeLimit))
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // Behind the codec nothing tells any more which version it is, and how many hosts.
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            let rules = ProtocolRules(metrics, logger: logger)
            try pipeline.addHandler(rules, position: .before(codec))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        let executor = LoopExecutor(value.channel.eventLoop)
        await withTaskExecutorPreference(executor) {
            await base.handle(value: value, logger: logger)
        }
    }
}
