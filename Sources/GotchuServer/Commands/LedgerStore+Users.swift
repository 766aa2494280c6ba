internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// Look-ups of users, for commands. A server may run at the same time.
extension Store {
    /// Returns the user with an id, an e-mail address or a login `<issuer>subject`.
    ///
    /// - Throws: A failure if there is no such user.
    func user(_ text: String) async throws -> User {
        // E-mail addresses are stored in lower case, see `OpenAccount`. A subject must match
        // exactly.
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
}
