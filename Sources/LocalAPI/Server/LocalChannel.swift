internal import GotchuCore
import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// HTTP/1.1 connections that close when the protocol requires it, and whose requests have the host
/// that the protocol says.
struct LocalChannel: ServerChildChannel {
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // Handlers after the codec see neither the HTTP version nor the host in the target.
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(RequestHeadHandler(), position: .before(codec))
            // The channel reads nothing before its handlers are there and the first one is removed.
            let unbounded = try pipeline.handler(
                type: ByteToMessageHandler<HTTPRequestDecoder>.self
            )
            let decoder = HTTPRequestDecoder(limitConfiguration: LocalHTTP.heads)
            try pipeline.addHandler(
                ByteToMessageHandler(decoder, maximumBufferSize: LocalHTTP.unparsedLimit),
                position: .after(unbounded)
            )
            pipeline.removeHandler(unbounded, promise: nil)
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Marks the last request of a connection (RFC 9112, 9.3). Every HTTP/1.0 request is marked. The
/// mark is `Connection: close` in the only spelling that the later handlers know.
///
/// Bytes of target and header values that are not ASCII are replaced, because they are compared
/// later.
///
/// If the target is absolute, its host replaces `Host` (RFC 9112, 3.2.2). Two `Host` fields stay:
/// such a request is refused later (RFC 9112, 3.2).
private final class RequestHeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
        if let target = head.uri.maskedTarget { head.uri = target }
        if let fields = maskedFields(head.headers) { head.headers = HTTPHeaders(fields) }
        if head.version != .http1_1 || !head.isKeepAlive {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        if head.headers["Host"].count < 2, !head.uri.hasPrefix("/"),
            let scheme = head.uri.firstRange(of: "://")
        {
            let host = head.uri[scheme.upperBound...].prefix { !"/?#".contains($0) }
            head.headers.replaceOrAdd(name: "Host", value: String(host))
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
