import Foundation

/// The four columns of the table.
private let columns: [(name: String, rule: @Sendable (Scenario) -> any Rule)] = [
    ("5df1adf2", { _ in Ranking { Before() } }),
    ("certainty 5", { Shipped(certainty: 5, from: $0.start) }),
    ("certainty 4", { Shipped(certainty: 4, from: $0.start) }),
    (
        "optimum",
        { scenario in
            Ranking { Optimum(interval: scenario.tills.first?.interval ?? 0.1) }
        }
    ),
]

private func geometricMean(_ values: [Double]) -> Double {
    exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
}

/// Returns a : b; `nil` if b is infinite or both are 0. Infinite if only a is, or only b is 0.
private func ratio(_ a: Double, _ b: Double) -> Double? {
    b.isInfinite || a == 0 && b == 0 ? nil : a / b
}

/// Prints an aim with its value.
///
/// - Returns: True if it is met.
private func aim(_ name: String, _ value: Double, atMost limit: Double) -> Bool {
    let isMet = value <= limit
    print(
        "| \(name) | \(hundredths(value)) | ≤ \(hundredths(limit)) | \(isMet ? "reached" : "MISSED") |"
    )
    return isMet
}

/// Prints the table of all scenarios, and the aims.
///
/// - Returns: True if all aims are met.
func bench(trials: Int) -> Bool {
    // Constants were chosen with other seeds.
    let seed: UInt64 = 0x2026_1129_0001
    print("| \(columns.map(\.name).reduce("scenario") { "\($0) | \($1)" }) |")
    print(String(repeating: "|---", count: columns.count + 1) + "|")
    var rows: [[Figures]] = []
    for scenario in Scenario.all {
        let figures = columns.enumerated().map { index, column in
            let isOptimum = index == 3
            let count = isOptimum ? trials * 4 / 15 : scenario.isQueue ? trials * 10 / 3 : trials
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
    let held = rows.filter { $0[0].scenario.question == .held && !$0[0].scenario.isExtra }
    let queue = rows.filter(\.[0].scenario.isQueue)
    for (column, limits) in [(1, (0.8, 1.05)), (2, (0.5, 0.8))] {
        for (name, share, limit) in [
            ("median", 0.5, limits.0), ("95th percentile", 0.95, limits.1),
        ] {
            let ratios = held.compactMap { ratio($0[column].time(share), $0[0].time(share)) }
            let text = "time to tap, \(name), \(columns[column].name) : before, geometric mean"
            met.append(aim(text, geometricMean(ratios), atMost: limit))
        }
    }
    func falseTaps(_ column: Int) -> Double {
        queue.reduce(0) { $0 + $1[column].tapped } / Double(queue.count)
    }
    let name = "false taps of the queue's rows, certainty 5 : before"
    met.append(aim(name, ratio(falseTaps(1), falseTaps(0)) ?? 0, atMost: 0.2))
    for row in queue {
        let name = "false taps, certainty 5 : before, \(row[0].scenario.name)"
        met.append(aim(name, ratio(row[1].tapped, row[0].tapped) ?? 0, atMost: 1))
    }
    for row in queue.prefix(2) {
        let name = "false taps, certainty 4 : before, \(row[0].scenario.name)"
        met.append(aim(name, ratio(row[2].tapped, row[0].tapped) ?? 0, atMost: 1))
    }
    let known = held.compactMap { row in row[0].scenario.published.map { (row, $0) } }
    for (name, column, value) in [
        ("before", 0, \(before: Double, optimum: Double).before), ("the optimum", 3, \.optimum),
    ] {
        let ratios = known.map { $0.0[column].time(0.5) / $0.1[keyPath: value] }
        let text = "medians of \(name) : those of the other program, difference"
        met.append(aim(text, abs(geometricMean(ratios) - 1), atMost: 0.1))
        // Times of few advertisements differ by whole advertisements, and are rounded.
        let far = known.filter { row, published in
            let (time, other) = (row[column].time(0.5), published[keyPath: value])
            return abs(time - other) > max(0.1 * other, row[0].scenario.tills[0].interval / 2)
        }
        let names = far.map { $0.0[0].scenario.name }.joined(separator: "; ")
        met.append(
            aim("rows of \(name) that differ by more: \(names)", Double(far.count), atMost: 2)
        )
    }
    return met.allSatisfy(\.self)
}
