internal import Devices
internal import GotchuCore
internal import Ledger

/// The user of an access token together with the device that it was issued to.
///
/// Rate limits count by login. Each device of a user has its own limit. All tokens of a person
/// share one limit.
struct Login: Hashable, Sendable {
    let user: UserID
    /// The registered device; `nil` for a person.
    var device: DeviceID?
}

/// The login of a token, for as long as the token lives.
struct TokenAccess: Sendable {
    let login: Login
    /// The expiry of the token.
    let endsAt: Timestamp
    /// The clock for the expiry.
    let clock: @Sendable () -> Timestamp

    var isExpired: Bool { clock() >= endsAt }
}

extension Login: CustomStringConvertible {
    /// The user's id; for a device, followed by a slash and the device's id.
    var description: String { device.map { "\(user)/\($0)" } ?? user.rawValue }
}
