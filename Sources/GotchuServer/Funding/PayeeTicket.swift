internal import Crypto
internal import GotchuCore
internal import Ledger

/// The right to open one user's pages at the payment provider without a login. A ticket expires. It
/// must be kept secret: its holder can set the bank account.
struct PayeeTicket: Sendable {
    /// The purposes of a ticket. A ticket is valid for one purpose only.
    enum Purpose: String, CaseIterable, Sendable {
        /// Sent by the operator to a new payee.
        case invitation
        /// A part of the address to which the provider leads if a link was used or has expired.
        case renewal
        /// The same as `renewal`, for a link that was created with an invitation.
        case invitedRenewal = "invited-renewal"

        fileprivate var lifetime: Duration {
            switch self {
            case .invitation: .seconds(7 * 24 * 3_600)
            case .renewal, .invitedRenewal: .seconds(3_600)
            }
        }

        /// The path of the page that accepts a ticket of this purpose.
        var path: String {
            switch self {
            case .invitation: WebPath.connect
            case .renewal, .invitedRenewal: WebPath.connectRefresh
            }
        }
    }

    /// The name of the query parameter and form field that hold a ticket.
    static let field = "ticket"

    let user: UserID
    let purpose: Purpose
    let expiresAt: Timestamp

    /// - Parameter end: The latest time of expiry; `nil` for the end of the purpose's lifetime.
    init(for user: UserID, _ purpose: Purpose, at time: Timestamp, until end: Timestamp? = nil) {
        self.user = user
        self.purpose = purpose
        let expiry = time.advanced(by: purpose.lifetime)
        expiresAt = min(expiry, end ?? expiry)
    }

    /// Returns the ticket for the return address of a link that this ticket opens. It expires no
    /// later than this ticket, so a ticket cannot be renewed for ever.
    func renewed(at time: Timestamp) -> PayeeTicket {
        let next: Purpose = purpose == .renewal ? .renewal : .invitedRenewal
        return PayeeTicket(for: user, next, at: time, until: expiresAt)
    }

    /// Parses a ticket. Fails unless it was signed with this key for this purpose and has not
    /// expired.
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

    /// Returns the key for tickets, which differs from the keys for tokens and cookies.
    static func key(of own: LocalTokenIssuer) -> SymmetricKey {
        own.key(for: "gotchu-payee-ticket")
    }

    private var claims: String {
        "\(Base64URL.encode(user.rawValue.utf8)).\(expiresAt.milliseconds)"
    }

    private var signedBytes: [UInt8] { Array("\(purpose.rawValue).\(claims)".utf8) }

    /// Returns the path and query of the page that accepts this ticket, without the origin.
    func path(by key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: signedBytes, using: key)
        return "\(purpose.path)?\(Self.field)=\(claims).\(Base64URL.encode(code))"
    }
}
