internal import Contests
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Reads contests and the data that their pages need.
final class ContestReader: Sendable {
    /// The number of child records per read.
    private static let childPage = 1000
    /// The maximum number of contests whose result is cached.
    private static let resultLimit = 64
    /// The maximum number of cached images, each up to 256 KiB.
    private static let imageLimit = 32
    /// The maximum number of newest objections, and of newest declarations, that are shown.
    private static let shownLimit: Int64 = 50
    private static let unreadableLimit = 1000

    let ledger: Ledger
    private let results = Mutex<[RecordID: ContestResult]>([:])
    private let templates = Mutex<[String: ContestTemplate]>([:])
    private let images = Mutex<[String: TemplateImage]>([:])
    private let unreadable = Mutex<Set<RecordID>>([])
    let blocks = Mutex<[Int64: Block]>([:])

    init(ledger: Ledger) {
        self.ledger = ledger
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
    func readable(_ record: Record) -> Contest? {
        if record.kind == Contest.kind, let contest = try? Contest(record) {
            return contest.asOf(ledger.now)
        }
        unreadable.withLock { ids in
            if ids.count < Self.unreadableLimit { ids.insert(record.id) }
        }
        return nil
    }

    /// The number of different unreadable contests seen since the start, at most 1000.
    var unreadableCount: Int { unreadable.withLock { $0.count } }

    /// Returns the current entry of a user; `nil` without one.
    func entry(
        of user: UserID,
        in contest: RecordID
    ) async throws(LedgerError) -> ContestEntry? {
        let name = ContestID.entryName(contest, user)
        guard let named = try await ledger.record(named: name) else { return nil }
        let entry = try ContestEntry(named.record)
        return entry.isCurrent ? entry : nil
    }

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
    ) async throws(LedgerError) -> BoardPage {
        guard contest.body.revision == 0 else {
            let result = try await result(of: contest)
            let shown = Array(result.standings.dropFirst(Int(start)).prefix(limit))
            let end = Int(start) + shown.count
            return BoardPage(
                standings: shown,
                prizes: result.prizes,
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
    func result(of contest: Contest) async throws(LedgerError) -> ContestResult {
        let isKept = ![.draft, .open].contains(contest.state)
        let known = results.withLock { $0[contest.id] }
        if isKept, let known, known.version == contest.version { return known }
        let children = try await children(of: contest.id)
        let result = ContestResult(contest, try ContestChildren.read(children))
        if isKept {
            results.withLock { $0.keep(result, for: contest.id, limit: Self.resultLimit) }
        }
        return result
    }

    private func children(of contest: RecordID) async throws(LedgerError) -> [Record] {
        var records: [Record] = []
        var last: Int64 = 0
        while true {
            let page = try await ledger.children(of: contest, after: last, limit: Self.childPage)
            records += page.map(\.record)
            guard page.count == Self.childPage, let end = page.last else { return records }
            last = end.number
        }
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

/// The standings of a contest, and the prizes paid.
struct ContestResult: Sendable {
    let version: Int64
    /// The paid prizes by entry number; empty until they are paid.
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

    /// Returns the amount paid to a tier, in minor units.
    func paid(toTier tier: Int) -> Int64 {
        standings.filter { $0.tier == tier }.reduce(0) { $0 + (prizes[$1.entry.number] ?? 0) }
    }
}

extension Dictionary {
    /// Stores a value. If a new key would exceed the limit, first evicts a random other key.
    mutating func keep(_ value: Value, for key: Key, limit: Int) {
        if count >= limit, self[key] == nil, let other = keys.randomElement() {
            removeValue(forKey: other)
        }
        self[key] = value
    }
}
