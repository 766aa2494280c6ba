import GotchuCore
import Ledger
import LedgerTestSupport

/// The rows in memory, with the promises that a database keeps for the ledger: unique names,
/// entries only ever added.
struct MemoryBooks: Equatable {
    var rows = Snapshot()
    private(set) var transfers: [TransferID: Transfer] = [:]
    private(set) var brokenPromise: String?

    /// Only the rows of a footprint, as a store would load them.
    func load(_ footprint: Footprint) -> Snapshot {
        var loaded = Snapshot()
        for (id, user) in rows.users
        where footprint.users.contains(id) || footprint.emails.contains(user.email) {
            loaded.insert(user)
        }
        var owners = footprint.walletOwners
        for id in footprint.paidSessions {
            guard let session = rows.sessions[id] else { continue }
            owners.insert(.user(session.payee))
            if let payer = session.payer { owners.insert(.user(payer)) }
        }
        for (place, wallet) in rows.wallets where owners.contains(place.owner) {
            loaded.wallets[place] = wallet
        }
        for id in footprint.sessions { loaded.sessions[id] = rows.sessions[id] }
        for key in footprint.sendKeys { loaded.sends[key] = rows.sends[key] }
        for key in footprint.refundKeys { loaded.refunds[key] = rows.refunds[key] }
        for eid in footprint.retiredEIDs { loaded.retiredEIDs[eid] = rows.retiredEIDs[eid] }
        loaded.takenEIDs = rows.takenEIDs.intersection(footprint.eids)
        for payee in footprint.livePayees { loaded.liveSessions[payee] = live(of: payee) }
        return loaded
    }

    mutating func save(_ effects: Effects) {
        for user in effects.newUsers { rows.insert(user) }
        for wallet in effects.wallets { rows.wallets[wallet.place] = wallet }
        for session in effects.sessions {
            rows.sessions[session.id] = session
            rows.takenEIDs.insert(session.eid)
        }
        for eid in effects.newRetiredEIDs {
            rows.takenEIDs.insert(eid.eid)
            let isNew = rows.retiredEIDs.updateValue(eid, forKey: eid.eid) == nil
            promise(isNew, "an EID retired twice")
        }
        for send in effects.newSends {
            promise(rows.sends.updateValue(send, forKey: send.key) == nil, "a key decided twice")
        }
        for refund in effects.newRefunds {
            let isNew = rows.refunds.updateValue(refund, forKey: refund.key) == nil
            promise(isNew, "a refund's key decided twice")
        }
        for transfer in effects.newTransfers {
            let isNew = transfers.updateValue(transfer, forKey: transfer.id) == nil
            promise(isNew, "a transfer's name used twice")
            promise(transfer.lines.map(\.amount).reduce(0, +) == 0, "lines do not sum to zero")
        }
        for payee in Cast.users { rows.liveSessions[payee] = live(of: payee) }
    }

    /// All that must be true of the books at any moment; `nil` if it is.
    var complaint: String? {
        if let brokenPromise { return brokenPromise }
        let lines = transfers.values.flatMap(\.lines)
        for wallet in rows.wallets.values {
            let own = lines.filter { $0.wallet == wallet.id }
            guard own.map(\.amount).reduce(0, +) == wallet.balance else { return "balance" }
            guard own.map(\.number).sorted() == Array(1..<(wallet.entryCount + 1)) else {
                return "numbering"
            }
            if case .user = wallet.owner, wallet.balance < 0 { return "below zero" }
        }
        guard rows.wallets.values.map(\.balance).reduce(0, +) == 0 else { return "not conserved" }
        let paid = Set(rows.sessions.values.filter { $0.status == .paid }.map(\.id))
        let orders = transfers.values.compactMap(\.order)
        guard paid == Set(orders.map(\.session)), paid.count == orders.count,
            Set(orders.map(\.key)).count == orders.count
        else { return "paid sessions and payments differ" }
        return refundComplaint
    }

    private var refundComplaint: String? {
        var totals: [SessionID: Int64] = [:]
        for refund in rows.refunds.values {
            guard case .refunded(let made) = refund.outcome else { continue }
            totals[refund.session, default: 0] += made.amount
            guard transfers[made.transfer]?.kind == .refund,
                transfers[made.transfer]?.amount.minorUnits == made.amount
            else { return "a refund without its transfer" }
        }
        guard totals.values.count == rows.sessions.values.count(where: { $0.refunded > 0 }) else {
            return "refunded sessions and refunds differ"
        }
        for session in rows.sessions.values {
            guard session.refunded == totals[session.id, default: 0],
                session.refunded <= session.amount.minorUnits
            else { return "refunded more than is known, or than was paid" }
        }
        return nil
    }

    private func live(of payee: UserID) -> Int {
        rows.sessions.values.count { $0.payee == payee && !$0.status.isFinal }
    }

    private mutating func promise(_ isKept: Bool, _ promise: String) {
        if !isKept { brokenPromise = promise }
    }
}
