import NIOCore
import NIOPosix

/// Asks the kernel for a connection's peer, and closes the connection if it exceeds the limit of
/// its user or of all users who are not owners.
///
/// One instance for each connection, used only on its event loop.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let entrance: any Entrance
    private let traffic: LocalTraffic
    private let policy: @Sendable () -> AccessPolicy
    /// The peer as the kernel reports it; `nil` before the kernel is asked, and without a socket.
    private var peer: EventLoopFuture<Peer?>?
    /// The class of the connection for the limits; set while the connection is counted.
    private var standing: Standing?

    private typealias Standing = LocalTraffic.Standing

    init(
        entrance: any Entrance,
        traffic: LocalTraffic,
        policy: @escaping @Sendable () -> AccessPolicy
    ) {
        self.entrance = entrance
        self.traffic = traffic
        self.policy = policy
    }

    /// Returns a connection's peer, as the kernel reported it when the connection opened; `nil` if
    /// it reported none.
    static func peer(of channel: any Channel) async throws -> Peer? {
        let eventLoop = channel.eventLoop
        return try await eventLoop.flatSubmit {
            let handler = try? channel.pipeline.syncOperations.handler(type: Self.self)
            return handler?.peer ?? eventLoop.makeSucceededFuture(nil)
        }.get()
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
        guard peer == nil, let asked = entrance.peer(of: context.channel) else { return }
        peer = asked
        let (policy, eventLoop) = (policy(), context.eventLoop)
        let (traffic, lowest) = (traffic, entrance.lowestLevel)
        let standing = asked.flatMap { peer in
            guard let peer else { return eventLoop.makeSucceededFuture(Standing.stranger) }
            if let levels = policy.knownLevels(of: peer) {
                let standing = Standing(peer, levels: levels, lowest: lowest)
                return eventLoop.makeSucceededFuture(standing)
            }
            guard traffic.beginLookUp() else { return eventLoop.makeFailedFuture(TooManyLookUps()) }
            // Not on the event loop: the group database may be slow.
            return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                defer { traffic.endLookUp() }
                return Standing(peer, levels: policy.levels(of: peer), lowest: lowest)
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
