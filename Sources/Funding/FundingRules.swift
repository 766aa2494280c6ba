internal import GotchuCore
package import Ledger

/// The rules that `verify` checks for deposits and withdrawals.
extension RecordRule {
    package static let deposits = RecordRule(
        kind: DepositBody.kind,
        rule: "every deposit can be read, and what it says was booked is booked (deposits)"
    ) { record, file in
        guard let deposit = try? Deposit(record) else {
            return "deposit \(record.id) cannot be read"
        }
        let reason = deposit.brokenColumns(record) ?? deposit.brokenFacts(file)
        return (reason ?? deposit.brokenCredit(file)).map { "deposit \(record.id): \($0)" }
    }

    package static let withdrawals = RecordRule(
        kind: WithdrawalBody.kind,
        rule: "every withdrawal can be read, and its money is where it says (withdrawals)"
    ) { record, file in
        guard let withdrawal = try? Withdrawal(record) else {
            return "withdrawal \(record.id) cannot be read"
        }
        let reason = withdrawal.brokenColumns(record) ?? withdrawal.brokenFacts(file)
        return (reason ?? withdrawal.misplacedMoney(file)).map { "withdrawal \(record.id): \($0)" }
    }

    package static let payees = RecordRule(
        kind: PayeeBody.kind,
        rule: "every payee can be read, and is one user's (payees)"
    ) { record, file in
        guard let payee = try? Payee(record), payee.record == record,
            record.id == Payee.id(of: record.owner), file.transfers.isEmpty
        else { return "payee \(record.id) cannot be read" }
        return nil
    }

    package static let provider = RecordRule(
        kind: ProviderBody.kind,
        rule: "the books belong to one account of the provider (providers)"
    ) { record, file in
        guard let provider = try? Provider(record), provider.record == record,
            record.id == Provider.id
        else { return "provider \(record.id) cannot be read" }
        let names = Set(file.names.map(\.text))
        return file.transfers.first { !names.contains(Posting.name(ofFact: $0.key.step)) }
            .map { "transaction \($0.key.step) has no name" }
    }
}

extension FundingRecord {
    fileprivate func brokenColumns(_ record: Record) -> String? {
        self.record == record ? nil : "its columns do not agree"
    }

    /// Returns the reason why its transfers differ from the facts in the record, if they do.
    fileprivate func brokenFacts(_ file: RecordFile) -> String? {
        let names = Set(file.names.map(\.text))
        var seen: Set<String> = []
        for transfer in file.transfers {
            let step = transfer.key.step
            if transfer.kind == TransferKind.debtSettled.name {
                guard step.hasSuffix("/owed"), body.booked[String(step.dropLast(5))] != nil else {
                    return "\(step) settles a debt with nothing"
                }
                continue
            }
            guard let amount = body.booked[step], amount.magnitude == transfer.moved.magnitude
            else {
                return "transfer \(step) of \(transfer.moved) is not what it says"
            }
            guard names.contains(Posting.name(ofFact: step)) else { return "\(step) has no name" }
            seen.insert(step)
        }
        return body.booked.keys.sorted().first { !seen.contains($0) }
            .map { "\($0) is not booked" }
    }
}

extension FundingRecord where Body == DepositBody {
    /// Returns the reason why its credit differs from the amount in the record, if it does.
    fileprivate func brokenCredit(_ file: RecordFile) -> String? {
        let credits = file.transfers.filter { $0.kind == TransferKind.deposit.name }
        guard state == .succeeded else {
            return file.transfers.isEmpty ? nil : "it is \(state.rawValue), and money moved"
        }
        let account = Account.Key(.user(owner), amount.currency)
        guard credits.count == 1,
            credits[0].entries.contains(where: {
                $0.account == account && $0.amount == creditedAmount
            })
        else { return "it is \(state.rawValue), and no transfer credits \(creditedAmount)" }
        let touchesOtherUsers = file.transfers.flatMap(\.entries).contains {
            switch $0.account.owner {
            case .user(let user), .houseOf(_, let user): user != owner
            case .house, .pot: false
            }
        }
        return touchesOtherUsers ? "it moves another's money" : nil
    }
}

extension FundingRecord where Body == WithdrawalBody {
    /// Returns the reason why its money is not where its state says; `nil` if it is there. If all
    /// records pass, their sums match the house's accounts.
    fileprivate func misplacedMoney(_ file: RecordFile) -> String? {
        let sums = file.transfers.flatMap(\.entries).reduce(into: [Account.Owner: Int64]()) {
            $0[$1.account.owner, default: 0] += $1.amount
        }
        let all = amount.minorUnits
        let isMint = body.account == nil
        let place = state == .held ? body.heldIn ?? state : state
        let (withdrawals, payouts): (Int64, Int64) =
            switch place {
            case .pending: (all, 0)
            case .sent, .inTransit, .returning: (all, -all)
            case .paid, .failed, .cancelled, .held: (0, 0)
            }
        let isBack = place == .failed || place == .cancelled
        var expected: [Account.Owner: Int64] = [
            .user(owner): isBack ? 0 : -all, .house(.withdrawals): withdrawals,
            .house(.stripePayouts): payouts,
        ]
        expected[.house(isMint ? .developmentMint : .stripeBalance)] =
            isBack ? 0 : all - withdrawals - payouts
        let isRight =
            sums.keys.allSatisfy { expected[$0] != nil }
            && expected.allSatisfy { sums[$0.key, default: 0] == $0.value }
        return isRight ? nil : "it is \(state.rawValue), and its money is elsewhere"
    }
}

extension Transfer {
    /// The money moved between accounts, in minor units.
    fileprivate var moved: Int64 { entries.reduce(0) { $0 + max(0, $1.amount) } }
}
