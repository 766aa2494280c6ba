internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// The forms in which an organiser enters scores: a table with a row for each entry or player, and
/// a field for CSV lines.
struct ScoreForm: Sendable {
    /// The maximum number of fields.
    static let fieldLimit = 3_000
    private static let separator: Character = "."

    let contest: Contest
    let template: ContestTemplate
    let plan: SettlementPlan

    private var isByEntry: Bool { contest.terms.scoredBy == .entry }
    private var unit: String {
        let points = template.columns.first { $0.shows == .points }
        return points?.type == .duration ? "Milliseconds" : "Points"
    }

    private var values: [ContestTemplate.Column] { template.valueColumns }

    private struct Row {
        /// The number of an entry, or the id of a player.
        let key: String
        let name: String
        let result: Standing.Result?
    }

    private var rows: [Row] {
        guard isByEntry else {
            return (template.roster?.players ?? []).map { player in
                let score = plan.players[player.id]
                let result = score.map {
                    Standing.Result(points: $0.points ?? 0, values: $0.values ?? [:])
                }
                return Row(
                    key: player.id,
                    name: "\(player.name) · \(player.position)",
                    result: result
                )
            }
        }
        return plan.standings.sorted { $0.entry.number < $1.entry.number }.map { standing in
            Row(
                key: "\(standing.entry.number)",
                name: "\(standing.entry.number) · \(standing.entry.body.name)",
                result: standing.result
            )
        }
    }

    // MARK: The page

    func panels(for visit: WebVisit, at path: String) -> HTML {
        let base = HTML.hidden("base_revision", "\(contest.body.revision)")
        let columns =
            [("Who", "what"), (unit, "")]
            + values.map { ($0.label.text(in: .english), "") }
        let all = rows
        let lines = all.prefix(OrganizerPage.rowLimit).map(line)
        let table = visit.form(
            to: "\(path)/scores",
            "\(base)\(HTML.list(columns, lines))<p><button class=\"main\">Enter scores</button></p>"
        )
        let first = isByEntry ? "entry" : "player"
        let head = ([first, "points"] + values.map(\.key)).joined(separator: ",")
        let paste = visit.form(
            to: "\(path)/scores",
            style: "stack",
            """
            \(base)<label>Values separated by commas, semicolons or tabs. The first line is
            <code>\(head)</code>
            <textarea name="csv" rows="6" required></textarea></label>
            <button class="plain">Enter these lines</button>
            """
        )
        return """
            <section class="panel" id="scores"><h2>Scores <small>revision \
            \(contest.body.revision)</small></h2>\(lines.isEmpty ? nil : table)
            \(OrganizerPage.rest(of: all.count, "scores", " Enter the others from a file."))
            <p class="quiet">Whole numbers. An empty field removes an earlier score.
            Nothing is paid before you declare the result.</p></section>
            <section class="panel"><h2>Scores from a file</h2>\(paste)</section>
            """
    }

    private func line(_ row: Row) -> HTML {
        let points = row.result.map { "\($0.points)" } ?? ""
        let cells = values.map { column -> HTML in
            let text = Self.text(row.result?.values[column.key])
            let label = "\(column.label.text(in: .english)) of \(row.name)"
            return "<td>\(field(row.key, column.key, text, label))</td>"
        }
        return """
            <tr><td class="what"><bdi>\(row.name)</bdi></td>\
            <td>\(field(row.key, nil, points, "\(unit) of \(row.name)"))</td>\(cells)</tr>

            """
    }

    private func field(_ key: String, _ column: String?, _ text: String, _ label: String) -> HTML {
        """
        <input name="\(Self.name(key, column))" value="\(text)" aria-label="\(label)" size="9" \
        maxlength="32" autocomplete="off">
        """
    }

    private static func name(_ key: String, _ column: String?) -> String {
        column.map { "score.\(key).\($0)" } ?? "score.\(key)"
    }

    private static func text(_ value: Score.Value?) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .text(let text): text
        case nil: ""
        }
    }

    private static func value(_ text: String) -> Score.Value {
        Int64(text).map(Score.Value.number) ?? .text(text)
    }

    private static func trimmed(_ text: String) -> String {
        let rest = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
        return String(rest.reversed())
    }

    // MARK: The body

    /// Returns the scores of a form in the format of the API call: all CSV lines, or the scores of
    /// the table that were changed.
    ///
    /// - Throws: A problem: 400 for input that cannot be parsed, and for unknown rows of the table.
    func scores(_ fields: inout FormFields) throws(Problem) -> [JSONValue] {
        if let text = fields.typed("csv") {
            do throws(ScoreTable.Malformed) { return try ScoreTable(csv: text).scores } catch {
                throw .invalid(error.sentence)
            }
        }
        var typed: [String: (points: String, values: [String: String])] = [:]
        for name in fields.names where name.hasPrefix("score.") {
            let parts = name.split(separator: Self.separator).map(String.init)
            let text = Self.trimmed(fields.typed(name) ?? "")
            guard (2...3).contains(parts.count) else { throw .invalid("There is no such score.") }
            var row = typed[parts[1]] ?? ("", [:])
            if parts.count == 2 { row.points = text } else { row.values[parts[2]] = text }
            typed[parts[1]] = row
        }
        var scores: [JSONValue] = []
        for row in rows {
            guard let new = typed.removeValue(forKey: row.key) else { continue }
            let old = row.result
            let known = old?.values ?? [:]
            var next: [String: Score.Value] = [:]
            for (key, text) in new.values where !text.isEmpty {
                let isOld = known[key].map { Self.text($0) == text } ?? false
                next[key] = isOld ? known[key] : Self.value(text)
            }
            guard new.points != old.map({ "\($0.points)" }) ?? "" || next != known else { continue }
            scores.append(try score(of: row.key, new.points, next))
        }
        guard typed.isEmpty else {
            throw .invalid("A score is for an entry or player that is not in this contest.")
        }
        return scores
    }

    private func score(
        of key: String,
        _ points: String,
        _ values: [String: Score.Value]
    ) throws(Problem) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if isByEntry {
            guard let number = Int64(key) else {
                throw .invalid("\"\(key.prefix(40))\" is not the number of an entry.")
            }
            members["entry_number"] = .integer(number)
        } else {
            members["player_id"] = .string(key)
        }
        if points.isEmpty {
            members["points"] = .null
        } else {
            guard let number = Int64(points) else {
                throw .invalid("\"\(points.prefix(40))\" is not a whole number.")
            }
            members["points"] = .integer(number)
        }
        if !values.isEmpty {
            members["values"] = .object(
                values.mapValues { value in
                    switch value {
                    case .number(let number): .integer(number)
                    case .text(let text): .string(text)
                    }
                }
            )
        }
        return .object(members)
    }
}
