/// A moment in the story of one request and one payment at which a program is killed.
///
/// Between two of them lies nothing that lasts: "before a request leaves" is after the sync before
/// it, and "after a reply came" is before the sync after it.
enum CrashStep: String, CaseIterable, Sendable {
    /// The kiosk has the server's session, its journal not yet.
    case askedLost
    /// The journal has the request, the air not yet, the till no answer.
    case asked
    /// The kiosk was told that it was paid, its journal not yet.
    case toldLost
    case told
    /// A person has agreed, the payer's journal does not have it, the till no answer.
    case agreedLost
    /// The journal has it; the lock has not left.
    case agreed
    /// The lock was answered, the journal does not have that.
    case lockedLost
    /// The journal has it; the send has not left.
    case locked
    /// The send was answered, the journal does not have that.
    case paidLost
    /// The journal has it, the person was not told.
    case paid
    /// The server has written, and not synced or answered.
    case createWritten, lockWritten, sendWritten
    /// The server has committed, and not answered.
    case createCommitted, lockCommitted, sendCommitted

    enum Role: Sendable { case kiosk, payer, server }

    var role: Role {
        switch self {
        case .askedLost, .asked, .toldLost, .told: .kiosk
        case .agreedLost, .agreed, .lockedLost, .locked, .paidLost, .paid: .payer
        case .createWritten, .lockWritten, .sendWritten, .createCommitted, .lockCommitted,
            .sendCommitted:
            .server
        }
    }

    /// What its program's plan says; for a server, once the call that it belongs to is coming.
    var line: String {
        switch self {
        case .askedLost: "before\t\"state\":\"advertising\"\tlose"
        case .asked: "after\t\"state\":\"advertising\"\tkill"
        case .toldLost: "before\t\"state\":\"paid\"\tlose"
        case .told: "after\t\"state\":\"paid\"\tkill"
        case .agreedLost: "before\t\(JournalText.locking)\tlose"
        case .agreed: "after\t\(JournalText.locking)\tkill"
        case .lockedLost: "before\t\(JournalText.sending)\tlose"
        case .locked: "after\t\(JournalText.sending)\tkill"
        case .paidLost: "before\t\(JournalText.paid)\tlose"
        case .paid: "after\t\(JournalText.paid)\tkill"
        case .createWritten, .lockWritten, .sendWritten: "before\t-\tkill"
        case .createCommitted, .lockCommitted, .sendCommitted: "after\t-\tkill"
        }
    }

    /// For a server's step: the payer's sync after which the server's next commit is meant.
    var payersMoment: String? {
        switch self {
        case .lockWritten, .lockCommitted: "after\t\(JournalText.locking)"
        case .sendWritten, .sendCommitted: "after\t\(JournalText.sending)"
        case .createWritten, .createCommitted, .askedLost, .asked, .toldLost, .told, .agreedLost,
            .agreed, .lockedLost, .locked, .paidLost, .paid:
            nil
        }
    }
}

/// The text of a payment's stage in the journal.
enum JournalText {
    static let locking = #""open":{"_0":"locking""#
    static let sending = #""open":{"_0":"sending""#
    static let paid = #""ended":{"_0":{"paid""#
}
