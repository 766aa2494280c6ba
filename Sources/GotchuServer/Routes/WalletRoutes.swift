internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// The routes of the caller's wallet: reading it, paying from it, and refunding.
struct WalletRoutes: Sendable {
    static let recentEntries = 20

    let ledger: Ledger
    let authentication: CallerAuthentication
    /// The contest metrics; `nil` without contests.
    let contests: ContestMetrics?

    @Sendable func me(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request)
        let range = HistoryRange(.newest(skipping: 0), limit: Self.recentEntries)
        let found = try await ledger.history(of: Account.Key(.user(user), .usd), range)
        guard let history = found else { throw Problem.unknownUser }
        return try Reply.json(
            WalletReply(
                walletID: history.account.id,
                availableCents: WireInteger(history.account.balance),
                currency: history.account.currency,
                recent: try history.entries.map { try WalletEntry($0.entry, $0.record) }
            )
        )
    }

    @Sendable func send(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let sid = try fields.sessionID("sid")
        let expected = try fields.integer("expected_amount_cents")
        let tip = try fields.integer("tip_cents") ?? 0
        try fields.rejectUnreadMembers()
        guard tip == 0 || Money.allowedRequest.contains(tip) else {
            throw Problem.invalid("tip_cents must be from 0 to 100000000.")
        }
        let answer = try await ledger.submit(
            Pay(session: sid, payer: payer, expectedAmount: expected, tip: tip, purposes: .all),
            as: KeyedRequest(payer, key, .payment(sid, expecting: expected, tip: tip), context)
        )
        if case .success(let paid) = answer.outcome, paid.share != nil, !answer.isReplay {
            contests?.joined(.desk)
        }
        return try await Reply.answer(answer) { paid in
            try Reply.buffered(
                SendReply(
                    ok: true,
                    newBalanceCents: WireInteger(paid.newBalance),
                    tipCents: paid.tip.map { WireInteger($0) },
                    transferID: paid.transfer
                )
            )
        }
    }

    /// Returns the outcome of a payment, found by its key. If there is none, the reply is 404, and
    /// the payment may be sent again with the same key.
    @Sendable func outcome(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        let text = context.parameters.get("key").flatMap(percentDecoded) ?? ""
        guard let key = IdempotencyKey(header: text) else { throw Problem.malformedKey }
        let answerKey = Answer.Key(user: payer, command: Pay.name, key: key)
        guard let answer = try await ledger.answer(answerKey) else {
            throw Problem(
                .notFound,
                detail: "Nothing was decided under this key.",
                retryable: true
            )
        }
        return try Reply.json(SendOutcomeReply(answer))
    }

    /// Refunds a payment or a part of it, from the wallet that received it.
    @Sendable func refund(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try SessionRoutes.session(in: context)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let amount = try fields.integer("amount_cents")
        try fields.rejectUnreadMembers()
        guard amount.map(Money.allowedRequest.contains) ?? true else {
            throw Problem.invalid("amount_cents must be from 1 to 100000000.")
        }
        let answer = try await ledger.submit(
            RefundPayment(session: sid, payee: payee, amount: amount),
            as: KeyedRequest(payee, key, .refund(sid, amount: amount), context)
        )
        return try await Reply.answer(answer) { refunded in
            try Reply.buffered(
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
