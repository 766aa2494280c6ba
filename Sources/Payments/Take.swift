internal import GotchuCore
internal import Ledger

/// The house's part of a payment: of its amount alone, never of its tip.
enum Take {
    /// The allowed parts, in basis points: of more than half of a sale the operator would be the
    /// payee.
    static let allowed: ClosedRange<Int64> = 1...5_000

    /// Returns the part of an amount in minor units, rounded down; `nil` for none.
    static func part(of amount: Int64, basisPoints: Int64) -> Int64? {
        let part = amount * basisPoints / 10_000
        return part > 0 ? part : nil
    }
}

extension Session {
    /// The account of the house's parts of what the payee is paid.
    var takeAccount: Account.Key { Account.Key(.houseOf(.take, payee), amount.currency) }

    /// The lines of its payment.
    func paymentLines(from payer: UserID) -> [(account: Account.Key, amount: Int64)] {
        let take = take ?? 0
        let lines = [
            (Account.Key(.user(payer), amount.currency), -total),
            (Account.Key(.user(payee), amount.currency), total - take), (takeAccount, take),
        ]
        return lines.filter { $0.1 != 0 }
    }

    /// The lines of a refund. All refunds together give back the whole take.
    ///
    /// - Parameter before: All refunds before it, in minor units.
    func refundLines(
        of refund: Int64,
        after before: Int64,
        to payer: UserID
    ) -> [(account: Account.Key, amount: Int64)] {
        let returned = take(returnedBy: before + refund) - take(returnedBy: before)
        let lines = [
            (Account.Key(.user(payee), amount.currency), returned - refund),
            (takeAccount, -returned), (Account.Key(.user(payer), amount.currency), refund),
        ]
        return lines.filter { $0.1 != 0 }
    }

    /// The part of the take that refunds up to a total give back: the amount goes back before the
    /// tip.
    private func take(returnedBy refunded: Int64) -> Int64 {
        (take ?? 0) * min(refunded, amount.minorUnits) / amount.minorUnits
    }
}
