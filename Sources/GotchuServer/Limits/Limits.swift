internal import GotchuAPI
internal import Hummingbird

/// Everything that slows a caller down. Limits are asked before anything is decided or remembered.
struct Limits: Sendable {
    private let logins = AddressLimiter(.init(capacity: 300, perSecond: 30))
    private let resolves = AddressLimiter(.init(capacity: 400, perSecond: 200))
    private let misses = MissBudget()

    func allowLogin(from client: ClientAddress) throws {
        try check(logins.take(for: client), "Too many logins from this address.")
    }

    func allowResolve(from client: ClientAddress) throws {
        try check(resolves.take(for: client), "Too many questions from this address.")
    }

    /// Asked only once an EID has turned out to be unknown.
    func allowMiss() throws {
        try check(misses.take(), "Too many unknown EIDs were asked for.")
    }

    private func check(_ wait: Int?, _ detail: String) throws {
        if let wait { throw Problem(.rateLimited, detail: detail).retry(after: wait) }
    }
}
