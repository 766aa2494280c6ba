import CLinux

/// Checks the clock, by which requests and logins expire.
struct ClockCheck {
    /// The offset from which on a request's countdown is visibly wrong.
    static let doubtfulOffset: Duration = .seconds(5)
    /// The offset from which on valid requests and logins are refused.
    static let badOffset: Duration = .seconds(60)

    /// A Boolean that is true if the kernel says that a time server keeps the clock right.
    let isSynchronised: Bool
    /// The lead of this clock over the payment server's, if that is known.
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
                    : "It agrees with the payment server's, and no time server keeps it so.",
                fix: fix
            )
        }
        return .good(layer, "kept in step with a time server")
    }
}
