import GotchuCore

/// The keyed calls that are being answered, each with those who repeated it meanwhile and wait.
///
/// A part of an actor's state. Bounded by the socket's connections.
struct CallsUnderWay {
    private struct Entry {
        let call: IdempotentCall
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private var entries: [IdempotencyKey: Entry] = [:]

    /// The call of this key that is being answered.
    func call(of key: IdempotencyKey) -> IdempotentCall? { entries[key]?.call }

    mutating func begin(_ call: IdempotentCall) {
        precondition(entries[call.key] == nil, "a key is answered once at a time")
        entries[call.key] = Entry(call: call)
    }

    /// Resumes `continuation` when the call of this key has been answered, one way or the other.
    mutating func wait(for key: IdempotencyKey, _ continuation: CheckedContinuation<Void, Never>) {
        guard entries[key] != nil else { return continuation.resume() }
        entries[key]?.waiting.append(continuation)
    }

    mutating func end(_ key: IdempotencyKey) {
        for continuation in entries.removeValue(forKey: key)?.waiting ?? [] {
            continuation.resume()
        }
    }
}
