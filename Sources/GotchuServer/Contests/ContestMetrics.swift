internal import Contests
internal import GotchuCore
internal import Ledger
internal import ServiceProcess
internal import Synchronization

final class ContestMetrics: Sendable {
    /// The outcomes of a call to enter a contest.
    enum Join: String, CaseIterable, Sendable {
        case joined
        /// Entered by a payment at a desk.
        case desk
        /// The reply repeated the stored outcome of the same key.
        case replayed
        case refused
        /// Not decided: the ledger failed, and the caller must retry.
        case failed
    }

    /// The age at which the contests are read again.
    private static let period: Duration = .seconds(10)

    /// The maximum number of records of each kind that one reading covers.
    private static let readLimit = 1000
    /// The kinds of records other than contests.
    private static let others = RecordKind.all.map(\.name).filter { $0 != Contest.kind }

    /// The numbers of contests and objections that need attention.
    private struct Reading {
        var waiting = 0
        var objections = 0
        var unequal = 0
    }

    private struct State {
        var joins: [Join: Int] = [:]
        var reading = Reading()
        var readAt: MonotonicTime?
    }

    private let reader: ContestReader
    private let state = Mutex(State())

    init(_ reader: ContestReader) {
        self.reader = reader
    }

    func joined(_ end: Join) {
        state.withLock { $0.joins[end, default: 0] += 1 }
    }

    /// Makes a new reading if the last one is too old. If it fails, the last one stays.
    private func read() async {
        let now = MonotonicTime.now
        let isDue = state.withLock { state in
            if let readAt = state.readAt, now - readAt < Self.period { return false }
            state.readAt = now
            return true
        }
        guard isDue, let reading = try? await reader.heavyReads.run({ try await self.reading() })
        else { return }
        state.withLock { $0.reading = reading }
    }

    private func reading() async throws(LedgerError) -> Reading {
        let ledger = reader.ledger
        var reading = Reading()
        let due = try await ledger.due(excluding: Self.others, limit: Self.readLimit)
        for contest in try await contests(due.map(\.id)) {
            if let end = contest.settlesAt, end < ledger.now { reading.waiting += 1 }
        }
        let stops = try await newest(ContestStop.kind).compactMap { try? ContestStop($0).contest }
        reading.unequal = try await contests(stops).count { $0.state == .error }
        let objections = try await newest(Objection.kind).compactMap {
            try? Objection($0).body.contest
        }
        let counts = Dictionary(objections.map { ($0, 1) }, uniquingKeysWith: +)
        for contest in try await contests(objections) where contest.state == .complete {
            reading.objections += counts[contest.id, default: 0]
        }
        return reading
    }

    private func newest(_ kind: String) async throws(LedgerError) -> [Record] {
        try await reader.ledger.records(kind: kind, before: nil, limit: Self.readLimit)
    }

    /// Returns the contests with these ids, without duplicates.
    private func contests(_ ids: [RecordID]) async throws(LedgerError) -> [Contest] {
        var contests: [Contest] = []
        for id in Set(ids) {
            guard let record = try await reader.ledger.record(id) else { continue }
            if let contest = reader.readable(record) { contests.append(contest) }
        }
        return contests
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
            reader.ledger.metrics.reading.lateness[Contest.EventKind.settled.rawValue] ?? .human
        )
        page.gauge(
            "gotchu_server_contest_settlements_waiting",
            "Contests whose settlement is due.",
            state.reading.waiting
        )
        page.gauge(
            "gotchu_server_contest_objections",
            "Objections to contests that are not settled yet.",
            state.reading.objections
        )
        page.gauge(
            "gotchu_server_contest_pots_unequal",
            "Contests whose pot does not match their entries: nothing of them moves.",
            state.reading.unequal
        )
        page.gauge(
            "gotchu_server_contest_unreadable",
            "Records of contests that this server has met and cannot read.",
            reader.unreadableCount
        )
    }
}
