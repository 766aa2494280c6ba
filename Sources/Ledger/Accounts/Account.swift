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
        /// Money held for one record until its owner is decided.
        case pot(RecordID)
    }

    package let key: Key
    /// The sum of its entries, in minor units. Never negative for a user or a pot.
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

/// An account of the house itself. It may be negative: money enters the ledger from there, so that
/// the sum over all accounts is always zero.
package enum HouseAccount: String, CaseIterable, Sendable {
    /// The source of opening balances on a development server.
    case developmentMint = "DEV_MINT"
}

extension Account.Owner: RawRepresentable {
    private static let potPrefix = "pot:"

    /// The owner as it is stored: a user's id, the name of a house account, or `pot:` and a record.
    package var rawValue: String {
        switch self {
        case .user(let id): id.rawValue
        case .house(let account): account.rawValue
        case .pot(let record): Self.potPrefix + record.rawValue
        }
    }

    package init(rawValue: String) {
        if let account = HouseAccount(rawValue: rawValue) {
            self = .house(account)
        } else if rawValue.hasPrefix(Self.potPrefix) {
            self = .pot(RecordID(trusted: String(rawValue.dropFirst(Self.potPrefix.count))))
        } else {
            self = .user(UserID(trusted: rawValue))
        }
    }

    var party: Party {
        switch self {
        case .user: .user
        case .house(let account): .house(account)
        case .pot: .pot
        }
    }
}

/// The kinds of owners that a kind of transfer may have on one of its sides.
package enum Party: Hashable, Sendable {
    case user
    case pot
    case house(HouseAccount)
}
