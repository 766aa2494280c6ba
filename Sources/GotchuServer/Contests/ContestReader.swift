internal import Contests
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Reads contests with what their pages need.
final class ContestReader: Sendable {
    /// The children that are read at once.
    private static let childPage = 1000
    /// The newest contests among which a list looks.
    static let scanLimit = 2000
    private static let scanPage = 200
    /// The results that are kept: those of contests that somebody looks at.
    private static let resultLimit = 64

    let ledger: Ledger
    private let results = Mutex<[RecordID: ContestResult]>([:])
    private let templates = Mutex<[String: ContestTemplate]>([:])

    init(ledger: Ledger) {
        self.ledger = ledger
    }

    /// Returns a contest as it is now; `nil` if there is none.
    func contest(_ id: RecordID) async throws(LedgerError) -> Contest? {
        guard let record = try await ledger.record(id), record.kind == Contest.kind else {
            return nil
        }
        return try Contest(record).asOf(ledger.now)
    }

    /// Returns the entry of a user who is in.
    func entry(
        of user: UserID,
        in contest: RecordID
    ) async throws(LedgerError) -> ContestEntry? {
        let name = ContestID.entryName(contest, user)
        guard let named = try await ledger.record(named: name) else { return nil }
        let entry = try ContestEntry(named.record)
        return entry.isIn ? entry : nil
    }

    /// Returns true if a user has objected to the result of a contest.
    func hasObjected(_ user: UserID, to contest: RecordID) async throws(LedgerError) -> Bool {
        try await ledger.record(named: ContestID.objectionName(contest, user)) != nil
    }

    /// Returns a template. They never change, so that one that was read is kept.
    ///
    /// - Returns: `nil` if there is none of the id.
    func template(_ id: String) async throws(LedgerError) -> ContestTemplate? {
        if let builtIn = ContestTemplate.builtIn.first(where: { $0.id == id }) { return builtIn }
        if let known = templates.withLock({ $0[id] }) { return known }
        guard let record = try await ledger.record(RecordID(trusted: id)),
            record.kind == ContestTemplate.kind
        else { return nil }
        let template = try ContestTemplate(record)
        templates.withLock { $0[id] = template }
        return template
    }

    /// Returns the objections to a contest's result, in the order of time.
    func objections(to contest: Contest) async throws(LedgerError) -> [Objection] {
        guard contest.body.objections > 0 else { return [] }
        var objections: [Objection] = []
        for child in try await children(of: contest.id, after: ContestChild.objectionBase) {
            objections.append(try Objection(child))
        }
        return objections
    }

    /// Returns the standings of a contest with what they lead to.
    func result(of contest: Contest) async throws(LedgerError) -> ContestResult {
        let isKept = ![.draft, .open].contains(contest.state)
        let known = results.withLock { $0[contest.id] }
        if isKept, let known, known.version == contest.version { return known }
        let children = try await children(of: contest.id, after: 0)
        let result = ContestResult(contest, try ContestFile.read(children))
        if isKept {
            results.withLock { results in
                if results.count >= Self.resultLimit, results[contest.id] == nil {
                    results.removeAll()
                }
                results[contest.id] = result
            }
        }
        return result
    }

    private func children(
        of contest: RecordID,
        after number: Int64
    ) async throws(LedgerError) -> [Record] {
        var records: [Record] = []
        var last = number
        while true {
            let page = try await ledger.children(of: contest, after: last, limit: Self.childPage)
            records += page.map(\.record)
            guard page.count == Self.childPage, let end = page.last else { return records }
            last = end.number
        }
    }

    /// Returns the newest contests that `isShown` allows, newest first.
    func newest(where isShown: (Contest) -> Bool) async throws(LedgerError) -> [Contest] {
        var shown: [Contest] = []
        var last: RecordID?
        let now = ledger.now
        for _ in 0..<(Self.scanLimit / Self.scanPage) {
            let page = try await ledger.records(
                kind: Contest.kind,
                before: last,
                limit: Self.scanPage
            )
            for record in page {
                let contest = try Contest(record).asOf(now)
                if isShown(contest) { shown.append(contest) }
            }
            guard page.count == Self.scanPage else { break }
            last = page.last?.id
        }
        return shown
    }

    /// Returns the newest contests that a user organises or has entered, newest first.
    func newest(of user: UserID) async throws(LedgerError) -> [Contest] {
        let now = ledger.now
        var found: [RecordID: Contest] = [:]
        for record in try await ledger.records(
            of: user,
            kind: Contest.kind,
            before: nil,
            limit: Self.scanPage
        ) {
            let contest = try Contest(record).asOf(now)
            if !contest.body.isDeleted { found[contest.id] = contest }
        }
        for record in try await ledger.records(
            of: user,
            kind: ContestEntry.kind,
            before: nil,
            limit: Self.scanPage
        ) {
            let entry = try ContestEntry(record)
            guard entry.isIn, found[entry.contest] == nil else { continue }
            if let contest = try await contest(entry.contest) { found[contest.id] = contest }
        }
        return found.values.sorted { $0.id.rawValue > $1.id.rawValue }
    }
}

/// The standings of a contest, and the prizes that they lead to.
struct ContestResult: Sendable {
    let version: Int64
    /// The prizes by the number of the entry; empty until they are paid.
    let prizes: [Int64: Int64]
    let plan: SettlementPlan
    var standings: [Standing] { plan.standings }

    init(_ contest: Contest, _ file: (entries: [ContestEntry], revisions: [ScoreRevision])) {
        version = contest.version
        plan = SettlementPlan(contest.terms, entries: file.entries, revisions: file.revisions)
        prizes =
            contest.state == .settled
            ? Dictionary(
                uniqueKeysWithValues: plan.payouts.map {
                    ($0.standing.entry.number, $0.amount)
                }
            ) : [:]
    }

    /// The amount paid to a tier, in minor units.
    func paid(toTier tier: Int) -> Int64 {
        standings.filter { $0.tier == tier }.reduce(0) { $0 + (prizes[$1.entry.number] ?? 0) }
    }
}
