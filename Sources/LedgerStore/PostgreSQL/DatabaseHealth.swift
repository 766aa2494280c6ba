internal import GotchuCore
internal import Ledger
internal import Logging
internal import Postgres
internal import Synchronization

/// The state of the database, checked every few seconds: its clock, its durability settings, its
/// replicas, and the version of its tables.
final class DatabaseHealth: Sendable {
    /// The clock difference above which an error is logged.
    private static let tolerance: Duration = .seconds(1)

    private struct State {
        var isReplicated = false
        var isUnsafe = false
        var isOutdated = false
        var isClockOff = false
    }

    private let clock = DatabaseClock()
    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// The database's time, which all its servers use.
    var now: Timestamp { clock.now }

    /// A Boolean that is true if commits wait for a replica.
    var hasReplica: Bool { state.withLock { $0.isReplicated } }

    /// Throws if a crash could lose committed data. `synchronous_commit` is set per session;
    /// `fsync` and `full_page_writes` belong to the whole server, and a reload can change them.
    ///
    /// - Throws: `LedgerError` with `notDurable`.
    func requireDurable() throws(LedgerError) {
        guard !state.withLock({ $0.isUnsafe }) else { throw .notDurable }
    }

    /// Checks everything but the version of the tables, because they may not exist yet.
    func check(on connection: borrowing Connection) throws {
        let asked = MonotonicTime.now
        var answer: (time: Int64, replicas: Int64, isKept: Bool)?
        try connection.run([
            Query(
                """
                SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                    length(
                        coalesce(current_setting('synchronous_standby_names', true), '')
                    )::bigint,
                    current_setting('fsync'), current_setting('full_page_writes')
                """
            ) { row in
                let isKept = try row.text(2) == "on" && row.text(3) == "on"
                answer = (try row.integer(0), try row.integer(1), isKept)
            }
        ])
        guard let answer else { return }
        clock.set(Timestamp(milliseconds: answer.time), asked: asked, answered: .now)
        state.withLock { $0.isReplicated = answer.replicas > 0 }
        record(isUnsafe: !answer.isKept)
        recordClock()
    }

    /// Records if a crash could lose committed data; logs a change.
    func record(isUnsafe: Bool) {
        guard change(\.isUnsafe, to: isUnsafe) else { return }
        guard isUnsafe else { return logger.notice("The database is durable again.") }
        logger.error(
            "The database is not configured to keep what it commits: no payment is made.",
            metadata: ["fix": "\(LedgerError.notDurable.fix ?? "")"]
        )
    }

    /// Records the version of the tables, for log messages only. Each writing transaction checks
    /// the version itself.
    func record(version: Int64) {
        let isOutdated = version > Schema.version
        guard change(\.isOutdated, to: isOutdated) else { return }
        guard isOutdated else {
            return logger.notice("The books are of this program's version again.")
        }
        logger.error(
            "A newer gotchu-server has brought the books up to date: no payment is made here.",
            metadata: ["fix": "\(LedgerError.outdated.fix ?? "")"]
        )
    }

    /// Logs an error if this machine's clock and the database's begin to differ by more than
    /// `tolerance`, and a notice once they agree again. The ledger uses the database's time, even
    /// if it is wrong. This machine's log and the checks of an issuer's keys use the machine's own
    /// clock.
    private func recordClock() {
        let difference = clock.now.duration(to: .now)
        let isOff = difference > Self.tolerance || difference < .zero - Self.tolerance
        guard change(\.isClockOff, to: isOff) else { return }
        guard isOff else {
            return logger.notice("This machine's clock and the database's agree again.")
        }
        logger.error(
            "This machine's clock and the database's differ: the database's counts.",
            metadata: ["ahead-milliseconds": "\(difference.wholeMilliseconds)"]
        )
    }

    /// - Returns: True if the flag changed.
    private func change(_ flag: any WritableKeyPath<State, Bool> & Sendable, to value: Bool) -> Bool
    {
        state.withLock { state in
            defer { state[keyPath: flag] = value }
            return state[keyPath: flag] != value
        }
    }
}

extension LedgerError {
    static var outdated: LedgerError {
        LedgerError(
            .foreign,
            "The books were brought up to date by a newer gotchu-server.",
            fix: "Stop this one, and start that version."
        )
    }
}
