import Synchronization

/// Where a radio tells what it notices: to one listener, at once, on the thread that noticed it.
///
/// Nothing waits here, so nothing is lost here: a listener that is slow holds up the reading, and
/// what the kernel and the bus then drop, they count.
package final class RadioEvents: Sendable {
    /// Must not block and must not call the radio.
    package typealias Listener = @Sendable (RadioEvent) -> Void

    private struct Telling {
        var listener: Listener?
        var newest: RadioState?
    }

    private let telling = Mutex(Telling())

    package init() {}

    /// Begins to listen, in the place of whoever did before: the newest state comes first.
    package func listen(_ listener: @escaping Listener) {
        telling.withLock { telling in
            telling.listener = listener
            if let newest = telling.newest { listener(.stateChanged(newest)) }
        }
    }

    /// Tells an event, in the order of the calls.
    package func tell(_ event: RadioEvent) {
        telling.withLock { telling in
            if case .stateChanged(let new) = event { telling.newest = new }
            telling.listener?(event)
        }
    }
}
