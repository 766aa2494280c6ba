internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose body takes too long, a byte now and then to keep it open included.
///
/// Silence before a head and between requests is bounded by the idle time limit, which only whole
/// heads and answers put off.
final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// The time that a body may take from the end of its head.
    static let limit: TimeAmount = .seconds(10)

    private var deadline: Scheduled<Void>?
    /// True while a body has begun and has not ended.
    private var isBodyDue = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isBodyDue = true
        case .body: break
        case .end:
            isBodyDue = false
            stop()
        }
        context.fireChannelRead(data)
    }

    /// Most requests come in one piece, and need no deadline.
    func channelReadComplete(context: ChannelHandlerContext) {
        if isBodyDue, deadline == nil {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.limit) {
                context.close(promise: nil)
            }
        }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }
}
