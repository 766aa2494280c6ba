/// A contest document, which gotchud passes on unchanged.
package protocol ContestDocument: Codable, Sendable {
    /// The maximum size in bytes.
    static var limit: Int { get }
    /// A Boolean that is true if it conforms to contract 1. Checks only what decoding does not.
    var isValid: Bool { get }
}

extension ContestDocument {
    package static var limit: Int { 512 * 1024 }
    package var isValid: Bool { true }
}

extension ContestList: ContestDocument {
    package var isValid: Bool { contract == 1 }
}

extension ContestDetail: ContestDocument {
    package var isValid: Bool { contract == 1 }
}

extension Leaderboard: ContestDocument {
    package var isValid: Bool {
        let keys = Set(columns.map(\.key))
        return contract == 1 && keys.count == columns.count && rows.count == standings.count
            && rows.allSatisfy { Set($0.keys) == keys }
    }
}

extension SettlementReply: ContestDocument {
    /// A settlement lists up to 10,000 payouts of at most 500 bytes each.
    package static var limit: Int { 5 << 20 }
}

extension EnteredRoster: ContestDocument {}
extension ScoresReply: ContestDocument {}
extension InvitationReply: ContestDocument {}
