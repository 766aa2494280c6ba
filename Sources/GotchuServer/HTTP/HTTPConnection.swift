internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// A client's HTTP/1.1 connection. It receives a whole request, answers it on the connection's
/// event loop, and then handles the next one. No handler blocks, because the ledger waits for the
/// disk on its own threads.
///
/// A request has one host (RFC 9112, 3.2). It may wait for 100 Continue before its body (RFC 9110,
/// 10.1.1). It may be the last of its connection (RFC 9112, 9.3); every HTTP/1.0 request is. If it
/// comes before the reply to another (RFC 9112, 9.3.2), it waits until the client has read most of
/// the earlier replies, and until the event loop has served other connections. After a request with
/// a wrong host, or one that is not HTTP, the connection is closed with a problem document, because
/// the start of the next request is unknown. It is also closed if its address has too many
/// connections, or if a client takes too long to send a request, however it sends the bytes.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    /// The timeout for the first request's head, from the start of the connection. It is also the
    /// time that the client has to close its side after the last reply.
    private static let headLimit: TimeAmount = .seconds(10)
    /// The timeout for a body, from the end of its head.
    private static let bodyLimit: TimeAmount = .seconds(20)
    /// The most pieces of a body. Each piece costs time on the event loop, even a small one.
    private static let pieceLimit = 4_096
    /// The most parts of requests that wait. One read brings fewer. A client that has closed its
    /// side may send more, because the channel then reads all that the kernel has. Its connection
    /// is closed.
    private static let pendingLimit = 8_192

    private enum Input {
        case part(HTTPServerRequestPart)
        case failure(HTTPParserError)
        /// The client has closed its side.
        case end
    }

    private enum Phase {
        case idle
        case reading(HTTPRequestHead, ByteBuffer)
        case answering(HTTPVersion)
        /// A reply was written. Pending input waits for its turn.
        case answered
        /// Input is ignored.
        case over
    }

    private let connector: HTTPConnector
    private let gate: InputGate
    private let executor: EventLoopTaskExecutor
    private var phase = Phase.idle
    /// The number of body pieces received for the current request.
    private var pieceCount = 0
    /// Input received before its turn. Nothing more is read until this input has been processed.
    private var pendingInput = CircularBuffer<Input>(initialCapacity: 0)
    /// True if the channel wanted to read and must wait.
    private var isReadHeld = false
    /// True while the channel passes on what it has read.
    private var isReceiving = false
    /// True if a task will process pending input.
    private var isTurnScheduled = false
    /// True if the current request's reply has no body.
    private var isHead = false
    /// True if no request follows the current one.
    private var isLast = false
    /// True if the client requested another protocol (Upgrade, CONNECT). Nothing more is read then,
    /// because the decoder would buffer all of it.
    private var isUpgrade = false
    private var isStopping = false
    private var isInputClosed = false
    private var isOutputClosed = false
    private var stream: (any ReplyStream)?
    /// Completes when the kernel has accepted the last reply.
    private var lastReply: EventLoopFuture<Void>?
    private var address: ClientAddress?
    private var memory: BodyMemory.Share
    private let deadline = ConnectionDeadline()

    init(_ connector: HTTPConnector, _ gate: InputGate, on loop: any EventLoop) {
        (self.connector, self.gate) = (connector, gate)
        memory = BodyMemory.Share(connector.bodies)
        executor = EventLoopTaskExecutor(loop)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard address == nil else { return }
        let address = ClientAddress(context.channel.remoteAddress)
        guard connector.connections.opened(address) else { return context.close(promise: nil) }
        self.address = address
        deadline.set(Self.headLimit, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        (phase, stream) = (.over, nil)
        dropPending()
        deadline.cancel()
        if let address { connector.connections.closed(address) }
        address = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReceiving = true
        receive(.part(unwrapInboundIn(data)), context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReceiving = false
        proceed(context)
        awaitInput(context)
    }

    /// Back-pressure: reads nothing while input waits, or while the client does not read.
    func read(context: ChannelHandlerContext) {
        isReadHeld = !pendingInput.isEmpty || isUpgrade || !context.channel.isWritable
        if !isReadHeld { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as HTTPParserError:
            // The client has closed its side within a request. The event itself follows.
            if error == .invalidEOFState { isInputClosed = true }
            receive(.failure(error), context)
        case is ByteToMessageDecoderError.PayloadTooLargeError:
            receive(.failure(.headerOverflow), context)
        // More bytes after those that could not be parsed are ignored.
        case is ByteToMessageDecoderError: break
        default: context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            receive(.end, context)
        case is ChannelShouldQuiesceEvent: stop(context)
        default: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeStream(context)
        proceed(context)
        awaitInput(context)
        if isReadHeld { read(context: context) }
    }

    /// Closes the connection after the current reply. An incomplete request gets no reply.
    private func stop(_ context: ChannelHandlerContext) {
        (isLast, isStopping) = (true, true)
        dropPending()
        switch phase {
        case .idle, .reading, .answered: close(context)
        // All streams have ended before. If one is still open, its client does not read.
        case .answering: if stream != nil { context.close(promise: nil) }
        case .over: if isOutputClosed { context.close(promise: nil) }
        }
    }

    // MARK: Requests

    private func receive(_ input: Input, _ context: ChannelHandlerContext) {
        switch phase {
        case .answering, .answered:
            guard pendingInput.count < Self.pendingLimit else { return context.close(promise: nil) }
            if case .part(.body(let piece)) = input, !memory.addPending(piece.readableBytes) {
                return context.close(promise: nil)
            }
            pendingInput.append(input)
        case .idle, .reading, .over: use(input, context)
        }
    }

    private func use(_ input: Input, _ context: ChannelHandlerContext) {
        switch (phase, input) {
        case (.idle, .part(.head(let head))): read(head, context)
        case (.reading(let head, var body), .part(.body(var piece))):
            pieceCount += 1
            guard pieceCount <= Self.pieceLimit else {
                return refuse(.invalid("The body comes in too many pieces."), context)
            }
            phase = .over  // Temporary: otherwise the body would be copied.
            if body.readableBytes == 0 { body = piece } else { body.writeBuffer(&piece) }
            phase = .reading(head, body)
            guard memory.hold(body.readableBytes) else { return refuse(.noBodyMemory, context) }
            // The rest is not read. The handler that reads the body reports that it is too large.
            if body.readableBytes > connector.bodyLimit(of: head) {
                isLast = true
                answer(head, body, context)
            }
        case (.reading(let head, let body), .part(.end)): answer(head, body, context)
        case (.idle, .failure(let error)), (.reading, .failure(let error)):
            refuse(HTTPConnector.problem(for: error), context)
        case (.over, .end): if isOutputClosed { context.close(promise: nil) }
        case (_, .end): close(context)
        default: break
        }
    }

    private func read(_ received: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let head = received.normalized
        isHead = head.method == .HEAD
        guard head.namesItsHost else {
            return refuse(.invalid("A request must have exactly one Host header."), context)
        }
        deadline.clear()
        pieceCount = 0
        phase = .reading(head, ByteBuffer())
        let isOld = head.version == .http1_0
        if isOld || !head.isKeepAlive { isLast = true }
        // The decoder accepts digits only, so a value that does not fit an Int is too large.
        if let length = head.headers.first(name: "Content-Length"),
            Int(length) ?? .max > connector.bodyLimit(of: head)
        {
            isLast = true
            return answer(head, ByteBuffer(), context)
        }
        // HTTP/1.0 has no 100 Continue. Its clients send the body without it.
        if !isOld, head.expectsContinue {
            let permission = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(permission)), promise: nil)
        }
    }

    private func answer(
        _ head: HTTPRequestHead,
        _ body: ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        deadline.clear()
        phase = .answering(head.version)
        if head.method == .CONNECT || head.headers.contains(name: "Upgrade") {
            (isUpgrade, isLast) = (true, true)
        }
        guard let routed = head.routed else {
            return refuse(.invalid("This is not HTTP/1.1."), context)
        }
        let request = Request(head: routed, body: RequestBody(buffer: body))
        let (connector, channel) = (connector, context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // SAFETY: belongs to the connection, which answers until the reply is there.
        Task.immediate(executorPreference: executor) {
            let reply = await connector.reply(to: request, on: channel)
            let (connection, context) = bound.value
            connection.write(reply, context)
        }
    }

    // MARK: Replies

    private func write(_ reply: BegunReply, _ context: ChannelHandlerContext) {
        _ = memory.hold(0)
        // If the connection has been closed meanwhile, nothing is written.
        guard case .answering(let version) = phase else { return }
        context.write(wrapOutboundOut(.head(reply.head(version, isLast: isLast))), promise: nil)
        if isHead { return end(context) }
        if reply.bytes.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(reply.bytes))), promise: nil)
        }
        guard let stream = reply.stream else { return end(context) }
        self.stream = stream
        context.flush()
        // If the client has disconnected, the write has removed the stream.
        guard self.stream != nil else { return }
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        stream.listen {
            loop.execute {
                let (connection, context) = bound.value
                connection.writeStream(context)
            }
        }
    }

    /// Writes the stream's next pieces. Back-pressure: no writes while the channel is not writable.
    private func writeStream(_ context: ChannelHandlerContext) {
        while context.channel.isWritable, let piece = stream?.next() {
            switch piece {
            case .bytes(let bytes):
                context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            case .end:
                stream = nil
                end(context)
            case .broken:
                stream = nil
                context.close(promise: nil)
            }
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        let promise = context.eventLoop.makePromise(of: Void.self)
        lastReply = promise.futureResult
        // After HEAD, the end of a body in chunks would be read as the beginning of the next reply.
        let last: OutboundOut = isHead ? .body(.byteBuffer(ByteBuffer())) : .end(nil)
        isHead = false
        context.writeAndFlush(wrapOutboundOut(last), promise: promise)
        guard case .answering = phase else { return }
        if isLast { return close(context) }
        phase = .answered
        proceed(context)
    }

    /// Makes the connection ready for the next request, or gives a request that waits its turn.
    private func proceed(_ context: ChannelHandlerContext) {
        guard case .answered = phase, !isReceiving else { return }
        guard !pendingInput.isEmpty else {
            phase = .idle
            awaitInput(context)
            if isReadHeld { read(context: context) }
            return
        }
        // Back-pressure: this is called again when the client has read.
        guard context.channel.isWritable, !isTurnScheduled else { return }
        isTurnScheduled = true
        PipelineTurns.current.wait(context.eventLoop) {
            self.isTurnScheduled = false
            if case .answered = self.phase { self.usePending(context) }
        }
    }

    /// Uses pending input until a request is complete.
    private func usePending(_ context: ChannelHandlerContext) {
        phase = .idle
        while let input = pendingInput.popFirst() {
            if case .part(.body(let piece)) = input { _ = memory.addPending(-piece.readableBytes) }
            use(input, context)
            switch phase {
            case .idle, .reading: continue
            case .answering, .answered, .over: return
            }
        }
        awaitInput(context)
        if isReadHeld { read(context: context) }
    }

    /// Starts the deadline for the rest of a body, or for the next request. Most requests arrive in
    /// one read and need no deadline for a body. While the client must read first, nothing is read
    /// from it, and `WriteDeadline` applies instead.
    private func awaitInput(_ context: ChannelHandlerContext) {
        guard !deadline.isSet, context.channel.isWritable else { return }
        switch phase {
        case .idle: deadline.set(connector.idleLimit(of: address), context)
        case .reading: deadline.set(Self.bodyLimit, context)
        case .answering, .answered, .over: break
        }
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        // If the client has disconnected, there is no reply.
        guard context.channel.isActive else { return phase = .over }
        (phase, isLast) = (.answering(.http1_1), true)
        guard let reply = connector.refusal(problem) else { return close(context) }
        write(reply, context)
    }

    private func dropPending() {
        pendingInput.removeAll()
        memory.release()
    }

    /// Closes our side after all output is written. The connection is closed when the client closes
    /// its side, after a timeout at the latest. Closing it at once, while the client still sends,
    /// would reset the connection and lose the reply.
    private func close(_ context: ChannelHandlerContext) {
        phase = .over
        gate.isOpen = false
        deadline.clear()
        dropPending()
        // If the client has closed its side, closing ours would discard the output that waits.
        let end = isInputClosed ? lastReply : context.close(mode: .output)
        (end ?? context.eventLoop.makeSucceededVoidFuture()).assumeIsolated().whenComplete { _ in
            self.isOutputClosed = true
            if self.isInputClosed || self.isUpgrade || self.isStopping {
                context.close(promise: nil)
            } else {
                self.deadline.set(Self.headLimit, context)
            }
        }
        if isReadHeld { read(context: context) }
    }
}
