import GotchuAPI

/// Reports if the radio listens, and the daemon's health items that no other check covers.
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
        return [listening]
            + others.map { item in
                let verdict: Finding.Verdict =
                    switch item.severity {
                    case .error: .bad
                    case .warning: .doubtful
                    }
                return Finding(item.code, verdict, item.text, fix: item.fix)
            }
    }
}
