internal import NIOCore

/// Closes a connection whose client does not read. Otherwise such a client would keep the
/// connection and the waiting data for ever.
///
/// The handler is next to the socket, so it counts everything that is sent, replies and event
/// streams. Usually the kernel accepts everything at once, and no timer is needed.
final class WriteDeadline: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The longest time for which a client may read nothing while data waits to be sent.
    static let defaultLimit: TimeAmount = .seconds(30)

    private let limit: TimeAmount
    /// The number of bytes written to this handler.
    private var written = 0
    /// The number of bytes that the kernel had accepted at the last check.
    private var taken = 0
    private var deadline: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard deadline == nil, let left = waiting(context), left > 0 else { return }
        taken = written - left
        start(context)
    }

    private func start(_ context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            self.deadline = nil
            guard let left = self.waiting(context), left > 0 else { return }
            guard self.written - left > self.taken else { return context.close(promise: nil) }
            self.taken = self.written - left
            self.start(context)
        }
    }

    /// Returns the number of bytes that the kernel has not accepted yet; `nil` if the connection is
    /// closed.
    private func waiting(_ context: ChannelHandlerContext) -> Int? {
        try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
    }
}
