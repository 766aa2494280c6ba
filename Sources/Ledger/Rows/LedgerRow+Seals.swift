/// How rows of the chain become values.
extension LedgerRow where Self: ~Copyable {
    /// The columns of `Columns.sealedTransfer`.
    borrowing func sealedTransfer() throws -> SealedTransfer {
        let amounts = [try integer(4), try integer(5)].map { String($0) }
        var fields = [try text(0), try text(2), try text(3)] + amounts
        for column in 6...10 { fields.append(try optionalText(column) ?? "-") }
        return SealedTransfer(
            id: TransferID(trusted: try text(0)),
            fields: fields
        )
    }

    /// Of `SealQueries.head`.
    borrowing func seal() throws -> Seal {
        Seal(
            number: try integer(0),
            transfer: TransferID(trusted: try text(1)),
            hash: try blob(2)
        )
    }
}
