package import GotchuCore
package import Ledger

/// A kiosk or a payer's machine that fetches short-lived access tokens for its user by itself.
///
/// It holds one credential of two secrets: one that stays the same while it is enrolled, and one
/// that is replaced at each use. Only their hashes are stored here. The first secret tells a copy
/// that was used too late from a guess, without a list of old ones.
package struct Device: Equatable, Sendable {
    /// The time in which a new device's credential must be used for the first time.
    package static let enrolment: Duration = .seconds(24 * 60 * 60)
    /// The time for which an unused credential stays valid: a shop may close for a season.
    static let longestSilence: Duration = .seconds(180 * 24 * 60 * 60)
    /// The number of earlier secrets that are remembered: an exchange that a frozen server carries
    /// out after so many later ones is taken for a copy's.
    package static let memory = 32

    package let id: DeviceID
    /// The user whose account it acts for; never changes.
    package let user: UserID
    /// The operator's name for it.
    package let name: String
    /// The rights of its access tokens, in the words of a token's `scope`.
    package let scopes: String
    package let createdAt: Timestamp
    /// SHA-256 of the secret that stays the same.
    package private(set) var family: [UInt8]
    /// SHA-256 of the secret that is valid next.
    package private(set) var current: [UInt8]
    /// SHA-256 of the secrets before, the last one last, at most `memory` of them. The last one is
    /// accepted until `current` has been seen, because the reply that carried that one may have
    /// been lost.
    package private(set) var previous: [[UInt8]]
    /// The number of exchanges of the credential.
    package private(set) var generation: Int64
    /// The end of the credential if it stays unused.
    package private(set) var expiresAt: Timestamp
    package private(set) var lastUsedAt: Timestamp?
    package private(set) var revokedAt: Timestamp?
    package private(set) var revocation: Revocation?

    /// The reason for a revocation. The raw values are stored.
    package enum Revocation: String, Sendable {
        /// The operator revoked it.
        case byOperator = "OPERATOR"
        /// A copy of its credential was used after its successor: one of the two was stolen.
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
        self.revokedAt = revokedAt
        self.revocation = revocation
    }

    /// The result for a credential that was shown.
    package enum Admission: Equatable, Sendable {
        /// It was exchanged for its successor.
        case admitted
        /// It is not this device's, has expired, or the device is revoked.
        case refused
        /// It was this device's and had been used already: the device is now revoked.
        case revoked
    }

    /// Decides about a credential, and exchanges it if it is good.
    ///
    /// The same exchange again changes nothing, so that a repeat which comes late does not take
    /// back a successor that its bearer holds. Another exchange of the secret before is a copy's,
    /// or its bearer's who has lost more than the reply: the successor that comes back first is
    /// good.
    ///
    /// - Parameters:
    ///   - family: SHA-256 of the secret that stays, as shown.
    ///   - secret: SHA-256 of the other one, as shown.
    ///   - number: The generation of `secret`, if it is certain that this server made it. One that
    ///     these books do not know yet is good: they were restored from a backup.
    ///   - successor: SHA-256 of the secret that takes its place: always the same for one exchange.
    ///   - hasNonce: True if the exchange is told from a copy's by what its bearer alone knows.
    ///     Then it is refused after its successor has been seen, and revokes nobody: it was on its
    ///     way.
    package mutating func admit(
        family: [UInt8],
        secret: [UInt8],
        number: Int64?,
        successor: [UInt8],
        hasNonce: Bool = false,
        at time: Timestamp
    ) -> Admission {
        guard revokedAt == nil, time < expiresAt, family == self.family else { return .refused }
        if secret == current {
            remember(current)
        } else if let number, number > generation {
            remember(secret)
            generation = number
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
        expiresAt = time.advanced(by: Self.longestSilence)
        lastUsedAt = time
        return .admitted
    }

    private mutating func remember(_ secret: [UInt8]) {
        previous = previous.suffix(Self.memory - 1) + [secret]
    }

    /// Revokes the device. The first reason stays.
    package mutating func revoke(_ reason: Revocation, at time: Timestamp) {
        guard revokedAt == nil else { return }
        revokedAt = time
        revocation = reason
    }

    /// Gives it a new credential, revoked or not: a machine was replaced.
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
