/// A document of contests, which gotchud passes on as it came.
package protocol ContestDocument: Codable, Sendable {
    /// The largest number of bytes that it may have.
    static var limit: Int { get }
    /// A Boolean that is true if it is as contract 1 says where its type alone does not tell.
    var isSound: Bool { get }
}

extension ContestDocument {
    package static var limit: Int { 512 * 1024 }
    package var isSound: Bool { true }
}

extension ContestList: ContestDocument {
    package var isSound: Bool { contract == 1 }
}

extension ContestDetail: ContestDocument {
    package var isSound: Bool { contract == 1 }
}

extension Leaderboard: ContestDocument {
    package var isSound: Bool {
        let keys = Set(columns.map(\.key))
        return contract == 1 && keys.count == columns.count && rows.count == standings.count
            && rows.allSatisfy { Set($0.keys) == keys }
    }
}

extension SettlementReply: ContestDocument {
    /// A settlement names up to 10,000 payouts, of 100 bytes at most.
    package static var limit: Int { 1 << 20 }
}

extension EnteredRoster: ContestDocument {}
extension ScoresReply: ContestDocument {}
extension InvitationReply: ContestDocument {}
