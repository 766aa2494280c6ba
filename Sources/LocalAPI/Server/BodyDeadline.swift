internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose request body takes too long, even if bytes still arrive.
///
/// Outside of a body, the idle timeout applies. Only complete heads and replies reset it.
final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// The time limit for a body, from the end of its head.
    static let limit: TimeAmount = .seconds(10)

    private var deadline: Scheduled<Void>?
    /// A Boolean that is true between a head and the end of its body.
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

    /// Sets the deadline if a body is incomplete. Most requests arrive completely in one read.
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
