/// What those who watch over a store want to know, and the money does not need.
package protocol OperationsStore: Sendable {
    /// Costs no more than the open sessions and the waiting deliveries are many.
    func storeReading() async throws(LedgerError) -> StoreReading

    /// The uses that the books have had so far.
    func use() async throws(LedgerError) -> BooksUse
}
