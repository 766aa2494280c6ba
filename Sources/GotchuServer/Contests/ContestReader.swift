internal import Contests
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Reads contests and the data that their pages need.
final class ContestReader: Sendable {
    /// The number of child records per read. A score revision may have 60 KB.
    private static let childPage: Int64 = 200
    /// The maximum number of contests whose result is cached.
    private static let resultLimit = 64
    /// The maximum number of cached images, each up to 256 KiB.
    private static let imageLimit = 32
    /// The maximum number of newest objections, and of newest declarations, that are shown.
    private static let shownLimit: Int64 = 50
    private static let unreadableLimit = 1000

    let ledger: Ledger
    let heavyReads: HeavyReads
    private let results: HeavyCache<RecordID, ContestResult>
    private let templates = Mutex<[String: ContestTemplate]>([:])
    private let images = Mutex<[String: TemplateImage]>([:])
    private let unreadable = Mutex<Set<RecordID>>([])
    /// The blocks of the list of public contests, by index.
    let blocks: HeavyCache<Int64, [Listed]>

    init(ledger: Ledger, _ heavyReads: HeavyReads) {
        self.ledger = ledger
        self.heavyReads = heavyReads
        results = HeavyCache(heavyReads, limit: Self.resultLimit)
        blocks = HeavyCache(heavyReads, limit: Self.blockLimit, age: Self.blockAge)
    }

    /// Returns a contest in its current state; `nil` if no contest has the id.
    func contest(_ id: RecordID) async throws(LedgerError) -> Contest? {
        guard let record = try await ledger.record(id), record.kind == Contest.kind else {
            return nil
        }
        return try Contest(record).asOf(ledger.now)
    }

    /// Returns a record's contest in its current state. If this server cannot read the record,
    /// counts it and returns `nil`. A newer server may have written the record, or it is damaged.
    func readable(_ record: Record) -> Contest? { stored(record)?.asOf(ledger.now) }

    /// Returns a record's contest in its stored state. Counts an unreadable record as `readable`
    /// does.
    func stored(_ record: Record) -> Contest? {
        if record.kind == Contest.kind, let contest = try? Contest(record) { return contest }
        unreadable.withLock { ids in
            if ids.count < Self.unreadableLimit { ids.insert(record.id) }
        }
        return nil
    }

    /// The number of different unreadable contests seen since the start, at most 1000.
    var unreadableCount: Int { unreadable.withLock { $0.count } }

    /// Returns true if a user has objected to the newest result of a contest.
    func hasObjected(_ user: UserID, to contest: Contest) async throws(LedgerError) -> Bool {
        let revision = contest.body.revision
        let name = ContestID.objectionName(contest.id, user, revision: revision)
        return try await ledger.record(named: name) != nil
    }

    /// Returns the template of a contest.
    ///
    /// - Throws: `corrupt` if it is missing.
    func template(of contest: Contest) async throws(LedgerError) -> ContestTemplate {
        guard let template = try await template(contest.terms.template) else {
            throw LedgerError.corrupt("a contest without its template")
        }
        return template
    }

    /// Returns a template. Templates never change, so they are cached.
    ///
    /// - Returns: `nil` if no template has the id.
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

    /// Returns an image of a template by its name, which is the image's hash or a colour. A
    /// colour's image is a gradient. Images never change, so they are cached.
    func image(_ name: String) async throws(LedgerError) -> TemplateImage? {
        if let known = images.withLock({ $0[name] }) { return known }
        if let gradient = TemplateImage.gradient(name) { return gradient }
        guard let record = try await ledger.record(TemplateImage.record(name)) else { return nil }
        let image = try TemplateImage(record)
        images.withLock { $0.keep(image, for: name, limit: Self.imageLimit) }
        return image
    }

    /// Returns the newest objections to a contest's results, at most 50, oldest first.
    func objections(to contest: Contest) async throws(LedgerError) -> [Objection] {
        let base = ContestChild.objectionBase
        return try await newest(contest.body.objections, of: contest, behind: base)
            .map { record throws(LedgerError) in try Objection(record) }
    }

    /// Returns the newest declarations and disputes of a contest, at most 50, oldest first.
    func declarations(of contest: Contest) async throws(LedgerError) -> [Declaration] {
        let base = ContestChild.declarationBase
        return try await newest(contest.body.declarations, of: contest, behind: base)
            .map { record throws(LedgerError) in try Declaration(record) }
    }

    /// Returns the newest children of one kind, oldest first.
    ///
    /// - Parameters:
    ///   - count: The number of the contest's children of this kind.
    ///   - base: The number before the first child of this kind.
    private func newest(
        _ count: Int64,
        of contest: Contest,
        behind base: Int64
    ) async throws(LedgerError) -> [Record] {
        let shown = min(count, Self.shownLimit)
        guard shown > 0 else { return [] }
        let children = try await ledger.children(
            of: contest.id,
            after: base + count - shown,
            limit: Int(shown)
        )
        return children.map(\.record)
    }

    /// Returns a page of standings. Without scores, these are the entries in the order of their
    /// numbers. Entries that were left are removed after the read, so such a page may have fewer
    /// than `limit` standings.
    ///
    /// - Parameter start: 0, or the `next` of the previous page.
    func board(
        of contest: Contest,
        from start: Int64,
        limit: Int
    ) async throws -> BoardPage {
        guard contest.body.revision == 0 else {
            let result = try await result(of: contest)
            let shown = Array(result.standings.dropFirst(Int(start)).prefix(limit))
            let end = Int(start) + shown.count
            return BoardPage(
                standings: shown,
                prizes: contest.state == .settled ? result.prizes : [:],
                next: end < result.standings.count ? end : nil
            )
        }
        let page = try await ledger.children(of: contest.id, after: start, limit: limit)
            .filter { ContestChild.entries.contains($0.number) }
        var standings: [Standing] = []
        for child in page {
            let entry = try ContestEntry(child.record)
            if entry.isCurrent { standings.append(.unscored(entry)) }
        }
        return BoardPage(
            standings: standings,
            prizes: [:],
            next: page.count == limit ? page.last.map { Int($0.number) } : nil
        )
    }

    /// Returns the standings of a contest and its prizes.
    func result(of contest: Contest) async throws -> ContestResult {
        let (entries, revisions) = (contest.body.entryNumber, contest.body.revision)
        // The entries never change once there are scores, and no revision ever does.
        let version = revisions > 0 ? revisions : -contest.version
        return try await results.value(of: contest.id, version: version) { [self] _ in
            let children =
                try await children(of: contest, behind: 0, count: entries)
                + children(of: contest, behind: ContestChild.scoreBase, count: revisions)
            return ContestResult(contest, try ContestChildren.read(children))
        }
    }

    private func children(
        of contest: Contest,
        behind base: Int64,
        count: Int64
    ) async throws(LedgerError) -> [Record] {
        var records: [Record] = []
        while Int64(records.count) < count {
            let read = Int64(records.count)
            let page = try await ledger.children(
                of: contest.id,
                after: base + read,
                limit: Int(min(Self.childPage, count - read))
            )
            guard !page.isEmpty else { throw .corrupt("a contest's children") }
            records += page.map(\.record)
        }
        return records
    }
}

/// A page of a contest's standings.
struct BoardPage: Sendable {
    let standings: [Standing]
    /// The paid prizes by entry number; empty until they are paid.
    let prizes: [Int64: Int64]
    /// The `start` of the next page; `nil` on the last page.
    let next: Int?
}

/// The standings of a contest, and the prizes that follow from them.
struct ContestResult: Sendable {
    /// The prizes by entry number.
    let prizes: [Int64: Int64]
    let plan: SettlementPlan
    var standings: [Standing] { plan.standings }

    fileprivate init(
        _ contest: Contest,
        _ file: (entries: [ContestEntry], revisions: [ScoreRevision])
    ) {
        plan = SettlementPlan(contest.terms, entries: file.entries, revisions: file.revisions)
        prizes = Dictionary(
            uniqueKeysWithValues: plan.payouts.map { ($0.standing.entry.number, $0.amount) }
        )
    }

    /// Returns the amount paid to a tier, in minor units.
    func paid(toTier tier: Int) -> Int64 {
        standings.filter { $0.tier == tier }.reduce(0) { $0 + (prizes[$1.entry.number] ?? 0) }
    }
}
