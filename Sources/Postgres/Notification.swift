/// What another connection has said with NOTIFY.
package struct Notification: Equatable, Sendable {
    package let channel: String
    package let payload: String
}
