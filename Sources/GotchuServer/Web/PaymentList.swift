internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Payments

/// The payments and refunds of a person's earnings, newest first. Pages are bounded by the numbers
/// of the account's entries, so that new payments do not shift them.
struct PaymentList: Sendable {
    /// A payment that was received, or a refund of one.
    struct Line: Sendable {
        let entry: Entry
        let session: Session?

        var isRefund: Bool { entry.isDebit }
    }

    struct Page: Sendable {
        var lines: [Line] = []
        /// The number before which the next page begins; `nil` on the last page.
        var next: Int64?
    }

    /// The maximum number of entries in one read.
    private static let slice = 100
    /// The maximum number of reads for one page: many entries of a wallet may not be earnings.
    private static let mostReads = 20

    let ledger: Ledger
    let account: Account.Key

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - numbers: The entry numbers to list.
    ///   - number: The page begins before this number; `nil` for the newest entries.
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
                if try entry.isEarned {
                    // One more than fits: there is a next page.
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

extension Entry {
    /// A Boolean that is true if the entry changed its account's earnings.
    fileprivate var isEarned: Bool {
        get throws(LedgerError) {
            switch try TransferKind.of(self).earner {
            case .receiver: !isDebit
            case .sender: isDebit
            case .nobody: false
            }
        }
    }
}
