internal import SQLite

/// What the sealer reads.
extension SQLiteReader {
    func sealHead() throws -> Seal { try connection.sealHead() }

    func unsealed(after start: TransferID?, limit: Int) throws -> Unsealed {
        try connection.snapshot {
            let seen = try connection.query(
                SealQueries.unsealed,
                [.text(start?.rawValue ?? ""), .integer(Int64(limit))],
                read: { try $0.sealedTransfer() }
            )
            return Unsealed(
                transfers: seen.filter { !$0.isSealed },
                lookedUpTo: seen.last?.id,
                head: try connection.sealHead()
            )
        }
    }
}

extension Connection {
    borrowing func sealHead() throws -> Seal {
        try query(SealQueries.head, read: { try $0.seal() }).first ?? .origin
    }

    /// Follows the chain through the whole file.
    borrowing func chain() throws -> Audit.Finding {
        var check = ChainCheck()
        while check.broken == nil {
            let before = check.number
            _ = try query(
                SealQueries.chain,
                [.integer(before), .integer(ChainCheck.stretch)],
                read: { row in
                    let transfer = try row.sealedTransfer()
                    check.take(transfer, number: try row.integer(1), hash: try row.blob(11))
                }
            )
            guard check.number > before else { break }
        }
        return check.finding()
    }
}
