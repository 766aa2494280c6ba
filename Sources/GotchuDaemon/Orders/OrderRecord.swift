import GotchuAPI
import GotchuCore
import PaymentClient

/// A journal record of a call that moves money. All its sends have one idempotency key.
protocol OrderRecord: JournalledRecord {
    associatedtype New: Encodable & Sendable
    /// The payment server's reply after it has carried out the order.
    associatedtype Reply: Sendable
    associatedtype View: Sendable

    /// The kind of order in one word, such as `withdrawal`.
    static var kindName: String { get }
    /// The command that shows the outcome.
    static var nextStep: String { get }

    /// - Returns: `nil` for a record of another kind.
    init?(_ record: JournalRecord)
    /// Returns true if the server returns a code only after it has looked up the key.
    static func isDecidedByKey(_ code: String) -> Bool

    /// - Parameter call: The call that created the record, if that call has an idempotency key.
    init(_ new: New, user: String, server: String, call: IdempotentCall?)

    var call: IdempotentCall? { get }

    /// Sends the order, always with the same key and bytes.
    ///
    /// - Parameter client: A client that carries no other user's token.
    func send(with client: PaymentClient) async -> Answer<Reply>
    func ended(by end: Result<Reply, Problem>) -> Self
    /// The record as the local API shows it.
    ///
    /// - Parameter reason: The reason why the outcome is not known; `nil` if there is none.
    func view(_ reason: UnresolvedReason?) -> View
}

extension OrderRecord {
    static func isDecidedByKey(_ code: String) -> Bool { false }
}

/// The decisions about one order. Only a definite answer to its key ends it.
struct OrderFlow<Order: OrderRecord> {
    enum SendOutcome {
        case answer(Answer<Order.Reply>)
        /// Nothing was sent.
        case notSent(UnresolvedReason)
    }

    enum Action {
        case end(Result<Order.Reply, Problem>)
        case wait(Duration, because: UnresolvedReason)
    }

    private var isUncertain: Bool
    private var schedule = RetrySchedule()

    /// - Parameter isUncertain: True if an earlier send may have arrived.
    init(isUncertain: Bool) {
        self.isUncertain = isUncertain
    }

    mutating func handle(_ answered: SendOutcome, jitter: Double) -> Action {
        switch answered {
        case .answer(.success(let reply)):
            return .end(.success(reply))
        case .answer(.refused(let problem)):
            let isDecided = problem.isReplay || Order.isDecidedByKey(problem.code)
            if isDecided || !isUncertain { return .end(.failure(problem)) }
            return wait(because: .refused(Decline(problem)), nil, jitter)
        case .answer(.unauthorized(let problem)):
            guard isUncertain else { return .end(.failure(problem)) }
            return wait(because: .unauthorized(Decline(problem)), nil, jitter)
        case .answer(.unknown(let outage)) where outage.code == .otherUser:
            return wait(because: .otherLogin, nil, jitter)
        case .answer(.unknown(let outage)):
            isUncertain = true
            return wait(because: .noAnswer, outage.retryAfter, jitter)
        case .notSent(let reason):
            return wait(because: reason, nil, jitter)
        }
    }

    private mutating func wait(
        because reason: UnresolvedReason,
        _ retryAfter: Duration?,
        _ jitter: Double
    ) -> Action {
        .wait(schedule.next(retryAfter: retryAfter, jitter: jitter), because: reason)
    }
}
