import GotchuCore
import Ledger

@testable import Funding

/// A model of the provider for withdrawals: keys that expire after a day, lists that lag, lost
/// replies, insufficient balances, payouts that fail.
struct BankModel {
    struct Sent {
        let id: String
        let order: TransferOrder
        let at: Timestamp
        var reversal: String?
    }

    struct Paid {
        let id: String
        let order: PayoutOrder
        let at: Timestamp
        /// Its final status.
        let end: SeenPayout.Status
        let failsAfterPaid: Bool
    }

    private(set) var transfers: [Sent] = []
    private(set) var payouts: [Paid] = []
    /// A Boolean that is true once a reversal was refused. Only the operator can resolve this.
    private(set) var needsPerson = false
    private var keys: [String: (observation: Observation, at: Timestamp)] = [:]
    private var count = 0
    /// The chance in percent that a call is lost, and also the chance that a reply is lost.
    var faultPercent = 20
    /// The payee's own money at the connected account, in cents.
    var payeeFunds: Int64 = 0

    /// The delay before a new object appears in the provider's lists.
    private static let lag: Duration = .seconds(300)
    private static let poor = ProviderRefusal(
        .insufficientFunds,
        code: "balance_insufficient",
        message: "Not yet."
    )

    private mutating func name(_ prefix: String) -> String {
        count += 1
        return "\(prefix)_\(count)"
    }

    mutating func answer(
        _ call: Call,
        at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) -> Observation {
        if chance(faultPercent, &random) { return .unknown(after: nil) }
        let answer = carryOut(call, at: now, &random)
        return chance(faultPercent, &random) ? .unknown(after: nil) : answer
    }

    private func chance(_ percent: Int, _ random: inout some RandomNumberGenerator) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func carryOut(
        _ call: Call,
        at now: Timestamp,
        _ random: inout some RandomNumberGenerator
    ) -> Observation {
        switch call {
        case .sendTransfer(let order):
            return once(order.key, at: now) { $0.send(order, at: now, &random) }
        case .findTransfer(let order):
            let found = transfers.last {
                $0.order.withdrawal == order.withdrawal && $0.reversal == nil
                    && $0.at.duration(to: now) > Self.lag
            }
            return found.map { .transfer(seen($0)) } ?? .absent
        case .readTransfer(let id):
            return transfers.first { $0.id == id }.map { .transfer(seen($0)) } ?? .absent
        case .reverseTransfer(let order):
            return once(order.key, at: now) { $0.reverse(order, at: now, &random) }
        case .sendPayout(let order):
            return once(order.key, at: now) { $0.pay(order, at: now, &random) }
        case .findPayout(let order):
            let found = payouts.last {
                $0.order.withdrawal == order.withdrawal && $0.at.duration(to: now) > Self.lag
                    && seen($0, at: now).status != .failed
            }
            return found.map { .payout(seen($0, at: now)) } ?? .absent
        case .readPayout(let reference):
            let found = payouts.first { $0.id == reference.payout }
            return found.map { .payout(seen($0, at: now)) } ?? .absent
        case .openDeposit, .readDeposit, .findDeposit, .endDeposit, .openAccount, .readAccount,
            .findAccount:
            return .absent
        }
    }

    /// Returns a key's first reply until the key expires.
    private mutating func once(
        _ key: String,
        at now: Timestamp,
        _ body: (inout BankModel) -> Observation
    ) -> Observation {
        if let known = keys[key], known.at.duration(to: now) < .seconds(24 * 3_600) {
            return known.observation
        }
        let observation = body(&self)
        keys[key] = (observation, now)
        return observation
    }

    private mutating func send(
        _ order: TransferOrder,
        at now: Timestamp,
        _ random: inout some RandomNumberGenerator
    ) -> Observation {
        if chance(15, &random) { return .refused(Self.poor) }
        if chance(5, &random) { return .refused(ProviderRefusal(.other, code: "no", message: "")) }
        let transfer = Sent(id: name("tr"), order: order, at: now)
        transfers.append(transfer)
        return .transfer(seen(transfer))
    }

    private mutating func reverse(
        _ order: ReversalOrder,
        at now: Timestamp,
        _ random: inout some RandomNumberGenerator
    ) -> Observation {
        guard let index = transfers.firstIndex(where: { $0.id == order.transfer }) else {
            return .absent
        }
        guard transfers[index].reversal == nil else { return .transfer(seen(transfers[index])) }
        guard available(at: now) >= order.amount.minorUnits, !chance(30, &random) else {
            needsPerson = true
            return .refused(Self.poor)
        }
        transfers[index].reversal = transfers[index].reversal ?? name("trr")
        return .transfer(seen(transfers[index]))
    }

    private mutating func pay(
        _ order: PayoutOrder,
        at now: Timestamp,
        _ random: inout some RandomNumberGenerator
    ) -> Observation {
        guard available(at: now) >= order.amount.minorUnits, !chance(30, &random) else {
            return .refused(Self.poor)
        }
        if chance(10, &random) { return .refused(ProviderRefusal(.other, code: "no", message: "")) }
        let end: SeenPayout.Status = chance(30, &random) ? .failed : .paid
        let payout = Paid(
            id: name("po"),
            order: order,
            at: now,
            end: end,
            failsAfterPaid: chance(20, &random)
        )
        payouts.append(payout)
        return .payout(seen(payout, at: now))
    }

    private func seen(_ transfer: Sent) -> SeenTransfer {
        SeenTransfer(
            id: transfer.id,
            amount: transfer.order.amount.minorUnits,
            currency: "usd",
            destination: transfer.order.destination,
            reversal: transfer.reversal
        )
    }

    private func seen(_ payout: Paid, at now: Timestamp) -> SeenPayout {
        let age = payout.at.duration(to: now)
        let status: SeenPayout.Status =
            if payout.failsAfterPaid, age > .seconds(4 * 24 * 3_600) {
                .failed
            } else if age > .seconds(2 * 24 * 3_600) {
                payout.end
            } else {
                age > .seconds(3_600) ? .inTransit : .pending
            }
        return SeenPayout(
            id: payout.id,
            status: status,
            amount: payout.order.amount.minorUnits,
            currency: "usd"
        )
    }

    /// The money at the connected account, in cents: the payee's own money, and the transfers less
    /// the payouts.
    func available(at now: Timestamp) -> Int64 {
        let left = payouts.filter { seen($0, at: now).status != .failed }
            .map(\.order.amount.minorUnits).reduce(0, +)
        return payeeFunds + transferredSum - left
    }

    /// The sum of the payouts that are paid at `now`, in cents.
    func paid(at now: Timestamp) -> Int64 {
        payouts.filter { seen($0, at: now).status == .paid }.map(\.order.amount.minorUnits)
            .reduce(0, +)
    }

    /// The sum of the transfers that are not reversed, in cents.
    var transferredSum: Int64 {
        transfers.filter { $0.reversal == nil }.map(\.order.amount.minorUnits).reduce(0, +)
    }
}
