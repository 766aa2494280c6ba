import NIOCore
import NIOPosix

/// Closes a connection that is one too many, of its user or of all users but the owners.
///
/// One for each connection, used on its event loop alone.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let traffic: LocalTraffic
    private let policy: @Sendable () -> AccessPolicy
    private var isAsked = false
    /// The standing of the connection's user, while the connection counts.
    private var standing: LocalTraffic.Standing?

    init(traffic: LocalTraffic, policy: @escaping @Sendable () -> AccessPolicy) {
        self.traffic = traffic
        self.policy = policy
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
        guard !isAsked, let asked = Peer.asked(of: context.channel) else { return }
        isAsked = true
        let (policy, eventLoop) = (policy(), context.eventLoop)
        let traffic = traffic
        let standing = asked.flatMap { peer in
            if let levels = policy.knownLevels(of: peer) {
                return eventLoop.makeSucceededFuture(LocalTraffic.Standing(peer, levels: levels))
            }
            guard traffic.beginLookUp() else { return eventLoop.makeFailedFuture(TooManyLookUps()) }
            // The group database may be slow: not on the event loop.
            return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                defer { traffic.endLookUp() }
                return LocalTraffic.Standing(peer, levels: policy.levels(of: peer))
            }
        }
        standing.assumeIsolated().whenComplete { result in
            guard context.channel.isActive else { return }
            guard case .success(let standing) = result, self.traffic.enter(standing) else {
                return context.close(promise: nil)
            }
            self.standing = standing
        }
    }

    private struct TooManyLookUps: Error {}

    private func leave() {
        if let standing { traffic.leave(standing) }
        standing = nil
    }
}
