/// What those who watch over a store want to know, and the money does not need.
package protocol OperationsStore: Sendable {
    /// How many sessions can still be paid. Costs no more than they are many.
    func liveSessionCount() async throws(LedgerError) -> Int
}
