internal import GotchuCore
package import Ledger

extension Group {
    /// The places of another record that a group sells, one to each payer. It sells until its time
    /// is up: a place of the group is free again as soon as it is paid.
    package struct Sale: Codable, Equatable, Sendable {
        /// The record whose places are sold.
        package let record: RecordID
        /// The name of that record, for people.
        package let title: String
        /// The number of that record's places.
        package let places: Int64
        /// The number of places that this group has sold.
        package var sold: Int64

        package init(record: RecordID, title: String, places: Int64, sold: Int64 = 0) {
            self.record = record
            self.title = title
            self.places = places
            self.sold = sold
        }
    }

    /// The number of shares that payers' locks may make, lapsed ones included.
    var shareLimit: Int64 { sale == nil ? 1_000 : 20_000 }

    /// The number of holds that one payer may let lapse: a stranger could use up all shares.
    static let lapseLimit: Int64 = 20
    /// The payers whose lapsed holds are counted.
    static let lapsePayerLimit = 200

    /// Ends a hold without a payment. The payers who do that most often are remembered.
    mutating func drop(_ claim: Claim) {
        claims.removeAll { $0 == claim }
        lapses[claim.payer, default: 0] += 1
        guard lapses.count > Self.lapsePayerLimit else { return }
        let others = lapses.filter { $0.key != claim.payer }
        let least = others.min { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
        if let least { lapses[least.key] = nil }
    }

    /// The unique name of the first place that a payer has bought of a sale. It stands for the
    /// share: old clients know the group alone.
    static func saleName(_ group: SessionID, _ payer: UserID) -> String { "\(group)/by/\(payer)" }
}

extension Session.Share {
    /// A Boolean that is true if it has bought a place of another record than the group.
    var isSale: Bool { stake.map { $0.record != RecordID(group) } ?? false }
}
