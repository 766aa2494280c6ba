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
        guard wire != nil else { throw DBusError(.closed) }
        let limit = limits.callsInFlight + limits.callsWaiting
        guard calls.inFlightCount + calls.waitingCount < limit else {
            throw DBusError(.overloaded, underlying: "\(limits.callsWaiting) calls wait")
        }
        let id = makeID()
        let deadline = ContinuousClock.now + timeout
        let cancellations = calls.cancellations
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // If the task was cancelled before this point, its id was already reported and may
                // be forgotten. If it is cancelled later, the thread's next turn handles that,
                // after the insertion.
                guard !Task.isCancelled else {
                    continuation.resume(returning: CallTable.Reply.failure(DBusError(.cancelled)))
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
