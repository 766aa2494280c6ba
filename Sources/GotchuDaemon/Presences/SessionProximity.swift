import GotchuCore

/// The part of the presences that a payment needs.
protocol SessionProximity: Sendable {
    /// Makes the radio listen, and returns once everything near should have been heard.
    func listenForPresences() async
    /// The verdict on one EID at this moment; `nil` if it is not heard.
    func verdict(on eid: EID) -> Verdict?
    /// The verdict on a session at this moment, by whichever of its EIDs is heard best.
    func verdict(on session: SessionID) -> Verdict?
    /// The time since which an EID has been heard at a near level; `nil` if it was not.
    func nearSince(_ eid: EID) -> MonotonicTime?
    /// Records that a session was paid: its EIDs no longer stand for a session.
    func end(_ session: SessionID)
}

extension PresenceService: SessionProximity {}
