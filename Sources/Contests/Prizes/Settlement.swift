internal import Crypto
internal import GotchuCore
internal import Ledger

/// The proof of a settlement: hashes of its inputs and of its result. Both can be recomputed from
/// the rows at any time.
package struct Settlement: Codable, Equatable, Sendable {
    package let revision: Int64
    package let rules: Int64
    /// In minor units, like `rake` and `commission`.
    package let pool: Int64
    package let rake: Int64
    package let commission: Int64
    /// SHA-256 of terms, entries and score revisions, in hex.
    package let inputsHash: String
    /// SHA-256 of the payouts, in hex.
    package let resultHash: String
    /// The id of the transfer; `nil` if there was nothing to move.
    package let transfer: String?
    /// In milliseconds.
    package let settledAt: Int64
}

/// A settlement computed from a contest's rows: before it is made, and again later to verify or
/// show it.
package struct SettlementPlan: Equatable, Sendable {
    package let standings: [Standing]
    /// The newest scores of the players, by id.
    package let players: [String: Score]
    package let division: PrizeRules.Division
    package let payouts: [PrizeRules.Payout]
    package let inputsHash: String
    package let resultHash: String

    /// - Parameters:
    ///   - entries: The current entries, in the order of their numbers.
    ///   - revisions: All score revisions, in the order of their numbers.
    package init(_ terms: ContestTerms, entries: [ContestEntry], revisions: [ScoreRevision]) {
        let sheet = ScoreSheet(revisions.map(\.body.scores))
        standings = Standing.ranked(entries, by: sheet, terms)
        players = sheet.players
        division = PrizeRules.Division(terms, entries: Int64(entries.count))
        payouts = PrizeRules.payouts(of: division.pool, to: standings, terms.tiers)
        inputsHash = Self.hash(terms, entries, revisions)
        resultHash = Self.hash(division, payouts)
    }

    /// Returns the amounts paid from the pot to winners, the organiser and the house.
    func legs(of contest: Contest) -> [(account: Account.Key, amount: Int64)] {
        let currency = contest.terms.currency
        var legs: [(account: Account.Key, amount: Int64)] = payouts.map {
            (contest.account(of: $0.standing.entry.user), $0.amount)
        }
        legs.append((contest.account(of: contest.organizer), division.rake - division.commission))
        legs.append(
            (Account.Key(.houseOf(.take, contest.organizer), currency), division.commission)
        )
        legs = legs.filter { $0.amount > 0 }
        let sum = legs.reduce(0) { $0 + $1.amount }
        return sum == 0 ? [] : legs + [(contest.pot, -sum)]
    }

    private static func hash(
        _ terms: ContestTerms,
        _ entries: [ContestEntry],
        _ revisions: [ScoreRevision]
    ) -> String {
        var hash = SHA256()
        hash.update(data: CanonicalJSON.bytes(of: terms))
        for entry in entries {
            hash.update(data: Array("\n\(entry.user)\n".utf8))
            hash.update(data: CanonicalJSON.bytes(of: entry.body))
        }
        for revision in revisions {
            hash.update(data: Array("\n\(revision.hash)".utf8))
        }
        return hash.finalize().hex
    }

    private static func hash(
        _ division: PrizeRules.Division,
        _ payouts: [PrizeRules.Payout]
    ) -> String {
        var lines = ["\(division.pool) \(division.rake) \(division.commission)"]
        lines += payouts.map { payout in
            let standing = payout.standing
            return "\(standing.entry.number) \(standing.rank ?? 0) \(payout.amount)"
        }
        return sha256(lines.joined(separator: "\n"))
    }
}

/// Returns the SHA-256 of a text, in hex.
func sha256(_ text: String) -> String {
    SHA256.hash(data: Array(text.utf8)).hex
}
