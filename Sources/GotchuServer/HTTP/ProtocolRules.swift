internal import GotchuAPI
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Applies the rules of HTTP/1.1 that nothing behind it applies: a request names one host (RFC
/// 9112, 3.2), waits for leave to send its body if it says so (RFC 9110, 10.1.1), and may be the
/// last of its connection (RFC 9112, 9.3), as each of HTTP/1.0 is.
///
/// A request that breaks them, or is no HTTP, is answered with a problem document once those before
/// it are answered. Then the connection ends: nobody knows where a next request would begin.
final class ProtocolRules: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let close = "close"

    private let metrics: RequestMetrics
    private let logger: Logger
    /// Requests whose answer has not ended.
    private var unanswered = 0
    /// True while the body of the newest request has not ended.
    private var isInBody = false
    /// The version of the last request, once it has come.
    private var lastVersion: HTTPVersion?
    /// True once what comes belongs to no request that was let through.
    private var ignoresInput = false
    /// The answer to a request that is refused, while those before it are unanswered.
    private var problem: Problem?
    /// True if the connection ends with the answer to the newest request.
    private var isBroken = false

    init(_ metrics: RequestMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !ignoresInput else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): return read(head, context)
        case .body: break
        case .end: (isInBody, ignoresInput) = (false, lastVersion != nil)
        }
        context.fireChannelRead(data)
    }

    private func read(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard Self.namesItsHost(head) else {
            ignoresInput = true
            return refuse(.invalid("A request names its host, once."), context)
        }
        (unanswered, isInBody) = (unanswered + 1, true)
        var head = head
        let isOld = head.version == .http1_0
        if isOld || !head.isKeepAlive {
            lastVersion = head.version
            // One spelling of it is understood behind this.
            head.headers.replaceOrAdd(name: "Connection", value: Self.close)
        }
        // A client that gets no leave sends its body after a while. Behind others whose answers are
        // still to come the leave would be taken for one of them.
        if !isOld, unanswered == 1, Self.waitsForLeave(head) {
            let leave = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(leave)), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError where ignoresInput,
            is ByteToMessageDecoderError where ignoresInput:
            return
        case let error as HTTPParserError:
            ignoresInput = true
            if !isInBody {
                refuse(Self.problem(for: error), context)
            } else {
                // Whoever reads the body says so.
                isBroken = true
                context.fireErrorCaught(error)
            }
        default: context.fireErrorCaught(error)
        }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where unanswered == 1 && lastVersion != nil:
            // The version of the last request is also that of its answer: HTTP/1.0 knows no chunks.
            head.headers.replaceOrAdd(name: "Connection", value: Self.close)
            head.version = lastVersion ?? head.version
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            unanswered -= 1
            guard unanswered == 0 else { return }
            if let problem { answer(problem, context) } else if isBroken { close(context) }
        }
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        if unanswered > 0 { self.problem = problem } else { answer(problem, context) }
    }

    private func answer(_ problem: Problem, _ context: ChannelHandlerContext) {
        // Nobody is there any more who could be told.
        guard context.channel.isActive else { return }
        var problem = problem
        let name = Problems.makeRequestID()
        problem.requestID = name
        metrics.answered(nil, problem.status)
        logger.debug(
            "What came was no HTTP.",
            metadata: ["request-id": "\(name)", "detail": "\(problem.detail)"]
        )
        guard let body = try? Reply.bytes(of: problem) else { return close(context) }
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: [
                "Content-Type": Reply.problemType, "Content-Length": "\(body.readableBytes)",
                "Cache-Control": "no-store", "Connection": Self.close, "X-Request-ID": name,
            ]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        close(context)
    }

    /// Only our side: what the client has still on its way would reset the connection, and take
    /// the answer with it. Time limits end what it leaves open.
    private func close(_ context: ChannelHandlerContext) {
        context.flush()
        context.close(mode: .output, promise: nil)
    }

    // MARK: The rules

    private static func problem(for error: HTTPParserError) -> Problem {
        guard error == .headerOverflow else { return .invalid("This is no request of HTTP/1.1.") }
        return .invalid(
            "The head is too large: 100 fields of 16 KiB, and 32 KiB in all, are read at most."
        )
    }

    /// Two hosts are one for whoever stands before us and another for us. HTTP/1.0 has none.
    private static func namesItsHost(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        return hosts.allSatisfy { $0.utf8.allSatisfy(isOfHost) }
            && (hosts.count == 1 || hosts.isEmpty && head.version == .http1_0)
    }

    /// What a host and its port may be written with (RFC 3986, 3.2.2); nothing that would end them.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#"/?#@\"<>"#.utf8.contains(byte)
    }

    private static func waitsForLeave(_ head: HTTPRequestHead) -> Bool {
        head.headers["Expect"].contains { $0.lowercased() == "100-continue" }
    }
}
