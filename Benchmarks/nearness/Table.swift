import Foundation

/// The four columns of the table.
private let columns: [(name: String, rule: @Sendable (Scenario) -> any Rule)] = [
    ("5df1adf2", { _ in Ranking { Before() } }),
    ("certainty 5", { Shipped(certainty: 5, from: $0.start) }),
    ("certainty 4", { Shipped(certainty: 4, from: $0.start) }),
    ("optimum", { scenario in
        Ranking { Optimum(interval: scenario.tills.first?.interval ?? 0.1) }
    }),
]

private func geometricMean(_ values: [Double]) -> Double {
    exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
}

/// Prints an aim with its value.
///
/// - Returns: True if it is met.
private func aim(_ name: String, _ value: Double, atMost limit: Double) -> Bool {
    let isMet = value <= limit
    print("| \(name) | \(hundredths(value)) | ≤ \(hundredths(limit)) | \(isMet ? "reached" : "MISSED") |")
    return isMet
}

/// Prints the table of all scenarios, and the aims.
///
/// - Returns: True if all aims are met.
func bench(trials: Int) -> Bool {
    // The trials of tuning had small seeds.
    let seed: UInt64 = 0x5EED_2026
    print("| \(columns.map(\.name).reduce("scenario") { "\($0) | \($1)" }) |")
    print(String(repeating: "|---", count: columns.count + 1) + "|")
    var rows: [[Figures]] = []
    for scenario in Scenario.all {
        let figures = columns.enumerated().map { index, column in
            let isOptimum = index == 3
            let isFine = scenario.isQueue || scenario.name.hasPrefix("passed at 12 cm, 1")
            let count = isOptimum ? trials * 4 / 15 : isFine ? trials * 10 / 3 : trials
            return Figures(scenario, trials: count, seed: seed) { column.rule(scenario) }
        }
        print("| \(figures.map(\.text).reduce(scenario.name) { "\($0) | \($1)" }) |")
        rows.append(figures)
    }
    return judge(rows)
}

/// Prints the aims.
///
/// - Returns: True if all are met.
private func judge(_ rows: [[Figures]]) -> Bool {
    print("\n| aim | value | limit | |\n|---|---|---|---|")
    var met: [Bool] = []
    let held = rows.filter { $0[0].scenario.question == .held }
    let queue = rows.filter(\.[0].scenario.isQueue)
    for (column, limits) in [(1, (0.8, 1.05)), (2, (0.5, 0.8))] {
        for (name, share, limit) in [("median", 0.5, limits.0), ("95th percentile", 0.95, limits.1)] {
            let ratios = held.map { $0[column].time(share) / $0[0].time(share) }
                .filter { $0.isFinite && $0 > 0 }
            let text = "time to tap, \(name), \(columns[column].name) : before, geometric mean"
            met.append(aim(text, geometricMean(ratios), atMost: limit))
        }
    }
    func falseTaps(_ column: Int) -> Double {
        queue.reduce(0) { $0 + $1[column].tapped } / Double(queue.count)
    }
    let name = "false taps of the queue's rows, certainty 5 : before"
    met.append(aim(name, falseTaps(1) / falseTaps(0), atMost: 0.2))
    for row in queue {
        let name = "false taps, certainty 5 : before, \(row[0].scenario.name)"
        met.append(aim(name, row[1].tapped / row[0].tapped, atMost: 1))
    }
    for row in queue.prefix(2) {
        let name = "false taps, certainty 4 : before, \(row[0].scenario.name)"
        met.append(aim(name, row[2].tapped / row[0].tapped, atMost: 1))
    }
    // The published medians have two digits after the point: short ones are rounded by 10 %.
    let known = held.compactMap { row in row[0].scenario.published.map { (row, $0) } }
    for (name, column, value) in [("before", 0, \(before: Double, optimum: Double).before), ("optimum", 3, \.optimum)] {
        let ratio = geometricMean(known.map { $0.0[column].time(0.5) / $0.1[keyPath: value] })
        met.append(aim("median of \(name) : the design's, difference", abs(ratio - 1), atMost: 0.1))
    }
    return met.allSatisfy(\.self)
}
