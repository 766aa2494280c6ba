package import GotchuCore

/// The texts of contests in one language. Every language must have all of them to compile.
package struct ContestWords: Sendable {
    let money: MoneyFormat

    // Actions: labels, and questions for confirmation.
    package let join: String
    /// Placeholder: the fee.
    package let joinFor: String
    /// Placeholder: the fee.
    package let confirmJoin: String
    package let leave: String
    /// Placeholder: the fee.
    package let confirmLeave: String
    package let results: String
    package let roster: String
    package let settlement: String
    package let object: String
    package let publish: String
    package let lock: String
    package let score: String
    package let complete: String
    package let dispute: String
    package let settle: String
    package let confirmSettle: String
    package let cancel: String
    package let confirmCancel: String
    package let delete: String

    // Reasons why an action is not possible now.
    package let logIn: String
    /// Placeholder: the number of places.
    package let full: String
    package let locked: String
    package let joined: String
    package let cancelled: String
    package let disputed: String
    package let noScores: String
    package let objected: String
    package let unpublished: String
    /// Placeholder: the time at which the contest locks.
    package let openUntil: String
    /// Placeholder: the time at which the contest starts.
    package let startsAt: String
    package let undeclared: String
    /// Placeholder: the time at which the contest is settled.
    package let settlesAt: String
    package let wasPaid: String

    // The history of a result.
    package let history: String
    /// Placeholder: the number of the revision.
    package let declared: String
    /// Placeholder: the organiser's reason.
    package let disputedFor: String
    /// Placeholder: the organiser's reason.
    package let cancelledFor: String
    /// Placeholder: the operator's reason.
    package let operatorCancelled: String
    package let abandoned: String

    // States.
    package let free: String
    /// Placeholders: the number of entries and the number of places.
    package let entries: String
    package let draft: String
    package let closed: String
    package let live: String
    package let review: String
    package let paid: String
    package let over: String
    package let stopped: String

    /// Formats an amount in the language's format.
    package func text(_ amount: Money) -> String { money.text(amount) }
}
