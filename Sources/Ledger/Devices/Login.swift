/// The user of an access token together with the device that it was issued to.
///
/// Limits are counted for a login: the devices of one user have each their own, the tokens of one
/// person share theirs.
package struct Login: Hashable, Sendable {
    package let user: UserID
    /// The registered device; `nil` for a person.
    package let device: DeviceID?

    package init(user: UserID, device: DeviceID? = nil) {
        self.user = user
        self.device = device
    }
}
