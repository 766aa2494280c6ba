import GotchuAPI
import GotchuCore
import LocalAPI

/// An actor that creates one record for each key, even if the call is repeated.
protocol IdempotentCreation: Actor {
    associatedtype Input: Encodable & Sendable
    associatedtype View: Sendable

    /// The calls in progress that have a key. The number of the socket's connections limits them.
    var inFlight: [IdempotencyKey: InFlightCall] { get set }

    /// Refuses input that can never be accepted.
    static func validate(_ new: Input) throws(Problem)

    /// Returns the stored call of a key, and the current state of the record that it created.
    func created(under key: IdempotencyKey) -> (call: IdempotentCall, view: View)?

    /// Creates a record that stores its call; returns once both are on disk.
    func make(_ new: Input, call: IdempotentCall?) async throws(Problem) -> View
}

/// A call with a key that is in progress; its replays wait for the lock.
struct InFlightCall {
    let call: IdempotentCall
    let lock: AsyncLock
}

extension IdempotentCreation {
    /// Creates a record.
    ///
    /// - Parameter key: The idempotency key of a call that may be repeated. A replay creates
    ///   nothing; its reply is the current state of the first call's record.
    func create(_ new: Input, key: IdempotencyKey?) async throws(Problem) -> Created<View> {
        try Self.validate(new)
        guard let key else { return Created(try await make(new, call: nil), isReplay: false) }
        let call = IdempotentCall(key: key, new)
        while let earlier = inFlight[key] {
            try call.requireSame(earlier.call)
            await earlier.lock.lock()
            earlier.lock.unlock()
        }
        if let known = created(under: key) {
            try call.requireSame(known.call)
            return Created(known.view, isReplay: true)
        }
        let lock = AsyncLock()
        inFlight[key] = InFlightCall(call: call, lock: lock)
        await lock.lock()
        defer {
            inFlight[key] = nil
            lock.unlock()
        }
        return Created(try await make(new, call: call), isReplay: false)
    }
}
