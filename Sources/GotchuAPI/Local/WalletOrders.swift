package import GotchuCore

/// `POST /v1/wallet/deposits`: fills the wallet from a card.
package struct NewDeposit: Codable, Equatable, Sendable {
    package var amountCents: Int64

    package init(amountCents: Int64) {
        self.amountCents = amountCents
    }

    /// - Throws: A problem: 400 for a missing or invalid amount.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        amountCents = try fields.requiredInteger("amount_cents")
        try fields.rejectUnreadMembers()
        guard Money.allowedRequest.contains(amountCents) else {
            throw .invalid("amount_cents must be from 1 to 100000000.")
        }
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
    }
}

/// `POST /v1/wallet/withdrawals`: pays money from the wallet to a bank account.
package struct NewWithdrawal: Codable, Equatable, Sendable {
    package var amountCents: Int64
    /// The id of one of the payee's bank accounts; by default, the provider's default account.
    package var bankAccountID: String?

    package init(amountCents: Int64, bankAccountID: String? = nil) {
        self.amountCents = amountCents
        self.bankAccountID = bankAccountID
    }

    /// - Throws: A problem: 400 for a missing or invalid amount.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        amountCents = try fields.requiredInteger("amount_cents")
        bankAccountID = try fields.string("bank_account_id")
        try fields.rejectUnreadMembers()
        guard Money.allowedRequest.contains(amountCents) else {
            throw .invalid("amount_cents must be from 1 to 100000000.")
        }
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case bankAccountID = "bank_account_id"
    }
}

/// A withdrawal that gotchud has ordered from the payment server, or is ordering.
package struct WithdrawalView: Codable, Equatable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
        /// The order is being sent.
        case sending
        /// The server has not answered yet. The order is repeated; money moves only once.
        case unknown
        /// The server has accepted the order and reports the progress of the withdrawal.
        case ordered
        case declined
    }

    package var id: String
    package var state: State
    package var amountCents: Int64
    package var createdAt: Timestamp
    /// The withdrawal as the server last returned it.
    package var withdrawal: WithdrawalReply?
    package var code: String?
    /// A sentence for a person.
    package var detail: String
    /// The command to run next, if any.
    package var nextStep: String?

    package init(
        id: String,
        state: State,
        amountCents: Int64,
        createdAt: Timestamp,
        withdrawal: WithdrawalReply?,
        code: String?,
        detail: String,
        nextStep: String?
    ) {
        self.id = id
        self.state = state
        self.amountCents = amountCents
        self.createdAt = createdAt
        self.withdrawal = withdrawal
        self.code = code
        self.detail = detail
        self.nextStep = nextStep
    }

    enum CodingKeys: String, CodingKey {
        case id, state, withdrawal, code, detail
        case amountCents = "amount_cents"
        case createdAt = "created_at"
        case nextStep = "next_step"
    }
}

/// The answer to `GET /v1/wallet/payouts`.
package struct PayoutsReply: Codable, Equatable, Sendable {
    package var connect: ConnectStatusReply
    package var earnings: EarningsReply
    package var withdrawable: Withdrawable
    /// The newest withdrawals, as the server lists them.
    package var withdrawals: [WithdrawalReply]

    package init(
        connect: ConnectStatusReply,
        earnings: EarningsReply,
        withdrawable: Withdrawable,
        withdrawals: [WithdrawalReply]
    ) {
        self.connect = connect
        self.earnings = earnings
        self.withdrawable = withdrawable
        self.withdrawals = withdrawals
    }
}
