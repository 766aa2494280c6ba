internal import GotchuAPI
internal import GotchuCore
internal import Payments

extension SessionReply {
    init(_ session: Session) {
        self.init(
            sid: session.id,
            status: session.status,
            amountCents: WireInteger(session.amount.minorUnits),
            currency: session.amount.currency,
            memo: session.memo,
            expiresAt: session.expiresAt,
            lockExpiresAt: session.lockExpiresAt,
            paidAt: session.paidAt,
            allowsTip: session.tip.map { _ in true },
            tipCents: session.tip.map(WireInteger.init),
            refundedCents: session.refunded > 0 ? WireInteger(session.refunded) : nil,
            version: session.version
        )
    }
}
