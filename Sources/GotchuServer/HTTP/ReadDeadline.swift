internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose client takes too long to say what it wants, a byte now and then to
/// keep it open included; and one too many of the same address.
///
/// The head of a later request on the same connection is bounded by the idle time limit, which only
/// whole heads and answers put off.
final class ReadDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// How long the head of a first request may take from the connection's beginning.
    static let headLimit: TimeAmount = .seconds(10)
    /// How long a body may take from the end of its head.
    static let bodyLimit: TimeAmount = .seconds(20)

    private let connections: ConnectionCounter
    private var address: ClientAddress?
    private var deadline: Scheduled<Void>?
    /// Whether a body has begun that is not here yet.
    private var isBodyDue = false

    init(_ connections: ConnectionCounter) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        if let address { connections.closed(address) }
        address = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            stop()
            isBodyDue = true
        case .body: break
        case .end:
            stop()
            isBodyDue = false
        }
        context.fireChannelRead(data)
    }

    /// Most requests come in one piece, and need no deadline.
    func channelReadComplete(context: ChannelHandlerContext) {
        if isBodyDue, deadline == nil { start(Self.bodyLimit, context) }
        context.fireChannelReadComplete()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard address == nil else { return }
        let address = ClientAddress(context.channel.remoteAddress)
        guard connections.opened(address) else {
            context.close(promise: nil)
            return
        }
        self.address = address
        start(Self.headLimit, context)
    }

    private func start(_ limit: TimeAmount, _ context: ChannelHandlerContext) {
        stop()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            context.close(promise: nil)
        }
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }
}
