package import GotchuCore

/// One thing that a radio noticed.
package enum RadioEvent: Sendable {
    /// One of our advertisements was heard.
    case heard(Sighting)
    /// An advertisement near ours in shape was heard and is not ours.
    case ignored(StrangerReason)
    /// The radio's own state changed; the new state in full.
    case stateChanged(RadioState)
}

/// The receiver of a radio's events. Called on the thread that notices, one event after the other;
/// must neither block nor call the radio.
package typealias RadioListener = @Sendable (RadioEvent) -> Void
