import GotchuAPI
import GotchuCore
import LocalAPI

/// Creates a request and follows it to its end.
struct RequestRun: Sendable {
    let new: NewRequest
    let client: LocalClient
    let output: Output

    /// Creates the request and leaves it open.
    func begin() async throws {
        let request = try await make()
        try announceOnly(request)
        try? await warn(beside: request.id)
    }

    /// Creates the request and waits for its end; a signal cancels it.
    func runToEnd() async throws {
        // Created before the call: a signal during the call must cancel the request too.
        let trap = SignalTrap()
        // A task that is never cancelled: the request may be on the air, and cancelling it takes
        // its id.
        // SAFETY: both branches below await this task.
        let making = Task { try await make() }
        switch try await race(trap: trap, { try await follow(making) }) {
        case .finished(let (watch, end)):
            try watch.reportEnd(end)
        case .interrupted, .timedOut:
            try await cancel(making)
        }
    }

    private func make() async throws -> RequestView {
        try await client.retryingAfterLostConnection {
            try await client.createRequest(new, key: $0)
        }
    }

    /// Awaits the request, announces it, and follows it to its end. Cancels it if it cannot be
    /// followed.
    private func follow(
        _ making: Task<RequestView, any Error>
    ) async throws -> (RequestWatch, RequestView) {
        let request = try await withTaskCancellationHandler {
            try await making.value
        } onCancel: {
            announceCancel()
        }
        try Task.checkCancellation()
        let watch = RequestWatch(request: request, output: output)
        watch.announce()
        try? await warn(beside: request.id)
        // Runs when the live region has ended, so the message does not damage a drawing.
        defer { if Task.isCancelled { announceCancel() } }
        do {
            return (watch, try await watch.waitForEnd(client))
        } catch let failure as LocalClientFailure {
            // The payee would not learn of a payment, so the request is cancelled.
            let end = try await cancel(request)
            guard end.state == .cancelled else { return (watch, end) }
            output.message("The request was cancelled, as it cannot be followed.")
            throw CommandFailure.about(end, .client(failure))
        }
    }

    /// Warns of other requests on the air: a payer is equally near to all requests of one device.
    private func warn(beside id: SessionID) async throws {
        let others = try await client.requests().filter { $0.id != id && $0.isOnAir }
        guard let other = others.first else { return }
        let many = others.count == 1 ? "Another request is" : "\(others.count) other requests are"
        output.message("\(many) on the air here, so that payers must choose between them.")
        output.message("Cancel one:             gotchu-ctl cancel \(other.id)")
    }

    private func announceCancel() {
        output.message("Cancelling the request …; Ctrl-C again leaves it open.")
    }

    private func announceOnly(_ request: RequestView) throws {
        guard !output.isJSON else { return try output.json(request) }
        output.line(
            "\(request.eid) · \(request.amount) · expires \(request.expiresAt.clockText)"
        )
        output.message("Follow the request: gotchu-ctl wait --for paid:\(request.id)")
        output.message("Cancel it:              gotchu-ctl cancel \(request.id)")
    }

    private func cancel(
        _ making: Task<RequestView, any Error>
    ) async throws {
        // If the request could not be created, that error is thrown, as without a signal.
        let request = try await making.value
        let end = try await cancel(request)
        try RequestWatch(request: request, output: output).reportEnd(end)
    }

    private func cancel(
        _ request: RequestView
    ) async throws -> RequestView {
        do {
            return try await client.cancelRequest(request.id)
        } catch LocalClientFailure.problem(let problem) where problem.errorCode == .sessionBusy {
            throw CommandFailure.negative(
                "A payer is paying at this moment, so it cannot be cancelled.",
                next: "gotchu-ctl wait --for paid:\(request.id)"
            )
        } catch let failure as LocalClientFailure {
            output.message("The request could not be cancelled; it may still be paid.")
            throw failure
        }
    }
}
