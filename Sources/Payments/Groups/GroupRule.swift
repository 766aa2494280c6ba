internal import GotchuCore
package import Ledger

extension RecordRule {
    /// The rules that `verify` checks for groups.
    package static let groups = RecordRule(
        kind: Group.kind,
        rule: "every group can be read, and its shares and its pot are what it says (groups)",
        readsChildren: true
    ) { record, file in
        guard let group = try? Group(record) else { return "group \(record.id) cannot be read" }
        return group.broken(record, file).map { "group \(record.id): \($0)" }
    }
}

extension Group {
    fileprivate func broken(_ record: Record, _ file: RecordFile) -> String? {
        if self.record != record { return "its columns do not agree" }
        guard file.names.filter({ $0.until == nil }).map(\.text) == [Session.name(of: eid)] else {
            return "its EID is not the one name that stands for it"
        }
        guard sale != nil || shares.reduce(0, +) == amount.minorUnits else {
            return "its shares are not its amount"
        }
        return brokenShares(file) ?? brokenPot(file)
    }

    /// Returns the reason why its children are not its shares, if they are not.
    private func brokenShares(_ file: RecordFile) -> String? {
        guard file.children.map(\.number) == (0..<shareCount).map({ $0 + 1 }) else {
            return "it has made \(shareCount) shares, and \(file.children.count) are its children"
        }
        let claims = Dictionary(uniqueKeysWithValues: claims.map { ($0.share, $0) })
        for (number, record) in file.children {
            guard let session = try? Session(record), session.id == shareID(number),
                let share = session.share, session.payee == payee,
                session.amount.currency == amount.currency,
                amount(of: share.place) == session.amount.minorUnits,
                take(of: share.place) == session.take
            else { return "child \(number) is no share of it" }
            if let reason = broken(session, share, claims[number]) {
                return "share \(number) \(reason)"
            }
        }
        return sale.flatMap { broken($0, file) }
    }

    private func broken(_ sale: Sale, _ file: RecordFile) -> String? {
        let stakes = file.children.compactMap { (try? Session($0.record))?.share?.stake }
        return Set(stakes).count == stakes.count && Int64(stakes.count) == sale.sold
            ? nil : "it has sold \(sale.sold) places, and its shares bought others"
    }

    private func broken(
        _ session: Session,
        _ share: Session.Share,
        _ claim: Claim?
    ) -> String? {
        guard let claim else {
            guard session.status == .paid else { return nil }
            let isSold = sale.map { $0.record == share.stake?.record } ?? false
            return isSold ? nil : "is paid, and the group knows nothing of it"
        }
        guard claim.place == share.place else { return "is of another place" }
        guard claim.isPaid else {
            let isRight = [.locked, .expired].contains(session.status)
            return isRight ? nil : "is \(session.status.rawValue), and held"
        }
        guard case .paid(claim.payer, _) = session.state else { return "is not paid" }
        guard (share.stake != nil) == isAllOrNothing else { return "was paid otherwise" }
        let isBack = isAllOrNothing && (state == .expired || state == .cancelled)
        return share.isReturned == isBack ? nil : "went back otherwise than the pot"
    }

    /// Returns the reason why the transfers are not those of its pot, if they are not.
    private func brokenPot(_ file: RecordFile) -> String? {
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
        guard Set(file.transfers.map(\.key.step)) == Set(expected.keys) else {
            return "its transfers are \(file.transfers.map(\.key.step))"
        }
        for transfer in file.transfers {
            let moved = transfer.entries.map { ($0.account, $0.amount) }
            guard Dictionary(moved, uniquingKeysWith: +) == expected[transfer.key.step],
                isKind(of: transfer), isAnswered(transfer, file)
            else { return "transfer \(transfer.key.step) is not what its shares say" }
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
    private func isAnswered(_ transfer: Transfer, _ file: RecordFile) -> Bool {
        guard transfer.key.step != Split.end else { return true }
        guard let answer = file.answer(to: transfer), answer.key.command == Pay.name,
            let outcome = answer.decode(Pay.Outcome.self)
        else { return false }
        return outcome.transfer == transfer.key.id && outcome.tip == nil
            && outcome.newBalance == transfer.balance(of: answer.key.user)
    }
}
