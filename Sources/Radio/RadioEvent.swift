package import GotchuCore

/// What a radio noticed.
package enum RadioEvent: Sendable {
    /// One of our advertisements was heard.
    case heard(Sighting)
    /// An advertisement near ours in shape was heard and is not ours.
    case ignored(StrangerReason)
    /// The radio's own state changed; the new state in full.
    case stateChanged(RadioState)
}
