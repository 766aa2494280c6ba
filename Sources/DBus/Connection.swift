import CDBus
import GotchuCore
package import Logging

/// A connection to a message bus.
///
/// Everything about it happens on one thread. It ends when the bus goes away, when `close()` is
/// called or when it is no longer referenced; then every pending call fails with `closed`, no more
/// signals are received, and it cannot be reopened.
package actor Connection {
    /// The name that the bus gave this connection, `:1.42`.
    nonisolated let uniqueName: String

    let limits: Limits
    let logger: Logger
    nonisolated let thread: BusThread
    /// A Boolean that is true if the thread belongs to this connection alone and ends with it.
    private nonisolated let ownsThread: Bool

    var wire: Wire?
    var calls = CallTable()
    var subscriptions = SubscriptionTable()
    var objects: [ObjectPath: ExportedObject] = [:]
    /// Calls to our objects that are being answered.
    var inboundCalls: [UInt64: InboundCall] = [:]
    var nextID: UInt64 = 0
    /// The number of replies dropped because their calls had timed out or were cancelled.
    package private(set) var lateReplies = 0
    /// The pauses in which signals are left unread, to be read together.
    private var batching = ReadBatching()
    private var closureStreams: [UInt64: AsyncStream<Never>.Continuation] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Connects to the bus at `address`.
    ///
    /// - Parameter thread: The thread that the connection runs on; `nil` for one of its own.
    ///   Connections that share a thread take turns.
    /// - Throws: `unreachable`, or `overloaded` when the process is out of descriptors.
    package static func open(
        _ address: BusAddress = .system,
        on thread: BusThread? = nil,
        limits: Limits = Limits(),
        logger: Logger
    ) async throws(DBusError) -> Connection {
        // Opening blocks. It runs on a new thread: a given thread may have other work.
        let own = try BusThread(name: "dbus")
        let result: Result<Connection, DBusError>
        do {
            let opener = Opener(thread: own)
            result = .success(
                try await opener.open(address, on: thread, limits: limits, logger: logger)
            )
        } catch {
            result = .failure(error)
        }
        if case .success = result, thread == nil { return try result.get() }
        own.stop(isJoined: true)
        await own.join()
        return try result.get()
    }

    /// An actor that opens a connection, which blocks, on a new thread.
    private actor Opener {
        nonisolated let thread: BusThread

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        init(thread: BusThread) {
            self.thread = thread
        }

        func open(
            _ address: BusAddress,
            on given: BusThread?,
            limits: Limits,
            logger: Logger
        ) throws(DBusError) -> Connection {
            Connection(
                wire: try Wire(address, messageBytes: limits.messageBytes),
                thread: given ?? thread,
                ownsThread: given == nil,
                limits: limits,
                logger: logger
            )
        }
    }

    private init(
        wire: consuming sending Wire,
        thread: BusThread,
        ownsThread: Bool,
        limits: Limits,
        logger: Logger
    ) {
        uniqueName = wire.uniqueName
        self.wire = consume wire
        self.thread = thread
        self.ownsThread = ownsThread
        self.limits = limits
        self.logger = logger
        thread.watch(self)
    }

    deinit {
        if ownsThread { thread.stop(isJoined: false) }
    }

    /// Ends the connection and, if it has a thread of its own, that thread; returns when both have
    /// ended. A second call has no effect.
    package nonisolated func close() async {
        await end(.closed)
        guard ownsThread else { return }
        thread.stop(isJoined: true)
        await thread.join()
    }

    package var isClosed: Bool { wire == nil }

    /// A stream that yields nothing and finishes when the connection ends.
    package func closed() -> AsyncStream<Never> {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        guard !isClosed else {
            continuation.finish()
            return stream
        }
        closureStreams[makeID()] = continuation
        return stream
    }

    /// Sends a message; it is queued if the bus is slow to read.
    func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
        guard wire != nil else { throw DBusError(.closed) }
        guard let size = wire?.outgoingBytes, size <= limits.outgoingBytes else {
            throw DBusError(.overloaded, underlying: "the bus does not read")
        }
        let serial = try wire?.send(message)
        thread.wake()
        return serial ?? 0
    }

    func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// Ends the connection and fails every pending call once, in no particular order.
    func end(_ code: DBusError.Code) {
        guard wire != nil else { return }
        wire = nil
        logger.debug("the connection to the bus ended")
        calls.failAll(DBusError(code))
        subscriptions = SubscriptionTable()
        for call in inboundCalls.values { call.task.cancel() }
        inboundCalls = [:]
        objects = [:]
        for continuation in closureStreams.values { continuation.finish() }
        closureStreams = [:]
        thread.forget(self)
    }
}

// MARK: The thread's loop

extension Connection: BusThread.Pump {
    package nonisolated func pump() -> BusThread.Interest? {
        assumeIsolated { $0.turn() }
    }

    /// Runs one turn: handles timeouts and cancellations, then reads, dispatches and writes.
    private func turn() -> BusThread.Interest? {
        calls.failCancelled()
        let now = ContinuousClock.now
        calls.failExpired(now: now)
        if let pause = pause(now: now) { return pause }
        let hasMore = readMessages()
        sendWaitingCalls()
        guard let descriptor = wire?.descriptor, let isSending = wire?.hasMessagesToSend else {
            return nil
        }
        if !hasMore, let pause = pause(now: now) { return pause }
        return BusThread.Interest(
            descriptor: descriptor,
            wantsToWrite: isSending,
            deadline: hasMore ? .now : calls.nextDeadline
        )
    }

    /// Returns an interest that only waits for the end of the current pause. `nil` if there is no
    /// pause, or if a reply or an outgoing message is pending.
    private func pause(now: ContinuousClock.Instant) -> BusThread.Interest? {
        guard let end = batching.pauseEnd, now < end, calls.isEmpty,
            wire?.hasMessagesToSend == false
        else { return nil }
        return BusThread.Interest(descriptor: nil, deadline: end)
    }

    /// Reads and dispatches at most `messagesPerTurn` messages, so that jobs can run between turns.
    /// Returns true if more may be waiting.
    private func readMessages() -> Bool {
        // One read returns at most 2 KiB, a few signals. The signals that arrived during a pause
        // need several reads.
        let isBatch = batching.pauseEnd != nil
        var (count, before) = (0, 0)
        repeat {
            before = count
            wire?.readAndWrite()
            while count < Self.messagesPerTurn, let message = wire?.nextMessage() {
                count += 1
                dispatch(message)
            }
        } while isBatch && before < count && count < Self.messagesPerTurn
        let hasMore = isBatch && before < count || wire?.hasMessages == true
        if limits.batchesSignals { batching.read(count, hasMore: hasMore, now: .now) }
        return hasMore
    }

    private static var messagesPerTurn: Int { 64 }

    private func dispatch(_ message: borrowing Message) {
        switch message.kind {
        case DBUS_MESSAGE_TYPE_METHOD_RETURN, DBUS_MESSAGE_TYPE_ERROR: receiveReply(message)
        case DBUS_MESSAGE_TYPE_SIGNAL: receiveSignal(message)
        case DBUS_MESSAGE_TYPE_METHOD_CALL: receiveCall(message)
        // Unknown message types must be ignored (D-Bus specification, "Message Format").
        default: break
        }
    }

    private func receiveReply(_ message: borrowing Message) {
        guard let call = calls.remove(serial: message.replySerial) else {
            lateReplies += 1
            BusLosses.ofThisProcess.countLateReply()
            return
        }
        let values: Result<[Value], DBusError>
        do {
            values = .success(try message.values())
        } catch {
            values = .failure(error)
        }
        guard message.kind == DBUS_MESSAGE_TYPE_ERROR else {
            if case .success(let values) = values { call.onReply?(values) }
            call.continuation.resume(returning: values)
            return
        }
        let text = (try? values.get())?.first?.asString
        let error = DBusError(.remote, name: message.errorName, underlying: text)
        call.continuation.resume(returning: .failure(error))
    }

    private func receiveSignal(_ message: borrowing Message) {
        guard let path = message.path, let interface = message.interface,
            let member = message.member
        else { return }
        if interface == DBUS_INTERFACE_LOCAL, path.text == DBUS_PATH_LOCAL {
            // Generated by libdbus itself; the bus lets no client send from this interface.
            if member == "Disconnected" { end(.closed) }
            return
        }
        guard subscriptions.wants(path: path) else { return }
        guard let arguments = try? message.values() else {
            logger.debug("a signal was dropped", metadata: ["member": "\(member)"])
            return
        }
        subscriptions.deliver(
            Signal(
                sender: message.sender,
                path: path,
                interface: interface,
                member: member,
                arguments: arguments
            )
        )
    }
}
