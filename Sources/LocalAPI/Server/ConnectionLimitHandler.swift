import NIOCore
import NIOPosix

/// Asks the kernel for a connection's peer. Closes the connection if it exceeds the limit of its
/// user, or the common limit of all users who are not owners.
///
/// One instance for each connection, used only on its event loop.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let entrance: any Entrance
    private let traffic: LocalTraffic
    private let policy: @Sendable () -> AccessPolicy
    /// The peer as the kernel reports it; `nil` until the kernel is asked, or if there is no
    /// socket.
    private var peer: EventLoopFuture<Peer?>?
    /// The class of the connection for the limits; `nil` if the connection is not counted.
    private var connectionClass: ConnectionClass?

    private typealias ConnectionClass = LocalTraffic.ConnectionClass

    init(
        entrance: any Entrance,
        traffic: LocalTraffic,
        policy: @escaping @Sendable () -> AccessPolicy
    ) {
        self.entrance = entrance
        self.traffic = traffic
        self.policy = policy
    }

    /// Returns the peer that the kernel reported when the connection opened; `nil` if it reported
    /// none.
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
        removeConnection()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        removeConnection()
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard peer == nil, let asked = entrance.peer(of: context.channel) else { return }
        peer = asked
        let (policy, eventLoop) = (policy(), context.eventLoop)
        let (traffic, lowest) = (traffic, entrance.lowestLevel)
        let connectionClass = asked.flatMap { peer in
            guard let peer else {
                return eventLoop.makeSucceededFuture(ConnectionClass.unauthorized)
            }
            if let levels = policy.knownLevels(of: peer) {
                let connectionClass = ConnectionClass(peer, levels: levels, lowest: lowest)
                return eventLoop.makeSucceededFuture(connectionClass)
            }
            guard traffic.beginLookUp(of: peer.userID) else {
                return eventLoop.makeFailedFuture(TooManyLookUps())
            }
            // The look-up does not run on the event loop, because the group database may be slow.
            return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                defer { traffic.endLookUp(of: peer.userID) }
                return ConnectionClass(peer, levels: policy.levels(of: peer), lowest: lowest)
            }
        }
        connectionClass.assumeIsolated().whenComplete { result in
            guard context.channel.isActive else { return }
            guard case .success(let connectionClass) = result,
                self.traffic.addConnection(of: connectionClass)
            else {
                return context.close(promise: nil)
            }
            self.connectionClass = connectionClass
        }
    }

    private struct TooManyLookUps: Error {}

    private func removeConnection() {
        if let connectionClass { traffic.removeConnection(of: connectionClass) }
        connectionClass = nil
    }
}
