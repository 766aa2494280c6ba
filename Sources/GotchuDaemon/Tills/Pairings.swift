import GotchuAPI
import GotchuCore

/// The pages that show a code and wait to be paired. A pure value: the time is passed in.
struct Pairings {
    static let codeLifetime: Duration = .seconds(120)
    /// The maximum number of pages in pairing. Above it, no page of any user can begin.
    static let pendingLimit = 24
    /// The maximum of one user, who cannot use up the places of the others.
    static let userLimit = 3
    /// The maximum number of wrong codes that a user can type within `codeLifetime`. At most 24 of
    /// a million codes are valid at a time, so five guesses succeed once in about 8,000 rounds.
    static let wrongLimit = 5

    /// The result for a code that a person has typed.
    enum Approval: Equatable {
        case approved
        /// No page shows the code. After `left` more wrong codes, the user must wait.
        case wrong(left: Int)
        /// The user has typed too many wrong codes. The codes of the pages stay valid.
        case blocked
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
        let userID: UInt32
        let expiresAt: MonotonicTime
        var grant: NewPairing?
    }

    private var pending: [Pending] = []
    /// The times of the wrong codes of each user within the last `codeLifetime`.
    private var wrong: [UInt32: [MonotonicTime]] = [:]

    /// Begins a pairing.
    ///
    /// - Parameters:
    ///   - ticket: The hash of the page's secret.
    ///   - userID: The user whose browser shows the page.
    /// - Returns: The code that the page shows; `nil` if too many pages wait already.
    mutating func begin(
        ticket: String,
        by userID: UInt32,
        at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> String? {
        removeExpired(at: now)
        guard pending.count < Self.pendingLimit,
            pending.count(where: { $0.userID == userID }) < Self.userLimit
        else { return nil }
        var code: String
        repeat {
            code = String(String(Int.random(in: 1_000_000..<2_000_000, using: &random)).dropFirst())
        } while pending.contains { $0.code == code }
        pending.append(
            Pending(
                code: code,
                ticket: ticket,
                userID: userID,
                expiresAt: now + Self.codeLifetime,
                grant: nil
            )
        )
        return code
    }

    /// Approves the page that shows a code. Each code can be used once.
    ///
    /// - Parameter userID: The user who has typed the code.
    mutating func approve(
        _ code: String,
        as grant: NewPairing,
        by userID: UInt32,
        at now: MonotonicTime
    ) -> Approval {
        removeExpired(at: now)
        let count = wrong[userID, default: []].count
        guard count < Self.wrongLimit else { return .blocked }
        if let index = pending.firstIndex(where: { $0.code == code && $0.grant == nil }) {
            pending[index].grant = grant
            return .approved
        }
        wrong[userID, default: []].append(now)
        return .wrong(left: Self.wrongLimit - count - 1)
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
        wrong = wrong.compactMapValues { times in
            let recent = times.filter { $0 + Self.codeLifetime > now }
            return recent.isEmpty ? nil : recent
        }
    }
}
