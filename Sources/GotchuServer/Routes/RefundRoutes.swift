internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// Giving back what a session was paid.
struct RefundRoutes: Sendable {
    let ledger: Ledger
    let callers: Callers

    @Sendable func refund(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await callers.user(of: request, needing: .payee)
        let sid = try SessionRoutes.session(in: context)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let amount = try fields.integer("amount_cents")
        try fields.end()
        guard amount.map(Money.allowedRequest.contains) ?? true else {
            throw Problem.invalid("amount_cents must be from 1 to 100000000.")
        }
        let answer = try await ledger.refund(
            Refund(
                key: SendKey(user: payee, key: key),
                fingerprint: Fingerprint(call: "POST /sessions/refund", sid, amount),
                session: sid,
                amount: amount,
                requestID: context.requestID
            )
        ).accepted()
        return try Self.reply(to: answer)
    }

    /// The remembered answer, made into the same bytes each time.
    private static func reply(to answer: RefundAnswer) throws -> Response {
        let headers: HTTPFields = answer.isReplay ? [.idempotentReplayed: "true"] : [:]
        switch answer.refund.outcome {
        case .refunded(let made):
            return try Reply.json(
                RefundReply(
                    ok: true,
                    amountCents: WireInteger(made.amount),
                    refundedCents: WireInteger(made.total),
                    newBalanceCents: WireInteger(made.newBalance),
                    transferID: made.transfer.rawValue
                ),
                headers: headers
            )
        case .declined(let refusal):
            var problem = refusal.problem
            problem.requestID = answer.refund.requestID
            return try Reply.problem(problem, headers: headers).response
        }
    }
}
