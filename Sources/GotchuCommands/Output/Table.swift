/// A table that fits the terminal's width: it truncates columns, and drops the least important.
struct Table {
    /// A column's title, and its behavior if there is too little room.
    struct Column {
        var title: String
        var isRightAligned = false
        /// The width to which the column may be cut before another column is dropped; `nil` if it
        /// keeps its full width until then.
        var minimumWidth: Int?
        /// The order in which columns are dropped: the highest first; a column with 0 stays.
        var dropPriority = 0
    }

    struct Cell {
        var text: String
        var style: TextStyle?

        init(_ text: String, _ style: TextStyle? = nil) {
            self.text = text
            self.style = style
        }
    }

    private static let gap = 2

    let columns: [Column]
    var rows: [[Cell]] = []

    /// The table's lines, titles first.
    func lines(on terminal: Terminal) -> [String] {
        let limit = terminal.size?.columns ?? Int.max
        let (kept, widths) = layout(limit: limit)
        let titles = columns.map { Cell($0.title, .dim) }
        return ([titles] + rows).map { row in
            var line = ""
            for (position, index) in kept.enumerated() {
                let isLast = position == kept.count - 1
                let text = row[index].text.truncated(to: widths[index])
                let padding = String(repeating: " ", count: widths[index] - text.columns)
                let painted = terminal.paint(text, row[index].style)
                if columns[index].isRightAligned {
                    line += padding + painted
                } else {
                    line += painted + (isLast ? "" : padding)
                }
                if !isLast { line += String(repeating: " ", count: Self.gap) }
            }
            return line
        }
    }

    /// Returns true if a column is shown at the terminal's width.
    func shows(_ title: String, on terminal: Terminal) -> Bool {
        layout(limit: terminal.size?.columns ?? Int.max).kept.contains {
            columns[$0].title == title
        }
    }

    /// Selects the columns that fit, and their widths.
    func layout(limit: Int) -> (kept: [Int], widths: [Int]) {
        let whole = columns.indices.map { index in
            rows.reduce(columns[index].title.columns) { max($0, $1[index].text.columns) }
        }
        var kept = Array(columns.indices)
        var widths = whole
        func excess() -> Int {
            let total = kept.reduce(0) { $0 + widths[$1] } + Self.gap * max(0, kept.count - 1)
            return limit == Int.max ? 0 : total - limit
        }
        while true {
            // Recomputed each time: a column that was cut may fit again once another is dropped.
            widths = whole
            for index in kept.reversed() {
                guard let minimum = columns[index].minimumWidth, excess() > 0 else { continue }
                widths[index] = max(min(minimum, widths[index]), widths[index] - excess())
            }
            guard excess() > 0 else { return (kept, widths) }
            guard let victim = columnToDrop(in: kept) else { break }
            kept.removeAll { $0 == victim }
        }
        // Still too wide: cut the leftmost columns first, because the amount is on the right.
        for index in kept where excess() > 0 { widths[index] = max(1, widths[index] - excess()) }
        return (kept, widths)
    }

    private func columnToDrop(in kept: [Int]) -> Int? {
        kept.filter { columns[$0].dropPriority > 0 }
            .max { columns[$0].dropPriority < columns[$1].dropPriority }
    }
}
