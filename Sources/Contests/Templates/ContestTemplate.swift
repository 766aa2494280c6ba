package import GotchuCore

/// A contest type: its texts, colours, sections, columns and rules. Never changed once written: it
/// may be read outside the ledger's decisions.
package struct ContestTemplate: Codable, Equatable, Sendable {
    /// The stored name of its kind of record.
    package static let kind = "contest-template"

    /// A UUID.
    package let id: String
    /// The type's identifier, for people who group contests; no code depends on it.
    package let type: String
    package let badge: LocalText
    /// `#rrggbb`.
    package let color: String
    package let icon: String
    /// The address of an image; in a template's file, the name of one in its folder. `nil` shows a
    /// gradient of the colour.
    var heroImage: String?
    package let rulesURL: String?
    package let scoring: Scoring
    package let columns: [Column]
    package let roster: RosterRule?
    package let sections: [Section]

    /// The rules that turn points into ranks.
    package struct Scoring: Codable, Equatable, Sendable {
        package let by: ContestTerms.ScoredBy
        let wins: ContestTerms.Direction
        package let format: LocalText
        package let rounds: Int?
        package let tieBreaker: LocalText?
        /// The columns that break ties between equal points, in order; at most 3.
        let tieBreaks: [ContestTerms.TieBreak]
    }

    /// A column of the leaderboard.
    package struct Column: Codable, Equatable, Sendable {
        package let key: String
        package let label: LocalText
        package let type: Kind
        package let shows: Content
        package let isRight: Bool?

        package enum Kind: String, Codable, Sendable {
            case number, string, currency
            case duration = "duration_ms"
        }

        package enum Content: String, Codable, Sendable {
            case rank, name, points, prize
            /// The value of the score under the column's key.
            case value
        }
    }

    /// A section that the template adds, shown as rows.
    package struct Section: Codable, Equatable, Sendable {
        package let type: String
        package let title: LocalText?
        package let rows: [Row]

        package struct Row: Codable, Equatable, Sendable {
            package let label: LocalText
            package let value: LocalText
        }
    }
}

/// A text in one language for everybody, or in several.
package enum LocalText: Codable, Equatable, Sendable {
    case plain(String)
    case byLanguage([String: String])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .plain(text)
        } else {
            self = .byLanguage(try container.decode([String: String].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .plain(let text): try container.encode(text)
        case .byLanguage(let texts): try container.encode(texts)
        }
    }

    /// Returns the text in a language, else in English, else in any language.
    package func text(in language: Language) -> String {
        switch self {
        case .plain(let text): text
        case .byLanguage(let texts):
            texts[language.rawValue] ?? texts[Language.english.rawValue]
                ?? texts.min { $0.key < $1.key }?.value ?? ""
        }
    }

    fileprivate var texts: [String] {
        switch self {
        case .plain(let text): [text]
        case .byLanguage(let texts): texts.isEmpty ? [""] : Array(texts.values)
        }
    }
}

extension ContestTemplate {
    private static let textLimit = 200
    private static let columnLimit = 12
    private static let sectionLimit = 10
    private static let rowLimit = 50

    /// The types of the built-in sections, which a template must not use.
    private static let knownSections: Set = [
        "summary", "roster_config", "scoring_overview", "payout_table",
    ]

    /// The reason why the template is invalid, as a sentence for its author; `nil` if it is valid.
    package var violation: String? {
        guard id.isUUID else { return "id must be a UUID in lower case." }
        guard Self.isWord(type) else { return "type must be a word of a–z, 0–9 and _." }
        guard Self.isColor(color) else { return "color must be # and six hex digits." }
        let paths = [heroImage, rulesURL].compactMap(\.self)
        guard paths.allSatisfy(Self.isAddress) else {
            return "heroImage and rulesURL must be addresses: /… or https://…, without spaces."
        }
        guard texts.allSatisfy({ (1...Self.textLimit).contains($0.unicodeScalars.count) }) else {
            return "each text must have 1 to \(Self.textLimit) characters."
        }
        return scoringViolation ?? columnViolation ?? sectionViolation ?? roster?.violation
    }

    /// The columns for the values that scores have in addition to points.
    package var valueColumns: [Column] { columns.filter { $0.shows == .value } }

    /// Returns the reason why a score must not have these values; `nil` if it may. Values must have
    /// a column, and be numbers where a column shows a number or breaks ties.
    package func violation(inValues values: [String: Score.Value]) -> String? {
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let column = valueColumns.first(where: { $0.key == key }) else {
                let keys = valueColumns.map(\.key).joined(separator: ", ")
                return "\(key.prefix(32)) is no value of this contest's scores: "
                    + (keys.isEmpty ? "they have points alone." : "they may have \(keys).")
            }
            let isDeciding = scoring.tieBreaks.contains { $0.key == key }
            if case .text = value, isDeciding || column.type != .string {
                return "\(key) must be a whole number."
            }
        }
        return nil
    }

    private var texts: [String] {
        let sections = sections.flatMap { section in
            (section.title.map { [$0] } ?? []) + section.rows.flatMap { [$0.label, $0.value] }
        }
        let scoring = [scoring.format] + (scoring.tieBreaker.map { [$0] } ?? [])
        let all = [badge] + scoring + columns.map(\.label) + sections
        return all.flatMap(\.texts) + [icon]
    }

    private var scoringViolation: String? {
        let keys = scoring.tieBreaks.map(\.key)
        guard keys.count <= ContestTerms.tieBreakLimit, Set(keys).count == keys.count else {
            return "tieBreaks may name \(ContestTerms.tieBreakLimit) columns, each once."
        }
        guard keys.allSatisfy(Self.isWord) else { return "a tie-break's key must be a word." }
        guard (scoring.by == .rosterSum) == (roster != nil) else {
            return "a roster rule goes with scoring by roster_sum, and only with it."
        }
        guard scoring.rounds.map({ (1...1000).contains($0) }) ?? true else {
            return "rounds must be from 1 to 1000."
        }
        return nil
    }

    private var columnViolation: String? {
        let keys = columns.map(\.key)
        guard (1...Self.columnLimit).contains(keys.count), Set(keys).count == keys.count,
            keys.allSatisfy(Self.isWord)
        else { return "there must be 1 to \(Self.columnLimit) columns with keys of their own." }
        guard columns.allSatisfy({ ($0.shows == .prize) == ($0.type == .currency) }) else {
            return "a column of currency shows the prize, and no other does."
        }
        return nil
    }

    private var sectionViolation: String? {
        guard sections.count <= Self.sectionLimit else {
            return "there may be \(Self.sectionLimit) sections."
        }
        for section in sections {
            guard Self.isWord(section.type), !Self.knownSections.contains(section.type) else {
                return "a section's type must be a word that no other section has."
            }
            guard section.rows.count <= Self.rowLimit else {
                return "a section may have \(Self.rowLimit) rows."
            }
        }
        return nil
    }

    private static func isWord(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && ("a"..."z").contains(text.prefix(1))
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.hasPrefix("#")
            && text.dropFirst().allSatisfy { "0123456789abcdef".contains($0) }
    }

    /// The address of its image.
    package var imagePath: String {
        heroImage ?? TemplateImage.folder + TemplateImage.gradientName(of: color)
    }

    static func isAddress(_ text: String) -> Bool {
        (text.hasPrefix("/") && !text.hasPrefix("//") || text.hasPrefix("https://"))
            && text.utf8.count <= 500
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    }
}
