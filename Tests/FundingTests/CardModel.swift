import GotchuCore
import Ledger

@testable import Funding

/// A model of one card deposit at the provider, with its own sums. Its snapshots may reach the
/// ledger late, twice or never.
struct CardModel {
    private struct Movement {
        let id: String
        let amount: Int64
        let fee: Int64
        var back: (fee: Int64, id: String)?
    }

    let deposit: RecordID
    let amount: Int64
    private(set) var status: SeenDeposit.Status = .requiresPaymentMethod
    private var fee: Int64?
    private var refunds: [Movement] = []
    private var disputes: [Movement] = []
    private var count = 0

    init(deposit: RecordID, amount: Int64) {
        self.deposit = deposit
        self.amount = amount
    }

    private mutating func name(_ prefix: String) -> String {
        count += 1
        return "\(prefix)_\(deposit.rawValue.suffix(8))\(count)"
    }

    /// Makes a random change at the provider.
    mutating func evolve(using random: inout some RandomNumberGenerator) {
        guard status == .succeeded else {
            let next: [SeenDeposit.Status] = [
                .requiresAction, .processing, .requiresPaymentMethod, .canceled, .succeeded,
                .succeeded,
            ]
            if status != .canceled { status = next.randomElement(using: &random) ?? status }
            return
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: fee = fee ?? Int64.random(in: 0...90, using: &random)
        case 1:
            let rest = amount - refunds.filter { $0.back == nil }.map(\.amount).reduce(0, +)
            guard rest > 0, refunds.count < 8 else { return }
            let amount = Int64.random(in: 1...rest, using: &random)
            refunds.append(Movement(id: name("re"), amount: amount, fee: 0))
        case 2:
            if let index = refunds.firstIndex(where: { $0.back == nil }) {
                refunds[index].back = (0, name("txn"))
            }
        case 3:
            guard disputes.count < 3 else { return }
            let amount = Int64.random(in: 1...amount, using: &random)
            disputes.append(Movement(id: name("dp"), amount: amount, fee: 1_500))
        case 4:
            if let index = disputes.firstIndex(where: { $0.back == nil }) {
                let fee: Int64 = Bool.random(using: &random) ? -1_500 : 0
                disputes[index].back = (fee, name("txn"))
            }
        default: break
        }
    }

    /// The part of the deposit that the user keeps, in cents.
    var net: Int64 {
        guard status == .succeeded else { return 0 }
        let lost = (refunds + disputes).filter { $0.back == nil }.map(\.amount).reduce(0, +)
        return amount - lost
    }

    /// The sum of all fees.
    var fees: Int64 {
        (fee ?? 0)
            + (refunds + disputes).map { $0.fee + ($0.back?.fee ?? 0) }.reduce(0, +)
    }

    /// The deposit as the provider would show it now.
    var seen: SeenDeposit {
        SeenDeposit(
            intent: "pi_\(deposit)",
            checkout: "cs_\(deposit)",
            status: status,
            amount: amount,
            currency: "usd",
            isLive: false,
            deposit: deposit.rawValue,
            charge: status == .succeeded ? charge : nil
        )
    }

    private var charge: SeenCharge {
        SeenCharge(
            transaction: fee.map { transaction("txn_\(deposit)", "charge", amount, $0) },
            refunds: refunds.map { refund in
                SeenReversal(
                    id: refund.id,
                    amount: refund.amount,
                    out: transaction("txn_\(refund.id)", "refund", -refund.amount, refund.fee),
                    back: refund.back.map {
                        transaction($0.id, "refund_failure", refund.amount, $0.fee)
                    }
                )
            },
            disputes: disputes.map { dispute in
                SeenReversal(
                    id: dispute.id,
                    amount: dispute.amount,
                    out: transaction(
                        "txn_\(dispute.id)",
                        "adjustment",
                        -dispute.amount,
                        dispute.fee
                    ),
                    back: dispute.back.map {
                        transaction($0.id, "adjustment", dispute.amount, $0.fee)
                    }
                )
            }
        )
    }

    private func transaction(
        _ id: String,
        _ type: String,
        _ amount: Int64,
        _ fee: Int64
    ) -> SeenTransaction {
        SeenTransaction(id: id, type: type, amount: amount, fee: fee, currency: "USD")
    }
}
