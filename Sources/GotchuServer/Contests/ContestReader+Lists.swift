internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Lists of contests: each is read as far as a page needs.
extension ContestReader {
    /// The public contests that a list looks at in one call; the cursor leads on.
    private static let scanLimit: Int64 = 2000
    /// The public contests that are read, and kept, together.
    private static let blockSize: Int64 = 200
    private static let blockLimit = 16
    /// The age at which a block that is kept is read again.
    private static let blockAge: Duration = .seconds(1)
    private static let ownPage = 100
    /// The pages of a user's own that a list reads in one call.
    private static let ownPages = 5

    /// A page of a list, newest first.
    struct Page: Sendable {
        var contests: [Contest] = []
        /// The number of contests that were passed over before these.
        var skipped = 0
        /// The cursor of what is behind it; `nil` if nothing is.
        var next: RecordID?
    }

    /// Public contests whose numbers follow each other.
    struct Block: Sendable {
        let contests: [(number: Int64, contest: Contest)]
        /// The number of the newest one.
        let end: Int64
        let readAt: MonotonicTime
    }

    /// The number of all public contests, hidden ones included.
    var publicCount: Int64 {
        get async throws(LedgerError) {
            try ContestIndex(try await ledger.record(ContestIndex.id)).count
        }
    }

    /// Returns a page of the public contests that are not hidden: of the newest that the scan limit
    /// allows, and behind them the cursor leads on.
    ///
    /// - Parameters:
    ///   - end: The number in the index below which it looks.
    ///   - skipped: The number of contests of the state that are passed over.
    func published(
        in state: ContestState?,
        below end: Int64,
        skipping skipped: Int,
        limit: Int
    ) async throws(LedgerError) -> Page {
        let count = try await publicCount
        var page = Page()
        var number = min(end, count + 1)
        let start = max(1, number - Self.scanLimit)
        var last: RecordID?
        while number > start {
            let index = (number - 2) / Self.blockSize
            let block = try await block(index, of: count)
            for (place, contest) in block.reversed() where place < number && place >= start {
                let now = contest.asOf(ledger.now)
                let isShown = !now.body.isDeleted && state.holds(now)
                if isShown, page.contests.count == limit {
                    page.next = last
                    return page
                }
                last = contest.id
                guard isShown else { continue }
                if page.skipped < skipped {
                    page.skipped += 1
                } else {
                    page.contests.append(now)
                }
            }
            number = index * Self.blockSize + 1
        }
        page.next = start > 1 ? last : nil
        return page
    }

    private func block(
        _ index: Int64,
        of count: Int64
    ) async throws(LedgerError) -> [(number: Int64, contest: Contest)] {
        let now = MonotonicTime.now
        let end = min(count, (index + 1) * Self.blockSize)
        let known = blocks.withLock { $0[index] }
        if let known, known.end >= end, now - known.readAt < Self.blockAge {
            return known.contests
        }
        let children = try await ledger.children(
            of: ContestIndex.id,
            after: index * Self.blockSize,
            limit: Int(Self.blockSize)
        )
        let contests = children.compactMap { child in
            readable(child.record).map { (number: child.number, contest: $0) }
        }
        let block = Block(contests: contests, end: end, readAt: now)
        blocks.withLock { $0.keep(block, for: index, limit: Self.blockLimit) }
        return contests
    }

    /// Returns a page of the contests that a user organises or has entered, in the order in which
    /// they did so.
    ///
    /// - Parameter before: The cursor: the id of the contest, or of the entry.
    func contests(
        of user: UserID,
        in state: ContestState?,
        before: RecordID?,
        skipping skipped: Int,
        limit: Int
    ) async throws(LedgerError) -> Page {
        var page = Page()
        page.next = before
        for _ in 0..<Self.ownPages {
            let own = try await records(of: user, Contest.kind, before: page.next)
            let entries = try await records(of: user, ContestEntry.kind, before: page.next)
            // Behind the end of a full page there may be others of its kind.
            let end = [own, entries].filter { $0.count == Self.ownPage }
                .compactMap { $0.last?.id.rawValue }.max()
            for record in (own + entries).sorted(by: { $0.id.rawValue > $1.id.rawValue })
            where end.map({ record.id.rawValue >= $0 }) ?? true {
                guard page.contests.count < limit else { return page }
                page.next = record.id
                guard let contest = try await contest(behind: record, of: user),
                    state.holds(contest)
                else { continue }
                if page.skipped < skipped {
                    page.skipped += 1
                } else {
                    page.contests.append(contest)
                }
            }
            guard end != nil else {
                page.next = nil
                return page
            }
        }
        return page
    }

    private func records(
        of user: UserID,
        _ kind: String,
        before: RecordID?
    ) async throws(LedgerError) -> [Record] {
        try await ledger.records(of: user, kind: kind, before: before, limit: Self.ownPage)
    }

    /// Returns the contest that a record is, unless it is hidden, or that it is an entry of.
    private func contest(
        behind record: Record,
        of user: UserID
    ) async throws(LedgerError) -> Contest? {
        if record.kind == Contest.kind {
            return readable(record).flatMap { $0.body.isDeleted ? nil : $0 }
        }
        guard let entry = try? ContestEntry(record), entry.isIn else { return nil }
        return try await ledger.record(entry.contest).flatMap { readable($0) }
    }
}

extension ContestState? {
    fileprivate func holds(_ contest: Contest) -> Bool { self == nil || self == contest.wireState }
}
