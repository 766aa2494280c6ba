internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// Everything that slows a caller down. Limits are asked before anything is decided or remembered.
struct Limits: Sendable {
    private let logins = CallerLimiter<ClientAddress>(.init(capacity: 300, perSecond: 30))
    private let resolves = CallerLimiter<ClientAddress>(.init(capacity: 400, perSecond: 200))
    private let misses = MissLimiter()
    private let users = CallerLimiter<UserID>(.init(capacity: 300, perSecond: 50))

    func allowLogin(from client: ClientAddress) throws {
        try check(logins.take(for: client), "Too many logins from this address.")
    }

    func allowResolve(from client: ClientAddress) throws {
        try check(resolves.take(for: client), "Too many questions from this address.")
        try check(misses.wait(for: client), "Too many unknown EIDs were asked for.")
    }

    /// Counts an EID that turned out to be unknown.
    func missed(by client: ClientAddress) {
        misses.missed(client)
    }

    /// For calls that a user cannot make without burdening the writer or holding a connection.
    func allowCall(by user: UserID) throws {
        try check(users.take(for: user), "Too many calls by this user.")
    }

    private func check(_ wait: Int?, _ detail: String) throws {
        if let wait { throw Problem(.rateLimited, detail: detail).retry(after: wait) }
    }
}
