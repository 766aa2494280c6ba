extension Connection {
    /// Calls a method and returns the reply's values.
    ///
    /// - Parameters:
    ///   - timeout: From now to the reply, the wait for a turn included.
    ///   - onReply: Receives the reply's values on the connection's thread before anything behind
    ///     the reply is read; the caller that awaits them may go on later. Must not block.
    /// - Throws: `remote` with the other side's error name; `timedOut` and `cancelled`, after which
    ///   the call may still have had its effect; `overloaded` when nothing was sent; `closed`.
    package func call(
        _ call: MethodCall,
        timeout: Duration,
        onReply: (@Sendable ([Value]) -> Void)? = nil
    ) async throws(DBusError) -> [Value] {
        guard wire != nil else { throw DBusError(.closed) }
        guard calls.waitingCount < limits.callsWaiting else {
            throw DBusError(.overloaded, underlying: "\(limits.callsWaiting) calls wait")
        }
        let id = makeID()
        let deadline = ContinuousClock.now + timeout
        let cancellations = calls.cancellations
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A task that was cancelled before this point has no entry that onCancel could
                // find; one that is cancelled after it waits for the thread's next turn, which
                // comes after this.
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

    /// Sends the calls whose turn has come.
    func sendWaitingCalls() {
        while wire != nil, calls.inFlightCount < limits.callsInFlight,
            let (id, call) = calls.popWaiting()
        {
            do {
                let serial = try send(Message.call(call))
                calls.wasSent(id, serial: serial)
            } catch {
                calls.fail(id, error)
            }
        }
    }

    /// The unique name of a name's owner, or `nil` if nobody owns it.
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

    /// The bus itself answers at once or is in trouble.
    static var busTimeout: Duration { .seconds(10) }
}
