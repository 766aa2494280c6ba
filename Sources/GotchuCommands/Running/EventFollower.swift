import GotchuAPI
import LocalAPI

/// Reads the daemon's events and reconnects after its restarts.
struct EventFollower: Sendable {
    /// The delay before each attempt to reconnect.
    static let retryInterval = Duration.milliseconds(500)
    static let goneText = "gotchud has gone away; waiting for it to come back …"
    static let backText = "gotchud is back."

    let client: LocalClient
    let output: Output
    /// A Boolean that is true if the daemon may be absent at first, as while the machine boots.
    var toleratesAbsence = false
    /// A Boolean that is true if the daemon has just answered. If it is absent, it is restarting.
    var wasReached = false
    /// A Boolean that is true to receive presences too. The radio then listens.
    var needsPresences = false
    /// A Boolean that is true if no event may be missed. After `lagged` the follower then
    /// reconnects to get a snapshot.
    var reconnectsAfterLag = true
    /// Called with true when the daemon has gone away, and with false when it is back.
    var absenceChanged: (@Sendable (Bool) -> Void)?

    /// Calls `handle` with each event until it returns a value.
    ///
    /// While the daemon is absent, this reconnects without a limit: the caller sets a time limit.
    /// - Throws: Errors of `handle`, and failures that waiting cannot fix. If the daemon was never
    ///   reached and `toleratesAbsence` is false, also its absence.
    func follow<Result: Sendable>(
        _ handle: (Event) async throws -> Result?
    ) async throws -> Result {
        // True if an absence needs no message.
        var isKnownAbsent = toleratesAbsence
        // True if this call has seen the absence.
        var wasAbsent = false
        var wasConnected = wasReached
        while true {
            do {
                let result: Result? = try await client.withEvents(sessions: needsPresences) {
                    events in
                    while let event = try await events.next() {
                        if wasAbsent, wasConnected { output.message(Self.backText) }
                        if wasAbsent { absenceChanged?(false) }
                        isKnownAbsent = false
                        wasAbsent = false
                        wasConnected = true
                        if case .lagged = event, reconnectsAfterLag { return nil }
                        if let result = try await handle(event) { return result }
                    }
                    return nil
                }
                if let result { return result }
            } catch let failure as LocalClientFailure
                where (failure.isDaemonUnavailable && (wasConnected || toleratesAbsence))
                || (failure.isPermissionDenied && wasConnected)
            {
                // Before the message: the frame below it then shows the absence too.
                absenceChanged?(true)
                if !isKnownAbsent { output.message(Self.goneText) }
                isKnownAbsent = true
                wasAbsent = true
                // No event reports gotchud's socket after a restart: poll. Ctrl-C cancels this.
                try await Task.sleep(for: Self.retryInterval)
            }
        }
    }
}

extension LocalClientFailure {
    /// A Boolean that is true if this user may not open the socket. During a restart this is
    /// temporary: the daemon creates its socket first, and opens it to other users a moment later.
    var isPermissionDenied: Bool {
        if case .permissionDenied = self { true } else { false }
    }

    /// A Boolean that is true if the daemon is absent or does not answer. Waiting may then help.
    var isDaemonUnavailable: Bool {
        switch self {
        case .noSocket, .refused, .connectionLost, .timedOut: true
        case .permissionDenied, .foreignListener, .pathTooLong, .apiMismatch, .unreadableReply,
            .problem, .system:
            false
        }
    }
}
