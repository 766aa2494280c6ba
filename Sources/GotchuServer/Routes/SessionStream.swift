internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import HummingbirdCore
internal import Ledger
internal import NIOCore
internal import NIOHTTPTypes
internal import Payments

/// A session's events on a connection that has nothing else to do any more.
///
/// Ten thousand of them may wait for hours. A task keeps the stack of all that it ever called until
/// it ends, so that a stream has none: it takes the connection from the task that answered the
/// request, and closes it at its end.
final class SessionStream: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Ends the task whose connection has been taken over.
    private struct TakenOver: Error {}

    /// Says on the connection's own thread that there is news.
    private struct Bell: Sendable {}

    /// Nothing new: so that proxies keep the stream and a lost client is noticed.
    private static let comment = ByteBuffer(string: ":\n\n")

    private let watch: RecordWatch
    private let user: UserID
    /// What the client knows.
    private var version: Int64
    private var isOver = false

    private init(_ watch: RecordWatch, _ user: UserID, _ version: Int64) {
        self.watch = watch
        self.user = user
        self.version = version
    }

    /// Writes what is new from here on, behind what has been written, until the session is over,
    /// the reader may no longer see it, or the program stops.
    ///
    /// - Parameter version: The state that the client has been told.
    /// - Throws: Always: nothing that the caller still does with the connection has an effect.
    static func takeOver(
        _ channel: any Channel,
        _ watch: RecordWatch,
        user: UserID,
        version: Int64
    ) async throws -> Never {
        try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let requests = try pipeline.context(handlerType: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(
                SessionStream(watch, user, version),
                position: .before(requests.handler)
            )
            // Nothing is a request any more whose time would have to be limited.
            pipeline.removeHandler(context: requests, promise: nil)
        }.get()
        throw TakenOver()
    }

    static func event(_ session: Session) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "id: \(session.version)\ndata: ")
        buffer.writeBytes(try JSONEncoder.canonical.encode(SessionReply(session)))
        buffer.writeString("\n\n")
        return buffer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        watch.listen {
            channel.eventLoop.execute {
                channel.pipeline.fireUserInboundEventTriggered(Bell())
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is Bell: tell(context)
        // The end of the watch has been told before: who is left does not read.
        case is ChannelShouldQuiesceEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        tell(context)
        context.fireChannelWritabilityChanged()
    }

    /// The task that had the connection closes it in the end, but it is not its own any more.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        promise?.succeed()
    }

    /// A slow reader is told the newest state once there is room for it, and no other.
    private func tell(_ context: ChannelHandlerContext) {
        while !isOver, context.channel.isWritable, let news = watch.next() {
            switch news {
            case .changed(let record): tell(record, context)
            case .quiet: write(Self.comment, context)
            case .over: end(context)
            }
        }
    }

    private func tell(_ record: Record, _ context: ChannelHandlerContext) {
        guard record.version > version else { return }
        // Without it the client has to come again, and is told what is wrong then.
        guard let session = try? Session(record) else { return end(context) }
        guard session.isVisible(to: user) else { return end(context) }
        version = session.version
        // Without it the client has to come again, and gets the state then.
        guard let event = try? Self.event(session) else { return end(context) }
        write(event, context)
        if session.status.isFinal { end(context) }
    }

    private func write(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.body(buffer)), promise: nil)
    }

    /// Closes the connection once all has been written.
    private func end(_ context: ChannelHandlerContext) {
        // What was written last may have led here before.
        guard !isOver else { return }
        isOver = true
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}
