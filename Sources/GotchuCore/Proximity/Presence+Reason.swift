extension Presence {
    /// The reason for the verdict, with its numbers.
    ///
    /// - Parameter margin: The lead in dB: that of the best presence over the next best, or that of
    ///   any other over the best. From `ProximityBoard.margin(of:)`.
    package func reason(margin: Double?) -> String {
        guard let level else { return "no signal level was given" }
        // Built as bytes for speed: it is part of nearly every event.
        var text = TextBuilder(capacity: 96)
        text.add(level: level)
        text.add(" dBm")
        switch verdict {
        case .tap:
            text.add(", held above ")
            text.add(level: tapThresholds.leave)
            text.add(lead: margin)
        case .near:
            text.add(", above ")
            text.add(level: nearThresholds.leave)
            text.add(lead: margin)
        case .far where resolution == .noSession && isInReach:
            text.add(", and there is nothing to pay under it")
        case .far:
            let enter = nearThresholds.enter
            if level < enter {
                text.add(", near begins at ")
                text.add(level: enter)
            } else {
                text.add(", not yet held above ")
                text.add(level: enter)
                text.add(" for long enough")
            }
        case .ambiguous:
            text.add(", another one is as near")
            text.add(lead: margin)
        }
        if isCalibrated { text.add(", as calibrated") }
        return text.text
    }
}

extension TextBuilder {
    fileprivate mutating func add(lead margin: Double?) {
        guard let margin else { return }
        add(margin >= 0 ? ", leads by " : ", behind by ")
        add(level: margin.magnitude)
        add(" dB")
    }

    /// Adds a level with one decimal.
    fileprivate mutating func add(level: Double) { add(tenths: Int((level * 10).rounded())) }
}
