internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOHTTPTypes

/// Takes payments out of what comes on a connection, and answers them.
///
/// A responder reads parts from a stream and writes others, each through a task of its connection:
/// that is more work than all that is done for a payment. What comes whole, while nothing else of
/// this connection waits for its answer, and is a payment that the desk takes, is answered from
/// here; all else goes on to the responder, untouched and in its order.
final class PaymentHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum State {
        case idle
        /// The beginning of a request that may be a payment.
        case collecting(HTTPRequest, ByteBuffer?)
        /// A payment is decided.
        case paying
        case over
    }

    private let desk: PaymentDesk
    private let logger: Logger
    private var state = State.idle
    /// Requests of the responder's whose reply has not ended.
    private var unanswered = 0
    /// What has come meanwhile, while a payment is decided.
    private var waiting: [HTTPRequestPart] = []
    private var isReadDue = false
    /// Whether the client has meanwhile said all that it has to say.
    private var isInputClosed = false

    init(_ desk: PaymentDesk, logger: Logger) {
        self.desk = desk
        self.logger = logger
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        state = .over
        waiting = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(unwrapInboundIn(data), context)
    }

    /// What is not whole by now may take its time.
    func channelReadComplete(context: ChannelHandlerContext) {
        handOnCollected(context)
        context.fireChannelReadComplete()
    }

    /// Whoever sends more while he waits for a payment waits with it.
    func read(context: ChannelHandlerContext) {
        if waiting.isEmpty { context.read() } else { isReadDue = true }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        handOnCollected(context)
        context.fireErrorCaught(error)
    }

    /// The responder closes its side when it has heard that nothing more comes: not before the
    /// payment is answered.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .paying = state, case .some(.inputClosed) = event as? ChannelEvent {
            isInputClosed = true
            return
        }
        handOnCollected(context)
        context.fireUserInboundEventTriggered(event)
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (state, part) {
        case (.paying, _):
            waiting.append(part)
        case (.idle, .head(let head)) where unanswered == 0 && desk.expects(head):
            state = .collecting(head, nil)
        case (.collecting(let head, nil), .body(let body)):
            state = .collecting(head, body)
        case (.collecting(let head, let body), .end(nil)):
            guard let order = desk.order(head, body ?? ByteBuffer()) else { fallthrough }
            place(order, context)
        case (.collecting, _), (.idle, _), (.over, _):
            handOnCollected(context)
            handOn(part, context)
        }
    }

    private func handOnCollected(_ context: ChannelHandlerContext) {
        guard case .collecting(let head, let body) = state else { return }
        state = .idle
        handOn(.head(head), context)
        if let body { handOn(.body(body), context) }
    }

    private func handOn(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { unanswered += 1 }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func place(_ order: PaymentDesk.Order, _ context: ChannelHandlerContext) {
        state = .paying
        let loop = context.eventLoop
        let here = NIOLoopBound((handler: self, context: context), eventLoop: loop)
        desk.place(order) { outcome in
            loop.execute { here.value.handler.answer(order, outcome, here.value.context) }
        }
    }

    private func answer(
        _ order: PaymentDesk.Order,
        _ outcome: PaymentDesk.Outcome,
        _ context: ChannelHandlerContext
    ) {
        guard case .paying = state else { return }
        guard let reply = try? desk.reply(to: order, outcome, logger) else {
            return context.close(promise: nil)
        }
        state = .idle
        let head = HTTPResponse(status: reply.status, headerFields: reply.headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(reply.body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        goOn(context)
    }

    /// With what has come meanwhile.
    private func goOn(_ context: ChannelHandlerContext) {
        let parts = waiting
        waiting = []
        for part in parts { take(part, context) }
        if !parts.isEmpty { channelReadComplete(context: context) }
        guard waiting.isEmpty else { return }
        if isReadDue {
            isReadDue = false
            context.read()
        }
        if case .idle = state, isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}
