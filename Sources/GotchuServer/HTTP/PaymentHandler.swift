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

    /// What comes while a payment is decided.
    private enum Arrival {
        case part(HTTPRequestPart)
        /// What came behind the parts before it could not be read.
        case error(any Error)
        /// The client has said all that it has to say.
        case inputClosed
    }

    private let desk: PaymentDesk
    private let logger: Logger
    private var state = State.idle
    /// Requests of the responder's whose reply has not ended.
    private var unanswered = 0
    private var waiting: [Arrival] = []
    private var isReadDue = false

    init(_ desk: PaymentDesk, logger: Logger) {
        self.desk = desk
        self.logger = logger
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        state = .over
        waiting = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(.part(unwrapInboundIn(data)), context)
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
        take(.error(error), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent {
            take(.inputClosed, context)
        } else {
            handOnCollected(context)
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// The responder answers what could not be read, and closes its side when it has heard that
    /// nothing more comes: neither before the payment is answered, and what came before is asked.
    private func take(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        switch (state, arrival) {
        case (.paying, _):
            waiting.append(arrival)
        case (.idle, .part(.head(let head))) where unanswered == 0 && desk.expects(head):
            state = .collecting(head, nil)
        case (.collecting(let head, nil), .part(.body(let body))):
            state = .collecting(head, body)
        case (.collecting(let head, let body), .part(.end(nil))):
            guard let order = desk.order(head, body ?? ByteBuffer()) else { fallthrough }
            place(order, context)
        case (.collecting, _), (.idle, _), (.over, _):
            handOnCollected(context)
            handOn(arrival, context)
        }
    }

    private func handOnCollected(_ context: ChannelHandlerContext) {
        guard case .collecting(let head, let body) = state else { return }
        state = .idle
        handOn(.part(.head(head)), context)
        if let body { handOn(.part(.body(body)), context) }
    }

    private func handOn(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        switch arrival {
        case .part(let part):
            if case .head = part { unanswered += 1 }
            context.fireChannelRead(wrapInboundOut(part))
        case .error(let error):
            context.fireErrorCaught(error)
        case .inputClosed:
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
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
        let arrivals = waiting
        waiting = []
        for arrival in arrivals { take(arrival, context) }
        if !arrivals.isEmpty { channelReadComplete(context: context) }
        guard waiting.isEmpty, isReadDue else { return }
        isReadDue = false
        context.read()
    }
}
