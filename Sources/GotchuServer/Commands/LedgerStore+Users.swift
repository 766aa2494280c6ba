internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// Look-ups of users for the commands; they work while a server runs.
extension Store {
    /// Returns the user with an id, an e-mail address, or an `<issuer>subject`.
    ///
    /// - Throws: A failure if there is none.
    func user(_ text: String) async throws -> User {
        // Addresses are stored in lower case, see `OpenAccount`; a subject must match exactly.
        let login = text.hasPrefix("<") ? text : text.lowercased()
        guard let user = try await user(id: UserID(trusted: text), orLogin: login) else {
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

    /// Opens an account for a new user in a separate transaction.
    func open(_ open: OpenAccount) async throws -> User {
        try await commit(open).accepted()
    }
}
