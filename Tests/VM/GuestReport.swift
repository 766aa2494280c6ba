import Foundation

/// What the guest wrote at its end: `results.json`.
struct GuestReport: Decodable, Sendable {
    /// Why the stack itself did not come up, if it did not.
    var failure: String?
    var scenarios: [Outcome]
    /// Seconds from power-on to the end.
    var seconds: Double?

    struct Outcome: Decodable, Sendable {
        var name: String
        var failure: String?
        var seconds: Double
        /// What was measured, by name with its unit.
        var figures: [String: Double]
    }

    func outcome(of scenario: Scenario) -> Outcome? {
        scenarios.first { $0.name == scenario.rawValue }
    }
}
