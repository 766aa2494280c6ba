import GotchuAPI
import GotchuCore

// Renders presentation contract 1 as text. Unknown types of sections, columns and actions are
// rendered from their data alone, so a new type of contest needs no new version of this program.

extension ContestDetail {
    var currency: Currency { payoutTable.first?.currency ?? .usd }
    var fee: Money { Money(minorUnits: entryFeeCents.value, currency: currency) }
    var feeText: String { entryFeeCents.value == 0 ? "free" : "\(fee)" }
    var title: String { display.title.quotedName }

    func action(_ id: String) -> ContestAction? { actionList.first { $0.id == id } }

    /// The confirmation question of an action, if it has one.
    func question(_ id: String) -> String? {
        action(id)?.confirm.map { "\(title): \($0.printable)" }
    }

    /// The whole contest as text for a person.
    func lines(on terminal: Terminal) -> [String] {
        var lines = [
            terminal.paint(display.title.printable, .bold),
            (organizerName.isEmpty ? "" : "by \(organizerName.printable) · ") + stateText
                + " · \(entryCount.value) of \(maxEntries.value) entered",
        ]
        if !display.description.isEmpty { lines.append(display.description.printable) }
        if let rules = display.rulesURL.value { lines.append("Rules: \(rules.printable)") }
        lines += [
            "", "Locks \(lockTime.value.dateText) · starts \(startTime.value.dateText)" + endText,
        ]
        if let entry { lines.append("You are in: entry \(entry.entryNumber.value).") }
        for section in sections { lines += [""] + section.lines(on: terminal) }
        if let objections {
            let count = objectionCount?.value ?? Int64(objections.count)
            let older = count > objections.count ? " (\(count), the newest here)" : ""
            lines += ["", terminal.paint("Objections", .bold) + older]
            lines += objections.map { objection in
                "  entry \(objection.entryNumber.value), \(objection.username.quotedName): "
                    + objection.text.printable
            }
        }
        return lines + actionLines(on: terminal)
    }

    /// The state in lower case, with a note if the result is disputed.
    var stateText: String {
        let isDisputed = leaderboardState == .disputed
        return state.rawValue.lowercased() + (isDisputed ? ", disputed" : "")
    }

    /// The state in a sentence, for a person whose call it does not allow.
    var stateSentence: String {
        switch state {
        case .scheduled where status == .active: "The contest is open to entries."
        case .scheduled: "The contest is a draft, not published yet."
        case .locked: "The contest is locked, and has no scores yet."
        case .live: "The contest is being scored."
        case .complete: "The contest is complete, and not paid yet."
        case .paid: "The contest is settled, and its prizes are paid."
        case .cancelled: "The contest is cancelled."
        case .error: "The contest is stopped: its operator must look."
        }
    }

    private var endText: String { endTime.value.map { " · ends \($0.value.dateText)" } ?? "" }

    /// The possible actions with their commands, then the other actions, grouped by the reason that
    /// prevents them.
    private func actionLines(on terminal: Terminal) -> [String] {
        let possible = actionList.filter(\.enabled)
        var reasons: [(text: String, labels: [String])] = []
        for action in actionList where !action.enabled {
            let text = action.reason?.text.printable ?? "-"
            if let index = reasons.firstIndex(where: { $0.text == text }) {
                reasons[index].labels.append(action.label.printable)
            } else {
                reasons.append((text, [action.label.printable]))
            }
        }
        var lines: [String] = []
        if !possible.isEmpty {
            lines += ["", terminal.paint("Possible now", .bold)]
            lines += aligned(possible.map { ($0.label.printable, $0.command(id)) })
        }
        if !reasons.isEmpty {
            lines += ["", terminal.paint("Not possible", .bold)]
            lines += aligned(reasons.map { ($0.text, $0.labels.joined(separator: ", ")) })
        }
        return lines
    }
}

extension ContestAction {
    /// The subcommands of `gotchu-ctl contest` by action id.
    private static let verbs = [
        "join": "join", "leave": "leave", "roster": "roster", "object": "object",
        "leaderboard": "board", "settlement": "settlement", "publish": "publish", "lock": "lock",
        "score": "score", "complete": "complete", "dispute": "dispute", "settle": "settle",
        "cancel": "cancel", "delete": "delete",
    ]

    /// The command for this action, or a note that this program has none.
    fileprivate func command(_ contest: WireUUID) -> String {
        guard let verb = Self.verbs[id] else {
            return "not with this program: \(method.rawValue) \(href.printable)"
        }
        return "gotchu-ctl contest \(verb) \(contest)"
    }
}

extension ContestSection {
    /// The section as text: its title and its data. If the data cannot be shown, a note says so.
    func lines(on terminal: Terminal) -> [String] {
        let (name, known) = knownLines
        let body = known ?? data.genericLines
        let heading = title?.printable ?? name ?? type.printable
        guard let body, !body.isEmpty else {
            return ["\(heading): this part cannot be shown here."]
        }
        return [terminal.paint(heading, .bold)] + body
    }

    /// The title and the lines of a section type that the contract describes. The lines are `nil`
    /// if the data has another format. Both are `nil` if the type is unknown.
    private var knownLines: (name: String?, lines: [String]?) {
        switch type {
        case "summary": ("Summary", data.summaryLines)
        case "payout_table": ("Prizes", data.prizeLines)
        case "scoring_overview": ("Scoring", data.scoringLines)
        case "roster_config": ("Roster", RosterForm(data).map { ["  " + $0.rule] })
        default: (nil, nil)
        }
    }
}

extension JSONValue {
    fileprivate var summaryLines: [String]? {
        guard let fee = text("entry_fee"), let pool = text("prize_pool"),
            let entries = text("entries")
        else { return nil }
        return aligned([("Entry fee", fee), ("Prize pool", pool), ("Entries", entries)])
    }

    fileprivate var prizeLines: [String]? {
        guard case .array(let tiers) = self else { return nil }
        var rows: [(String, String)] = []
        for tier in tiers {
            guard let rank = tier.integer("rank"), let amount = tier.text("amount")?.printable
            else {
                return nil
            }
            let last = tier.integer("rank_max") ?? rank
            rows.append((last > rank ? "\(rank)-\(last)" : "\(rank)", amount))
        }
        return aligned(rows)
    }

    fileprivate var scoringLines: [String]? {
        guard let format = text("format") else { return nil }
        let rounds = integer("rounds").map { $0 == 1 ? "1 round" : "\($0) rounds" }
        let tie = text("tie_breaker").map { "Equal points: \($0)" }
        return [format, rounds, tie].compactMap { $0.map { "  \($0)" } }
    }

    /// The rows and scalars of a section without known lines; `nil` if there are none.
    fileprivate var genericLines: [String]? {
        switch self {
        case .object(let members):
            if case .array(let rows)? = members["rows"] { return Self.rowLines(rows) }
            let rows = members.sorted { $0.key < $1.key }
                .compactMap { name, value in value.scalar.map { (name.printable, $0) } }
            return rows.isEmpty ? nil : aligned(rows)
        case .array(let elements): return Self.rowLines(elements)
        case .null, .boolean, .integer, .otherNumber, .string: return scalar.map { ["  \($0)"] }
        }
    }

    private static func rowLines(_ elements: [JSONValue]) -> [String]? {
        let rows = elements.compactMap { element -> (String, String)? in
            if let scalar = element.scalar { return (scalar, "") }
            guard case .object(let members) = element else { return nil }
            if let label = element.text("label")?.printable, let value = members["value"]?.scalar {
                return (label, value)
            }
            let scalars = members.sorted { $0.key < $1.key }
                .compactMap { name, value in value.scalar.map { "\(name.printable) \($0)" } }
            return scalars.isEmpty ? nil : (scalars.joined(separator: ", "), "")
        }
        return rows.isEmpty ? nil : aligned(rows)
    }

    /// The value as text, safe for a terminal; `nil` if it is not a scalar, or a number that is not
    /// an integer.
    var scalar: String? {
        switch self {
        case .null: "-"
        case .boolean(let value): value ? "yes" : "no"
        case .integer(let value): "\(value)"
        case .string(let text): text.printable
        case .otherNumber, .array, .object: nil
        }
    }
}

/// Indented rows of two columns; the first is as wide as its widest cell.
private func aligned(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.columns).max() ?? 0
    return rows.map { label, value in
        let padding = String(repeating: " ", count: width - label.columns)
        return value.isEmpty ? "  \(label)" : "  \(label)\(padding)  \(value)"
    }
}
