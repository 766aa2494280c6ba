/// The limits of a version of bluetoothd: what it must be spared, what it can be trusted with.
///
/// Each property is one row of the table, with the versions it changes at. Of an unknown version
/// the worst is assumed.
///
/// No row goes by the kernel's version: backports make it say little, and what kernels do
/// differently is met on all of them. Some leave repeated advertisements out: the scan is begun
/// anew when samples fail to come. Some end a filtered scan after 10 s and say nothing: the ladder.
/// Some answer 0 to a send on the management socket: a success.
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
