internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The routes with which payees withdraw money from their wallets.
struct WithdrawalRoutes: Sendable {
    let funding: FundingOperations
    let authentication: CallerAuthentication

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        _ = try funding.source(for: user)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let cents = try fields.requiredInteger("amount_cents")
        let bankAccount = try fields.string("bank_account_id")
        try fields.rejectUnreadMembers()
        let least = funding.options.payouts.minimum
        guard cents >= least, Money.allowedRequest.contains(cents) else {
            throw Problem.invalid(FundingOperations.amountRule(atLeast: least))
        }
        guard bankAccount.map(Self.isBankAccount) ?? true else {
            throw Problem.invalid("bank_account_id must be the id of one of the payee's own.")
        }
        let amount = Money(minorUnits: cents, currency: FundingOperations.currency)
        let reply = try await funding.withdraw(
            amount,
            to: bankAccount,
            as: KeyedRequest(user, key, .withdrawal(amount, to: bankAccount), context)
        )
        return try await Reply.answer(reply) { id in
            let withdrawal = WithdrawalReply(try await funding.subject(id, of: user))
            return try Reply.buffered(withdrawal, status: .accepted)
        }
    }

    private static func isBankAccount(_ text: String) -> Bool {
        text.hasPrefix("ba_") && text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    @Sendable func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        _ = try funding.source(for: user)
        let page = try FundingPage(request)
        let withdrawals: [Withdrawal] = try await funding.newest(of: user, page)
        return try Reply.json(
            WithdrawalsReply(
                withdrawable: try await funding.withdrawable(of: user),
                withdrawals: withdrawals.map { WithdrawalReply($0) },
                nextCursor: page.cursor(after: withdrawals)
            )
        )
    }

    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        let id = try FundingPage.id(in: context)
        return try Reply.json(WithdrawalReply(try await funding.subject(id, of: user)))
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        let id = try FundingPage.id(in: context)
        let cancelled = try await funding.cancelWithdrawal(id, of: user).accepted()
        return try Reply.json(WithdrawalReply(cancelled))
    }
}
