internal import GotchuCore
internal import Pages

/// Pieces of HTML that several pages use.
extension HTML {
    /// Returns a label for a state: icon, text and colour.
    ///
    /// - Parameter mood: The colour: `good`, `bad` or `back`; grey by default.
    static func chip(_ sign: String, _ word: String, _ mood: String = "") -> HTML {
        """
        <span class="chip \(mood)"><span aria-hidden="true">\(sign)</span>\(word)</span>
        """
    }

    /// Returns a hidden field of a form.
    static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// Returns a text with each `{}` replaced by the next piece.
    static func filled(_ text: String, _ pieces: HTML...) -> HTML {
        var parts = text.split(separator: "{}", omittingEmptySubsequences: false)
        var filled = HTML(text: parts.removeFirst())
        for (part, piece) in zip(parts, pieces) { filled += "\(piece)\(part)" }
        return filled
    }

    /// Returns a label before a cell's text. It is for stacked rows, which have no column titles.
    static func label(_ word: String) -> HTML { "<span class=\"label\">\(word) </span>" }

    /// Returns the link to the next page of a list.
    static func more(_ path: HTML, _ word: String) -> HTML {
        "<p class=\"more\"><a class=\"plain\" href=\"\(path)\">\(word)</a></p>"
    }

    /// Returns a group of links, of which one or none is marked as the current selection.
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

    /// Returns a table whose rows are stacked on a narrow screen.
    ///
    /// - Parameters:
    ///   - columns: The title and cell class of each column: `n` for numbers, `what` for long
    ///     text, `do` for actions. The title of actions is for screen readers only.
    ///   - caption: The table's name, for screen readers.
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
    /// Parses an amount that was typed into a page. The cents follow a comma or a point. Arabic
    /// digits are allowed, and spaces around the amount are ignored. `nil` for spaces, points or
    /// commas between digits: `1 50` can stand for 1.50.
    init?(typed text: some StringProtocol, currency: Currency) {
        let plain = text.trimmed.unicodeScalars.compactMap { scalar -> Character? in
            switch scalar {
            case ",", "\u{66B}": "."
            case "\u{660}"..."\u{669}", "\u{6F0}"..."\u{6F9}":
                scalar.properties.numericValue.map { Character("\(Int($0))") }
            default: Character(scalar)
            }
        }
        self.init(String(plain), currency: currency)
    }

    /// The amount as pages show it, with the minus sign U+2212 instead of a hyphen.
    var shown: String { description.replacing("-", with: "\u{2212}") }
}
