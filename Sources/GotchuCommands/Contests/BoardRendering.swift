import GotchuAPI
import GotchuCore

extension Leaderboard {
    /// The standings as a table, with the columns that the contest defines.
    ///
    /// - Parameter currency: The currency of amounts.
    func table(in currency: Currency) -> Table {
        // Organisers enter scores by these numbers.
        let hasNumbers = !standings.isEmpty && standings.allSatisfy { $0.entryNumber != nil }
        let hasOwn = standings.contains { $0.isYou == true }
        var all = columns.map { column in
            Table.Column(
                title: column.label.printable,
                isRightAligned: column.align == "right",
                minimumWidth: column.isText ? 8 : nil
            )
        }
        if hasNumbers { all.append(Table.Column(title: "ENTRY", isRightAligned: true)) }
        if hasOwn { all.append(Table.Column(title: "")) }
        var table = Table(columns: all)
        table.rows = zip(rows, standings).map { row, standing in
            let style: TextStyle? = standing.isYou == true ? .bold : nil
            var cells = columns.map { column in
                Table.Cell(column.text(row[column.key] ?? .null, in: currency), style)
            }
            if hasNumbers { cells.append(Table.Cell("\(standing.entryNumber?.value ?? 0)")) }
            if hasOwn { cells.append(Table.Cell(standing.isYou == true ? "you" : "", style)) }
            return cells
        }
        return table
    }

    var summary: String {
        let count = meta.totalParticipants.value
        return "\(state.rawValue.lowercased()) · \(count == 1 ? "1 entry" : "\(count) entries")"
            + (meta.revision.value == 0 ? "" : " · scores of revision \(meta.revision.value)")
    }
}

extension Leaderboard.Column {
    fileprivate var isText: Bool { type == nil || type == "string" }

    /// Returns the text of a cell. A value of an unknown type is shown unformatted.
    func text(_ value: JSONValue, in currency: Currency) -> String {
        switch (type, value) {
        case (_, .null): ""
        case ("currency", .integer(let cents)):
            Money(minorUnits: cents, currency: currency).description
        case ("duration_ms", .integer(let milliseconds)): Self.time(milliseconds)
        default: value.scalar ?? "?"
        }
    }

    /// A duration as text, such as `19:41.200` or `1:02:03.004`.
    private static func time(_ milliseconds: Int64) -> String {
        let sign = milliseconds < 0 ? "-" : ""
        let (seconds, thousandths) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        let (hours, restOfHour) = minutes.quotientAndRemainder(dividingBy: 60)
        func padded(_ number: UInt64, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
        }
        let start = hours == 0 ? "\(minutes)" : "\(hours):\(padded(restOfHour, 2))"
        return "\(sign)\(start):\(padded(rest, 2)).\(padded(thousandths, 3))"
    }
}
