internal import GotchuCore
internal import Ledger
internal import ServiceProcess

/// The users of a database, for the commands; works beside a running server.
extension LedgerStore {
    /// The user of an id, of an e-mail address, or of an `<issuer>subject`.
    ///
    /// - Throws: A failure with its fix if there is none.
    func user(_ text: String) async throws -> User {
        var wanted = Footprint()
        wanted.users = [UserID(trusted: text)]
        // Addresses are kept in lower case, see `OpenWallet`; a subject is compared to the letter.
        wanted.emails = [text.hasPrefix("<") ? text : text.lowercased()]
        guard let user = try await users(wanted).first else {
            throw ServerFailure(
                .negative,
                "There is no user \(text) in these books. People become users when they first "
                    + "log in.",
                fix: "gotchu-server devices list shows those of devices; write one of an OpenID "
                    + "issuer as <ISSUER>SUBJECT."
            )
        }
        return user
    }

    /// The users of a footprint, as they are now.
    func users(_ wanted: Footprint) async throws(LedgerError) -> [User] {
        let found = try await commit(touching: wanted) { rows in
            Decision(effects: Effects(), answers: rows.users.values.map { .user($0) })
        }
        return found.answers.compactMap { answer in
            if case .user(let user) = answer { user } else { nil }
        }
    }

    /// Opens a wallet for a new user, in a transaction of its own.
    func openWallet(_ open: OpenWallet) async throws(LedgerError) -> User {
        let commands = [Command(acceptedAt: .now, action: .openWallet(open))]
        let decision = try await commit(touching: Footprint(commands)) { snapshot in
            apply(commands, to: snapshot)
        }
        guard case .user(let user)? = decision.answers.first else {
            preconditionFailure("opening answers with a user")
        }
        return user
    }
}
