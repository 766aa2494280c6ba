internal import GotchuCore
internal import Ledger

/// The house's take of a payment: of its amount only, never of its tip.
enum Take {
    /// The allowed rates, in basis points: at most half of the amount.
    static let allowed: ClosedRange<Int64> = 1...5_000

    /// Returns the take of an amount in minor units, rounded down; `nil` for none.
    static func part(of amount: Int64, basisPoints: Int64) -> Int64? {
        let part = amount * basisPoints / 10_000
        return part > 0 ? part : nil
    }
}

extension Session {
    /// The account of the house's takes on payments to the payee.
    var takeAccount: Account.Key { Account.Key(.houseOf(.take, payee), amount.currency) }

    /// Returns the entries of its payment.
    func paymentLines(from payer: UserID) -> [(account: Account.Key, amount: Int64)] {
        let take = take ?? 0
        let lines = [
            (Account.Key(.user(payer), amount.currency), -total),
            (Account.Key(.user(payee), amount.currency), total - take), (takeAccount, take),
        ]
        return lines.filter { $0.1 != 0 }
    }

    /// Returns the entries of a refund. All refunds together return the whole take.
    ///
    /// - Parameter before: The sum of refunds before it, in minor units.
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

    /// Returns the part of the take, in minor units, that the refunds have returned once their sum
    /// is `refunded`. The amount is refunded before the tip.
    private func take(returnedBy refunded: Int64) -> Int64 {
        (take ?? 0) * min(refunded, amount.minorUnits) / amount.minorUnits
    }
}
