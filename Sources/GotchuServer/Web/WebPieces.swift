internal import GotchuCore
internal import Pages

/// Pieces that several pages have.
extension HTML {
    /// A state for a person: sign, word and colour each.
    ///
    /// - Parameter mood: The colour: `good`, `bad` or `back`; grey unless given.
    static func chip(_ sign: String, _ word: String, _ mood: String = "") -> HTML {
        """
        <span class="chip \(mood)"><span aria-hidden="true">\(sign)</span>\(word)</span>
        """
    }

    /// A field of a form that nobody sees.
    static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// A text with pieces in the places of its `{}`, in their order.
    static func filled(_ text: String, _ pieces: HTML...) -> HTML {
        var parts = text.split(separator: "{}", omittingEmptySubsequences: false)
        var filled = HTML(text: parts.removeFirst())
        for (part, piece) in zip(parts, pieces) { filled += "\(piece)\(part)" }
        return filled
    }

    /// A word before a cell's text, where rows are stacked and have no titles.
    static func label(_ word: String) -> HTML { "<span class=\"label\">\(word) </span>" }

    /// The link to the rest of a list.
    static func more(_ path: HTML, _ word: String) -> HTML {
        "<p class=\"more\"><a class=\"plain\" href=\"\(path)\">\(word)</a></p>"
    }

    /// Links to the same page with another selection.
    static func choice(
        _ label: String,
        _ items: [(name: String, path: String, isChosen: Bool)]
    ) -> HTML {
        let links = items.map { item -> HTML in
            let mark: HTML? = item.isChosen ? " aria-current=\"true\"" : nil
            return "<a href=\"\(item.path)\"\(mark)>\(item.name)</a>"
        }
        return "<div class=\"periods\" role=\"group\" aria-label=\"\(label)\">\(links)</div>"
    }

    /// A table whose rows are stacked on a narrow screen.
    ///
    /// - Parameters:
    ///   - columns: The title of each, and the class of its cells: `n` for numbers, `what` for
    ///     text of any length, `do` for what can be done, whose title only a screen reader says.
    ///   - caption: The table's name, for a screen reader.
    static func list(
        _ columns: [(title: String, style: String)],
        _ rows: [HTML],
        caption: String? = nil
    ) -> HTML {
        let heads = columns.map { column -> HTML in
            let title: HTML =
                column.style == "do"
                ? "<span class=\"visually-hidden\">\(column.title)</span>" : "\(column.title)"
            return "<th scope=\"col\" class=\"\(column.style)\">\(title)</th>"
        }
        let caption = caption.map { name -> HTML in
            "<caption class=\"visually-hidden\">\(name)</caption>"
        }
        return """
            <table class="list">\(caption)<thead><tr>\(heads)</tr></thead>
            <tbody>\(rows)</tbody></table>
            """
    }
}

extension HTML.StringInterpolation {
    mutating func appendInterpolation(_ money: Money) {
        appendInterpolation(money.shown)
    }
}

extension Money {
    /// An amount that a person has typed into a page: with a comma or a point before its cents, and
    /// with the digits of an Arabic keyboard, too. A text with separators of thousands is none.
    init?(typed text: some StringProtocol, currency: Currency) {
        let plain = text.unicodeScalars.compactMap { scalar -> Character? in
            switch scalar {
            case " ", "\u{A0}": nil
            case ",", "\u{66B}": "."
            case "\u{660}"..."\u{669}", "\u{6F0}"..."\u{6F9}":
                scalar.properties.numericValue.map { Character("\(Int($0))") }
            default: Character(scalar)
            }
        }
        self.init(String(plain), currency: currency)
    }

    /// The amount as pages write it: with the minus sign that display and till have.
    var shown: String { description.replacing("-", with: "\u{2212}") }
}
