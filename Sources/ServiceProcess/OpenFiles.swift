internal import CLinux

/// The limit on files that the process holds open.
package enum OpenFiles {
    /// The files beside connections: databases, logs, the radio, threads' wake-ups.
    private static let others = 500

    /// Lets the process hold so many for connections, as far as the system allows.
    ///
    /// - Returns: How many it may hold for them, at least one and at most `wanted`.
    package static func allow(_ wanted: Int) -> Int {
        let files = Int(clinux_allow_open_files(Int64(wanted + others)))
        return max(1, min(wanted, files - others))
    }
}
