import CLinux

/// Whether the clock is kept right: requests expire by it.
enum ClockCheck {
    static func run() -> Finding {
        clinux_clock_is_synchronised() == 1
            ? Finding("clock", .good, "kept in step with a time server")
            : Finding(
                "clock",
                .doubtful,
                "The kernel does not know of a time server.",
                fix: "sudo timedatectl set-ntp true"
            )
    }
}
