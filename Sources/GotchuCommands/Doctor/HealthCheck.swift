import GotchuAPI
import GotchuCore

/// Reports if the radio listens, when a till is a tap, and the daemon's health items that no other
/// check covers.
enum HealthCheck {
    /// The codes that the finding `login` covers.
    private static let coveredCodes: Set = ["not-logged-in", "login-refused"]

    static func findings(_ status: StatusReply?) -> [Finding] {
        guard let status else { return [] }
        let others = status.health.filter {
            !coveredCodes.contains($0.code) && !$0.isAboutServer
        }
        let radio = status.radio
        let listening =
            radio.isScanning
            ? Finding.good("listening", "the radio listens")
            : Finding.skipped("listening", radio.listeningText)
        return [listening] + nearness(radio)
            + others.map { item in
                let verdict: Finding.Verdict =
                    switch item.severity {
                    case .error: .bad
                    case .warning: .doubtful
                    }
                return Finding(item.code, verdict, item.text, fix: item.fix)
            }
    }

    /// The odds and the level at which a till is a tap.
    private static func nearness(_ radio: RadioStatus) -> [Finding] {
        guard let certainty = radio.certainty else { return [] }
        var odds = TextBuilder(capacity: 16)
        odds.add(odds: certainty)
        let level = radio.calibration.map { "above \($0.tapEnter) dBm, as calibrated" }
        let text = "a till is a tap at odds of \(odds.text) that it is held"
        return [.good("nearness", [text, level].compactMap(\.self).joined(separator: ", "))]
    }
}
