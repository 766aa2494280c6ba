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
    package static func outbound(
        connect: TimeAmount,
        read: TimeAmount? = nil
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
                try pipeline.addHandler(ReplyGuard(), position: .after(decoder))
            }
        }
        return configuration
    }
}

/// A reply that does not come to an answer: its status is none, or it is one of too many that only
/// announce another.
struct UnreadableReply: Error, Equatable {
    /// The number in its status line.
    package let status: Int
}

/// Keeps what never comes to an answer from the library behind it.
///
/// AsyncHTTPClient takes every status below 200 for an informational reply and waits for the final
/// one, however many there are and whatever reading them costs, while NIO's decoder sends the end of
/// the reply after each status outside 100 … 199: an end without a head, which is a precondition
/// there (`HTTPRequestStateMachine`, 1.37.0).
final class ReplyGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The largest number of informational replies before a final one (RFC 9110, 15.2, has no
    /// limit; servers send one or two).
    static let informationalLimit = 16

    private var informational = 0
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        guard case .head(let head) = unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
        let status = Int(head.status.code)
        informational = status < 200 ? informational + 1 : 0
        guard status < 100 || informational > Self.informationalLimit else {
            return context.fireChannelRead(data)
        }
        isOver = true
        context.fireErrorCaught(UnreadableReply(status: status))
        context.close(promise: nil)
    }
}
