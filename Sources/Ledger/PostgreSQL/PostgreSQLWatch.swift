internal import GotchuCore
internal import Logging
internal import Postgres
internal import Synchronization

/// What a server must know of its database and looks at now and then, each kept by whoever has to
/// do with it.
final class PostgreSQLWatch: Sendable {
    let clock: ClockWatch
    let promises: PromiseWatch
    let version: VersionWatch
    private let isReplicated = Atomic<Bool>(false)

    init(logger: Logger) {
        clock = ClockWatch(logger: logger)
        promises = PromiseWatch(logger: logger)
        version = VersionWatch(logger: logger)
    }

    /// Whether commits wait for a replica.
    var hasReplica: Bool { isReplicated.load(ordering: .relaxed) }

    /// Looks at all but the version of the tables, which there may not be yet.
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
        clock.set(Timestamp(milliseconds: answer.time), asked: asked, answered: .now)
        isReplicated.store(answer.replicas > 0, ordering: .relaxed)
        promises.note(isForgetful: !answer.isKept)
    }
}
