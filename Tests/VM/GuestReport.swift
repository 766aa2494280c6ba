import Foundation
import TestSupport

/// The file `results.json`, which the guest rewrites at each step.
struct GuestReport: Decodable, Sendable {
    /// The failure outside of a scenario: a program did not start, or the books do not verify.
    var failure: String?
    var scenarios: [Outcome]
    /// The scenario that was running when the machine ended.
    var running: String?

    struct Outcome: Decodable, Sendable {
        var name: String
        var failure: String?
        /// Seconds of the machine's virtual time.
        var seconds: Double
        /// Measurements by name. The name ends with the unit.
        var figures: [String: Double]
    }

    /// - Throws: `NeverHappened` with `complaint` if there is no report.
    init(of file: URL, else complaint: String) throws {
        guard let data = try? Data(contentsOf: file) else {
            let log = file.deletingLastPathComponent().appendingPathComponent("output.log")
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw NeverHappened(description: "\(complaint)\n\(text.suffix(4_000))")
        }
        self = try JSONDecoder().decode(GuestReport.self, from: data)
    }
}
