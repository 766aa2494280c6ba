/// The proof that the books are right, made on one unchanging view of a file that may be in use.
package struct Audit: Sendable {
    /// One thing that must be true, and whether it is.
    package struct Finding: Equatable, Sendable {
        /// What must be true.
        package let rule: String
        /// How many rows were looked at.
        package let count: Int64
        /// The first row that breaks the rule, if one does.
        package let broken: String?
    }

    package internal(set) var findings: [Finding]
    /// The chain's end: to be written down elsewhere. `nil` if there is no chain yet.
    package internal(set) var head: SealPin?

    package var isClean: Bool { findings.allSatisfy { $0.broken == nil } }
}
