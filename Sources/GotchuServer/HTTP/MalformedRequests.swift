internal import GotchuAPI
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Tells whoever sends what is no HTTP so, with a problem document as for all else, once those
/// before it are answered; then the connection ends, since nobody knows where a next request would
/// begin.
final class MalformedRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let metrics: RequestMetrics
    private let logger: Logger
    /// Requests whose answer has not ended.
    private var unanswered = 0
    /// Whether the end of the newest request's body is still to come.
    private var isInBody = false
    /// Whether it was agreed that nothing comes after the newest request.
    private var isLast = false
    /// What is to be said once those before it are answered.
    private var problem: Problem?
    private var isOver = false

    init(_ metrics: RequestMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What follows a head that could not be read belongs to nothing.
        guard !isOver, problem == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            (unanswered, isInBody) = (unanswered + 1, true)
            noteEnd(head.headerFields)
        case .body: break
        case .end: isInBody = false
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What comes behind what could not be read is not read.
        if isOver || problem != nil, error is ByteToMessageDecoderError { return }
        guard
            error is HTTPParserError || error is HTTP1TypeConversionError || error is HostUnclear
        else { return context.fireErrorCaught(error) }
        guard !isOver, problem == nil else { return }
        // Nobody is there any more who could be told.
        guard context.channel.isActive else { return isOver = true }
        if isInBody {
            // Whoever reads the body says so.
            isOver = true
            return context.fireErrorCaught(error)
        }
        problem = Self.problem(for: error)
        if unanswered == 0 { refuse(context) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part { noteEnd(head.headerFields) }
        context.write(data, promise: promise)
        guard case .end = part else { return }
        unanswered -= 1
        guard unanswered == 0 else { return }
        if problem != nil, !isLast {
            refuse(context)
        } else if isOver || problem != nil {
            close(context)
        }
    }

    private func noteEnd(_ fields: HTTPFields) {
        if fields[.connection]?.lowercased() == "close" { isLast = true }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        guard var problem else { return }
        (self.problem, isOver) = (nil, true)
        let name = Problems.makeRequestID()
        problem.requestID = name
        metrics.answered(nil, problem.status)
        logger.debug(
            "What came was no HTTP.",
            metadata: ["request-id": "\(name)", "detail": "\(problem.detail)"]
        )
        guard let body = try? Reply.bytes(of: problem) else { return close(context) }
        let fields: HTTPFields = [
            .contentType: Reply.problemType,
            .contentLength: "\(body.readableBytes)",
            .cacheControl: "no-store",
            .connection: "close",
            .requestID: name,
        ]
        let head = HTTPResponse(status: .init(code: problem.status), headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        close(context)
    }

    /// Only our side: what the client has still on its way would reset the connection, and take
    /// the answer with it. Time limits end what he leaves open.
    private func close(_ context: ChannelHandlerContext) {
        isOver = true
        context.flush()
        context.close(mode: .output, promise: nil)
    }

    private static func problem(for error: any Error) -> Problem {
        switch error {
        case HTTPParserError.headerOverflow:
            .invalid(
                "The head is too large: 100 fields of 16 KiB, and 32 KiB in all, are read at most."
            )
        case is HostUnclear:
            .invalid("A request names its host, once.")
        default:
            .invalid("This is no request of HTTP/1.1.")
        }
    }
}
