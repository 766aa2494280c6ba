/// What a version of bluetoothd must be spared, and what it can be trusted with.
///
/// Each property is one row of the table, with the versions it changes at. Of an unknown version
/// the worst is assumed.
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

    /// Before 5.71 bluetoothd writes four bytes into a one-byte field when a filter holds
    /// `DuplicateData` or `Discoverable` (fixed by ad089d299).
    package var canFilterByFlags: Bool { isAtLeast(5, 71) }

    /// Before 5.74 a failed update of a registered advertisement crashes bluetoothd (fixed by
    /// 6b5447583).
    package var canUpdateAdvertisements: Bool { isAtLeast(5, 74) }

    /// Before 5.77 `MinInterval` and `MaxInterval` are silently ignored unless bluetoothd is
    /// experimental; the kernel then advertises every 1.28 s.
    package var honoursIntervals: Bool { isAtLeast(5, 77) }

    private func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
        guard let version else { return false }
        return version >= BlueZVersion(major, minor)
    }
}
