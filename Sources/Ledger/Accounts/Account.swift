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
        /// A house account for one user.
        case houseOf(UserHouseAccount, UserID)
        /// Money held for one record until its owner is decided.
        case pot(RecordID)
    }

    package let key: Key
    /// The sum of its entries, in minor units; always among its owner's `allowedBalances`.
    package internal(set) var balance: Int64
    /// The payments received less those refunded, in minor units.
    package internal(set) var earned: Int64
    /// The number of its newest entry; 0 if it has none.
    package internal(set) var entryCount: Int64
    /// The time of its newest entry; if it has none, the time of its creation.
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

    /// The account's id in the API (`wallet_id`).
    package var id: String { computedID("account", key.owner.rawValue, key.currency.rawValue) }
}

extension Account.Key: Comparable {
    /// Orders accounts by their stored owners, then by their currencies.
    package static func < (left: Self, right: Self) -> Bool {
        left.owner == right.owner
            ? left.currency.rawValue < right.currency.rawValue
            : left.owner.precedes(right.owner)
    }
}

/// An account of the house itself. It may be negative: money enters the ledger from these accounts,
/// so that the sum over all accounts is always zero.
package enum HouseAccount: String, CaseIterable, Sendable {
    /// The source of opening balances on a development server.
    case developmentMint = "DEV_MINT"
    /// Money at Stripe. Negative: it balances what the other accounts hold.
    case stripeBalance = "STRIPE_BALANCE"
    /// Money at connected Stripe accounts, on its way to a bank.
    case stripePayouts = "STRIPE_PAYOUTS"
    /// Money taken for withdrawals and not paid out yet.
    case withdrawals = "WITHDRAWALS"
    /// The fees that Stripe has kept.
    case stripeFees = "STRIPE_FEES"
    /// Debts that were written off.
    case losses = "LOSSES"
    /// The operator's own money.
    case platform = "PLATFORM"
}

/// A house account for one user, so that payments do not all contend for one row.
package enum UserHouseAccount: String, CaseIterable, Sendable {
    /// The user's debt: never above zero.
    case owed = "OWED"
    /// The house's part of what the user received: never below zero.
    case take = "TAKE"
}

// Not `RawRepresentable`: Swift would then compare and hash owners by their raw values, and create
// a string each time.
extension Account.Owner {
    private static let potPrefix = "pot:"

    /// The owner as it is stored: a user's id, the name of a house account, `<name>:<user id>` for
    /// a user's house account, or `pot:<record id>`.
    package var rawValue: String {
        switch self {
        case .user(let id): id.rawValue
        case .house(let account): account.rawValue
        case .houseOf(let account, let user): account.prefix + user.rawValue
        case .pot(let record): Self.potPrefix + record.rawValue
        }
    }

    /// Returns true if its stored form is ordered before the other's.
    fileprivate func precedes(_ other: Account.Owner) -> Bool {
        switch (self, other) {
        case (.user(let id), .user(let otherID)): return id.rawValue < otherID.rawValue
        case (.houseOf(let account, let id), .houseOf(let otherAccount, let otherID))
        where account == otherAccount:
            return id.rawValue < otherID.rawValue
        default:
            // Beginnings that differ decide. Only otherwise the whole texts have to be created.
            let (own, others) = (beginning, other.beginning)
            guard own.hasPrefix(others) || others.hasPrefix(own) else { return own < others }
            return rawValue < other.rawValue
        }
    }

    /// The first characters of its stored form.
    private var beginning: String {
        switch self {
        case .user(let id): id.rawValue
        case .house(let account): account.rawValue
        case .houseOf(let account, _): account.rawValue
        case .pot: Self.potPrefix
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

    /// The allowed balances in minor units.
    var allowedBalances: ClosedRange<Int64> {
        switch self {
        case .user, .pot, .houseOf(.take, _): 0 ... .max
        case .houseOf(.owed, _): .min...0
        case .house: .min ... .max
        }
    }
}

extension UserHouseAccount {
    /// The prefix of such accounts in stored form.
    package var prefix: String { rawValue + ":" }
}

/// The kinds of owners that a kind of transfer may have on one of its sides.
package enum Party: Hashable, Sendable {
    case user
    case pot
    case house(HouseAccount)
    case houseOf(UserHouseAccount)
}
