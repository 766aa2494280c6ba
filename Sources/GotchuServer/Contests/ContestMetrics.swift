internal import Contests
internal import GotchuCore
internal import Ledger
internal import ServiceProcess
internal import Synchronization

/// The metrics of contests.
final class ContestMetrics: Sendable {
    /// The ways in which a call to enter a contest ends.
    enum Join: String, CaseIterable, Sendable {
        case joined
        /// By a payment at a desk.
        case desk
        /// Answered from memory.
        case replayed
        case refused
        /// Not decided: the caller was told to try again.
        case failed
    }

    /// The age at which a reading of the contests is replaced.
    private static let period: Duration = .seconds(10)

    /// The contests that wait for something, among the newest ones.
    private struct Reading {
        var waiting = 0
        var objections: Int64 = 0
        var unequal = 0
    }

    private struct State {
        var joins: [Join: Int] = [:]
        var settling = Histogram.human
        var reading = Reading()
        var readAt: MonotonicTime?
        /// The settlements that were observed, among the newest contests.
        var settled: Set<RecordID> = []
    }

    private let reader: ContestReader
    /// Settlements from before are another server's, or another run's.
    private let startedAt: Timestamp
    private let state = Mutex(State())

    init(_ reader: ContestReader) {
        self.reader = reader
        startedAt = reader.ledger.now
    }

    func joined(_ end: Join) {
        state.withLock { $0.joins[end, default: 0] += 1 }
    }

    /// Reads the newest contests, if the last reading is old. A failure leaves the last one.
    private func read() async {
        let now = MonotonicTime.now
        let isDue = state.withLock { state in
            if let readAt = state.readAt, now - readAt < Self.period { return false }
            state.readAt = now
            return true
        }
        guard isDue, let contests = try? await reader.newest(where: { _ in true }) else { return }
        let time = reader.ledger.now
        var reading = Reading()
        for contest in contests {
            if contest.state == .error { reading.unequal += 1 }
            guard contest.state == .complete else { continue }
            reading.objections += contest.body.objections
            if let due = contest.settlesAt, due < time { reading.waiting += 1 }
        }
        let settled = contests.compactMap { contest in
            contest.settlement.map { (contest.id, $0.delay, $0.at) }
        }
        state.withLock { state in
            state.reading = reading
            for (id, wait, settledAt) in settled
            where settledAt >= startedAt && !state.settled.contains(id) {
                state.settling.observe(wait)
            }
            state.settled = Set(settled.map(\.0))
        }
    }

    func add(to page: inout MetricsPage) async {
        await read()
        let state = self.state.withLock { $0 }
        page.counter(
            "gotchu_server_contest_joins_total",
            "Calls to enter a contest, by how they ended.",
            Join.allCases.map { (["outcome": $0.rawValue], state.joins[$0] ?? 0) }
        )
        page.histogram(
            "gotchu_server_contest_settle_seconds",
            "The time by which settlements came later than the end of their contests' review.",
            state.settling
        )
        page.gauge(
            "gotchu_server_contest_settlements_waiting",
            "Contests whose settlement is due.",
            state.reading.waiting
        )
        page.gauge(
            "gotchu_server_contest_objections",
            "Objections to contests that are not settled yet.",
            Int(state.reading.objections)
        )
        page.gauge(
            "gotchu_server_contest_pots_unequal",
            "Contests whose pot is not what their entries say: nothing of them moves.",
            state.reading.unequal
        )
    }
}
