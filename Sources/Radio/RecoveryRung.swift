/// A step of what a radio does to get its scan back, the cheapest first.
package enum RecoveryRung: String, CaseIterable, Codable, Comparable, Sendable {
    /// Set another filter, which makes bluetoothd restart the scan.
    case refilter
    /// Stop discovery and start it again.
    case restart
    /// Open a new connection to the bus: bluetoothd drops all that the old one had.
    case reconnect
    /// Switch the adapter off and on, for every program on the machine. Only if configured.
    case powerCycle = "power-cycle"

    package static func < (left: RecoveryRung, right: RecoveryRung) -> Bool {
        allCases.prefix { $0 != right }.contains(left)
    }
}

/// The work that was done so far to keep a radio working, since it was started.
package struct RecoveryCounts: Equatable, Sendable {
    /// The number of times that each rung was taken; all of them are listed.
    package private(set) var rungs = Dictionary(
        uniqueKeysWithValues: RecoveryRung.allCases.map { ($0, 0) }
    )
    /// Connections to the bus that were opened anew, for whatever reason.
    package var busReconnects = 0

    package init() {}

    package mutating func count(_ rung: RecoveryRung) {
        rungs[rung, default: 0] += 1
    }
}
