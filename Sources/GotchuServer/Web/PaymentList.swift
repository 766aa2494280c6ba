internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Payments

/// The payments and refunds of a person's earnings, newest first. The numbers of the account's
/// entries are the bounds of pages. Thus new payments do not shift the pages.
struct PaymentList: Sendable {
    /// A payment that was received, or a refund of one.
    struct Line: Sendable {
        let entry: Entry
        let session: Session?

        var isRefund: Bool { entry.isDebit }
    }

    struct Page: Sendable {
        var lines: [Line] = []
        /// The entry number before which the next page begins; `nil` on the last page.
        var next: Int64?
    }

    /// The maximum number of entries in one read.
    private static let slice = 100
    /// The maximum number of reads for one page. Many entries of a wallet may be no earnings.
    private static let mostReads = 20

    let ledger: Ledger
    let account: Account.Key

    /// Returns a page. If the maximum number of reads is reached, it has fewer lines than `limit`,
    /// and a next page follows.
    ///
    /// - Parameters:
    ///   - numbers: The entry numbers to list.
    ///   - number: The entry number before which the page begins; `nil` for the newest entries.
    func page(
        of numbers: Range<Int64>,
        before number: Int64?,
        limit: Int
    ) async throws -> Page {
        var page = Page()
        var next = min(number ?? .max, numbers.upperBound)
        for _ in 0..<Self.mostReads where next > numbers.lowerBound {
            let range = HistoryRange(
                .before(next),
                limit: min(Self.slice, Int(next - numbers.lowerBound))
            )
            for (entry, record) in try await ledger.history(of: account, range)?.entries ?? [] {
                if try TransferKind.of(entry).earning(isDebit: entry.isDebit) != nil {
                    // The page is full, and one more line exists: there is a next page.
                    guard page.lines.count < limit else {
                        page.next = next
                        return page
                    }
                    page.lines.append(Line(entry: entry, session: try record?.session))
                }
                next = entry.number
            }
        }
        page.next = next > numbers.lowerBound ? next : nil
        return page
    }
}
