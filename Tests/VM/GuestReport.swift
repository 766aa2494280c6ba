import Foundation
import TestSupport

/// The guest's `results.json`, which it writes anew at each step.
struct GuestReport: Decodable, Sendable {
    /// The reason for which the stack itself did not come up.
    var failure: String?
    var scenarios: [Outcome]
    /// The scenario in the middle of which the machine ended.
    var running: String?

    struct Outcome: Decodable, Sendable {
        var name: String
        var failure: String?
        /// Seconds of the machine's own time.
        var seconds: Double
        /// What was measured, by name with its unit.
        var figures: [String: Double]
    }

    /// - Throws: `NeverHappened` with what else there is to read where there is no report.
    init(of file: URL, else complaint: String) throws {
        guard let data = try? Data(contentsOf: file) else {
            let log = file.deletingLastPathComponent().appendingPathComponent("output.log")
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw NeverHappened(description: "\(complaint)\n\(text.suffix(4_000))")
        }
        self = try JSONDecoder().decode(GuestReport.self, from: data)
    }
}
