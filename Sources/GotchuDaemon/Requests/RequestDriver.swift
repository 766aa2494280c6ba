import GotchuAPI
import GotchuCore
import Logging
import PaymentClient

/// Follows one request until its outcome is known. Uses the server's event stream, and retries if
/// the stream ends.
struct RequestDriver {
    let id: SessionID
    let service: RequestService

    func run() async {
        guard await service.record(id)?.isBegun != true else { return await cancelUntold() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await service.putOnAir(id) }
            group.addTask { await leaveAirAtExpiry() }
            group.addTask { await rotate() }
            await follow()
            group.cancelAll()
        }
    }

    private func follow() async {
        var schedule = RetrySchedule()
        while let record = await service.record(id), !record.state.isFinal {
            let answer = await service.client.followSession(id) { session in
                schedule = RetrySchedule()
                await service.apply(session, to: id)
            }
            if Task.isCancelled { return }
            if let record = await service.record(id), record.state.isFinal { return }
            // The server refuses to report on the request, and the request has expired. No further
            // answer will come.
            if case .refused = answer, isOver(record) { return await service.recordUnknown(id) }
            var retryAfter: Duration?
            if case .unknown(let outage) = answer {
                retryAfter = outage.retryAfter
                service.logger.debug(
                    "The session's events broke off",
                    metadata: ["request": "\(id)", "reason": "\(outage.code.rawValue)"]
                )
            }
            let jitter = Double.random(in: 0..<1)
            let delay = schedule.next(retryAfter: retryAfter, jitter: jitter)
            // A customer waits at the till, so the delay is limited.
            try? await Task.sleep(for: min(delay, Self.maximumDelay))
        }
    }

    /// Cancels a request at the server. Its till was not told of it, so nobody may pay it.
    private func cancelUntold() async {
        var schedule = RetrySchedule()
        while !Task.isCancelled, let record = await service.record(id), !record.state.isFinal {
            do throws(Problem) {
                _ = try await service.cancel(id)
                return
            } catch {
                // The server refuses, and the request has expired. No further answer will come.
                if isOver(record), error.retryable != true { return }
            }
            let delay = schedule.next(retryAfter: nil, jitter: .random(in: 0..<1))
            // A backoff with jitter until the server has an answer.
            try? await Task.sleep(for: min(delay, Self.maximumDelay))
        }
    }

    private func isOver(_ record: RequestRecord) -> Bool {
        record.expiresAt.advanced(by: RequestService.expiryGrace) < .now
    }

    /// The longest wait between two attempts to reach the server.
    private static let maximumDelay: Duration = .seconds(5)

    /// Changes the request's EID after each EID lifetime. If a change was interrupted, repeats it
    /// at once.
    private func rotate() async {
        var isDue = await service.record(id)?.isRotating == true
        var schedule = RetrySchedule()
        while !Task.isCancelled, isDue || service.eidLifetime != nil {
            // The lifetime of the EID. The end of the request cancels this wait.
            if !isDue, let lifetime = service.eidLifetime { try? await Task.sleep(for: lifetime) }
            guard !Task.isCancelled, let record = await service.record(id),
                record.state != .unknown
            else { return }
            switch await service.rotate(id) {
            case .done, .notNow:
                isDue = false
                schedule = RetrySchedule()
            case .refused: return
            case .unanswered(let retryAfter):
                isDue = true
                let jitter = Double.random(in: 0..<1)
                // A backoff with jitter, or the longer delay that the server has asked for.
                try? await Task.sleep(for: schedule.next(retryAfter: retryAfter, jitter: jitter))
            }
        }
    }

    /// Takes the request off the air at its expiry, even if the server cannot be reached.
    private func leaveAirAtExpiry() async {
        guard let record = await service.record(id) else { return }
        let left = Timestamp.now.duration(to: record.expiresAt)
        // No event reports the expiry. If the server reports the end first, `follow` returns and
        // `run` cancels this wait.
        try? await Task.sleep(for: max(.zero, left))
        guard !Task.isCancelled else { return }
        await service.takeOffAir(id)
        // The server's final answer may still arrive.
        try? await Task.sleep(for: RequestService.expiryGrace)
        guard !Task.isCancelled else { return }
        await service.recordUnknown(id)
    }
}
