/// The answer to a refund, and whether it was given before.
package struct RefundAnswer: Equatable, Sendable {
    package let refund: RememberedRefund
    package let isReplay: Bool

    package init(refund: RememberedRefund, isReplay: Bool) {
        self.refund = refund
        self.isReplay = isReplay
    }
}
