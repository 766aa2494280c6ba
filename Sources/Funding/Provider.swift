package import GotchuCore
package import Ledger

/// The platform's account at the provider, to which this ledger belongs. There is only one.
package typealias Provider = FundingRecord<ProviderBody>

/// The operator's terms for withdrawals.
package struct PayoutTerms: Codable, Equatable, Sendable {
    /// The smallest withdrawal, in minor units.
    package var minimum: Int64 = 100
    /// The hours for which a new credit cannot be withdrawn.
    package var holdHours = 48
    /// The number of sales, older than `holdHours`, that a payee needs to withdraw without a
    /// release.
    package var firstSales = 10

    package init() {}
}

package struct ProviderBody: FundingBody {
    package static let kind = "provider"

    package enum State: String, Sendable {
        case bound = "BOUND"
    }

    /// `acct_…`
    package let account: String
    package let isLive: Bool
    /// The time up to which all events were processed.
    package internal(set) var watermark: Timestamp
    let currency: Currency
    /// The terms of the most recently started server; the operator's commands use them too.
    package internal(set) var payouts: PayoutTerms

    /// The currency of its transactions.
    package var amount: Money { Money(minorUnits: 0, currency: currency) }
    /// Its transactions are too many for the body: their transfers and names record them.
    package var booked: [String: Int64] {
        get { [:] }
        set {}
    }

    /// It is never refreshed: its events are read.
    package var refreshedAt: Timestamp? { nil }

    package func canBe(in state: State) -> Bool { !account.isEmpty }
}

extension FundingRecord where Body == ProviderBody {
    package static let id = RecordID(trusted: computedID(ProviderBody.kind))
    /// The user who owns the record: every record has an owner.
    static let user = UserID(trusted: computedID("user", ProviderBody.kind))
    /// It differs from all email addresses, which contain @, and from all OpenID logins, which
    /// contain <.
    static let login = "provider"
}

extension FundingDecision where Body == ProviderBody {
    mutating func book(_ posting: Posting) { postings.append(posting) }
}

/// Binds the ledger to an account and a mode of the provider at the first start with a key, and
/// records the server's terms.
package struct BindProvider: LedgerCommand {
    package static let name = "bind-provider"

    package let account: String
    package let isLive: Bool
    package let payouts: PayoutTerms

    package init(account: String, isLive: Bool, payouts: PayoutTerms = PayoutTerms()) {
        self.account = account
        self.isLive = isLive
        self.payouts = payouts
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Provider.id)
        footprint.users.insert(Provider.user)
        footprint.names.insert(User.name(ofLogin: Provider.login))
    }

    /// - Throws: `otherProvider` if the ledger belongs to another account or mode.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Provider {
        if let record = books.rows.records[Provider.id] {
            var provider: Provider = try books.readable(record)
            guard provider.body.account == account, provider.body.isLive == isLive else {
                throw Refusal(.otherProvider)
            }
            provider.body.payouts = payouts
            return try books.put(FundingDecision(provider), at: time)
        }
        if books.rows.users[Provider.user] == nil {
            let user = User(
                id: Provider.user,
                login: Provider.login,
                displayName: "",
                createdAt: time
            )
            books.insert(user, accountIn: .usd)
        }
        let provider = Provider(
            id: Provider.id,
            owner: Provider.user,
            createdAt: time,
            state: .bound,
            refreshAt: nil,
            body: ProviderBody(
                account: account,
                isLive: isLive,
                watermark: time,
                currency: .usd,
                payouts: payouts
            )
        )
        books.put(provider.record)
        return provider
    }
}

/// Records that all events up to a time were processed.
package struct AdvanceWatermark: LedgerCommand {
    package static let name = "advance-watermark"

    package let watermark: Timestamp

    package init(to watermark: Timestamp) {
        self.watermark = watermark
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Provider.id)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        var decision = FundingDecision<ProviderBody>(try books.subject(Provider.id))
        guard watermark > decision.subject.body.watermark else { return false }
        decision.subject.body.watermark = watermark
        try books.put(decision, at: time)
        return true
    }
}

/// Books one of the platform's own transactions: P1.
package struct BookTransaction: LedgerCommand {
    package static let name = "book-transaction"

    package let transaction: SeenTransaction

    package init(_ transaction: SeenTransaction) {
        self.transaction = transaction
    }

    private var postings: [Posting] { TransactionClass(transaction).postings(of: transaction) }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Provider.id)
        for posting in postings {
            footprint.names.insert(Posting.name(ofFact: posting.fact))
            footprint.owners.formUnion(posting.owners)
        }
    }

    /// - Returns: True if it was booked now; false if it was booked before, belongs to a deposit or
    ///   a withdrawal, has another currency or is implausible.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        var decision = FundingDecision<ProviderBody>(try books.subject(Provider.id))
        guard transaction.currency.lowercased() == decision.subject.amount.currency.rawValue else {
            return false
        }
        for posting in postings where books.rows.names[Posting.name(ofFact: posting.fact)] == nil {
            decision.book(posting)
        }
        try books.put(decision, at: time)
        return !decision.postings.isEmpty
    }
}

/// The class of a balance transaction for the ledger. An unknown type counts as the platform's.
package enum TransactionClass: Equatable, Sendable {
    /// A fact of a deposit or a withdrawal, booked by that record.
    case ofRecord
    /// A fee of the provider that does not belong to a charge.
    case fee
    /// The platform's own top-ups, payouts and adjustments.
    case platform

    package init(_ transaction: SeenTransaction) {
        let kind = transaction.source?.split(separator: "_").first
        self =
            switch transaction.type {
            case "charge", "payment", "refund", "payment_refund", "refund_failure",
                "payment_failure_refund", "transfer", "transfer_refund", "transfer_cancel",
                "transfer_failure":
                .ofRecord
            case "adjustment" where kind == "dp" || kind == "du" || kind == "re": .ofRecord
            case "stripe_fee", "stripe_fx_fee", "tax_fee", "network_cost": .fee
            default: .platform
            }
    }

    func postings(of transaction: SeenTransaction) -> [Posting] {
        let amount = transaction.amount
        guard amount.magnitude <= Pace.maximumAmount,
            transaction.fee.magnitude <= Pace.maximumAmount
        else { return [] }
        let fees: Posting.Lines = .move(from: .house(.stripeFees), to: .house(.stripeBalance))
        let own: Posting.Lines = .move(from: .house(.stripeBalance), to: .house(.platform))
        let fee = Posting(.providerFee, "\(transaction.id):fee", transaction.fee, fees)
        switch self {
        case .ofRecord: return []
        case .fee:
            return [Posting(.providerFee, transaction.id, transaction.fee - amount, fees)]
                .filter { $0.amount != 0 }
        case .platform:
            return [Posting(.platform, transaction.id, amount, own), fee]
                .filter { $0.amount != 0 }
        }
    }
}
