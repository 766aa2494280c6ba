import GotchuAPI
import GotchuCore
import PaymentClient

/// The service that sends each contest entry until the server accepts or refuses it.
typealias ContestEntryService = OrderService<ContestEntryRecord>

/// A contest entry in the journal.
struct ContestEntryRecord: OrderRecord {
    static let kindName = "entry"
    static let nextStep = "gotchu-ctl contest list --mine"

    enum End: Codable, Equatable, Sendable {
        case joined
        case declined(Problem)
    }

    /// The entry as the local API shows it.
    struct View: Equatable, Sendable {
        let id: String
        /// `nil` while the outcome is unknown.
        let end: End?
        let reason: UnresolvedReason?
    }

    let id: String
    /// The idempotency key of every send: the caller's key, or a random one if the caller gave
    /// none.
    let key: IdempotencyKey
    let contest: WireUUID
    /// The exact bytes of the request's body.
    let body: String
    /// The language that the caller reads.
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

    init?(_ record: JournalRecord) {
        guard case .contestEntry(let entry) = record else { return nil }
        self = entry
    }

    /// Returns true if the code proves that the server has looked up the key.
    static func isDecidedByKey(_ code: String) -> Bool {
        switch ErrorCode(rawValue: code) {
        case .contestFull, .contestLocked, .contestCancelled, .contestNotFound, .alreadyJoined,
            .ownContest, .joinTokenRequired, .amountChanged, .insufficientWalletBalance:
            true
        default: false  // SAFETY: other codes can come without a look-up.
        }
    }

    var isOpen: Bool { end == nil }
    var line: JournalRecord { .contestEntry(self) }

    func send(with client: PaymentClient) async -> Answer<ContestAnswer> {
        var call = ContestCall(.post, "/\(contest)/join", document: ContestDetail.self)
        call.body = Array(body.utf8)
        call.key = key
        call.language = language
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
