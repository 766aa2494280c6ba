import CLinux

/// Checks the clock, by which requests and logins expire.
struct ClockCheck {
    /// The offset at which a request's countdown becomes visibly wrong.
    static let doubtfulOffset: Duration = .seconds(5)
    /// The offset at which valid requests and logins are refused.
    static let badOffset: Duration = .seconds(60)

    /// A Boolean that is true if the kernel reports the clock as synchronised.
    let isSynchronised: Bool
    /// The time by which this clock is ahead of the payment server's, negative if it is behind;
    /// `nil` if unknown.
    let lead: Duration?

    static func current(lead: Duration?) -> ClockCheck {
        ClockCheck(isSynchronised: clinux_clock_is_synchronised() == 1, lead: lead)
    }

    var finding: Finding {
        let layer = "clock"
        let fix = "sudo timedatectl set-ntp true"
        if let lead {
            let size = lead < .zero ? .zero - lead : lead
            if size >= Self.doubtfulOffset {
                return Finding(
                    layer,
                    size >= Self.badOffset ? .bad : .doubtful,
                    "This clock is \(size.components.seconds) s "
                        + "\(lead < .zero ? "behind" : "ahead of") the payment server's.",
                    fix: fix
                )
            }
        }
        guard isSynchronised else {
            return .doubtful(
                layer,
                lead == nil
                    ? "The kernel does not know of a time server."
                    : "This clock agrees with the payment server's, but no time server sets it.",
                fix: fix
            )
        }
        return .good(layer, "kept in step with a time server")
    }
}
