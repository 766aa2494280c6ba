internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// The comparison of the ledger with Stripe's records of the same money. Pure.
///
/// Both sides are sums by fact. The ledger's sums are those of its entries of STRIPE_BALANCE, by
/// the transfer's step, with the sign inverted: money at Stripe is a negative balance in the
/// ledger. Stripe's sums are those of its balance transactions, by the fact that each is booked as.
struct Reconciliation {
    /// A difference, described for people.
    struct Difference: Equatable {
        let fact: String
        /// The amount by which Stripe's sum is larger than the ledger's, in minor units.
        let effect: Int64
        let text: String
    }

    /// The sums of Stripe's transactions by fact, without those that are zero.
    private(set) var provider: [String: Int64] = [:]
    /// The transaction of each fact; if there are several, the oldest.
    private(set) var lines: [String: BalanceTransaction] = [:]
    /// The sums of the ledger's entries by fact.
    let books: [String: Int64]
    /// The sum of all transactions' effects on the balance.
    private(set) var net: Int64 = 0

    init(lines transactions: [BalanceTransaction], books: [String: Int64]) {
        self.books = books
        for line in transactions {
            net += line.net
            for (fact, effect) in Self.facts(of: line) {
                provider[fact, default: 0] += effect
                lines[fact] = line
            }
        }
        provider = provider.filter { $0.value != 0 }
    }

    /// Returns a transaction's facts, named as in `Funding`, with their effects on the balance.
    static func facts(of line: BalanceTransaction) -> [(fact: String, effect: Int64)] {
        let fee = line.fee == 0 ? [] : [(line.id, -line.fee)]
        switch TransactionClass(SeenTransaction(line)) {
        case .fee: return [(line.id, line.net)]
        case .platform:
            return [(line.id, line.amount)] + fee.map { ("\($0.0):fee", $0.1) }
        case .ofRecord:
            guard let source = line.source else { return [(line.id, line.amount)] + fee }
            let name =
                switch line.type {
                case "charge", "payment": source.object?.paymentIntent?.id ?? source.id
                case "refund_failure", "payment_failure_refund": "\(source.id):back"
                case "adjustment": "\(source.id):\(line.amount < 0 ? "out" : "in")"
                default: source.id
                }
            return [(name, line.amount)] + fee
        }
    }

    /// The facts that are not in the ledger, or have another amount there, in time order.
    var unbooked: [Difference] {
        provider.keys.filter { books[$0] != provider[$0] }
            .sorted { (lines[$0]?.created, $0) < (lines[$1]?.created, $1) }
            .map { fact in
                let line = lines[fact]
                let (theirs, ours) = (provider[fact] ?? 0, books[fact])
                let name = "\(line?.id ?? fact) \(line?.type ?? "") \(Self.text(theirs))"
                return Difference(
                    fact: fact,
                    effect: theirs - (ours ?? 0),
                    text: ours.map { "\(name) is booked as \(Self.text($0))" }
                        ?? "\(name) is not booked"
                )
            }
    }

    /// The facts in the ledger for which Stripe has no transaction.
    var unknown: [(fact: String, effect: Int64)] {
        books.filter { provider[$0.key] == nil }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value) }
    }

    static func text(_ cents: Int64) -> String { Money(minorUnits: cents).decimalText }
}

private func < (left: (Timestamp?, String), right: (Timestamp?, String)) -> Bool {
    let (one, other) = (left.0?.milliseconds ?? 0, right.0?.milliseconds ?? 0)
    return one == other ? left.1 < right.1 : one < other
}
