package import GotchuCore

/// Finds the user of a login, or takes him in and opens his wallet, once.
package struct OpenWallet: Equatable, Sendable {
    /// What names him at login: an e-mail address in lower case, `<issuer>subject` of an OpenID
    /// token, or `<device>id`. No address has a `<` in it, so that the three never meet.
    package let email: String
    package let displayName: String
    /// What the new wallet starts with, from the development mint; may be zero.
    package let opening: Money
    /// Names for what may have to be made.
    package let user: UserID
    package let wallet: WalletID
    package let mint: WalletID
    package let transfer: TransferID

    package init(
        email: String,
        displayName: String,
        opening: Money,
        user: UserID = .make(),
        wallet: WalletID = .make(),
        mint: WalletID = .make(),
        transfer: TransferID = .make()
    ) {
        self.email = email
        self.displayName = displayName
        self.opening = opening
        self.user = user
        self.wallet = wallet
        self.mint = mint
        self.transfer = transfer
    }

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        if let known = books.rows.usersByEmail[email], let user = books.rows.users[known] {
            return .user(user)
        }
        let newUser = User(id: user, email: email, displayName: displayName, createdAt: time)
        let newWallet = Wallet(id: wallet, owner: .user(user), currency: opening.currency)
        books.insert(newUser)
        books.put(newWallet)
        if opening.minorUnits > 0 {
            books.transfer(
                transfer,
                kind: .developmentOpening,
                amount: opening,
                from: mintWallet(in: books),
                to: newWallet,
                order: nil,
                at: time
            )
        }
        return .user(newUser)
    }

    private func mintWallet(in books: Books) -> Wallet {
        let place = Wallet.Place(
            owner: .system(.developmentMint),
            currency: opening.currency
        )
        return books.rows.wallets[place]
            ?? Wallet(id: mint, owner: place.owner, currency: place.currency)
    }
}
