import Synchronization

/// The messages that are held while a live region is drawn. Between two frames they would stand
/// below the region, and the next frame would overwrite them.
final class HeldMessages: Sendable {
    private struct State {
        var isHolding = false
        var texts: [String] = []
    }

    private let state = Mutex(State())

    /// Holds a text if a live region is drawn; otherwise writes it.
    func hold(_ text: String, orWrite write: (String) -> Void) {
        state.withLock { state in
            if state.isHolding {
                state.texts.append(text)
            } else {
                // Written under the lock: a region that begins now is drawn below the text.
                write(text)
            }
        }
    }

    /// Holds texts from now on, because a live region begins.
    func begin() {
        state.withLock { $0.isHolding = true }
    }

    /// Returns the held texts, and forgets them.
    func take() -> [String] {
        state.withLock { state in
            defer { state.texts = [] }
            return state.texts
        }
    }

    /// Holds no more texts, because the live region has ended. Writes the held ones.
    func end(write: (String) -> Void) {
        state.withLock { state in
            state.isHolding = false
            state.texts.forEach(write)
            state.texts = []
        }
    }
}
