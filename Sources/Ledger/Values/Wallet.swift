package import GotchuCore

/// A balance in one currency and who holds it.
package struct Wallet: Equatable, Sendable {
    package let id: WalletID
    package let owner: Owner
    package let currency: Currency
    /// The sum of its entries, in minor units. Never negative for a user.
    package var balance: Int64
    /// How many entries it has; the newest one's number.
    package var entryCount: Int64

    package init(
        id: WalletID,
        owner: Owner,
        currency: Currency,
        balance: Int64 = 0,
        entryCount: Int64 = 0
    ) {
        self.id = id
        self.owner = owner
        self.currency = currency
        self.balance = balance
        self.entryCount = entryCount
    }

    /// Who holds a wallet.
    package enum Owner: Hashable, Sendable {
        case user(UserID)
        case system(SystemAccount)
    }

    /// An owner has at most one wallet in a currency.
    package struct Place: Hashable, Sendable {
        package let owner: Owner
        package let currency: Currency

        package init(owner: Owner, currency: Currency) {
            self.owner = owner
            self.currency = currency
        }
    }

    package var place: Place { Place(owner: owner, currency: currency) }
}

extension Wallet {
    /// The user who holds it, if it is one's.
    package var user: UserID? { if case .user(let id) = owner { id } else { nil } }

    /// The account of the house that it is, if it is one.
    package var account: SystemAccount? {
        if case .system(let account) = owner { account } else { nil }
    }
}
