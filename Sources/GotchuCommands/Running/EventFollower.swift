import GotchuAPI
import LocalAPI

/// Reads the daemon's events across its restarts.
struct EventFollower: Sendable {
    /// The pause before the daemon is tried again.
    static let retryInterval = Duration.milliseconds(500)

    let client: LocalClient
    let output: Output
    /// A Boolean that is true if the daemon may be absent at first, as when the machine boots.
    var toleratesAbsence = false
    /// A Boolean that is true if the daemon has just answered: then its absence is a restart.
    var wasReached = false
    /// A Boolean that is true to receive sessions too; the daemon listens meanwhile.
    var needsSessions = false
    /// A Boolean that is true if missed events matter: then a `lagged` reader connects again for a
    /// snapshot.
    var needsEverything = true

    /// Calls `handle` with each event until it returns a value.
    ///
    /// While the daemon is away the connection is tried again, for ever: a caller sets its own time
    /// limit.
    /// - Throws: Errors of `handle`, and failures that waiting cannot mend.
    func follow<Result: Sendable>(
        _ handle: (Event) async throws -> Result?
    ) async throws -> Result {
        var isKnownAbsent = toleratesAbsence
        var wasConnected = wasReached
        while true {
            do {
                let result: Result? = try await client.withEvents(sessions: needsSessions) {
                    events in
                    if isKnownAbsent, wasConnected { output.talk("gotchud is back.") }
                    isKnownAbsent = false
                    wasConnected = true
                    while let event = try await events.next() {
                        if case .lagged = event, needsEverything { return nil }
                        if let result = try await handle(event) { return result }
                    }
                    return nil
                }
                if let result { return result }
            } catch let failure as LocalClientFailure
                where (failure.isAbsence && (wasConnected || toleratesAbsence))
                || (failure.isClosed && wasConnected)
            {
                if !isKnownAbsent {
                    output.talk("gotchud has gone away; waiting for it to come back …")
                }
                isKnownAbsent = true
                // There is no notification that gotchud has its socket again; Ctrl-C cancels this.
                try await Task.sleep(for: Self.retryInterval)
            }
        }
    }
}

extension LocalClientFailure {
    /// True if this user may not open the socket. A new socket is accessible to the daemon alone,
    /// and opened to others a moment later.
    var isClosed: Bool {
        if case .permissionDenied = self { true } else { false }
    }

    /// A Boolean that is true if the daemon is only absent, so that waiting may help.
    var isAbsence: Bool {
        switch self {
        case .noSocket, .refused, .connectionLost, .timedOut: true
        case .permissionDenied, .foreignListener, .pathTooLong, .apiMismatch, .unreadableReply,
            .problem, .system:
            false
        }
    }
}
