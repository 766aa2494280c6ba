/// A step of one request and its payment. A test kills a program at this step.
///
/// A step is directly before or after a sync of a journal or of the database. The steps cover all
/// states on disk: between two syncs, a program only sends a call and receives its reply.
enum CrashStep: String, CaseIterable, Sendable {
    /// The kiosk has the server's session; its journal has not recorded it.
    case askedLost
    /// The request is in the journal, but not on the air, and the till has no answer.
    case asked
    /// The kiosk has learned of the payment; its journal has not recorded it.
    case toldLost
    /// The payment is in the kiosk's journal; the till may not have seen it.
    case told
    /// A person has agreed; the journal has not recorded it, and the caller has no answer.
    case agreedLost
    /// The agreement is in the journal; the call for the lock has not been sent.
    case agreed
    /// The call for the lock was answered; the journal has not recorded it.
    case lockedLost
    /// The lock is in the journal; the call that pays has not been sent.
    case locked
    /// The call that pays was answered; the journal has not recorded it.
    case paidLost
    /// The payment is in the journal; the person has not seen it.
    case paid
    /// The server has written, but neither synced nor answered.
    case createWritten, lockWritten, sendWritten
    /// The server has committed, but not answered.
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

    /// The line in the program's fault plan that kills it at this step. For a kill of the server
    /// during a lock or a send, the payer adds the line just before it makes that call.
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

    /// The payer's sync after which a kill of the server is planned; `nil` for other steps.
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
