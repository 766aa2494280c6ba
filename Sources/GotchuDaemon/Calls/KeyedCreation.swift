import GotchuAPI
import GotchuCore
import LocalAPI

/// What is made at somebody's wish, once for each key, however often the call is repeated.
protocol KeyedCreation: Actor {
    associatedtype Wish: Encodable & Sendable
    associatedtype View: Sendable

    /// Those that are being answered.
    var calls: CallsUnderWay { get set }

    /// Refuses what nobody can make.
    static func validate(_ new: Wish) throws(Problem)

    /// What is remembered of a key: its call, and what that made, as it now stands.
    func made(under key: IdempotencyKey) -> (call: IdempotentCall, view: View)?

    /// Makes it, and remembers by which call; returns once both are on the disk.
    func make(_ new: Wish, call: IdempotentCall?) async throws(Problem) -> View
}

extension KeyedCreation {
    /// Makes what is wished.
    ///
    /// - Parameter key: Of a call that may be repeated. A repeat gets what the first one made, as
    ///   it then stands, and makes no second one.
    func create(_ new: Wish, key: IdempotencyKey?) async throws(Problem) -> Created<View> {
        try Self.validate(new)
        guard let key else { return Created(try await make(new, call: nil), isReplay: false) }
        let call = IdempotentCall(key: key, new)
        while let running = calls.call(of: key) {
            try call.requireSame(running)
            await withCheckedContinuation { calls.wait(for: key, $0) }
        }
        if let known = made(under: key) {
            try call.requireSame(known.call)
            return Created(known.view, isReplay: true)
        }
        calls.begin(call)
        defer { calls.end(key) }
        return Created(try await make(new, call: call), isReplay: false)
    }
}
