import GotchuCore
import LocalAPI

extension LocalClient {
    /// For how long a call is repeated whose answer was lost.
    static let repeatLimit: Duration = .seconds(15)
    private static let repeatPause: Duration = .milliseconds(250)

    /// Makes a call that its key keeps from being done twice, again if the daemon went away before
    /// it had answered.
    ///
    /// The first failure to reach a daemon is thrown at once: then nothing was asked for.
    func repeating<Reply: Sendable>(
        _ call: (IdempotencyKey) async throws -> Reply
    ) async throws -> Reply {
        let key = IdempotencyKey.random()
        do {
            return try await call(key)
        } catch LocalClientFailure.connectionLost {
            let end = ContinuousClock.now + Self.repeatLimit
            while true {
                do {
                    return try await call(key)
                } catch let failure as LocalClientFailure where failure.isRestart {
                    // Whatever keeps it away now, the first call may have been heeded.
                    guard ContinuousClock.now < end else {
                        throw LocalClientFailure.connectionLost
                    }
                    // gotchud restarts and nothing announces its socket; `repeatLimit` ends this.
                    try await Task.sleep(for: Self.repeatPause)
                }
            }
        }
    }
}

extension LocalClientFailure {
    /// Whether a daemon that is just starting again looks like this.
    fileprivate var isRestart: Bool {
        switch self {
        case .noSocket, .refused, .connectionLost: true
        case .permissionDenied, .pathTooLong, .timedOut, .apiMismatch, .unreadableReply, .problem,
            .system:
            false
        }
    }
}
