internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// The form for a new contest: its typed values, its HTML, and the body of the API call.
struct ContestForm: Sendable {
    /// The names of the text fields.
    private static let names = [
        "template", "title", "description", "fee", "starts", "locks", "ends", "most", "tiers",
        "rake", "prize", "review", "private",
    ]

    private var values = [
        "fee": "0", "tiers": "1 100", "rake": "0", "prize": "0",
        "review": "\(ContestTerms.defaultReviewSeconds / 60)",
    ]

    init() {}

    init(_ fields: inout FormFields) {
        values = [:]
        for name in Self.names { values[name] = fields.typed(name) }
    }

    private func text(_ name: String) -> String { values[name] ?? "" }

    // MARK: The body

    /// Builds the body of the API call that creates the contest; the call validates the values.
    ///
    /// - Throws: A problem: 400 for a field that cannot be parsed.
    func body(in zone: WebZone) throws(Problem) -> JSONFields {
        var members: [String: JSONValue] = [
            "template_id": .string(text("template")), "title": .string(text("title")),
            "description": .string(lines("description").joined(separator: " ")),
            "currency": .string(Currency.usd.rawValue),
            "entry_fee_cents": .integer(try hundredths("fee", "The entry fee")),
            "rake_bps": .integer(try hundredths("rake", "Your part")),
            "added_prize_cents": .integer(try hundredths("prize", "The added prize")),
            "starts_at": try moment("starts", zone), "locks_at": try moment("locks", zone),
            "tiers": .array(try lines("tiers").map { line throws(Problem) in try tier(line) }),
            "is_invite_only": .boolean(text("private") == "yes"),
        ]
        if !text("ends").isEmpty { members["ends_at"] = try moment("ends", zone) }
        if !text("most").isEmpty {
            members["max_entries"] = .integer(try number("most", "The number of places"))
        }
        let what = "The time for objections"
        let review = try number("review", what).multipliedReportingOverflow(by: 60)
        guard !review.overflow else { throw .invalid("\(what) is too long.") }
        members["settle_after_seconds"] = .integer(review.partialValue)
        return try JSONFields(form: members)
    }

    /// Returns the lines of a text field that are not blank.
    private func lines(_ name: String) -> [String] {
        text(name).split(whereSeparator: \.isNewline).map(String.init)
            .filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// Parses a number with two decimals into hundredths: dollars into cents, percent into basis
    /// points.
    private func hundredths(_ name: String, _ what: String) throws(Problem) -> Int64 {
        guard let amount = Money(typed: text(name), currency: .usd) else {
            throw .invalid("\(what) must be a number such as 5 or 12.50.")
        }
        return amount.minorUnits
    }

    private func number(_ name: String, _ what: String) throws(Problem) -> Int64 {
        guard let number = Int64(text(name)), number >= 0 else {
            throw .invalid("\(what) must be a whole number.")
        }
        return number
    }

    private func moment(_ name: String, _ zone: WebZone) throws(Problem) -> JSONValue {
        guard let moment = zone.moment(local: text(name)) else {
            throw .invalid("Each date needs a day and a time, such as 2026-12-04T18:00.")
        }
        return .string(moment.iso8601)
    }

    /// Parses a line such as `1 50` or `2-3 25`: a rank or a range of ranks, and the percentage of
    /// the pool for all of them together.
    private func tier(_ line: String) throws(Problem) -> JSONValue {
        let parts = line.split { " \t:%".contains($0) }
        let ranks = parts.first?.split(separator: "-").compactMap { Int64($0) } ?? []
        guard parts.count == 2, (1...2).contains(ranks.count),
            let share = Money(String(parts[1]), currency: .usd)
        else {
            throw .invalid("A line of the prizes must be such as \"1 50\" or \"2-3 25\".")
        }
        return .object([
            "rank_min": .integer(ranks[0]), "rank_max": .integer(ranks[ranks.count - 1]),
            "share_bps": .integer(share.minorUnits),
        ])
    }

    // MARK: The page

    /// Returns the panel with the form.
    ///
    /// - Parameter templates: The templates to choose from, by id and name.
    func panel(_ templates: [(id: String, name: String)], for visit: WebVisit) -> HTML {
        let options = templates.map { template -> HTML in
            let mark: HTML? = template.id == text("template") ? " selected" : nil
            return "<option value=\"\(template.id)\"\(mark)>\(template.name)</option>"
        }
        let isPrivate: HTML? = text("private") == "yes" ? " checked" : nil
        let form = visit.form(
            to: WebPath.ownContests,
            style: "stack",
            """
            \(HTML.hidden("key", IdempotencyKey.random().rawValue))
            <label>Kind<select name="template">\(options)</select></label>
            \(input("title", "Title", "required maxlength=\"80\""))
            <label>Description<textarea name="description" rows="3" maxlength="2000">\
            \(text("description"))</textarea></label>
            \(input("fee", "Entry fee in dollars; 0 for none", Self.amount))
            \(input("locks", "Entries close", Self.time))
            \(input("starts", "It starts", Self.time))
            \(input("ends", "It ends (may be left out)", "type=\"datetime-local\""))
            \(input("most", "Places (left out: as many as come)", "inputmode=\"numeric\""))
            <label>Prizes: a line for each rank or ranks, with their percent of the pool together
            <textarea name="tiers" rows="3" required>\(text("tiers"))</textarea></label>
            \(input("rake", "Your part of the fees in percent", Self.amount))
            \(input("prize", "Prize that you add, in dollars", Self.amount))
            \(input("review", "Minutes for objections before prizes are paid", Self.count))
            <label class="choice"><input type="checkbox" name="private" value="yes"\(isPrivate)>\
            Only people with the invitation may enter</label>
            <button class="main">Make a draft</button>
            """
        )
        return """
            <section class="panel narrow" id="new"><h2>A new contest</h2>\(form)
            <p class="quiet">Times are of \(visit.zone.name). The terms never change: who enters
            knows them.</p></section>
            """
    }

    private static let amount: HTML = "required inputmode=\"decimal\" maxlength=\"16\""
    private static let count: HTML = "required inputmode=\"numeric\" maxlength=\"8\""
    private static let time: HTML = "required type=\"datetime-local\""

    private func input(_ name: String, _ label: String, _ attributes: HTML) -> HTML {
        """
        <label>\(label)<input name="\(name)" value="\(text(name))" autocomplete="off" \
        \(attributes)></label>
        """
    }
}
