internal import GotchuCore
internal import Ledger

/// The columns of the tables that a batch writes, in the order in which rows are read and written.
enum Columns {
    static let users = Table<User>(
        "users",
        key: 1,
        [
            .init("id", .text) { .text($0.id.rawValue) },
            .init("login", .text) { .text($0.login) },
            .init("display_name", .text) { .text($0.displayName) },
            .init("created_at", .integer) { .integer($0.createdAt.milliseconds) },
            .init("take_bps", .integer) { .integer($0.terms.takeBasisPoints) },
            .init("deposit_maximum", .integer) { .integer($0.terms.depositMaximum) },
            .init("balance_maximum", .integer) { .integer($0.terms.balanceMaximum) },
        ]
    )

    static let names = Table<Name>(
        "names",
        key: 1,
        [
            .init("name", .text) { .text($0.text) },
            .init("target", .text) { .text($0.target) },
            .init("until", .integer) { .integer($0.until?.milliseconds) },
        ]
    )

    static let accounts = Table<Account>(
        "accounts",
        key: 2,
        [
            .init("owner", .text) { .text($0.key.owner.rawValue) },
            .init("currency", .text) { .text($0.key.currency.rawValue) },
            .init("balance", .integer) { .integer($0.balance) },
            .init("earned", .integer) { .integer($0.earned) },
            .init("entry_count", .integer) { .integer($0.entryCount) },
            .init("changed_at", .integer) { .integer($0.changedAt.milliseconds) },
        ]
    )

    static let recordCount = 8
    static let records = Table<Record>(
        "records",
        key: 1,
        [
            .init("id", .text) { .text($0.id.rawValue) },
            .init("kind", .text) { .text($0.kind) },
            .init("owner", .text) { .text($0.owner.rawValue) },
            .init("state", .text) { .text($0.state) },
            .init("version", .integer) { .integer($0.version) },
            .init("created_at", .integer) { .integer($0.createdAt.milliseconds) },
            .init("due_at", .integer) { .integer($0.dueAt?.milliseconds) },
            .init("body", .text) { .text($0.body) },
        ]
    )

    static let children = Table<Child>(
        "children",
        key: 2,
        [
            .init("parent", .text) { .text($0.parent.rawValue) },
            .init("number", .integer) { .integer($0.number) },
            .init("record", .text) { .text($0.record.rawValue) },
        ]
    )

    static let due = Table<Record>(
        "due",
        key: 2,
        [
            .init("owner", .text) { .text($0.owner.rawValue) },
            .init("record", .text) { .text($0.id.rawValue) },
            .init("kind", .text) { .text($0.kind) },
            .init("due_at", .integer) { .integer($0.dueAt?.milliseconds) },
        ]
    )

    /// A transfer with the seal that covers it.
    static let transfers = Table<SealedTransfer>(
        "transfers",
        key: 2,
        [
            .init("record", .text) { .text($0.transfer.key.record.rawValue) },
            .init("step", .text) { .text($0.transfer.key.step) },
            .init("kind", .text) { .text($0.transfer.kind) },
            .init("at", .integer) { .integer($0.transfer.at.milliseconds) },
            .init("chain", .text) { .text($0.seal.chain) },
            .init("seal", .integer) { .integer($0.seal.number) },
            .init("hash", .blob) { .blob($0.transfer.hash) },
        ]
    )

    static let entries = Table<Entry>(
        "entries",
        key: 3,
        [
            .init("owner", .text) { .text($0.account.owner.rawValue) },
            .init("currency", .text) { .text($0.account.currency.rawValue) },
            .init("number", .integer) { .integer($0.number) },
            .init("record", .text) { .text($0.transfer.record.rawValue) },
            .init("step", .text) { .text($0.transfer.step) },
            .init("kind", .text) { .text($0.kind) },
            .init("at", .integer) { .integer($0.at.milliseconds) },
            .init("amount", .integer) { .integer($0.amount) },
            .init("balance", .integer) { .integer($0.balance) },
            .init("earned", .integer) { .integer($0.earned) },
        ]
    )

    static let answers = Table<StoredAnswer>(
        "answers",
        key: 3,
        [
            .init("user_id", .text) { .text($0.answer.key.user.rawValue) },
            .init("command", .text) { .text($0.answer.key.command) },
            .init("key", .text) { .text($0.answer.key.key.rawValue) },
            .init("fingerprint", .blob) { .blob($0.answer.fingerprint.bytes) },
            .init("outcome", .text) { .text($0.outcome) },
            .init("refusal", .text) { .text($0.refusal) },
            .init("record", .text) { .text($0.answer.record.rawValue) },
            .init("step", .text) { .text($0.answer.step) },
            .init("request_id", .text) { .text($0.answer.requestID) },
            .init("decided_at", .integer) { .integer($0.answer.decidedAt.milliseconds) },
        ]
    )

    static let seals = Table<Seal>(
        "seals",
        key: 2,
        [
            .init("chain", .text) { .text($0.chain) },
            .init("number", .integer) { .integer($0.number) },
            .init("previous", .blob) { .blob($0.previous) },
            .init("hash", .blob) { .blob($0.hash) },
        ]
    )

    /// One delivery for each event and each endpoint that receives it; without endpoints nothing is
    /// written. An event's columns are in the order of those of `deliveries`.
    static let events = Table<Event>(
        "event",
        key: 0,
        [
            .init("id", .text) { .text($0.id) },
            .init("kind", .text) { .text($0.kind) },
            .init("record", .text) { .text($0.record.id.rawValue) },
            .init("owner", .text) { .text($0.record.owner.rawValue) },
            .init("at", .integer) { .integer($0.at.milliseconds) },
            .init("amount", .integer) { .integer($0.amount) },
            .init("body", .text) { .text($0.record.body) },
        ]
    )

    static let enqueue = events.statement(
        before: """
            INSERT INTO deliveries (
                endpoint, event, kind, record, owner, at, amount, body, attempts, next_try_at,
                give_up_at
            )
            SELECT endpoints.id, event.id, event.kind, event.record, event.owner, event.at,
                event.amount, event.body, 0, event.at,
                event.at + \(Delivery.retryWindowMilliseconds)
            FROM endpoints,
            """,
        after: """
            WHERE endpoints.disabled IS NULL
                AND (endpoints.owner IS NULL OR endpoints.owner = event.owner)
            """,
        // Locked, so that an endpoint is not removed while a delivery is added for it.
        lock: "FOR KEY SHARE OF endpoints"
    )

    static let newUsers = users.insertion()
    static let changedUsers = users.change(
        of: ["take_bps", "deposit_maximum", "balance_maximum"]
    )
    static let claimedNames = names.insertion()
    static let changedNames = names.change(of: ["target", "until"])
    static let releasedNames = names.insertion(orUpdate: ["until"])
    static let newAccounts = accounts.insertion()
    static let changedAccounts = accounts.change(
        of: ["balance", "earned", "entry_count", "changed_at"]
    )
    static let newRecords = records.insertion()
    static let changedRecords = records.change(of: ["state", "version", "due_at", "body"])
    static let newChildren = children.insertion()
    /// A new due time clears the lease.
    static let newDue = due.insertion(orUpdate: ["due_at"], clearing: ["leased_until"])
    static let newTransfers = transfers.insertion()
    static let newEntries = entries.insertion()
    static let newAnswers = answers.insertion()
    static let newSeals = seals.insertion()
}

/// A transfer and the seal that covers it.
struct SealedTransfer {
    let transfer: Transfer
    let seal: Seal
}

/// An answer and the texts of its decision.
struct StoredAnswer {
    let answer: Answer
    let outcome: String?
    let refusal: String?

    init(_ answer: Answer) throws {
        self.answer = answer
        switch answer.decision {
        case .outcome(let json): (outcome, refusal) = (json, nil)
        case .refused(let reason): (outcome, refusal) = (nil, try canonicalJSON(reason))
        }
    }
}
