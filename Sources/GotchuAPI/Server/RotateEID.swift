package import GotchuCore

/// The answer to `POST /sessions/{sid}/eids`: the session's current and previous EID.
package struct RotateEIDReply: Codable, Equatable, Sendable {
    package var eid: EID
    /// The expiry of the session itself.
    package var expiresAt: Timestamp
    package var replacedEID: EID
    /// The time until which the previous EID still resolves.
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
