internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Lists of contests. Each call reads only as much as a page needs.
extension ContestReader {
    /// The maximum number of public contests that one call scans.
    private static let scanLimit: Int64 = 2000
    /// The number of contests in a block, which is read and cached at once.
    private static let blockSize: Int64 = 200
    private static let blockLimit = 16
    /// The age at which a cached block is read again.
    private static let blockAge: Duration = .seconds(1)
    private static let ownPage = 100
    /// The maximum number of reads of a user's own contests per call.
    private static let ownPages = 5

    /// A page of a list, newest first.
    struct Page: Sendable {
        var contests: [Contest] = []
        /// The number of matching contests skipped before these.
        var skipped = 0
        /// The cursor of the next page; `nil` if this is the last.
        var next: RecordID?
    }

    /// A block of public contests with consecutive numbers.
    struct Block: Sendable {
        let contests: [(number: Int64, contest: Contest)]
        /// The highest contest number that the block was read for.
        let end: Int64
        let readAt: MonotonicTime
    }

    /// The number of all public contests, including deleted ones.
    var publicCount: Int64 {
        get async throws(LedgerError) {
            try ContestIndex(try await ledger.record(ContestIndex.id)).count
        }
    }

    /// Returns a page of the public contests that are not deleted. If the call reaches the scan
    /// limit, the page may be shorter. Its cursor then continues after the last scanned contest.
    ///
    /// - Parameters:
    ///   - end: Only contests with lower numbers in the index are listed.
    ///   - skipped: The number of contests in the state that are skipped first.
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

    /// Returns a page of the contests that a user organises or has entered. The newest creation or
    /// entry is first. After five reads the page may be shorter; its cursor then continues.
    ///
    /// - Parameter before: The cursor: the id of the last contest created or of the last entry.
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
            // If one of the two reads is full, older records of its kind may follow. Records older
            // than its last one are left to the next read.
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

    /// Returns the contest that a record of a contest or an entry belongs to. Returns `nil` for a
    /// deleted or unreadable contest, and for an entry that was left.
    private func contest(
        behind record: Record,
        of user: UserID
    ) async throws(LedgerError) -> Contest? {
        if record.kind == Contest.kind {
            return readable(record).flatMap { $0.body.isDeleted ? nil : $0 }
        }
        guard let entry = try? ContestEntry(record), entry.isCurrent else { return nil }
        return try await ledger.record(entry.contest).flatMap { readable($0) }
    }
}

extension ContestState? {
    fileprivate func holds(_ contest: Contest) -> Bool { self == nil || self == contest.wireState }
}
