internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// The route that refunds a session.
struct RefundRoutes: Sendable {
    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func refund(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try SessionRoutes.session(in: context)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let amount = try fields.integer("amount_cents")
        try fields.end()
        guard amount.map(Money.allowedRequest.contains) ?? true else {
            throw Problem.invalid("amount_cents must be from 1 to 100000000.")
        }
        let answer = try await ledger.submit(
            RefundPayment(session: sid, payee: payee, amount: amount),
            as: KeyedRequest(payee, key, .refund(sid, amount: amount), context)
        )
        return try await Reply.answer(answer) { refunded in
            try Reply.whole(
                RefundReply(
                    ok: true,
                    amountCents: WireInteger(refunded.amount),
                    tipCents: refunded.tip.map(WireInteger.init),
                    refundedCents: WireInteger(refunded.total),
                    newBalanceCents: WireInteger(refunded.newBalance),
                    transferID: refunded.transfer
                )
            )
        }
    }
}
