/// The faults and limits of a version of bluetoothd.
///
/// Each property is one row of the table, with the versions it changes at. Of an unknown version
/// the worst is assumed.
///
/// No row depends on the kernel's version: backports make it say little, and differences between
/// kernels are handled on all of them. Some drop repeated advertisements: the scan is restarted
/// when samples are missing. Some end a filtered scan after 10 s without a word: the ladder of
/// recovery restarts it. Some return 0 from a send on the management socket: that is a success.
package struct BlueZQuirks: Equatable, Sendable {
    private let version: BlueZVersion?

    package init(version: BlueZVersion?) {
        self.version = version
    }

    /// 5.87 crashes on the first device that a `UUIDs` filter lets through (fixed by 82af2beaf).
    package var canFilterByUUID: Bool {
        guard let version else { return false }
        return version != BlueZVersion(5, 87)
    }

    /// Before 5.73 bluetoothd uses freed memory when an advertisement is taken away which it is
    /// still reading from us (fixed by c01c40498).
    package var canUnregisterWhileRegistering: Bool { isAtLeast(5, 73) }

    /// Before 5.77 `MinInterval` and `MaxInterval` are silently ignored unless bluetoothd is
    /// experimental; the kernel then advertises every 1.28 s.
    package var honoursIntervals: Bool { isAtLeast(5, 77) }

    private func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
        guard let version else { return false }
        return version >= BlueZVersion(major, minor)
    }
}
