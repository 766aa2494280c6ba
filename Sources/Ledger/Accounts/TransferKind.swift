/// A kind of transfer: the rules that `Books.post` and `verify` check, and its presentation in an
/// account's history.
package struct TransferKind: Equatable, Sendable {
    /// The step names that a transfer of this kind may have.
    package indirect enum Steps: Equatable, Sendable {
        /// One step of this name.
        case once(String)
        /// Steps of this name, a slash and a positive number.
        case numbered(String)
        /// Steps named by external facts: 1 to 120 characters of `A–Z a–z 0–9 _ . : / -`.
        case facts
        /// Steps of any of these forms.
        case any(of: [Steps])
    }

    /// The entry types in an account's history. Never add another: old clients cannot decode it.
    package enum Face: String, Sendable {
        case deposit, debit, credit, refund
    }

    /// The side of a transfer whose account's earnings change by its amount.
    package enum Earner: Sendable {
        case nobody, receiver, sender
    }

    /// The stored name.
    package let name: String
    package let from: Set<Party>
    package let to: Set<Party>
    package let steps: Steps
    /// The entry types in the history for a debit and for a credit.
    package let debit: Face
    package let credit: Face
    /// The names of a debit and of a credit in the short history of `/wallet/me`.
    package let debitName: String
    package let creditName: String
    package let earner: Earner
    /// A Boolean that is true if every transfer of this kind has a stored answer (its command had
    /// an idempotency key), and false if none has; `nil` if both occur.
    package let isAnswered: Bool?

    package init(
        _ name: String,
        from: Set<Party>,
        to: Set<Party>,
        steps: Steps,
        debit: Face = .debit,
        credit: Face = .credit,
        debitName: String,
        creditName: String,
        earner: Earner = .nobody,
        isAnswered: Bool?
    ) {
        self.name = name
        self.from = from
        self.to = to
        self.steps = steps
        self.debit = debit
        self.credit = credit
        self.debitName = debitName
        self.creditName = creditName
        self.earner = earner
        self.isAnswered = isAnswered
    }

    /// The opening balance of an account on a development server; its record is the user.
    package static let opening = TransferKind(
        "OPENING",
        from: [.house(.developmentMint)],
        to: [.user],
        steps: .once("opening"),
        credit: .deposit,
        debitName: "DEV_OPENING",
        creditName: "DEV_OPENING",
        isAnswered: false
    )

    func allows(_ step: String) -> Bool { steps.allow(step) }
}

extension TransferKind.Steps {
    fileprivate func allow(_ step: String) -> Bool {
        switch self {
        case .once(let name): return step == name
        case .facts:
            return (1...120).contains(step.utf8.count) && step.utf8.allSatisfy(Self.isOfFact)
        case .any(let forms): return forms.contains { $0.allow(step) }
        case .numbered(let name):
            let parts = step.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0] == name, let number = Int64(parts[1]) else {
                return false
            }
            return number > 0 && parts[1] == String(number)
        }
    }

    private static func isOfFact(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
