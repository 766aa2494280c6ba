internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// Logs in with an e-mail address only. Only a development server has this route. The server
/// listens on loopback, and the login accepts only programs on the same machine.
struct DevelopmentLogin: Sendable {
    static let maximumEmailLength = 254

    let ledger: Ledger
    let tokens: Tokens
    let limits: Limits
    /// The opening balance of a new wallet, in minor units.
    let opening: Int64

    @Sendable func login(_ request: Request, _ context: ServerContext) async throws -> Response {
        try Self.requireLocal(request, context)
        try limits.allowLogin(from: context.client)
        var fields = try await request.fields()
        let email = try fields.string("email")
        try fields.rejectUnreadMembers()
        let user = try await user(of: email)
        let token = try tokens.developmentToken(for: user.id)
        return try Reply.json(DevLoginReply(token: token, userID: user.id.rawValue))
    }

    /// Refuses requests from other machines.
    ///
    /// - Throws: A problem: 403 for such a request.
    static func requireLocal(_ request: Request, _ context: ServerContext) throws(Problem) {
        guard request.isLocal(context) else {
            throw Problem(
                .forbidden,
                detail: "Development logins are for this machine only.",
                fix: "Call the server by its loopback address, with no proxy between."
            )
        }
    }

    /// Returns the user of an e-mail address; creates the user at the first login.
    ///
    /// - Throws: A problem: 400 if it is no e-mail address.
    func user(of email: String?) async throws -> User {
        guard let email, let name = Self.localPart(of: email) else {
            throw Problem.invalid("email must be an e-mail address.")
        }
        return try await ledger.submit(
            OpenAccount(
                login: email.lowercased(),
                displayName: name,
                opening: Money(minorUnits: opening)
            )
        ).accepted()
    }

    /// Returns the text before the `@`; `nil` if the text is no e-mail address in visible ASCII.
    static func localPart(of email: String) -> String? {
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard email.utf8.count <= maximumEmailLength, parts.count == 2,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 190 }),
            email.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\,;".utf8.contains($0) })
        else { return nil }
        return String(parts[0])
    }
}
