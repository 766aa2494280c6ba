/// The answer to a payment, and whether it was given before.
package struct SendAnswer: Equatable, Sendable {
    package let send: RememberedSend
    package let isReplay: Bool

    package init(send: RememberedSend, isReplay: Bool) {
        self.send = send
        self.isReplay = isReplay
    }
}
