import BlueZ
import GotchuCore

/// How often an adapter advertises, as another one hears it.
struct HeardInterval: Equatable {
    /// The one that listened.
    let listener: String
    let outcome: IntervalMeasurement.Outcome

    /// From here on nobody asked for it: it is the kernel's own 1.28 s, or worse.
    private static let slow: Duration = .milliseconds(1000)

    /// What was heard, and what to do about it.
    ///
    /// - Parameters:
    ///   - adapter: The one that advertised.
    ///   - advice: What bluetoothd's version and configuration say about it.
    /// - Returns: `nil` where nothing could be measured.
    func finding(of adapter: String, advice: Finding) -> Finding? {
        switch outcome {
        case .interval(let interval):
            let seen =
                "\(adapter) advertises every \(interval.wholeMilliseconds) ms, as "
                + "\(listener) hears it"
            guard interval >= Self.slow else { return Finding(advice.layer, .good, seen) }
            return Finding(
                advice.layer,
                .doubtful,
                "\(seen): taps take longer.",
                fix: advice.fix ?? Self.kernelFix
            )
        case .notHeard:
            return Finding(
                advice.layer,
                .doubtful,
                "\(listener) does not hear \(adapter) advertise. \(advice.text)",
                fix: advice.fix ?? "See whether another device hears it: gotchu-ctl scan --explain"
            )
        case .refused: return nil
        }
    }

    /// For a bluetoothd that ought to heed what it is asked for and does not.
    private static let kernelFix =
        "Set MinAdvertisementInterval = 160 and MaxAdvertisementInterval = 160 in [LE] of "
        + "\(MainConfiguration.path), then: sudo systemctl restart bluetooth"
}
