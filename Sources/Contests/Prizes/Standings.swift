/// The points of an entry or of a player.
package struct Score: Codable, Equatable, Sendable {
    /// The maximum of points: it keeps the sums of rosters within 64 bits.
    package static let limit: Int64 = 1_000_000_000_000
    package static let valueLimit = 8

    /// The number of an entry, if entries are scored.
    package let entry: Int64?
    /// The id of a player, if players are scored.
    package let player: String?
    /// The points; `nil` removes an earlier score.
    package let points: Int64?
    package let values: [String: Value]?

    package init(entry: Int64?, player: String?, points: Int64?, values: [String: Value]?) {
        self.entry = entry
        self.player = player
        self.points = points
        self.values = values
    }

    package enum Value: Codable, Equatable, Sendable {
        case number(Int64)
        case text(String)

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }
}

/// The newest scores of all entries and players, merged from all revisions.
struct ScoreSheet: Equatable, Sendable {
    private var entries: [Int64: Score] = [:]
    /// The newest scores of players that have one.
    private(set) var players: [String: Score] = [:]

    /// - Parameter revisions: The scores of each revision, in the order of their numbers.
    init(_ revisions: [[Score]]) {
        for scores in revisions {
            for score in scores { add(score) }
        }
    }

    private mutating func add(_ score: Score) {
        let kept = score.points == nil ? nil : score
        if let entry = score.entry { entries[entry] = kept }
        if let player = score.player { players[player] = kept }
    }

    /// Returns the result of an entry; `nil` without points.
    func result(of entry: ContestEntry, _ terms: ContestTerms) -> Standing.Result? {
        let scores: [Score]
        switch terms.scoredBy {
        case .entry: scores = entries[entry.number].map { [$0] } ?? []
        case .rosterSum: scores = entry.roster.compactMap { players[$0] }
        }
        guard !scores.isEmpty else { return nil }
        let points = scores.reduce(0) { $0 + ($1.points ?? 0) }
        guard terms.scoredBy == .rosterSum else {
            return Standing.Result(points: points, values: scores[0].values ?? [:])
        }
        var sums: [String: Int64] = [:]
        for (key, value) in scores.flatMap({ $0.values ?? [:] }) {
            if case .number(let number) = value { sums[key, default: 0] += number }
        }
        return Standing.Result(points: points, values: sums.mapValues(Score.Value.number))
    }
}

/// The standing of one entry.
package struct Standing: Equatable, Sendable {
    package let entry: ContestEntry
    package let result: Result?
    /// The rank from 1; equal results share the better one (1, 2, 2, 4). `nil` without a score.
    package let rank: Int64?
    /// The number of the tier that its rank is in, from 1.
    package let tier: Int?

    /// Returns the standing of an entry before the first scores.
    package static func unscored(_ entry: ContestEntry) -> Standing {
        Standing(entry: entry, result: nil, rank: nil, tier: nil)
    }

    package struct Result: Equatable, Sendable {
        package let points: Int64
        package let values: [String: Score.Value]

        package init(points: Int64, values: [String: Score.Value]) {
            self.points = points
            self.values = values
        }
    }
}

extension Standing {
    /// Ranks entries by their points, then by the tie-breaks; unscored ones come last.
    static func ranked(
        _ entries: [ContestEntry],
        by sheet: ScoreSheet,
        _ terms: ContestTerms
    ) -> [Standing] {
        let results = entries.map { (entry: $0, result: sheet.result(of: $0, terms)) }
        let scored =
            results.compactMap { entry, result in
                result.map { (entry: entry, result: $0, key: sortKey($0, terms)) }
            }
            .sorted { isBefore($0.key, $1.key) ?? ($0.entry.number < $1.entry.number) }
        var standings: [Standing] = []
        standings.reserveCapacity(entries.count)
        var rank: Int64 = 0
        for (index, place) in scored.enumerated() {
            if index == 0 || isBefore(scored[index - 1].key, place.key) != nil {
                rank = Int64(index + 1)
            }
            let tier = terms.tiers.firstIndex { $0.rankMin <= rank && rank <= $0.rankMax }
            standings.append(
                Standing(
                    entry: place.entry,
                    result: place.result,
                    rank: rank,
                    tier: tier.map { $0 + 1 }
                )
            )
        }
        for (entry, result) in results.sorted(by: { $0.entry.number < $1.entry.number })
        where result == nil {
            standings.append(.unscored(entry))
        }
        return standings
    }

    /// Returns the sort key of a result, smallest first; a missing value comes last.
    private static func sortKey(_ result: Result, _ terms: ContestTerms) -> [Int64] {
        [terms.wins == .high ? -result.points : result.points]
            + terms.tieBreaks.map { tieBreak in
                guard case .number(let number)? = result.values[tieBreak.key] else { return .max }
                return tieBreak.wins == .high ? -number : number
            }
    }

    /// Returns true if the first key is smaller; `nil` if the keys are equal.
    private static func isBefore(_ first: [Int64], _ second: [Int64]) -> Bool? {
        first == second ? nil : first.lexicographicallyPrecedes(second)
    }
}
