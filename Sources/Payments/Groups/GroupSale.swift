internal import GotchuCore
package import Ledger

extension Group {
    /// The sale of another record's places; each payment buys one. A group sells until it expires:
    /// a place of the group is free again as soon as it is paid.
    package struct Sale: Codable, Equatable, Sendable {
        /// The record whose places are for sale.
        package let record: RecordID
        /// The title of that record, for people.
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

    /// The most shares that payers' locks may create, expired ones included.
    var shareLimit: Int64 { sale == nil ? 1_000 : 20_000 }

    /// The maximum number of holds of one payer that end without a payment. Without this limit, one
    /// payer could use up all shares.
    static let lapseLimit: Int64 = 20
    /// The maximum number of payers whose ended holds are counted.
    static let lapsePayerLimit = 200

    /// Ends a hold without a payment. If too many payers are counted, another payer with the fewest
    /// ended holds is no longer counted.
    mutating func endHold(_ claim: Claim) {
        claims.removeAll { $0 == claim }
        lapses[claim.payer, default: 0] += 1
        guard lapses.count > Self.lapsePayerLimit else { return }
        let others = lapses.filter { $0.key != claim.payer }
        let least = others.min { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
        if let least { lapses[least.key] = nil }
    }

    /// Returns the unique name of the first place that a payer has bought in a sale. The name
    /// refers to the share. It finds the share for old clients, which know only the group's id.
    static func saleName(_ group: SessionID, _ payer: UserID) -> String { "\(group)/by/\(payer)" }
}

extension Session.Share {
    /// A Boolean that is true if it has bought a place of another record than the group.
    var isSale: Bool { stake.map { $0.record != RecordID(group) } ?? false }
}
