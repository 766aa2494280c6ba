import CLinux
import Glibc
import NIOCore

/// Closes a connection whose user has too many already, before anything of it is read.
///
/// One for each connection, used on its event loop alone.
final class CrowdHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let traffic: LocalTraffic
    /// Whose connection this is, while it counts.
    private var userID: UInt32?

    init(traffic: LocalTraffic) {
        self.traffic = traffic
    }

    func channelActive(context: ChannelHandlerContext) {
        admit(context)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { admit(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard userID == nil, let provider = context.channel as? any SocketOptionProvider else {
            return
        }
        let option = NIOBSDSocket.Option(rawValue: CInt(SO_PEERCRED))
        let asked: EventLoopFuture<clinux_peer> = provider.unsafeGetSocketOption(
            level: .socket,
            name: option
        )
        asked.assumeIsolated().whenSuccess { credentials in
            guard self.userID == nil, context.channel.isActive else { return }
            guard self.traffic.enter(credentials.uid) else { return context.close(promise: nil) }
            self.userID = credentials.uid
        }
    }

    private func leave() {
        if let userID { traffic.leave(userID) }
        userID = nil
    }
}
