/// Lets one piece of an actor's work through at a time, where an `await` would let another in.
///
/// A part of the actor's state; served in the order of arrival.
struct Turnstile {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Returns: Whether it was free and is now taken; else `wait` for it.
    mutating func enter() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Resumes `continuation` when the turnstile is the caller's.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    mutating func leave() {
        guard !waiting.isEmpty else { return isTaken = false }
        waiting.removeFirst().resume()
    }
}
