import GotchuCore
import LedgerTestSupport
import Payments

@testable import Funding
@testable import Ledger

/// A ledger in memory with a test clock. A command is decided with only the rows of its footprint.
struct FundingBooks {
    var books = MemoryBooks()
    var time = Timestamp(milliseconds: 1_900_000_000_000)
    private var requests = 0

    mutating func pass(_ duration: Duration) { time = time.advanced(by: duration) }

    @discardableResult
    mutating func submit<Command: LedgerCommand>(
        _ command: Command
    ) throws -> Result<Command.Outcome, Refusal> {
        let pending = Pending(command, at: time) { _ in }
        try books.commit(Batch([pending]))
        return try pending.reply.get().outcome
    }

    /// Decides a command under an idempotency key, by default a new one.
    @discardableResult
    mutating func submit<Command: KeyedCommand>(
        _ command: Command,
        by user: UserID,
        key: String? = nil
    ) throws -> CommandReply<Command.Outcome> {
        requests += 1
        let request = try KeyedRequest.test(
            user: user,
            key: key ?? "the-test-key-\(100_000 + requests)"
        )
        let pending = Pending(command, as: request, at: time) { _ in }
        try books.commit(Batch([pending]))
        return try pending.reply.get()
    }

    mutating func user(_ name: String, cents: Int64 = 0) throws -> UserID {
        let open = OpenAccount(
            login: "\(name)@example.org",
            displayName: name,
            opening: Money(minorUnits: cents)
        )
        return try submit(open).get().id
    }

    /// Moves money from one user to another with a paid session.
    mutating func pay(_ cents: Int64, from payer: UserID, to payee: UserID) throws {
        let create = CreateSession(
            payee: payee,
            amount: Money(minorUnits: cents),
            memo: nil,
            reference: nil,
            lifetime: .seconds(300)
        )
        let session = try submit(create).get().session.id
        _ = try submit(LockSession(session: session, payer: payer)).get()
        let pay = Pay(session: session, payer: payer, expectedAmount: nil)
        _ = try submit(pay, by: payer).outcome.get()
    }

    mutating func open(
        _ cents: Int64,
        by user: UserID,
        source: FundingSource = .provider(isLive: false),
        recent: Int = 0
    ) throws -> CommandReply<RecordID> {
        let settled = books.rows.records.values.count {
            guard $0.owner == user, let deposit = try? Deposit($0) else { return false }
            return deposit.isSettledAndRefreshed
        }
        return try submit(
            OpenDeposit(
                user: user,
                amount: Money(minorUnits: cents),
                reference: nil,
                presentation: .hosted,
                source: source,
                limits: DepositLimits(
                    defaultDepositMaximum: 50_000,
                    defaultBalanceMaximum: 200_000,
                    recent: recent,
                    settled: settled
                )
            ),
            by: user
        )
    }

    mutating func withdraw(
        _ cents: Int64,
        by user: UserID,
        heldAmount: Int64 = 0,
        needsRelease: Bool = false,
        source: FundingSource = .provider(isLive: false)
    ) throws -> CommandReply<RecordID> {
        try submit(
            RequestWithdrawal(
                user: user,
                amount: Money(minorUnits: cents),
                bankAccount: nil,
                source: source,
                hold: WithdrawalHold(
                    entryCount: account(.user(user)).entryCount,
                    heldAmount: heldAmount
                ),
                needsRelease: needsRelease
            ),
            by: user
        )
    }

    /// Makes a user a payee whose account can receive money.
    mutating func onboard(_ user: UserID) throws {
        let payee = try submit(PutPayee(user)).get()
        let seen = SeenPayee(
            account: "acct_\(user)",
            user: user.rawValue,
            canReceive: true,
            chargesEnabled: false,
            payoutsEnabled: true,
            detailsSubmitted: true
        )
        _ = try submit(Observe(payee.id, .payee(seen))).get()
    }

    func deposit(_ id: RecordID) throws -> Deposit { try Deposit(record(id)) }

    func withdrawal(_ id: RecordID) throws -> Withdrawal { try Withdrawal(record(id)) }

    private func record(_ id: RecordID) throws -> Record {
        guard let record = books.rows.records[id] else { throw LedgerError.corrupt("no record") }
        return record
    }

    func account(_ owner: Account.Owner) -> Account {
        let key = Account.Key(owner, .usd)
        return books.rows.accounts[key] ?? Account(key, changedAt: time)
    }

    func balance(_ owner: Account.Owner) -> Int64 { account(owner).balance }

    /// The first inconsistency of the ledger; `nil` if there is none.
    var complaint: String? {
        var sum: Int64 = 0
        for account in books.rows.accounts.values {
            sum += account.balance
            switch account.key.owner {
            case .user, .pot, .houseOf(.take, _):
                if account.balance < 0 { return "\(account) is below zero" }
            case .houseOf(.owed, _): if account.balance > 0 { return "\(account) owes nothing" }
            case .house: break
            }
        }
        if sum != 0 { return "money is not conserved: \(sum)" }
        let rules: [RecordRule] = [.deposits, .withdrawals, .payees, .provider]
        for record in books.rows.records.values {
            for rule in rules where rule.kind == record.kind {
                let rows = books.recordRows(of: record.id)
                if let broken = rule.violation(record, rows) { return broken }
            }
        }
        return nil
    }
}

/// An error for a step that leaves the ledger inconsistent.
struct WrongBooks: Error {
    let complaint: String
}
