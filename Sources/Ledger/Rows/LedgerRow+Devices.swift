internal import GotchuCore

/// How a row becomes a registered device.
extension LedgerRow where Self: ~Copyable {
    /// The columns of `Columns.device`.
    borrowing func device() throws -> Device {
        let reason = try optionalText(11).map { text in
            guard let reason = Device.Revocation(rawValue: text) else {
                throw corrupt("a device's end")
            }
            return reason
        }
        return Device(
            id: DeviceID(trusted: try text(0)),
            user: UserID(trusted: try text(1)),
            name: try text(2),
            scopes: try text(3),
            createdAt: try time(4),
            family: try blob(5),
            current: try blob(6),
            previous: try optionalBlob(7),
            generation: try integer(12),
            expiresAt: try time(8),
            lastUsedAt: try optionalInteger(9).map(Timestamp.init(milliseconds:)),
            revokedAt: try optionalInteger(10).map(Timestamp.init(milliseconds:)),
            revocation: reason
        )
    }
}

extension Columns {
    static let device = """
        id, user_id, name, scopes, created_at, family, current, previous, expires_at, last_used_at,
        revoked_at, revocation, generation
        """

    /// What changes of a device that is there already, in both stores.
    static let deviceChange = """
        family = excluded.family, current = excluded.current, previous = excluded.previous,
        expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
        revoked_at = excluded.revoked_at, revocation = excluded.revocation,
        generation = excluded.generation
        """
}
