import GotchuCore

/// The part of the presence service that a payment needs.
protocol SessionProximity: Sendable {
    /// Makes the radio listen. Returns once all devices nearby should have been heard.
    func listenForPresences() async
    /// Returns the current verdict on one EID; `nil` if it is not heard.
    func verdict(on eid: EID) -> Verdict?
    /// Returns the current verdict on a session: that of its EID that is heard best; `nil` if none
    /// is heard.
    func verdict(on session: SessionID) -> Verdict?
    /// Asks the payment server about the strongest EIDs without an answer that are as near as a
    /// session. Returns once the verdict on the session includes the answers.
    ///
    /// - Returns: The number of such EIDs that have no answer then.
    func resolveRivals(of session: SessionID) async -> Int
    /// Returns the time at which an EID was first heard at a near level; `nil` if it was not.
    func nearSince(_ eid: EID) -> MonotonicTime?
    /// Records that a session was paid. Its EIDs count as EIDs without a session.
    func end(_ session: SessionID)
}

extension PresenceService: SessionProximity {}
