/// The faults and limits of a version of bluetoothd.
///
/// Each property is false for the versions that have a certain fault. An unknown version is assumed
/// to have every fault.
///
/// Kernel versions are not used: distributions backport fixes, so a version proves little. Kernel
/// faults are handled on every kernel. Some drop repeated advertisements: the scan is restarted
/// when samples are missing. Some silently end a filtered scan after 10 s: recovery restarts it.
/// Some return 0 from a send on the management socket: this counts as success.
package struct BlueZQuirks: Equatable, Sendable {
    private let version: BlueZVersion?

    package init(version: BlueZVersion?) {
        self.version = version
    }

    /// 5.87 crashes on the first device that passes a `UUIDs` filter (fixed by 82af2beaf).
    package var canFilterByUUID: Bool {
        guard let version else { return false }
        return version != BlueZVersion(5, 87)
    }

    /// Before 5.73, unregistering an advertisement while bluetoothd is still reading its properties
    /// makes it use freed memory (fixed by c01c40498).
    package var canUnregisterWhileRegistering: Bool { isAtLeast(5, 73) }

    /// Before 5.77 `MinInterval` and `MaxInterval` are silently ignored unless bluetoothd runs with
    /// --experimental; the kernel then advertises every 1.28 s.
    package var honoursIntervals: Bool { isAtLeast(5, 77) }

    private func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
        guard let version else { return false }
        return version >= BlueZVersion(major, minor)
    }
}
