package import GotchuCore

/// The form for a contest's roster, read only from its section `roster_config`.
package struct RosterForm {
    package struct Player {
        package let id: String
        package let name: String
        package let position: String
        package let salary: Int64
    }

    package let size: Int
    /// The position of each place; empty if any player may take any place.
    package let positions: [String]
    /// The maximum total cost of the players.
    package let cap: Int64?
    package let players: [Player]

    /// - Parameter shown: Returns a name in a form that is safe to display.
    /// - Returns: `nil` if the data has another format.
    package init?(_ data: JSONValue, _ shown: (String) -> String = { $0 }) {
        guard let size = data.integer("roster_size"), (1...50).contains(size),
            case .object(let members) = data, case .array(let positions)? = members["positions"]
        else { return nil }
        self.size = Int(size)
        self.positions = positions.compactMap { $0.text.map(shown) }
        cap = data.integer("salary_cap")
        guard case .array(let players)? = members["players"] else {
            self.players = []
            return
        }
        self.players = players.compactMap { player in
            guard let id = player.text("player_id"), let name = player.text("name") else {
                return nil
            }
            return Player(
                id: id,
                name: shown(name),
                position: shown(player.text("position") ?? ""),
                salary: player.integer("salary") ?? 0
            )
        }
    }

    /// The rules in one line, for a person.
    package var rule: String {
        let places = positions.isEmpty ? "" : " (\(positions.joined(separator: ", ")))"
        let cost = cap.map { ", who may cost \($0) together" } ?? ""
        return "Choose \(size) of \(players.count) players\(places)\(cost)."
    }

    /// Returns the player by number in the list, by id, or by a name that only one player has.
    package func player(_ text: String) -> Player? {
        if let number = Int(text) {
            return players.indices.contains(number - 1) ? players[number - 1] : nil
        }
        let word = text.lowercased()
        let meant = players.filter { $0.id == word || $0.name.lowercased() == word }
        return meant.count == 1 ? meant[0] : nil
    }

    package func cost(of roster: [Player]) -> Int64 {
        roster.reduce(0) { $0 + min(max($1.salary, 0), 1_000_000_000_000) }
    }

    /// Returns the faults of a roster; empty if it can be sent.
    package func validationErrors(of roster: [Player]) -> [String] {
        var errors: [String] = []
        if roster.count < size { errors.append("\(size - roster.count) more to choose") }
        if roster.count > size { errors.append("\(roster.count - size) too many") }
        let counts = Dictionary(roster.map { ($0.id, 1) }, uniquingKeysWith: +)
        var told: Set<String> = []
        for player in roster where counts[player.id, default: 0] > 1 {
            if told.insert(player.id).inserted {
                errors.append("\(player.name) stands there twice")
            }
        }
        let chosen = Dictionary(roster.map { ($0.position, 1) }, uniquingKeysWith: +)
        let needed = Dictionary(positions.map { ($0, 1) }, uniquingKeysWith: +)
        for position in needed.keys.sorted() {
            let missing = needed[position, default: 0] - chosen[position, default: 0]
            if missing > 0 { errors.append("\(missing) more for \(position)") }
        }
        let cost = cost(of: roster)
        if let cap, cost > cap { errors.append("\(cost - cap) over the cap of \(cap)") }
        return errors
    }
}

extension JSONValue {
    /// Returns the text of a member; `nil` if it is not text.
    package func text(_ name: String) -> String? {
        if case .object(let members) = self { members[name]?.text } else { nil }
    }

    /// Returns the integer of a member; `nil` if it is not an integer.
    package func integer(_ name: String) -> Int64? {
        if case .object(let members) = self { members[name]?.integerValue } else { nil }
    }
}
