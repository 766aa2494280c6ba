import Foundation
import Testing

/// A step of a request and its payment at which a test kills a program.
///
/// A step is directly before or after a sync of a journal or of the database. The steps cover all
/// states of the disks: between two syncs, a program only sends a call and receives the reply.
enum CrashStep: String, CaseIterable, Sendable {
    /// The kiosk has received the session, but its journal has no record of the request.
    case requestUnrecorded
    /// The request is in the journal, but it is not on the air and the till has no answer.
    case requestRecorded
    /// The kiosk knows of the payment, but its journal has no record of it.
    case paidUnrecorded
    /// The payment is in the kiosk's journal, but the till may not know of it.
    case paidRecorded
    /// A person has agreed, but the journal has no record of it and the caller has no answer.
    case agreementUnrecorded
    /// The agreement is in the journal, but the call for the lock is not sent.
    case agreementRecorded
    /// The call for the lock is answered, but the journal has no record of the lock.
    case lockUnrecorded
    /// The lock is in the journal, but the call that pays is not sent.
    case lockRecorded
    /// The call that pays is answered, but the journal has no record of the payment's end.
    case outcomeUnrecorded
    /// The payment's end is in the journal, but the person has not seen it.
    case outcomeRecorded
    /// The server has written a change to its database, but has neither synced nor answered.
    case createWritten, lockWritten, sendWritten
    /// The server has committed a change, but has not answered.
    case createCommitted, lockCommitted, sendCommitted

    enum Role: Sendable { case kiosk, payer, server }

    var role: Role {
        switch self {
        case .requestUnrecorded, .requestRecorded, .paidUnrecorded, .paidRecorded: .kiosk
        case .agreementUnrecorded, .agreementRecorded, .lockUnrecorded, .lockRecorded,
            .outcomeUnrecorded, .outcomeRecorded:
            .payer
        case .createWritten, .lockWritten, .sendWritten, .createCommitted, .lockCommitted,
            .sendCommitted:
            .server
        }
    }

    /// The line of the fault plan that kills the program at this step.
    var line: String {
        switch self {
        case .requestUnrecorded: "before\t\"state\":\"advertising\"\tlose"
        case .requestRecorded: "after\t\"state\":\"advertising\"\tkill"
        case .paidUnrecorded: "before\t\"state\":\"paid\"\tlose"
        case .paidRecorded: "after\t\"state\":\"paid\"\tkill"
        case .agreementUnrecorded: "before\t\(JournalText.locking)\tlose"
        case .agreementRecorded: "after\t\(JournalText.locking)\tkill"
        case .lockUnrecorded: "before\t\(JournalText.sending)\tlose"
        case .lockRecorded: "after\t\(JournalText.sending)\tkill"
        case .outcomeUnrecorded: "before\t\(JournalText.paid)\tlose"
        case .outcomeRecorded: "after\t\(JournalText.paid)\tkill"
        case .createWritten, .lockWritten, .sendWritten: "before\t-\tkill"
        case .createCommitted, .lockCommitted, .sendCommitted: "after\t-\tkill"
        }
    }

    /// The payer's sync after which a kill of the server is planned. `nil` for the steps that are
    /// planned at the beginning.
    var payersMoment: String? {
        switch self {
        case .lockWritten, .lockCommitted: "after\t\(JournalText.locking)"
        case .sendWritten, .sendCommitted: "after\t\(JournalText.sending)"
        case .createWritten, .createCommitted, .requestUnrecorded, .requestRecorded,
            .paidUnrecorded, .paidRecorded, .agreementUnrecorded, .agreementRecorded,
            .lockUnrecorded, .lockRecorded, .outcomeUnrecorded, .outcomeRecorded:
            nil
        }
    }

    /// Returns the steps that GOTCHU_CRASH_STEPS names; `nil` if it is not set.
    static func chosen() throws -> [CrashStep]? {
        guard let names = ProcessInfo.processInfo.environment["GOTCHU_CRASH_STEPS"] else {
            return nil
        }
        let steps = allCases.map(\.rawValue).joined(separator: ", ")
        return try names.split(separator: ",", omittingEmptySubsequences: false).map { name in
            try #require(
                CrashStep(rawValue: String(name)),
                "GOTCHU_CRASH_STEPS has '\(name)', which is not one of \(steps)"
            )
        }
    }
}

/// Texts with which the journal records the stages of a payment.
enum JournalText {
    static let locking = #""open":{"_0":"locking""#
    static let sending = #""open":{"_0":"sending""#
    static let paid = #""ended":{"_0":{"paid""#
}
