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
            places: session.figures.map(Places.init),
            version: session.version
        )
    }
}

extension Places {
    init(_ figures: Session.Figures) {
        self.init(
            kind: figures.purpose,
            places: figures.places,
            paid: figures.paid,
            held: figures.held,
            paidCents: WireInteger(figures.paidAmount),
            paidShares: figures.paid > 0 && figures.sale == nil ? figures.paidShares : nil
        )
    }
}

extension LockReply {
    init(_ session: Session) {
        let share = session.share.map { share in
            LockedShare(
                sid: session.id,
                place: share.place,
                amountCents: WireInteger(session.amount.minorUnits)
            )
        }
        self.init(ok: true, lockExpiresAt: session.lockExpiresAt, share: share)
    }
}
