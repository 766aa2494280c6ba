/// A step of a radio's recovery of its scan, the least disruptive first.
package enum RecoveryRung: String, CaseIterable, Codable, Comparable, Sendable {
    /// Sets another filter, which makes bluetoothd restart the scan.
    case refilter
    /// Stops discovery and starts it again.
    case restart
    /// Opens a new connection to the bus: bluetoothd drops everything of the old one.
    case reconnect
    /// Switches the adapter off and on, for every program on the machine. Only if configured.
    case powerCycle = "power-cycle"

    package static func < (left: RecoveryRung, right: RecoveryRung) -> Bool {
        allCases.prefix { $0 != right }.contains(left)
    }
}

/// The counts of a radio's recovery actions since it was started.
package struct RecoveryCounts: Equatable, Sendable {
    /// The number of times that each rung was taken; all rungs are listed.
    package private(set) var rungs = Dictionary(
        uniqueKeysWithValues: RecoveryRung.allCases.map { ($0, 0) }
    )
    /// The number of further connections to the bus, opened for any reason.
    package var busReconnects = 0

    package init() {}

    package mutating func count(_ rung: RecoveryRung) {
        rungs[rung, default: 0] += 1
    }
}
