internal import GotchuCore
package import Ledger

/// The rules that `verify` checks for deposits and withdrawals.
extension RecordRule {
    package static let deposits = RecordRule(
        kind: DepositBody.kind,
        rule: "every deposit can be read, and its transfers match its bookings (deposits)"
    ) { record, rows in
        guard let deposit = try? Deposit(record) else {
            return "deposit \(record.id) cannot be read"
        }
        let reason = deposit.rowViolation(record) ?? deposit.bookingViolation(rows)
        return (reason ?? deposit.creditViolation(rows)).map { "deposit \(record.id): \($0)" }
    }

    package static let withdrawals = RecordRule(
        kind: WithdrawalBody.kind,
        rule: "every withdrawal can be read, and its money is where its state says (withdrawals)"
    ) { record, rows in
        guard let withdrawal = try? Withdrawal(record) else {
            return "withdrawal \(record.id) cannot be read"
        }
        let reason = withdrawal.rowViolation(record) ?? withdrawal.bookingViolation(rows)
        return (reason ?? withdrawal.placeViolation(rows)).map { "withdrawal \(record.id): \($0)" }
    }

    package static let payees = RecordRule(
        kind: PayeeBody.kind,
        rule: "every payee can be read, and belongs to one user (payees)"
    ) { record, rows in
        guard let payee = try? Payee(record) else { return "payee \(record.id) cannot be read" }
        if let reason = payee.rowViolation(record) { return "payee \(record.id): \(reason)" }
        guard record.id == Payee.id(of: record.owner) else {
            return "payee \(record.id) has an id that is not that of its user, \(record.owner)"
        }
        return rows.transfers.isEmpty ? nil : "payee \(record.id) has transfers"
    }

    package static let provider = RecordRule(
        kind: ProviderBody.kind,
        rule: "the books belong to one account of the provider (providers)"
    ) { record, rows in
        guard let provider = try? Provider(record) else {
            return "provider \(record.id) cannot be read"
        }
        if let reason = provider.rowViolation(record) { return "provider \(record.id): \(reason)" }
        guard record.id == Provider.id else {
            return "provider \(record.id) is not the only one, whose id is \(Provider.id)"
        }
        let names = Set(rows.names.map(\.text))
        return rows.transfers.map { Posting.name(ofFact: $0.key.step) }
            .first { !names.contains($0) }
            .map { "provider \(record.id): the name \($0) is missing" }
    }
}

extension FundingRecord {
    fileprivate func rowViolation(_ record: Record) -> String? {
        self.record == record ? nil : "its row differs from what the server writes"
    }

    /// Returns the reason why its transfers differ from the facts in the record, if they do.
    fileprivate func bookingViolation(_ rows: RecordRows) -> String? {
        let names = Set(rows.names.map(\.text))
        var seen: Set<String> = []
        for transfer in rows.transfers {
            let step = transfer.key.step
            if transfer.kind == TransferKind.debtSettled.name {
                guard step.hasSuffix("/owed"), body.booked[String(step.dropLast(5))] != nil else {
                    return "transfer \(step) settles a debt, but belongs to no booking"
                }
                continue
            }
            guard let amount = body.booked[step] else {
                return "transfer \(step) belongs to no booking"
            }
            guard amount.magnitude == transfer.moved.magnitude else {
                return "transfer \(step) moves \(transfer.moved), but \(amount) is booked"
            }
            let name = Posting.name(ofFact: step)
            guard names.contains(name) else { return "the name \(name) is missing" }
            seen.insert(step)
        }
        return body.booked.keys.sorted().first { !seen.contains($0) }
            .map { "booking \($0) has no transfer" }
    }
}

extension FundingRecord where Body == DepositBody {
    /// Returns the reason why its credit differs from the amount in the record, if it does.
    fileprivate func creditViolation(_ rows: RecordRows) -> String? {
        let credits = rows.transfers.filter { $0.kind == TransferKind.deposit.name }
        guard state == .succeeded else {
            return rows.transfers.isEmpty
                ? nil : "its state is \(state.rawValue), but it has transfers"
        }
        let account = Account.Key(.user(owner), amount.currency)
        guard credits.count == 1,
            credits[0].entries.contains(where: {
                $0.account == account && $0.amount == creditedAmount
            })
        else { return "it does not have exactly one transfer that credits its user" }
        let touchesOtherUsers = rows.transfers.flatMap(\.entries).contains {
            switch $0.account.owner {
            case .user(let user), .houseOf(_, let user): user != owner
            case .house, .pot: false
            }
        }
        return touchesOtherUsers ? "its transfers move another user's money" : nil
    }
}

extension FundingRecord where Body == WithdrawalBody {
    /// Returns the reason why its money is not where its state says; `nil` if it is there. If all
    /// records pass, their sums match the house's accounts.
    fileprivate func placeViolation(_ rows: RecordRows) -> String? {
        let sums = rows.transfers.flatMap(\.entries).reduce(into: [Account.Owner: Int64]()) {
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
        if let other = sums.keys.filter({ expected[$0] == nil }).map(\.rawValue).min() {
            return "it has transfers with entries of \(other)"
        }
        let wrong = expected.filter { sums[$0.key, default: 0] != $0.value }
            .min { $0.key.rawValue < $1.key.rawValue }
        guard let (account, sum) = wrong else { return nil }
        return "its state is \(state.rawValue), but its transfers change \(account.rawValue) "
            + "by \(sums[account, default: 0]), not by \(sum)"
    }
}

extension Transfer {
    /// The money moved between accounts, in minor units.
    fileprivate var moved: Int64 { entries.reduce(0) { $0 + max(0, $1.amount) } }
}
