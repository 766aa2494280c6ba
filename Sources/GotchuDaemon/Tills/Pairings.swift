import GotchuAPI
import GotchuCore

/// The pages that show a code and wait to be paired. A pure value: the time is passed in.
struct Pairings {
    static let codeLifetime: Duration = .seconds(120)
    /// The maximum number of pages in pairing.
    static let pendingLimit = 3
    /// The number of wrong codes after which all codes are void. At most three of a million codes
    /// are valid at a time, so five guesses succeed once in about 66,000 rounds.
    static let wrongLimit = 5

    /// The result for a code that a person has typed.
    enum Approval: Equatable {
        case approved
        /// No page shows the code. After `left` more wrong codes, all codes are void.
        case wrong(left: Int)
        /// The number of wrong codes has reached the limit. The pages need new codes.
        case voided
    }

    /// The state of a pairing, as returned to its page.
    enum Outcome: Equatable {
        case waiting
        case approved(NewPairing)
        case expired
    }

    private struct Pending {
        let code: String
        let ticket: String
        let expiresAt: MonotonicTime
        var grant: NewPairing?
    }

    private var pending: [Pending] = []
    private var wrong = 0

    /// Begins a pairing.
    ///
    /// - Parameter ticket: The hash of the page's secret.
    /// - Returns: The code that the page shows; `nil` if `pendingLimit` pages wait already.
    mutating func begin(
        ticket: String,
        at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> String? {
        removeExpired(at: now)
        guard pending.count < Self.pendingLimit else { return nil }
        var code: String
        repeat {
            code = String(String(Int.random(in: 1_000_000..<2_000_000, using: &random)).dropFirst())
        } while pending.contains { $0.code == code }
        pending.append(
            Pending(code: code, ticket: ticket, expiresAt: now + Self.codeLifetime, grant: nil)
        )
        return code
    }

    /// Approves the page that shows a code. Each code can be used once.
    mutating func approve(_ code: String, as grant: NewPairing, at now: MonotonicTime) -> Approval {
        removeExpired(at: now)
        if let index = pending.firstIndex(where: { $0.code == code && $0.grant == nil }) {
            pending[index].grant = grant
            wrong = 0
            return .approved
        }
        wrong += 1
        guard wrong >= Self.wrongLimit else { return .wrong(left: Self.wrongLimit - wrong) }
        wrong = 0
        pending.removeAll { $0.grant == nil }
        return .voided
    }

    /// Returns a page's outcome. An approval is returned only once.
    mutating func outcome(of ticket: String, at now: MonotonicTime) -> Outcome {
        removeExpired(at: now)
        guard let index = pending.firstIndex(where: { $0.ticket == ticket }) else {
            return .expired
        }
        guard let grant = pending[index].grant else { return .waiting }
        pending.remove(at: index)
        return .approved(grant)
    }

    /// Returns true if a page was approved under a name but has not fetched its outcome yet.
    func isNameTaken(_ name: String) -> Bool { pending.contains { $0.grant?.name == name } }

    private mutating func removeExpired(at now: MonotonicTime) {
        pending.removeAll { $0.expiresAt <= now }
    }
}
