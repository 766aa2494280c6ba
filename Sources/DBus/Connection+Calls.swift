extension Connection {
    /// Calls a method and returns the reply's values.
    ///
    /// - Parameters:
    ///   - timeout: The time from now to the reply, including the wait in the queue.
    ///   - onReply: Receives the reply's values on the connection's thread before any later message
    ///     is read; the caller that awaits them may continue later. Must not block.
    /// - Throws: `remote` with the other side's error name; `timedOut` and `cancelled`, after which
    ///   the call may still have had its effect; `overloaded` when nothing was sent; `closed`;
    ///   `invalidValue`.
    package func call(
        _ call: MethodCall,
        timeout: Duration,
        onReply: (@Sendable ([Value]) -> Void)? = nil
    ) async throws(DBusError) -> [Value] {
        let id = makeID()
        let deadline = ContinuousClock.now + timeout
        let cancellations = calls.cancellations
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Checked here, because other calls may run between the beginning and this point.
                if let error = refusal {
                    continuation.resume(returning: CallTable.Reply.failure(error))
                    return
                }
                calls.insert(
                    call,
                    CallTable.Pending(
                        id: id,
                        deadline: deadline,
                        continuation: continuation,
                        onReply: onReply
                    )
                )
                sendWaitingCalls()
                thread.wake()
            }
        } onCancel: { [thread] in
            cancellations.add(id)
            thread.wake()
        }
        return try reply.get()
    }

    /// The reason why no call may begin now; `nil` if one may.
    private var refusal: DBusError? {
        let limit = limits.callsInFlight + limits.callsWaiting
        if wire == nil { return DBusError(.closed) }
        if calls.inFlightCount + calls.waitingCount >= limit {
            return DBusError(.overloaded, underlying: "\(limit) calls")
        }
        // A task that was cancelled before this point has reported its id, which may be forgotten
        // already. The thread's next turn handles a later cancellation.
        return Task.isCancelled ? DBusError(.cancelled) : nil
    }

    /// Sends queued calls up to the limit of calls in flight.
    func sendWaitingCalls() {
        while wire != nil, calls.inFlightCount < limits.callsInFlight,
            let (id, call) = calls.popWaiting()
        {
            do {
                let serial = try send(Message.call(call))
                calls.markSent(id, serial: serial)
            } catch {
                calls.fail(id, error)
            }
        }
    }

    /// Returns the unique name of the connection that owns a name; `nil` if none does.
    package func owner(of name: String) async throws(DBusError) -> String? {
        do {
            let reply = try await call(
                .bus("GetNameOwner", [.string(name)]),
                timeout: Self.busTimeout
            )
            return reply.first?.asString
        } catch  where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            return nil
        }
    }

    /// The timeout of calls to the bus itself, which answers at once unless it has a fault.
    static var busTimeout: Duration { .seconds(10) }
}
