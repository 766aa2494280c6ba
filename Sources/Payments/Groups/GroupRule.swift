internal import GotchuCore
package import Ledger

extension RecordRule {
    /// The rules that `verify` checks for groups.
    package static let groups = RecordRule(
        kind: Group.kind,
        rule: "every group can be read, and its shares and its pot match its state (groups)",
        readsChildren: true
    ) { record, rows in
        guard let group = try? Group(record) else { return "group \(record.id) cannot be read" }
        return group.violation(record, rows).map { "group \(record.id): \($0)" }
    }
}

extension Group {
    fileprivate func violation(_ record: Record, _ rows: RecordRows) -> String? {
        if self.record != record { return "its row differs from what the server writes" }
        let found = rows.names.filter { $0.until == nil }.map(\.text)
        let names = [Session.name(of: eid)]
        guard found == names else {
            return "its current names are \(found), expected \(names)"
        }
        let sum = shares.reduce(0, +)
        guard sale != nil || sum == amount.minorUnits else {
            return "its shares sum to \(sum), but its amount is \(amount.minorUnits)"
        }
        return shareViolation(rows) ?? potViolation(rows)
    }

    /// Returns the reason why its children are not its shares, if they are not.
    private func shareViolation(_ rows: RecordRows) -> String? {
        guard rows.children.map(\.number) == (0..<shareCount).map({ $0 + 1 }) else {
            return "it has made \(shareCount) shares, but its children are not numbered from 1 to "
                + "\(shareCount)"
        }
        let claims = Dictionary(uniqueKeysWithValues: claims.map { ($0.share, $0) })
        for (number, record) in rows.children {
            guard let session = try? Session(record), session.id == shareID(number),
                let share = session.share, session.payee == payee,
                session.amount.currency == amount.currency,
                amount(of: share.place) == session.amount.minorUnits,
                take(of: share.place) == session.take
            else {
                return "child \(number) is not a share of this group, or has another payee, amount "
                    + "or take"
            }
            if let reason = violation(session, share, claims[number]) {
                return "share \(number) \(reason)"
            }
        }
        return sale.flatMap { violation($0, rows) }
    }

    private func violation(_ sale: Sale, _ rows: RecordRows) -> String? {
        let stakes = rows.children.compactMap { (try? Session($0.record))?.share?.stake }
        return Set(stakes).count == stakes.count && Int64(stakes.count) == sale.sold
            ? nil : "it has sold \(sale.sold) places, but its shares paid \(Set(stakes).count)"
    }

    private func violation(
        _ session: Session,
        _ share: Session.Share,
        _ claim: Claim?
    ) -> String? {
        guard let claim else {
            guard session.status == .paid else { return nil }
            let isSold = sale.map { $0.record == share.stake?.record } ?? false
            return isSold ? nil : "is paid, but the group does not list it"
        }
        guard claim.place == share.place else {
            return "is for place \(share.place), but the group lists it for place \(claim.place)"
        }
        guard claim.isPaid else {
            let isRight = [.locked, .expired].contains(session.status)
            return isRight ? nil : "is \(session.status.rawValue), but the group lists it as held"
        }
        guard case .paid(claim.payer, _) = session.state else {
            return "is not paid by its payer, but the group lists it as paid"
        }
        guard (share.stake != nil) == isAllOrNothing else {
            return isAllOrNothing
                ? "was not paid into the group's pot"
                : "was paid into a pot, but the group has none"
        }
        let isBack = isAllOrNothing && (state == .expired || state == .cancelled)
        guard share.isReturned != isBack else { return nil }
        return isBack
            ? "was not returned, but the pot was" : "was returned, but the pot was not"
    }

    /// Returns the reason why the transfers are not those of its pot, if they are not.
    private func potViolation(_ rows: RecordRows) -> String? {
        var expected: [String: [Account.Key: Int64]] = [:]
        let total = isAllOrNothing ? paidAmount : 0
        if total > 0 {
            for claim in paidClaims {
                let amount = amount(of: claim.place) ?? 0
                let payer = account(of: claim.payer)
                expected[Split.step(of: claim.place)] = [payer: -amount, pot: amount]
            }
            var end: [Account.Key: Int64] = [:]
            switch state {
            case .open: break
            case .paid: for line in releaseLines { end[line.account] = line.amount }
            case .expired, .cancelled:
                for claim in paidClaims {
                    end[account(of: claim.payer), default: 0] += amount(of: claim.place) ?? 0
                }
                end[pot] = -total
            }
            if !end.isEmpty { expected[Split.end] = end }
        }
        let steps = rows.transfers.map(\.key.step)
        guard Set(steps) == Set(expected.keys) else {
            return "its transfers are \(steps), expected \(expected.keys.sorted())"
        }
        for transfer in rows.transfers {
            let step = transfer.key.step
            let moved = transfer.entries.map { ($0.account, $0.amount) }
            guard Dictionary(moved, uniquingKeysWith: +) == expected[step] else {
                return "transfer \(step) does not move the amounts of its shares"
            }
            guard isKind(of: transfer) else {
                return "transfer \(step) has the kind \(transfer.kind)"
            }
            guard isAnswered(transfer, rows) else {
                return "transfer \(step) does not match its answer"
            }
        }
        return nil
    }

    private func account(of user: UserID) -> Account.Key {
        Account.Key(.user(user), amount.currency)
    }

    private func isKind(of transfer: Transfer) -> Bool {
        guard transfer.key.step == Split.end else {
            return transfer.kind == TransferKind.stake.name
        }
        let isPaid = if case .paid = state { true } else { false }
        let kind = isPaid ? TransferKind.release : .returned
        return transfer.kind == kind.name
    }

    /// Returns true if a stake matches the stored answer to its payer; an end has no answer.
    private func isAnswered(_ transfer: Transfer, _ rows: RecordRows) -> Bool {
        guard transfer.key.step != Split.end else { return true }
        guard let answer = rows.answer(to: transfer), answer.key.command == Pay.name,
            let outcome = answer.decode(Pay.Outcome.self)
        else { return false }
        return outcome.transfer == transfer.key.id && outcome.tip == nil
            && outcome.newBalance == transfer.balance(of: answer.key.user)
    }
}
