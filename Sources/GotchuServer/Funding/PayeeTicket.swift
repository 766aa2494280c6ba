internal import Crypto
internal import GotchuCore
internal import Ledger

/// The right to open one user's pages at the payment provider without a login. It is for a while,
/// and has to be kept secret: it lets its holder name a bank account.
struct PayeeTicket: Sendable {
    /// The ways to a ticket. One of another way is none.
    enum Purpose: String, CaseIterable, Sendable {
        /// The operator has sent it to a new payee.
        case invitation
        /// The provider leads back with it when a link was used, or is too old.
        case renewal
        /// The same for a link that an invitation has opened.
        case invitedRenewal = "invited-renewal"

        fileprivate var lifetime: Duration {
            switch self {
            case .invitation: .seconds(7 * 24 * 3_600)
            case .renewal, .invitedRenewal: .seconds(3_600)
            }
        }

        /// The page that takes it.
        var path: String {
            switch self {
            case .invitation: WebPath.connect
            case .renewal, .invitedRenewal: WebPath.connectAgain
            }
        }
    }

    /// The parameter and the form's field that hold it.
    static let field = "ticket"

    let user: UserID
    let purpose: Purpose
    let expiresAt: Timestamp

    /// - Parameter end: The time at which it ends, if its usual one is later.
    init(for user: UserID, _ purpose: Purpose, at time: Timestamp, until end: Timestamp? = nil) {
        self.user = user
        self.purpose = purpose
        let usual = time.advanced(by: purpose.lifetime)
        expiresAt = min(usual, end ?? usual)
    }

    /// Returns the ticket for the way back from a link that this one opens. It ends with this one:
    /// nobody goes on for ever with what they found once.
    func renewed(at time: Timestamp) -> PayeeTicket {
        let next: Purpose = purpose == .renewal ? .renewal : .invitedRenewal
        return PayeeTicket(for: user, next, at: time, until: expiresAt)
    }

    /// Parses a ticket; `nil` unless a server that has the key has written it for this purpose, and
    /// it is not over.
    init?(_ text: String, for purpose: Purpose, by key: SymmetricKey, at time: Timestamp) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 512, parts.count == 3, let user = Base64URL.decode(parts[0]),
            let milliseconds = Int64(parts[1]), let code = Base64URL.decode(parts[2])
        else { return nil }
        self.user = UserID(trusted: String(decoding: user, as: UTF8.self))
        self.purpose = purpose
        expiresAt = Timestamp(milliseconds: milliseconds)
        guard
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signedBytes, using: key),
            time < expiresAt
        else { return nil }
    }

    /// The key of tickets, of which tokens and cookies are not made.
    static func key(of own: OwnTokens) -> SymmetricKey { own.key(for: "gotchu-payee-ticket") }

    private var claims: String {
        "\(Base64URL.encode(user.rawValue.utf8)).\(expiresAt.milliseconds)"
    }

    private var signedBytes: [UInt8] { Array("\(purpose.rawValue).\(claims)".utf8) }

    /// The address of the page that takes it, after the origin.
    func path(by key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: signedBytes, using: key)
        return "\(purpose.path)?\(Self.field)=\(claims).\(Base64URL.encode(code))"
    }
}
