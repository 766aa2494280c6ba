internal import GotchuCore

/// The rule for the players that an entrant chooses.
package struct RosterRule: Codable, Equatable, Sendable {
    package static let sizeLimit = 50
    private static let playerLimit = 500

    /// The number of players in a roster.
    package let size: Int
    /// The position of each roster place; empty if any player may take any place.
    package let positions: [String]
    /// The maximum total salary of the players, in the template's own units.
    package let salaryCap: Int64?
    package let players: [Player]

    package struct Player: Codable, Equatable, Sendable {
        /// A UUID.
        package let id: String
        package let name: String
        package let position: String
        package let salary: Int64
    }

    /// A violation of the rule.
    package enum Violation: Equatable, Sendable {
        case size(Int)
        case unknownPlayer(String)
        case twice(String)
        /// The roster has too few players of this position.
        case position(String)
        case overCap(Int64)
    }

    /// The reason why the rule is invalid; `nil` if it is valid.
    var violation: String? {
        guard (1...Self.sizeLimit).contains(size) else {
            return "a roster's size must be from 1 to \(Self.sizeLimit)."
        }
        guard positions.isEmpty || positions.count == size else {
            return "positions must name one for each of the roster's places, or none."
        }
        guard (size...Self.playerLimit).contains(players.count) else {
            return "there must be enough players for a roster, and \(Self.playerLimit) at most."
        }
        guard Set(players.map(\.id)).count == players.count,
            players.allSatisfy({ $0.id.isUUID })
        else { return "each player must have a UUID of their own." }
        let texts = players.flatMap { [$0.name, $0.position] } + positions
        guard texts.allSatisfy({ (1...100).contains($0.unicodeScalars.count) }) else {
            return "names and positions must have 1 to 100 characters."
        }
        let salaries = players.map(\.salary) + (salaryCap.map { [$0] } ?? [])
        guard salaries.allSatisfy({ (0...1_000_000_000_000).contains($0) }) else {
            return "salaries must be from 0 to 1000000000000."
        }
        return nil
    }

    /// Checks a roster against the rule.
    ///
    /// - Parameter roster: The ids of the players.
    /// - Returns: The first violation; `nil` if there is none.
    package func violation(in roster: [String]) -> Violation? {
        guard roster.count == size else { return .size(roster.count) }
        let known = Dictionary(uniqueKeysWithValues: players.map { ($0.id, $0) })
        var chosen: [Player] = []
        var seen: Set<String> = []
        for id in roster {
            guard let player = known[id] else { return .unknownPlayer(id) }
            guard seen.insert(id).inserted else { return .twice(id) }
            chosen.append(player)
        }
        let counts = Dictionary(chosen.map { ($0.position, 1) }, uniquingKeysWith: +)
        let needed = Dictionary(positions.map { ($0, 1) }, uniquingKeysWith: +)
        for position in positions where counts[position, default: 0] < needed[position, default: 0]
        { return .position(position) }
        let cost = chosen.reduce(0) { $0 + $1.salary }
        if let salaryCap, cost > salaryCap { return .overCap(cost) }
        return nil
    }
}
