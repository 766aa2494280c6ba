extension Presence {
    /// Why the verdict is what it is, with the numbers behind it.
    ///
    /// - Parameter margin: By how many dB it leads the next best, as the board says.
    package func reason(margin: Double?) -> String {
        let lead = Self.lead(margin) + (isCalibrated ? ", as calibrated" : "")
        guard let level else { return "no signal level was given" }
        let heard = "\(Self.oneDecimal(level)) dBm"
        switch verdict {
        case .tap:
            return "\(heard), held above \(Self.oneDecimal(tapThresholds.leave))\(lead)"
        case .near:
            return "\(heard), above \(Self.oneDecimal(nearThresholds.leave))\(lead)"
        case .far:
            let enter = Self.oneDecimal(nearThresholds.enter)
            let why =
                level < nearThresholds.enter
                ? "near begins at \(enter)" : "not yet held above \(enter) for long enough"
            return "\(heard), \(why)" + (isCalibrated ? ", as calibrated" : "")
        case .ambiguous:
            return "\(heard), another one is as near\(lead)"
        }
    }

    private static func lead(_ margin: Double?) -> String {
        guard let margin else { return "" }
        return margin >= 0
            ? ", leads by \(Self.oneDecimal(margin)) dB"
            : ", behind by \(Self.oneDecimal(-margin)) dB"
    }

    private static func oneDecimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }
}
