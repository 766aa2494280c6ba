internal import GotchuAPI
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// The connections of a server, and what answers there.
struct HTTPFront: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    /// Requests of ours have a dozen short header fields; the longest is a token.
    static let heads = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 * 1024
        limits.maxHeaderListSize = 32 * 1024
        limits.maxHeaderFieldCount = 100
        return limits
    }()
    /// A connection keeps what it reads into for its next request. Most fit into this, and so many
    /// streams may be open that twice as much would be felt; for a long body it grows.
    private static let reading = AdaptiveRecvByteBufferAllocator(
        minimum: 1_024,
        initial: 1_024,
        maximum: 65_536
    )

    let responder: @Sendable (Request, any Channel) async throws -> Response
    let connections: ConnectionCounter
    let metrics: RequestMetrics
    let logger: Logger
    /// The time for which a client may take nothing of what waits for it.
    var writeLimit = WriteDeadline.usualLimit

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.setOption(.recvAllocator, value: Self.reading).flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(WriteDeadline(limit: writeLimit))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false,
                withErrorHandling: false,
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: Self.heads
            )
            try pipeline.addHandler(HTTPConnection(self, on: channel.eventLoop))
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

    /// The reply to a request, with what of its body is known at once.
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

/// A reply whose body may go on.
struct BegunReply: Sendable {
    let head: HTTPResponse
    var bytes = ByteBuffer()
    var stream: (any ReplyStream)?
}

/// The rest of a body that is written as it comes up. It takes no task: ten thousand of them may
/// wait for hours.
protocol ReplyStream: Sendable {
    /// Has the connection called, on any thread, when there may be more.
    func listen(_ bell: @escaping @Sendable () -> Void)

    /// - Returns: `nil` if there is nothing more yet.
    mutating func next() -> ReplyPiece?
}

enum ReplyPiece {
    case bytes(ByteBuffer)
    /// The body's end.
    case end
}

/// A body in the making.
final class ReplyBody: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()
    /// The source of what follows those bytes.
    var stream: (any ReplyStream)?

    func write(_ buffer: ByteBuffer) {
        var buffer = buffer
        if bytes.readableBytes == 0 { bytes = buffer } else { bytes.writeBuffer(&buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
