internal import Devices
internal import GotchuCore
internal import Ledger

/// The user of an access token together with the device that it was issued to.
///
/// Rate limits count by login: each device of a user has its own limit; all tokens of a person
/// share one.
struct Login: Hashable, Sendable {
    let user: UserID
    /// The registered device; `nil` for a person.
    var device: DeviceID?
}

/// The login of a token, and the time at which the token expires.
struct TokenAccess: Sendable {
    let login: Login
    let endsAt: Timestamp
}

extension Login: CustomStringConvertible {
    /// The user's id, then the device's after a slash.
    var description: String { device.map { "\(user)/\($0)" } ?? user.rawValue }
}
