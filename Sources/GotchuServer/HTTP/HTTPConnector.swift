internal import GotchuAPI
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Sets up a server's connections and passes their requests to the responder.
struct HTTPConnector: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    /// The limits of a request's head. A usual request has a dozen short header fields. The longest
    /// is the token.
    static let heads = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 * 1024
        limits.maxHeaderListSize = 32 * 1024
        limits.maxHeaderFieldCount = 100
        return limits
    }()
    /// The maximum number of unparsed bytes. The parser's own limits do not count white space.
    private static let unparsedLimit = 64 * 1024
    /// The timeout from a reply to the end of the next request's head. If a proxy sends a request
    /// just when its connection is closed, its client gets an error, so the proxy must be the first
    /// to close it: nginx and AWS do so after 60 s, Traefik after 90, Caddy after 120. Who holds
    /// connections without use is limited by `ConnectionCounter`.
    private static let idleLimit: TimeAmount = .seconds(130)
    /// The same for a trusted proxy, which has no limit of connections and holds few. Google's keep
    /// them for 600 s.
    private static let proxyIdleLimit: TimeAmount = .seconds(620)
    /// The read buffers. A connection keeps its buffer for the next request. Most requests fit into
    /// the initial size, and the buffer grows for a long body. A larger initial size would need
    /// much memory with many open streams.
    private static let reading = AdaptiveRecvByteBufferAllocator(
        minimum: 1_024,
        initial: 1_024,
        maximum: 16_384
    )

    /// Returns the problem of a request that the parser refused.
    static func problem(for error: HTTPParserError) -> Problem {
        guard error == .headerOverflow else { return .invalid("This is not HTTP/1.1.") }
        return .invalid(
            "The head is too large: 100 fields of 16 KiB, and 32 KiB in all, are read at most."
        )
    }

    let responder: @Sendable (Request, any Channel) async throws -> Response
    let connections: ConnectionCounter
    let bodies = BodyMemory()
    /// A Boolean that is true if signed calls of Stripe are accepted. They are larger than others.
    var acceptsStripe = false
    let metrics: RequestMetrics
    let logger: Logger
    /// The longest time for which a client may read nothing while data waits to be sent.
    var writeLimit = WriteDeadline.defaultLimit

    func idleLimit(of address: ClientAddress?) -> TimeAmount {
        address.map(connections.isProxy) == true ? Self.proxyIdleLimit : Self.idleLimit
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.setOption(.recvAllocator, value: Self.reading).flatMap {
            // No client gets more of the event loop than one buffer at a time.
            channel.setOption(.maxMessagesPerRead, value: 1)
        }.flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            let gate = InputGate()
            let decoder = HTTPRequestDecoder(limitConfiguration: Self.heads)
            try pipeline.addHandlers(
                WriteDeadline(limit: writeLimit),
                gate,
                HTTPResponseEncoder(),
                ByteToMessageHandler(decoder, maximumBufferSize: Self.unparsedLimit),
                HTTPConnection(self, gate, on: channel.eventLoop)
            )
            return Value(channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }

    /// Returns the largest body of a request that is read, in bytes.
    func bodyLimit(of head: HTTPRequestHead) -> Int {
        let isStripe =
            acceptsStripe && head.uri == StripeWebhook.path
            && head.headers.contains(name: HTTPField.Name.stripeSignature.rawName)
        return isStripe ? StripeWebhook.bodyLimit : Request.bodyLimit
    }

    /// Returns the reply to a request that reaches no route, and counts and logs it; `nil` if it
    /// cannot be encoded.
    func refusal(_ problem: Problem) -> BegunReply? {
        var problem = problem
        let id = Problems.makeRequestID()
        problem.requestID = id
        metrics.countReply(nil, problem.status)
        logger.debug(
            "A request was refused before its route.",
            metadata: ["request-id": "\(id)", "detail": "\(problem.detail)"]
        )
        var headers: HTTPFields = [.requestID: id]
        if problem.retryable == true { headers[.retryAfter] = "1" }
        guard let reply = try? Reply.problem(problem, headers: headers) else { return nil }
        let head = HTTPResponse(status: reply.status, headerFields: reply.headers)
        return BegunReply(head: head, bytes: reply.body)
    }

    /// Returns the reply to a request, with the part of its body that is available at once. If the
    /// responder throws, the reply is an empty 500.
    func reply(to request: Request, on channel: any Channel) async -> BegunReply {
        do {
            let response = try await responder(request, channel)
            let body = ReplyBody()
            try await response.body.write(body)
            return BegunReply(head: response.head, bytes: body.bytes, stream: body.stream)
        } catch {
            logger.error("A reply failed.", metadata: ["error": "\(error)"])
            return BegunReply(head: HTTPResponse(status: .internalServerError))
        }
    }
}

/// A reply whose body may continue as a stream.
struct BegunReply: Sendable {
    let head: HTTPResponse
    var bytes = ByteBuffer()
    var stream: (any ReplyStream)?

    /// Returns the head as it is sent, with the headers of all replies.
    ///
    /// - Parameter version: The version of the request, because HTTP/1.0 has no chunked encoding.
    func head(_ version: HTTPVersion, isLast: Bool) -> HTTPResponseHead {
        var head = HTTPResponseHead(self.head)
        head.version = version
        head.headers.add(name: "Date", value: HTTPDate.now)
        head.headers.add(name: "Server", value: Server.name)
        // Browsers and URLSession would look into a body to guess its type.
        head.headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        return head
    }
}

/// The rest of a body, which is produced over time. It uses no task, because ten thousand streams
/// may be open for hours.
protocol ReplyStream: Sendable {
    /// Sets the callback for new pieces. The callback may be called on any thread.
    func listen(_ onPiece: @escaping @Sendable () -> Void)

    /// Returns the next piece; `nil` if there is none yet.
    mutating func next() -> ReplyPiece?
}

enum ReplyPiece {
    case bytes(ByteBuffer)
    case end
    /// No more pieces, although the body is incomplete. The connection is closed, so that the
    /// client does not take it for complete.
    case broken
}

/// Collects a body while it is written.
final class ReplyBody: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()
    /// The source of the rest of the body.
    var stream: (any ReplyStream)?

    func write(_ buffer: ByteBuffer) {
        var buffer = buffer
        if bytes.readableBytes == 0 { bytes = buffer } else { bytes.writeBuffer(&buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
