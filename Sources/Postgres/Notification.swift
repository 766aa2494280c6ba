/// A message that another connection sent with NOTIFY.
package struct Notification: Equatable, Sendable {
    package let channel: String
    package let payload: String
}
