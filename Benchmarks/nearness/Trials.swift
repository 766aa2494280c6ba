/// The figures of one rule in one scenario.
struct Figures {
    let trials: [ModelTrial]
    let scenario: Scenario

    /// Returns the outcome of many trials.
    ///
    /// - Parameter rule: Makes the rule for one trial.
    init(_ scenario: Scenario, trials count: Int, seed: UInt64, _ rule: () -> any Rule) {
        self.scenario = scenario
        let seed = scenario.name.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }
        trials = (0..<count).map { trial in
            var random = SplitMix64(state: seed &+ UInt64(trial) &* 0xD134_2543_DE82_EF95)
            let events = modelEvents(
                of: scenario.tills,
                from: scenario.start,
                until: scenario.end,
                &random
            )
            var rule = rule()
            if scenario.question == .forged {
                for (sender, heard) in Dictionary(grouping: events, by: \.sender) {
                    guard let sender, let first = heard.first?.second else { continue }
                    guard let delay = sender == 0 ? 0.3 : scenario.denial else { continue }
                    rule.answer(about: sender, isOpen: sender == 0, at: first + delay)
                }
            }
            return ModelTrial(events, stopsAtTap: scenario.question == .held) { rule.apply($0) }
        }
    }

    /// Returns the time in seconds within which a share of the trials had the first till as a tap.
    func time(_ share: Double) -> Double { Self.quantile(trials.map { $0.first[0] }, share) }

    /// Returns the time in seconds within which a tap ended, for trials that had one.
    func end(_ share: Double) -> Double {
        Self.quantile(trials.filter { $0.own > 0 || $0.ended != nil }.map(\.ended), share)
    }

    /// The share of trials with a tap of the first till.
    var tapped: Double { part { $0.first[0] != nil } }
    /// The share of trials with a tap of another sender.
    var wrong: Double { part { $0.first.contains { $0.key > 0 } } }
    var begun: Double { mean { Double($0.begun) } }
    /// The share of the time in which the first till, or some till, was a tap.
    var ownTime: Double { mean(\.own) / scenario.end }
    var anyTime: Double { mean { $0.own + $0.others } / scenario.end }

    private func part(_ has: (ModelTrial) -> Bool) -> Double { mean { has($0) ? 1 : 0 } }

    private func mean(_ value: (ModelTrial) -> Double) -> Double {
        trials.reduce(0) { $0 + value($1) } / Double(trials.count)
    }

    private static func quantile(_ times: [Double?], _ share: Double) -> Double {
        times.isEmpty ? .infinity : ModelTrial.quantile(share, of: times.map { $0 ?? .infinity })
    }

    /// The figures as a cell of a table.
    var text: String {
        switch scenario.question {
        case .held:
            let missed = 1 - tapped
            let note = missed < 0.005 ? "" : " (\(percent(missed)) missed)"
            return "\(hundredths(time(0.5)))/\(hundredths(time(0.95)))\(note)"
        case .away: return percent(tapped)
        case .beside:
            return "\(hundredths(time(0.5)))/\(hundredths(time(0.95))), wrong \(percent(wrong))"
        case .leaves: return "\(hundredths(end(0.5)))/\(hundredths(end(0.95)))"
        case .still: return "\(hundredths(begun)) begun, \(percent(ownTime))"
        case .between:
            return "\(percent(part { !$0.first.isEmpty })), \(percent(anyTime)) of the time"
        case .forged:
            let forged = percent(mean(\.others) / scenario.end)
            return
                "\(hundredths(time(0.5)))/\(hundredths(time(0.95))), \(percent(ownTime)), forged \(forged)"
        }
    }
}

func hundredths(_ value: Double) -> String {
    guard value.isFinite else { return "—" }
    let number = Int((value * 100).rounded())
    return "\(number / 100).\(number % 100 < 10 ? "0" : "")\(number % 100)"
}

/// Returns a share in percent, with one digit after the point below 10 %.
func percent(_ share: Double) -> String {
    let tenths = Int((share * 1_000).rounded())
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10) %" : "\((tenths + 5) / 10) %"
}
