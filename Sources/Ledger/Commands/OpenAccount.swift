package import GotchuCore

/// Finds the user of a login; inserts the user with an account at the first login.
package struct OpenAccount: LedgerCommand {
    package static let name = "open-account"

    /// The identity at login: an e-mail address in lower case, `<issuer>subject` of an OpenID
    /// token, or `<device>id`. No address contains `<`, so the three never collide.
    package let login: String
    package let displayName: String
    /// The opening balance of a new account, from the development mint; may be zero.
    package let opening: Money
    /// The id for the user if a new one is inserted.
    package let user: UserID

    package init(login: String, displayName: String, opening: Money, user: UserID = .make()) {
        self.login = login
        self.displayName = displayName
        self.opening = opening
        self.user = user
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        let name = User.name(ofLogin: login)
        footprint.names.insert(name)
        guard let rows else { return footprint.asksAgain = true }
        if let known = rows.names[name] {
            footprint.users.insert(UserID(trusted: known.target))
        } else if opening.minorUnits > 0 {
            footprint.owners.insert(.house(.developmentMint))
        }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> User {
        if let known = books.rows.names[User.name(ofLogin: login)] {
            guard let user = books.rows.users[UserID(trusted: known.target)] else {
                throw Refusal(.unknownUser)
            }
            return user
        }
        let new = User(id: user, login: login, displayName: displayName, createdAt: time)
        books.insert(new, accountIn: opening.currency)
        if opening.minorUnits > 0 {
            try books.post(
                .opening,
                [
                    (Account.Key(.house(.developmentMint), opening.currency), -opening.minorUnits),
                    (Account.Key(.user(user), opening.currency), opening.minorUnits),
                ],
                record: RecordID(trusted: user.rawValue),
                step: "opening",
                at: time
            )
        }
        return new
    }
}

/// Writes the time, to prove that the ledger can be written.
struct Probe: LedgerCommand {
    package static let name = "probe"

    package init() {}

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        books.probe(at: time)
        return true
    }
}

/// Locks a record without changing it, so that its commit waits until replicas have everything that
/// was written before.
struct Touch: LedgerCommand {
    static let name = "touch"

    let record: RecordID

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
    }

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool { true }
}
