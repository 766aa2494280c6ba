internal import CLinux

/// The limit on the number of files that the process has open.
package enum OpenFiles {
    /// The number of files other than connections: databases, logs, the radio, threads' wake-ups.
    private static let reservedFiles = 500

    /// Raises the limit of open files for `wanted` connections, as far as the system allows.
    ///
    /// - Returns: The number of connections that fit, at least one and at most `wanted`.
    package static func raiseLimit(toHold wanted: Int) -> Int {
        let files = Int(clinux_allow_open_files(Int64(wanted + reservedFiles)))
        return max(1, min(wanted, files - reservedFiles))
    }
}
