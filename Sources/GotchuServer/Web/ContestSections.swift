internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// Renders the sections of a contest's document by the structure of their data. The type of a
/// section only selects its title, if the section has none.
struct ContestSections: Sendable {
    /// The maximum depth of nested data that is shown.
    private static let depthLimit = 3
    /// The maximum number of elements of a list that are shown.
    private static let rowLimit = 500

    let language: Language
    let zone: WebZone

    private var words: ContestPageWords { language.contestPage }

    func panel(_ section: ContestSection) -> HTML {
        let title = section.title ?? words.title(of: section.type)
        let content = show(section.data, 0) ?? "<p class=\"quiet\">\(words.cannotShow)</p>"
        return "<section class=\"panel\"><h2><bdi>\(title)</bdi></h2>\(content)</section>\n"
    }

    /// Returns the HTML of a value; `nil` if there is nothing to show.
    private func show(_ value: JSONValue, _ depth: Int) -> HTML? {
        guard depth <= Self.depthLimit else { return nil }
        switch value {
        case .null, .otherNumber: return nil
        case .boolean, .integer, .string: return scalar(value).map { "<p>\($0)</p>" }
        case .object(let members): return show(members, depth)
        case .array(let elements): return list(elements, depth)
        }
    }

    private func show(_ members: [String: JSONValue], _ depth: Int) -> HTML? {
        let keys = words.ordered(Self.shownKeys(of: members))
        let facts = keys.compactMap { key -> HTML? in
            guard let value = members[key].flatMap(scalar) else { return nil }
            return "<dt>\(words.name(of: key))</dt><dd>\(value)</dd>"
        }
        let parts = keys.compactMap { key -> HTML? in
            guard let value = members[key], scalar(value) == nil,
                let part = show(value, depth + 1)
            else { return nil }
            // The rows of a section are its content and get no heading.
            return key == "rows" ? part : "<h3>\(words.name(of: key))</h3>\(part)"
        }
        guard !facts.isEmpty || !parts.isEmpty else { return nil }
        return "\(facts.isEmpty ? nil : "<dl>\(facts)</dl>")\(parts)"
    }

    /// Returns the keys to show. Ids and the currency are left out, and so are amounts in cents if
    /// the members also contain them as text.
    private static func shownKeys(of members: [String: JSONValue]) -> [String] {
        members.keys.filter { key in
            let isDoubled = key.hasSuffix("_cents") && members[String(key.dropLast(6))] != nil
            return !isDoubled && key != "currency" && key != "id" && !key.hasSuffix("_id")
        }
    }

    private func list(_ elements: [JSONValue], _ depth: Int) -> HTML? {
        let rows = elements.prefix(Self.rowLimit).compactMap { element in
            if case .object(let members) = element { members } else { nil }
        }
        guard !rows.isEmpty else {
            let texts = elements.prefix(Self.rowLimit).compactMap(scalar)
            return texts.isEmpty ? nil : "<ul>\(texts.map { "<li>\($0)</li>" as HTML })</ul>"
        }
        if rows.allSatisfy({ Set($0.keys) == ["label", "value"] }) {
            let facts = rows.map { row -> HTML in
                let (label, value) = (row["label"].flatMap(scalar), row["value"].flatMap(scalar))
                return "<dt>\(label)</dt><dd>\(value)</dd>"
            }
            return "<dl>\(facts)</dl>"
        }
        let names = words.ordered(Set(rows.flatMap(Self.shownKeys)))
            .filter { key in rows.contains { $0[key].flatMap(scalar) != nil } }
        guard !names.isEmpty else { return nil }
        let lines = rows.map { row -> HTML in
            let cells = names.map { key -> HTML in
                let value = row[key] ?? .null
                let style = key == names[0] ? "what" : Self.style(of: value)
                let label = HTML.label(words.name(of: key))
                return "<td class=\"\(style)\">\(label)\(scalar(value))</td>"
            }
            return "<tr>\(cells)</tr>"
        }
        let columns = names.map { key in
            (
                words.name(of: key),
                key == names[0] ? "what" : Self.style(of: rows[0][key] ?? .null)
            )
        }
        return HTML.list(columns, lines)
    }

    private static func style(of value: JSONValue) -> String {
        if case .integer = value { "n" } else { "what" }
    }

    /// Returns the text of a scalar value; `nil` for any other.
    private func scalar(_ value: JSONValue) -> HTML? {
        switch value {
        case .string(let text):
            Timestamp(iso8601: text).map { zone.time($0, hasFullDate: true) }
                ?? "<bdi>\(text)</bdi>"
        case .integer(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue ? words.yes : words.no)"
        case .null, .otherNumber, .array, .object: nil
        }
    }
}

/// Renders a leaderboard from its column definitions alone.
struct ContestResults: Sendable {
    let language: Language
    let board: Leaderboard
    let currency: Currency
    /// The address of the next page of rows; `nil` on the last page.
    let next: String?

    private var words: ContestPageWords { language.contestPage }

    var panel: HTML {
        let title = "<h2>\(words.results)</h2>" as HTML
        guard !board.standings.isEmpty else {
            return """
                <section class="panel" id="results">\(title)\
                <p class="quiet">\(words.noResults)</p></section>
                """
        }
        let columns = board.columns.map { column in
            (column.label, column.align == "right" ? "n" : "what")
        }
        let more = next.map { HTML.more("\($0)", words.more) }
        return """
            <section class="panel" id="results">\(title)
            \(HTML.list(columns, zip(board.rows, board.standings).map(row)))\(more)</section>
            """
    }

    private func row(_ row: [String: JSONValue], _ standing: Leaderboard.Standing) -> HTML {
        let isOwn = standing.isYou == true
        let cells = board.columns.enumerated().map { index, column -> HTML in
            let style = column.align == "right" ? "n" : "what"
            let mark: HTML? = isOwn && index == 0 ? " <b>(\(words.you))</b>" : nil
            return """
                <td class="\(style)">\(HTML.label(column.label))\
                \(cell(row[column.key] ?? .null, column))\(mark)</td>
                """
        }
        return "<tr>\(cells)</tr>"
    }

    private func cell(_ value: JSONValue, _ column: Leaderboard.Column) -> HTML {
        switch (column.type, value) {
        case ("currency", .null):
            board.state == .paid ? "–" : "<span class=\"quiet\">\(words.afterSettlement)</span>"
        case ("currency", .integer(let amount)):
            "\(language.contests.text(Money(minorUnits: amount, currency: currency)))"
        case ("duration_ms", .integer(let milliseconds)): "\(Self.clock(milliseconds))"
        case (_, .integer(let number)): "\(number)"
        case (_, .string(let text)): "<bdi>\(text)</bdi>"
        case (_, .boolean(let isTrue)): "\(isTrue ? words.yes : words.no)"
        case (_, .null), (_, .otherNumber), (_, .array), (_, .object): "–"
        }
    }

    /// Formats a duration: `1:02:03.450` or `19:41.200`.
    static func clock(_ milliseconds: Int64) -> String {
        let (all, rest) = Int64(clamping: milliseconds.magnitude)
            .quotientAndRemainder(dividingBy: 1000)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (all / 3600, all / 60 % 60)
        let start = hours > 0 ? "\(hours):\(two(minutes))" : "\(minutes)"
        let end = String(String(1000 + rest).dropFirst())
        return "\(milliseconds < 0 ? "\u{2212}" : "")\(start):\(two(all % 60)).\(end)"
    }
}
