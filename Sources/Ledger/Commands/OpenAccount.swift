package import GotchuCore

/// A command that finds the user of a login, or at the first login inserts the user with an
/// account.
package struct OpenAccount: LedgerCommand {
    package static let name = "open-account"

    /// The identity at login: an e-mail address in lower case, `<issuer>subject` of an OpenID
    /// token, or `<device>id`. No e-mail address contains `<`, so the three never collide.
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
        guard let rows else { return footprint.needsAnotherRound = true }
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

/// A command that writes the time, to prove that the ledger can be written.
struct Probe: LedgerCommand {
    package static let name = "probe"

    package init() {}

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        books.probe(at: time)
        return true
    }
}

/// A command that locks a record without changing it. Its commit returns only once the replicas
/// have all earlier writes.
struct Touch: LedgerCommand {
    static let name = "touch"

    let record: RecordID

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
    }

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool { true }
}
