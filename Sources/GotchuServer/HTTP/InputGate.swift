internal import NIOCore

/// The entrance of a connection's parser. After the last request it discards what the client still
/// sends: a body in chunks of a byte would cost the event loop time as long as it comes.
final class InputGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var isOpen = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOpen { context.fireChannelRead(data) }
    }
}
