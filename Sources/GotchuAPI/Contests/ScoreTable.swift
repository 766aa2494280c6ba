package import GotchuCore

/// Scores as an organiser writes them, converted to the server's format.
package struct ScoreTable {
    /// The maximum number of scores in one call.
    private static let callLimit = 500

    /// A line or an argument that is not a score.
    package struct Malformed: Error, Equatable {
        package let sentence: String
    }

    package private(set) var scores: [JSONValue] = []

    /// The scores, split into one part for each call.
    package var parts: [[JSONValue]] {
        stride(from: 0, to: scores.count, by: Self.callLimit).map {
            Array(scores[$0..<min($0 + Self.callLimit, scores.count)])
        }
    }

    /// Parses `ENTRY=POINTS` with further values after commas: `7=42,seconds=12`.
    package init(arguments: [String]) throws(Malformed) {
        for argument in arguments {
            let pairs = argument.split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
            guard let first = pairs.first, pairs.allSatisfy({ $0.count == 2 }) else {
                throw Malformed(
                    sentence: "'\(argument.prefix(40))' is not a score: write ENTRY=POINTS."
                )
            }
            let values = pairs.dropFirst().map { ($0[0], $0[1]) }
            try add(first[0], points: first[1], values, in: argument)
        }
    }

    /// The possible titles of the first column, which identifies the entry or player.
    private static let names = ["entry", "player", "entry_number", "player_id"]

    /// Parses a table (RFC 4180). Semicolons or tabs may replace the commas. The titles are one of
    /// `names`, then `points`, then the names of further values.
    package init(csv text: String) throws(Malformed) {
        var rows = Self.rows(of: text).filter { $0 != [""] }
        guard let titles = rows.first?.map({ $0.trimmed.lowercased() }),
            titles.count >= 2, titles.allSatisfy(\.isASCII), Self.names.contains(titles[0]),
            titles[1] == "points", Set(titles).count == titles.count
        else {
            throw Malformed(
                sentence: "The table's first line must be: entry,points (or player,points), then "
                    + "the names of further values."
            )
        }
        rows.removeFirst()
        for (index, row) in rows.enumerated() {
            let place = "row \(index + 2)"
            guard row.count == titles.count else {
                throw Malformed(sentence: "The table's \(place) has \(row.count) columns.")
            }
            let values = zip(titles, row).dropFirst(2).map { ($0, $1) }
            try add(row[0].trimmed, points: row[1].trimmed, Array(values), in: place)
        }
    }

    /// - Parameter points: The points; `-` or empty text removes a score.
    private mutating func add(
        _ name: String,
        points: String,
        _ values: [(String, String)],
        in place: String
    ) throws(Malformed) {
        var members: [String: JSONValue] = [:]
        if let id = WireUUID(name.lowercased()) {
            members["player_id"] = .string(id.description)
        } else if let number = Int64(name), number > 0 {
            members["entry_number"] = .integer(number)
        } else {
            throw Malformed(
                sentence: "'\(name.prefix(40))' (\(place.prefix(40))) is neither the number of an "
                    + "entry nor the id of a player."
            )
        }
        if points == "-" || points.isEmpty {
            members["points"] = .null
        } else if let number = Int64(points) {
            members["points"] = .integer(number)
        } else {
            throw Malformed(
                sentence: "'\(points.prefix(40))' (\(place.prefix(40))) is not a whole number of "
                    + "points."
            )
        }
        let further = values.filter { !$0.1.trimmed.isEmpty }.map { name, value in
            (name, Int64(value.trimmed).map(JSONValue.integer) ?? .string(value.trimmed))
        }
        guard Set(further.map(\.0)).count == further.count else {
            throw Malformed(sentence: "A value is named twice in \(place.prefix(40)).")
        }
        if !further.isEmpty {
            members["values"] = .object(Dictionary(further) { first, _ in first })
        }
        scores.append(.object(members))
    }

    /// Returns the fields of each row (RFC 4180).
    private static func rows(of text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field = ""
        var isQuoted = false
        let head = text.unicodeScalars.prefix { $0 != "\n" }
        let separator: Unicode.Scalar = head.contains("\t") ? "\t" : head.contains(";") ? ";" : ","
        // A spreadsheet may write a byte order mark first.
        var rest = Array(text.unicodeScalars.drop { $0 == "\u{FEFF}" })[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"" where isQuoted && rest.first == "\"":
                rest.removeFirst()
                field.append("\"")
            case "\"" where isQuoted || field.isEmpty: isQuoted.toggle()
            case separator where !isQuoted:
                row.append(field)
                field = ""
            case "\n" where !isQuoted:
                rows.append(row + [field])
                (row, field) = ([], "")
            // Elsewhere it stays: without it, two runs of combining marks would become a long one.
            case "\r" where !isQuoted && (rest.isEmpty || rest.first == "\n"): break
            default: field.unicodeScalars.append(scalar)
            }
        }
        if !field.isEmpty || !row.isEmpty { rows.append(row + [field]) }
        return rows
    }
}
