package import GotchuCore

/// A balance in one currency.
package struct Account: Equatable, Sendable {
    /// The owner and the currency: an owner has at most one account in a currency.
    package struct Key: Hashable, Sendable {
        package let owner: Owner
        package let currency: Currency

        package init(_ owner: Owner, _ currency: Currency) {
            self.owner = owner
            self.currency = currency
        }
    }

    /// The owner of an account.
    package enum Owner: Hashable, Sendable {
        case user(UserID)
        case house(HouseAccount)
        /// An account of the house about one user.
        case houseOf(UserHouseAccount, UserID)
        /// Money held for one record until its owner is decided.
        case pot(RecordID)
    }

    package let key: Key
    /// The sum of its entries, in minor units; always among its owner's `allowedBalances`.
    package internal(set) var balance: Int64
    /// The payments received less those refunded, in minor units.
    package internal(set) var earned: Int64
    /// The number of its newest entry; 0 without any.
    package internal(set) var entryCount: Int64
    /// The time of its newest entry; without any, of its opening.
    package internal(set) var changedAt: Timestamp

    package init(
        _ key: Key,
        balance: Int64 = 0,
        earned: Int64 = 0,
        entryCount: Int64 = 0,
        changedAt: Timestamp
    ) {
        self.key = key
        self.balance = balance
        self.earned = earned
        self.entryCount = entryCount
        self.changedAt = changedAt
    }

    package var currency: Currency { key.currency }

    /// The account's id outside of the ledger (`wallet_id`).
    package var id: String { computedID("account", key.owner.rawValue, key.currency.rawValue) }
}

extension Sequence {
    /// Returns the elements in the order of their accounts' stored owners and currencies.
    func inOrder(of account: (Element) -> Account.Key) -> [Element] {
        // A text is made once for each, and only short values are moved.
        let elements = Array(self)
        return elements.indices
            .map { (account(elements[$0]).owner.rawValue, account(elements[$0]).currency, $0) }
            .sorted { ($0.0, $0.1.rawValue) < ($1.0, $1.1.rawValue) }
            .map { elements[$0.2] }
    }
}

/// An account of the house itself. It may be negative: money enters the ledger from there, so that
/// the sum over all accounts is always zero.
package enum HouseAccount: String, CaseIterable, Sendable {
    /// The source of opening balances on a development server.
    case developmentMint = "DEV_MINT"
    /// Money at Stripe; negative, since it is what the other accounts hold.
    case stripeBalance = "STRIPE_BALANCE"
    /// Money at connected Stripe accounts, under way to a bank.
    case stripePayouts = "STRIPE_PAYOUTS"
    /// Money taken for withdrawals and not paid out yet.
    case withdrawals = "WITHDRAWALS"
    /// The fees that Stripe has kept.
    case stripeFees = "STRIPE_FEES"
    /// Debts that were given up.
    case losses = "LOSSES"
    /// The operator's own money.
    case platform = "PLATFORM"
}

/// An account of the house about one user, so that no row is common to all payments.
package enum UserHouseAccount: String, CaseIterable, Sendable {
    /// The user's debt: never above zero.
    case owed = "OWED"
    /// The house's part of what the user received: never below zero.
    case take = "TAKE"
}

// Not `RawRepresentable`: its owners would be compared and hashed by texts that are made each time.
extension Account.Owner {
    private static let potPrefix = "pot:"

    /// The owner as it is stored: a user's id, the name of a house account, that of one about a
    /// user with a colon and the user, or `pot:` and a record.
    package var rawValue: String {
        switch self {
        case .user(let id): id.rawValue
        case .house(let account): account.rawValue
        case .houseOf(let account, let user): account.prefix + user.rawValue
        case .pot(let record): Self.potPrefix + record.rawValue
        }
    }

    package init(rawValue: String) {
        if let account = HouseAccount(rawValue: rawValue) {
            self = .house(account)
        } else if rawValue.hasPrefix(Self.potPrefix) {
            self = .pot(RecordID(trusted: String(rawValue.dropFirst(Self.potPrefix.count))))
        } else if let account = UserHouseAccount.allCases.first(where: {
            rawValue.hasPrefix($0.prefix)
        }) {
            let user = rawValue.dropFirst(account.prefix.count)
            self = .houseOf(account, UserID(trusted: String(user)))
        } else {
            self = .user(UserID(trusted: rawValue))
        }
    }

    var party: Party {
        switch self {
        case .user: .user
        case .house(let account): .house(account)
        case .houseOf(let account, _): .houseOf(account)
        case .pot: .pot
        }
    }

    /// The balances that it may have, in minor units.
    var allowedBalances: ClosedRange<Int64> {
        switch self {
        case .user, .pot, .houseOf(.take, _): 0 ... .max
        case .houseOf(.owed, _): .min...0
        case .house: .min ... .max
        }
    }
}

extension UserHouseAccount {
    /// The beginning of the stored form of each such account.
    package var prefix: String { rawValue + ":" }
}

/// The kinds of owners that a kind of transfer may have on one of its sides.
package enum Party: Hashable, Sendable {
    case user
    case pot
    case house(HouseAccount)
    case houseOf(UserHouseAccount)
}
