internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// The bar chart of a report and the table of its values. No script is needed. Widths are
/// percentages, so the chart fits every screen. Heights are pixels.
struct EarningsChart {
    struct Bar {
        /// The text below it; `nil` for none.
        let tick: String?
        /// A Boolean that is true if the text is also shown on a narrow screen.
        var isKeyTick = false
        /// The date or hour of the bar, for its label and the table.
        let name: String
        /// The amount in minor units. It is negative if refunds exceed payments.
        let amount: Int64
        /// A Boolean that is true if the bar contains the time of the report.
        var isNow = false
    }

    private static let (top, height, foot): (Int64, Int64, Int64) = (22, 174, 24)
    /// The largest number of bars that can have keyboard focus. If there are more bars, none can
    /// have it. The table has the same data.
    private static let mostFocused = 62
    /// The minimum number of columns that share the width. Without it, a chart with few bars would
    /// have very wide ones.
    private static let fewestPlaces = 7

    let bars: [Bar]
    let currency: Currency

    private func money(_ amount: Int64) -> String {
        Money(minorUnits: amount, currency: currency).shown
    }

    private var most: Int64 { max(bars.map(\.amount).max() ?? 0, 1) }
    private var span: Int64 { max(most - min(bars.map(\.amount).min() ?? 0, 0), 1) }

    /// Returns the height of an amount in tenths of a pixel.
    private func tenths(_ amount: Int64) -> Int64 { amount * (10 * Self.height) / span }

    private static func decimal(_ tenths: Int64) -> String { "\(tenths / 10).\(abs(tenths % 10))" }

    /// Formats a share of the width, given in hundredths of a per cent.
    private func share(_ hundredths: Int) -> String {
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
    }

    var picture: HTML {
        let step = 10_000 / max(bars.count, Self.fewestPlaces)
        let drawn = bars.enumerated().map { index, bar in draw(bar, at: index * step, step) }
        let rule = rule(10 * Self.top + tenths(most))
        return """
            <div class="chart"><svg height="\(Self.top + Self.height + Self.foot)" role="group" \
            aria-labelledby="chart-title">\(rule?.line)\(drawn)\(rule?.text)</svg></div>
            """
    }

    /// Returns a reference line at a round amount, and its text, which is drawn over the bars.
    /// `nil` if no amount is above one minor unit.
    private func rule(_ base: Int64) -> (line: HTML, text: HTML)? {
        var round: Int64 = 1
        while round * 10 <= most { round *= 10 }
        let value = [5, 2, 1].map { $0 * round }.first { $0 <= most } ?? round
        guard most > 1 else { return nil }
        let y = Self.decimal(base - tenths(value))
        let above = Self.decimal(base - tenths(value) - 50)
        return (
            line: "<line x1=\"0\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>",
            text: "<text class=\"rule\" x=\"2\" y=\"\(above)\">\(money(value))</text>"
        )
    }

    private func draw(_ bar: Bar, at x: Int, _ step: Int) -> HTML {
        let base = 10 * Self.top + tenths(most)
        let tall = max(abs(tenths(bar.amount)), 15)
        let y = bar.amount < 0 ? base : base - tall
        let middle = share(x + step / 2)
        // The text of a bar at an edge stays inside the chart.
        let anchor = x + step / 2 < 600 ? "start" : x + step / 2 > 9_400 ? "end" : "middle"
        let place = anchor == "start" ? share(x) : anchor == "end" ? share(x + step) : middle
        let below = Self.top + Self.height + Self.foot - 4
        let tick = bar.tick.map { text -> HTML in
            """
            <text class="tick\(bar.isKeyTick ? " few" : "")" x="\(middle)" y="\(below)" \
            text-anchor="middle">\(text)</text>
            """
        }
        let focus: HTML = bars.count <= Self.mostFocused ? " tabindex=\"0\"" : ""
        return """
            <g\(focus) role="img" aria-label="\(bar.name): \(money(bar.amount))"\
            \(bar.isNow ? " class=\"now\"" : "" as HTML)>\
            <rect x="\(share(x))" y="0" width="\(share(step))" height="100%" fill="transparent"/>\
            <rect class="bar" x="\(share(x + step * 14 / 100))" y="\(Self.decimal(y))" \
            width="\(share(step * 72 / 100))" height="\(Self.decimal(tall))" rx="4"/>\
            <text class="value" x="\(place)" y="\(Self.decimal(min(y, base) - 70))" \
            text-anchor="\(anchor)">\(money(bar.amount))</text>\(tick)</g>

            """
    }

    var table: HTML {
        let rows = bars.map { bar -> HTML in
            "<tr><td>\(bar.name)</td><td class=\"n\">\(money(bar.amount))</td></tr>\n"
        }
        return """
            <details><summary>As a table</summary><table><thead><tr><th scope="col">Time</th>\
            <th scope="col" class="n">Earnings</th></tr></thead><tbody>\(rows)</tbody></table>\
            </details>
            """
    }
}
