import GotchuAPI
import GotchuCore
import PaymentClient

/// Entries of contests, each driven until the server has it or has refused it.
typealias ContestEntryService = OrderService<ContestEntryRecord>

/// An entry of a contest in the journal.
struct ContestEntryRecord: OrderRecord {
    static let word = "entry"
    static let nextStep = "gotchu-ctl contest list --mine"

    /// The definite end of entering.
    enum End: Codable, Equatable, Sendable {
        case joined
        case declined(Problem)
    }

    /// The entry as its caller is told of it.
    struct View: Equatable, Sendable {
        let id: String
        /// `nil` while it is open.
        let end: End?
        let reason: UnresolvedReason?
    }

    let id: String
    /// The one key of this entry, for its whole life: its caller's.
    let key: IdempotencyKey
    let contest: WireUUID
    /// The exact bytes of the order.
    let body: String
    /// The language that its caller reads.
    let language: String?
    let server: String
    let user: String
    let createdAt: Timestamp
    let call: IdempotentCall?
    private(set) var end: End?

    init(_ new: NewContestEntry, user: String, server: String, call: IdempotentCall?) {
        key = call?.key ?? .random()
        id = String(IdempotencyKey.random().rawValue.prefix(12))
        contest = new.contest
        let order = JSONValue.members([
            "entry_fee_cents": .integer(new.feeCents),
            "join_token": new.invitation.map(JSONValue.string),
        ])
        body = String(decoding: CanonicalJSON.bytes(of: order), as: UTF8.self)
        language = new.language
        self.user = user
        self.server = server
        createdAt = .now
        self.call = call
    }

    static func kept(in contents: JournalContents) -> [String: ContestEntryRecord] {
        contents.contestEntries
    }

    /// The refusals of the decision itself, before which the server looks the key up.
    static func isDecidedByKey(_ code: String) -> Bool {
        switch ErrorCode(rawValue: code) {
        case .contestFull, .contestLocked, .contestCancelled, .contestNotFound, .alreadyJoined,
            .ownContest, .joinTokenRequired, .amountChanged, .insufficientWalletBalance:
            true
        default: false  // SAFETY: the others may come from the door, or follow an entry.
        }
    }

    var isOpen: Bool { end == nil }
    var line: JournalRecord { .contestEntry(self) }

    func ask(_ client: PaymentClient) async -> Answer<ContestAnswer> {
        let call = ContestCall(
            .post,
            "/\(contest)/join",
            document: ContestDetail.self,
            body: Array(body.utf8),
            key: key,
            language: language
        )
        return await client.contest(call)
    }

    func ended(by end: Result<ContestAnswer, Problem>) -> ContestEntryRecord {
        var record = self
        switch end {
        case .success: record.end = .joined
        case .failure(let problem): record.end = .declined(problem)
        }
        return record
    }

    func view(_ reason: UnresolvedReason?) -> View { View(id: id, end: end, reason: reason) }
}
