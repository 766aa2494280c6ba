/// What it took so far to keep a radio working, since it was started.
package struct RecoveryCounts: Equatable, Sendable {
    /// How often each rung of the ladder was taken; all of them are listed.
    package private(set) var rungs = Dictionary(
        uniqueKeysWithValues: RecoveryRung.allCases.map { ($0, 0) }
    )
    /// How often the connection to the bus was opened anew, for whatever reason.
    package var busReconnects = 0
    /// How often signals were lost and made up for.
    package var signalLosses = 0

    package init() {}

    mutating func count(_ rung: RecoveryRung) {
        rungs[rung, default: 0] += 1
    }
}
