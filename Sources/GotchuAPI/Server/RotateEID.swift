package import GotchuCore

/// `POST /sessions/{sid}/eids`.
package struct RotateEIDRequest: Codable, Equatable, Sendable {
    /// The EID that the payee has on the air. A caller that lost an answer sends the same one again
    /// and gets that answer's EID; without it every call makes another.
    package var replaces: EID?

    package init(replaces: EID?) {
        self.replaces = replaces
    }
}

/// The answer to `POST /sessions/{sid}/eids`: the session's present EID, and the one before it.
package struct RotateEIDReply: Codable, Equatable, Sendable {
    package var eid: EID
    /// The expiry of the session itself.
    package var expiresAt: Timestamp
    package var replacedEID: EID
    /// The time until which the replaced EID resolves too.
    package var replacedUntil: Timestamp

    package init(eid: EID, expiresAt: Timestamp, replacedEID: EID, replacedUntil: Timestamp) {
        self.eid = eid
        self.expiresAt = expiresAt
        self.replacedEID = replacedEID
        self.replacedUntil = replacedUntil
    }

    enum CodingKeys: String, CodingKey {
        case eid
        case expiresAt = "exp_at"
        case replacedEID = "replaced_eid"
        case replacedUntil = "replaced_until"
    }
}
