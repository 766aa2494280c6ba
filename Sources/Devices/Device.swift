package import GotchuCore
package import Ledger

/// A kiosk or a payer's machine that fetches short-lived access tokens for its user by itself.
///
/// It has one credential with two secrets. The fixed secret stays the same while the device is
/// enrolled. The changing secret is replaced at each use. Only their hashes are stored here. If the
/// fixed secret is right and the changing one is not valid, the credential was copied. If the fixed
/// secret is wrong, it is only a guess.
///
/// The first credential is a code: a person carries it to the machine, and may carry it to another
/// one too. It is exchanged once. A later use of it is refused and revokes nobody.
package struct Device: Equatable, Sendable {
    /// The time in which a new device's credential must be used for the first time.
    package static let enrolment: Duration = .seconds(24 * 60 * 60)
    /// The time for which an unused credential stays valid. It is long because a shop may close for
    /// a season.
    static let idleTimeout: Duration = .seconds(180 * 24 * 60 * 60)
    /// The maximum number of earlier secrets that are stored. If a delayed exchange arrives after
    /// that many later ones, it is treated as that of a copied credential.
    static let previousSecretLimit = 32

    package let id: DeviceID
    /// The user whose account it acts for; never changes.
    package let user: UserID
    /// The name that the operator gave it.
    package let name: String
    /// The scopes of its access tokens, in the format of a token's `scope`.
    package let scopes: String
    package let createdAt: Timestamp
    /// SHA-256 of the fixed secret.
    package private(set) var family: [UInt8]
    /// SHA-256 of the secret that is valid next.
    package private(set) var current: [UInt8]
    /// SHA-256 of the earlier secrets, the newest last, at most `previousSecretLimit` of them. The
    /// newest is accepted until `current` has been seen, because the reply with `current` may have
    /// been lost.
    package private(set) var previous: [[UInt8]]
    /// The number of exchanges of the credential.
    package private(set) var generation: Int64
    /// The time at which the credential expires if it is not used.
    package private(set) var expiresAt: Timestamp
    package private(set) var lastUsedAt: Timestamp?
    /// The time at which the last access token for it expires; `nil` if none was issued.
    package private(set) var tokenEndsAt: Timestamp?
    package private(set) var revokedAt: Timestamp?
    package private(set) var revocation: Revocation?

    /// The reason for a revocation. The raw values are stored.
    package enum Revocation: String, Sendable {
        /// The operator revoked it.
        case byOperator = "OPERATOR"
        /// A changing secret was used again after its replacement: the credential was copied.
        case byReuse = "REUSE"
    }

    package init(
        id: DeviceID,
        user: UserID,
        name: String,
        scopes: String,
        createdAt: Timestamp,
        family: [UInt8],
        current: [UInt8],
        previous: [[UInt8]] = [],
        generation: Int64 = 0,
        expiresAt: Timestamp,
        lastUsedAt: Timestamp? = nil,
        tokenEndsAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil,
        revocation: Revocation? = nil
    ) {
        self.id = id
        self.user = user
        self.name = name
        self.scopes = scopes
        self.createdAt = createdAt
        self.family = family
        self.current = current
        self.previous = previous
        self.generation = generation
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.tokenEndsAt = tokenEndsAt
        self.revokedAt = revokedAt
        self.revocation = revocation
    }

    /// The result of presenting a credential.
    package enum Admission: Equatable, Sendable {
        /// It was exchanged for its successor.
        case admitted
        /// The credential is not this device's or has expired, or the exchange is a delayed repeat
        /// of an older one.
        case refused
        /// The credential is this device's code, which has been exchanged before.
        case codeUsed
        /// The fixed secret is this device's, but the device is revoked: it was before, or it is
        /// now, because the changing secret is not valid.
        case revoked
    }

    /// Checks a credential, and exchanges it if it is valid.
    ///
    /// A repeat of the last exchange changes nothing. If the previous secret is exchanged for
    /// another successor, the request comes from a copy, or from a holder that lost its stored
    /// state. The new successor replaces the old one; a later use of the old one revokes the
    /// device. A code has one successor: only the machine whose nonce it depends on may repeat the
    /// exchange.
    ///
    /// - Parameters:
    ///   - family: SHA-256 of the fixed secret, as presented.
    ///   - secret: SHA-256 of the changing secret, as presented.
    ///   - number: The generation of `secret`; `nil` unless it is verified that this server issued
    ///     it. A generation above the stored one is accepted: the database was restored from a
    ///     backup.
    ///   - isCode: True for a credential without a generation, which is no other's successor.
    ///   - successor: SHA-256 of the secret that replaces it, always the same for one exchange.
    ///   - hasNonce: True if the exchange has a nonce that only the holder knows. A repeat of an
    ///     older exchange is then refused without a revocation: it was only delayed.
    package mutating func admit(
        family: [UInt8],
        secret: [UInt8],
        number: Int64?,
        isCode: Bool = false,
        successor: [UInt8],
        hasNonce: Bool = false,
        at time: Timestamp
    ) -> Admission {
        guard family == self.family else { return .refused }
        guard revokedAt == nil else { return .revoked }
        guard time < expiresAt else { return .refused }
        if secret == current {
            remember(current)
        } else if let number, number > generation {
            remember(secret)
            generation = number
        } else if isCode {
            // Before the first exchange, another code than the current one is only a wrong one.
            guard generation > 0 else { return .refused }
            let isRepeat = hasNonce && secret == previous.last && successor == current
            return isRepeat ? .admitted : .codeUsed
        } else if secret == previous.last {
            guard successor != current else { return .admitted }
        } else if hasNonce, previous.contains(successor) {
            return .refused
        } else {
            revoke(.byReuse, at: time)
            return .revoked
        }
        current = successor
        generation += 1
        expiresAt = time.advanced(by: Self.idleTimeout)
        lastUsedAt = time
        return .admitted
    }

    /// Records that an access token was issued that expires at `time`.
    package mutating func recordToken(until time: Timestamp) {
        tokenEndsAt = max(tokenEndsAt ?? time, time)
    }

    private mutating func remember(_ secret: [UInt8]) {
        previous = previous.suffix(Self.previousSecretLimit - 1) + [secret]
    }

    /// Revokes the device. The first reason is kept.
    package mutating func revoke(_ reason: Revocation, at time: Timestamp) {
        guard revokedAt == nil else { return }
        revokedAt = time
        revocation = reason
    }

    /// Enrols it again with a new credential, even if it is revoked: a machine was replaced.
    package mutating func enrol(family: [UInt8], current: [UInt8], at time: Timestamp) {
        self.family = family
        self.current = current
        previous = []
        generation = 0
        expiresAt = time.advanced(by: Self.enrolment)
        revokedAt = nil
        revocation = nil
    }
}

/// The id of a registered device.
package struct DeviceID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}
