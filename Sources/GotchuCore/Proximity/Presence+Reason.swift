import Glibc

extension Presence {
    /// The reason for the verdict, with its numbers.
    ///
    /// - Parameter margin: The lead in dB: that of the best presence over the next best, or that of
    ///   any other over the best. From `ProximityBoard.margin(of:)`.
    package func reason(margin: Double?) -> String {
        guard let level, let odds else { return "no signal level was given" }
        // Built as bytes for speed: it is part of nearly every event.
        var text = TextBuilder(capacity: 96)
        text.add(level: level)
        text.add(" dBm")
        if verdict == .far, resolution == .noSession, isInReach {
            text.add(", and there is nothing to pay under it")
        } else if verdict == .far, level < nearThresholds.enter {
            text.add(", near begins at ")
            text.add(level: nearThresholds.enter)
        } else {
            text.add(zone == .far ? ", near " : ", held ")
            text.add(odds: odds)
            if zone != .tap {
                text.add(", ")
                text.add(odds: neededOdds)
                text.add(zone == .far ? " is near" : " is a tap")
            } else if odds < neededOdds {
                text.add(", ends at ")
                text.add(odds: -neededOdds)
            }
            if verdict == .ambiguous { text.add(", another one is as near") }
            if let margin, verdict != .far {
                text.add(margin >= 0 ? ", leads by " : ", behind by ")
                text.add(level: margin.magnitude)
                text.add(" dB")
            }
        }
        if isCalibrated { text.add(", as calibrated") }
        return text.text
    }
}

extension TextBuilder {
    /// Adds odds, such as `20:1` or `1:3`, from their natural logarithm.
    package mutating func add(odds: Double) {
        let ratio = "\(Int(exp(odds.magnitude).rounded()))"
        add(odds < 0 ? "1:" : ratio)
        add(odds < 0 ? ratio : ":1")
    }

    /// Adds a level with one decimal.
    fileprivate mutating func add(level: Double) { add(tenths: Int((level * 10).rounded())) }
}
