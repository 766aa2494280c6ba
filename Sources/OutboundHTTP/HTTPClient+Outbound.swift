package import AsyncHTTPClient
internal import GotchuCore
package import NIOCore
internal import NIOHTTP1

extension HTTPClient.Configuration {
    /// Makes the configuration for calls to third-party hosts.
    ///
    /// HTTP/1.1 only, and no redirects. No reply can crash the process: an invalid reply closes its
    /// connection with `UnreadableReply`.
    ///
    /// - Parameters:
    ///   - connect: The timeout for name resolution, connection and TLS together.
    ///   - read: The longest pause within a reply; `nil` for no limit.
    ///   - isStreaming: True if replies may be streams. The number of their small pieces is then
    ///     not limited.
    package static func outbound(
        connect: TimeAmount,
        read: TimeAmount? = nil,
        isStreaming: Bool = false
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connect, read: read)
        )
        // HTTP/2 would add a second parser for untrusted bytes, and no call benefits from it.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPResponseDecoder>.self
                )
                let entrance = ReplyEntrance()
                let pieceLimit = isStreaming ? .max : ReplyGuard.defaultPieceLimit
                try pipeline.addHandler(entrance, position: .before(decoder))
                try pipeline.addHandler(
                    ReplyGuard(entrance, pieceLimit: pieceLimit),
                    position: .after(decoder)
                )
            }
        }
        return configuration
    }
}

/// A reply that is refused: its status is invalid, there are too many informational replies before
/// it, its body has too many small pieces, or the decoder gets many bytes without a part of it.
struct UnreadableReply: Error, Equatable {
    /// The number in its status line.
    package let status: Int
}

/// Protects the HTTP library from replies that are invalid or too costly to process.
///
/// AsyncHTTPClient treats every status below 200 as informational and waits for the final reply. It
/// limits neither the number nor the cost of informational replies. If a status is below 100, NIO's
/// decoder also sends the end of the reply. AsyncHTTPClient then gets an end without a final head,
/// which violates a precondition (`HTTPRequestStateMachine`, 1.37.0). Each piece of a body costs
/// the event loop time, even a chunk of one byte. Bytes of header values that are not ASCII are
/// replaced, because they are compared later.
final class ReplyGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The largest number of informational replies before a final one (RFC 9110, 15.2, has no
    /// limit; servers send one or two).
    static let informationalLimit = 16

    /// The maximum number of body pieces of less than 256 bytes each.
    static let defaultPieceLimit = 4_096

    private let entrance: ReplyEntrance
    private let pieceLimit: Int
    private var informational = 0
    /// The current reply's status, and the number of small pieces in its body so far.
    private var status = 200
    private var smallPieces = 0
    private var isOver = false

    init(_ entrance: ReplyEntrance, pieceLimit: Int) {
        (self.entrance, self.pieceLimit) = (entrance, pieceLimit)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        entrance.unparsed = 0
        var part = unwrapInboundIn(data)
        switch part {
        case .head(var head):
            if let fields = maskedFields(head.headers) {
                head.headers = HTTPHeaders(fields)
                part = .head(head)
            }
            status = Int(head.status.code)
            informational = status < 200 ? informational + 1 : 0
            smallPieces = 0
        case .body(let piece) where piece.readableBytes < 256: smallPieces += 1
        case .body, .end: break
        }
        let isRefused =
            status < 100 || informational > Self.informationalLimit || smallPieces > pieceLimit
        guard isRefused else { return context.fireChannelRead(wrapInboundOut(part)) }
        isOver = true
        context.fireErrorCaught(UnreadableReply(status: status))
        context.close(promise: nil)
    }
}

/// The entrance of a reply's decoder, whose own limits do not count white space: it would keep any
/// number of blank bytes in memory.
///
/// The library's decoder is not replaced by one with a maximum size, because a reply may come
/// before the old one is removed: in the same flight as the end of the TLS handshake.
final class ReplyEntrance: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The maximum number of bytes without a part of a reply. One read has fewer.
    private static let limit = 128 * 1024

    /// The number of bytes since the decoder's last part.
    var unparsed = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unparsed += unwrapInboundIn(data).readableBytes
        guard unparsed > Self.limit else { return context.fireChannelRead(data) }
        context.fireErrorCaught(UnreadableReply(status: 0))
        context.close(promise: nil)
    }
}
