package import AsyncHTTPClient
package import NIOCore
internal import NIOHTTP1

extension HTTPClient.Configuration {
    /// Makes the settings for calls to hosts that others run.
    ///
    /// HTTP/1.1 alone, no redirects, and no reply ends the process: an impossible reply ends its
    /// connection with `UnreadableReply`.
    ///
    /// - Parameters:
    ///   - connect: The limit for name, connection and TLS together.
    ///   - read: The longest silence within a reply; `nil` for none.
    ///   - isStreaming: True if replies may be streams, which go on in small pieces for as long as
    ///     they like.
    package static func outbound(
        connect: TimeAmount,
        read: TimeAmount? = nil,
        isStreaming: Bool = false
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connect, read: read)
        )
        // One parser for foreign bytes is enough, and no call gains by another.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPResponseDecoder>.self
                )
                try pipeline.addHandler(
                    ReplyGuard(pieceLimit: isStreaming ? .max : ReplyGuard.usualPieceLimit),
                    position: .after(decoder)
                )
            }
        }
        return configuration
    }
}

/// A reply that costs more than an answer: its status is none, it is one of too many that only
/// announce another, or it comes in too many pieces.
struct UnreadableReply: Error, Equatable {
    /// The number in its status line.
    package let status: Int
}

/// Keeps what costs more than an answer from the library behind it.
///
/// AsyncHTTPClient takes every status below 200 for an informational reply and waits for the final
/// one, however many there are and whatever reading them costs, while NIO's decoder sends the end
/// of the reply after each status outside 100 … 199: an end without a head, which is a precondition
/// there (`HTTPRequestStateMachine`, 1.37.0). Each piece of a body takes the loop's time, however
/// small it is, and so does a chunk of one byte.
final class ReplyGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The largest number of informational replies before a final one (RFC 9110, 15.2, has no
    /// limit; servers send one or two).
    static let informationalLimit = 16

    /// The largest number of a body's pieces with less than 256 bytes each.
    static let usualPieceLimit = 4_096

    private let pieceLimit: Int
    private var informational = 0
    /// The present reply's status, and the small pieces in which its body has come so far.
    private var status = 200
    private var smallPieces = 0
    private var isOver = false

    init(pieceLimit: Int) {
        self.pieceLimit = pieceLimit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = Int(head.status.code)
            informational = status < 200 ? informational + 1 : 0
            smallPieces = 0
        case .body(let piece) where piece.readableBytes < 256: smallPieces += 1
        case .body, .end: break
        }
        let isRefused =
            status < 100 || informational > Self.informationalLimit || smallPieces > pieceLimit
        guard isRefused else { return context.fireChannelRead(data) }
        isOver = true
        context.fireErrorCaught(UnreadableReply(status: status))
        context.close(promise: nil)
    }
}
