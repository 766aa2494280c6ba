package import GotchuCore

/// An event of a radio.
package enum RadioEvent: Sendable {
    /// One of our advertisements was heard.
    case heard(Sighting)
    /// An advertisement that is not ours was heard.
    case ignored(IgnoredReason)
    /// The radio's state changed; this is the complete new state.
    case stateChanged(RadioState)
}

/// The receiver of a radio's events. Called on the thread that delivers them, one at a time; must
/// neither block nor call the radio.
package typealias RadioListener = @Sendable (RadioEvent) -> Void
