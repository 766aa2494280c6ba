internal import CPostgres
internal import Glibc

/// A connection to a server, closed when its owner is released.
///
/// It belongs to one thread at a time: keep it inside an actor that runs on a `ThreadExecutor`,
/// because every call may block on the network. No call blocks longer than its timeout; a timeout
/// makes the connection unusable.
package struct Connection: ~Copyable {
    /// The default timeout of a call.
    package static let defaultTimeout: Duration = .seconds(15)

    let handle: OpaquePointer
    let notices: NoticeSink
    let statements = PreparedStatements()
    let health = Health()

    /// Connects, trying the hosts in order.
    ///
    /// - Parameter notice: Called during other calls, with messages that the server sends in
    ///   addition to results.
    /// - Throws: `cannotConnect`.
    package init(
        _ settings: ConnectionSettings,
        notice: @escaping (Notice) -> Void = { _ in }
    ) throws(PostgresError) {
        let handle = settings.withArrays { PQconnectdbParams($0, $1, 0) }
        guard let handle else {
            throw PostgresError(.cannotConnect, message: "out of memory")
        }
        guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
            let message = PQerrorMessage(handle).map { String(cString: $0) } ?? "unknown"
            PQfinish(handle)
            throw PostgresError(.cannotConnect, message: onOneLine(message))
        }
        self.handle = handle
        notices = NoticeSink(notice)
        PQsetNoticeReceiver(
            handle,
            { sink, result in
                guard let sink else { return }
                Unmanaged<NoticeSink>.fromOpaque(sink).takeUnretainedValue().receive(Notice(result))
            },
            Unmanaged.passUnretained(notices).toOpaque()
        )
    }

    deinit {
        PQfinish(handle)
    }

    /// A Boolean that is true if the connection can still be used.
    package var isUsable: Bool { !health.isBroken && PQstatus(handle) == CONNECTION_OK }

    /// A Boolean that is true if the database's tables are distributed over several servers
    /// (Citus). Set by the code that detects it.
    package var isDistributed: Bool {
        get { health.isDistributed }
        nonmutating set { health.isDistributed = newValue }
    }

    /// A Boolean that is true while a transaction is open, failed or not.
    package var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// The id of the server's process that serves this connection.
    var backendProcessID: Int32 { PQbackendPID(handle) }

    /// Runs a script of statements without parameters, such as schemas and settings. Rows are
    /// ignored.
    ///
    /// Outside of a transaction block, the script runs as one transaction.
    package borrowing func execute(
        _ script: String,
        within limit: Duration = defaultTimeout
    ) throws(PostgresError) {
        let deadline = ContinuousClock.now + limit
        notices.begin()
        guard PQsendQuery(handle, script) == 1 else { throw lost(sql: script) }
        var failure: PostgresError?
        while let result = try next(before: deadline) {
            guard !result.isGood, failure == nil else { continue }
            let (state, message) = result.serverError
            let kind = state.map { PostgresError.Kind($0) } ?? .connectionLost
            failure = PostgresError(kind, state: state, message: message, sql: script)
        }
        if let failure { throw failure }
        guard isUsable else { throw lost(sql: script) }
    }

    /// Waits for notifications by other connections and returns them.
    ///
    /// - Parameter waker: Ends the wait early.
    /// - Returns: An empty array after a timeout or if the waker ended the wait.
    package borrowing func notifications(
        within limit: Duration,
        or waker: Waker
    ) throws(PostgresError) -> [Notification] {
        let deadline = ContinuousClock.now + limit
        while true {
            guard PQconsumeInput(handle) == 1 else { throw lost(sql: nil) }
            var notifications: [Notification] = []
            while let notify = PQnotifies(handle) {
                notifications.append(
                    Notification(
                        channel: String(cString: notify.pointee.relname),
                        payload: String(cString: notify.pointee.extra)
                    )
                )
                PQfreemem(notify)
            }
            guard notifications.isEmpty else { return notifications }
            switch wait(before: deadline, toWrite: false, waker: waker) {
            case .ready: continue
            case .woken, .tooLate: return []
            }
        }
    }

    /// Returns the next result; `nil` after a statement's last one.
    borrowing func next(before deadline: ContinuousClock.Instant) throws(PostgresError) -> Result? {
        while PQisBusy(handle) == 1 {
            let unsent = PQflush(handle)
            // Even if the flush fails, the server's last messages, such as its reason for closing,
            // are read.
            let ready = wait(before: deadline, toWrite: unsent == 1, waker: nil)
            guard ready == .ready else { throw giveUp() }
            guard PQconsumeInput(handle) == 1 else { throw lost(sql: nil) }
        }
        return PQgetResult(handle).map { Result($0) }
    }

    enum Wait {
        case ready
        case woken
        case tooLate
    }

    private borrowing func wait(
        before deadline: ContinuousClock.Instant,
        toWrite: Bool,
        waker: Waker?
    ) -> Wait {
        var events = [
            pollfd(
                fd: PQsocket(handle),
                events: Int16(POLLIN) | (toWrite ? Int16(POLLOUT) : 0),
                revents: 0
            )
        ]
        if let waker {
            events.append(pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0))
        }
        while true {
            let (seconds, attoseconds) = (deadline - .now).components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            guard milliseconds >= 0 else { return .tooLate }
            let count = poll(&events, nfds_t(events.count), Int32(clamping: milliseconds + 1))
            if count < 0, errno == EINTR { continue }
            if waker != nil, events[1].revents != 0 { return .woken }
            return count == 0 ? .tooLate : .ready
        }
    }

    /// Marks the connection as unusable after a timeout, and cancels the abandoned statement.
    private borrowing func giveUp() -> PostgresError {
        health.isBroken = true
        // A COMMIT that waits for its replicas must not be cancelled: it would then succeed without
        // them.
        if !health.isCommitting { Canceller.requestCancel(handle) }
        return PostgresError(.connectionLost, message: "the server did not answer in time")
    }

    borrowing func lost(sql: String?) -> PostgresError {
        health.isBroken = true
        let message = PQerrorMessage(handle).map { onOneLine(String(cString: $0)) } ?? ""
        return PostgresError(
            .connectionLost,
            message: message.isEmpty ? "the connection is lost" : message,
            sql: sql
        )
    }

    final class Health {
        var isBroken = false
        var isCommitting = false
        var isDistributed = false
    }
}
