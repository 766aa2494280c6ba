internal import GotchuCore
internal import Logging
internal import Postgres
internal import Synchronization

/// What a server must know of its database and looks at now and then: what time it is there,
/// whether commits wait for a replica, and whether they are still kept.
final class PostgreSQLWatch: Sendable {
    /// A difference of clocks that is worth a word.
    private static let tolerance: Duration = .seconds(1)

    let clock = DatabaseClock()
    private let isReplicated = Atomic<Bool>(false)
    private let isOff = Atomic<Bool>(false)
    private let isForgetful = Atomic<Bool>(false)
    private let isOutdated = Atomic<Bool>(false)
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    var hasReplica: Bool { isReplicated.load(ordering: .relaxed) }

    /// Refuses to commit what a crash may take away again. `synchronous_commit` is kept by each
    /// session; `fsync` and `full_page_writes` are the whole server's, and a reload changes them.
    ///
    /// - Throws: `LedgerError` with `notDurable`.
    func requireDurable() throws(LedgerError) {
        guard !isForgetful.load(ordering: .relaxed) else { throw .notDurable }
    }

    /// Says which version the tables have now, if that changes what can be done here. Each batch
    /// asks for itself.
    func note(version: Int64) {
        let isOutdated = version > PostgreSQLSchema.newestVersion
        guard self.isOutdated.exchange(isOutdated, ordering: .relaxed) != isOutdated else { return }
        if isOutdated {
            logger.error(
                "A newer gotchu-server has brought the books up to date: no payment is made here.",
                metadata: ["fix": "\(LedgerError.outdated.fix ?? "")"]
            )
        } else {
            logger.notice("The books are of this program's version again.")
        }
    }

    func look(over connection: borrowing Connection) throws {
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
        let time = Timestamp(milliseconds: answer.time)
        clock.set(time, asked: asked, answered: .now)
        isReplicated.store(answer.replicas > 0, ordering: .relaxed)
        note(isForgetful: !answer.isKept)
        compare()
    }

    /// Notes whether the database would forget what it commits.
    func note(isForgetful: Bool) {
        guard self.isForgetful.exchange(isForgetful, ordering: .relaxed) != isForgetful else {
            return
        }
        if isForgetful {
            logger.error(
                "The database would not promise to keep what it commits: no payment is made.",
                metadata: ["fix": "\(LedgerError.notDurable.fix ?? "")"]
            )
        } else {
            logger.notice("The database keeps its promises again.")
        }
    }

    /// The database's time counts, whoever of the two is right. But who reads this machine's clock
    /// is misled: those who follow its log, and the keys of an issuer.
    private func compare() {
        let difference = clock.now.duration(to: .now)
        let isOff = difference > Self.tolerance || difference < .zero - Self.tolerance
        guard self.isOff.exchange(isOff, ordering: .relaxed) != isOff else { return }
        if isOff {
            logger.error(
                "This machine's clock and the database's differ: the database's counts.",
                metadata: ["ahead-milliseconds": "\(difference.wholeMilliseconds)"]
            )
        } else {
            logger.notice("This machine's clock and the database's agree again.")
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
