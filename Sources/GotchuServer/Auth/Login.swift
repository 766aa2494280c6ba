internal import Devices
internal import GotchuCore
internal import Ledger

/// The user of an access token together with the device that it was issued to.
///
/// Limits are counted by login: each device of a user has its own, the tokens of one person share
/// theirs.
struct Login: Hashable, Sendable {
    let user: UserID
    /// The registered device; `nil` for a person.
    var device: DeviceID?
}

/// The login that a token gives, until it ends.
struct TokenAccess: Sendable {
    let login: Login
    let endsAt: Timestamp
}

extension Login: CustomStringConvertible {
    /// The user's id, then the device's after a slash.
    var description: String { device.map { "\(user)/\($0)" } ?? user.rawValue }
}
