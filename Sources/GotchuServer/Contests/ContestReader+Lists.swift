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
    static let blockLimit = 16
    /// The age at which a cached block is read again.
    static let blockAge: Duration = .seconds(1)
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

    /// A contest with its number in the index. A reference, so that a scan copies no contests.
    final class Listed: Sendable {
        let number: Int64
        let contest: Contest

        init(number: Int64, contest: Contest) {
            (self.number, self.contest) = (number, contest)
        }
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
    ) async throws -> Page {
        let count = try await publicCount
        var page = Page()
        var number = min(end, count + 1)
        let start = max(1, number - Self.scanLimit)
        var last: RecordID?
        while number > start {
            let index = (number - 2) / Self.blockSize
            let block = try await block(index, of: count)
            let now = ledger.now
            for listed in block.reversed()
            where listed.number < number && listed.number >= start {
                let isShown = listed.contest.isListed(in: state, at: now)
                if isShown, page.contests.count == limit {
                    page.next = last
                    return page
                }
                last = listed.contest.id
                guard isShown else { continue }
                if page.skipped < skipped {
                    page.skipped += 1
                } else {
                    page.contests.append(listed.contest.asOf(now))
                }
            }
            number = index * Self.blockSize + 1
        }
        page.next = start > 1 ? last : nil
        return page
    }

    private func block(_ index: Int64, of count: Int64) async throws -> [Listed] {
        let end = min(count, (index + 1) * Self.blockSize)
        return try await blocks.value(of: index, version: end) { [self] old in
            let known = Dictionary(uniqueKeysWithValues: (old ?? []).map { ($0.number, $0) })
            return try await ledger.children(
                of: ContestIndex.id,
                after: index * Self.blockSize,
                limit: Int(Self.blockSize)
            ).compactMap { child in
                // Most contests have not changed: they are not decoded again.
                if let known = known[child.number], known.contest.version == child.record.version {
                    return known
                }
                return stored(child.record).map { Listed(number: child.number, contest: $0) }
            }
        }
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
                    contest.isListed(in: state, at: ledger.now)
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

extension Contest {
    /// Returns true if a list of the contests in a state shows it at `time`.
    ///
    /// - Parameter wanted: The state; `nil` for all states.
    fileprivate func isListed(in wanted: ContestState?, at time: Timestamp) -> Bool {
        !body.isDeleted && (wanted == nil || wanted == state(at: time).wire)
    }
}
