internal import SQLite

/// What the sealer reads.
extension SQLiteReader {
    func sealHead() throws -> Seal { try connection.sealHead() }

    func unsealed(after start: TransferID?, limit: Int) throws -> Unsealed {
        try connection.snapshot {
            let seen = try connection.query(
                SealQueries.unsealed(start: "?1", limit: "?2"),
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
        try query(
            SealQueries.head,
            read: { row in
                Seal(
                    number: try row.integer(0),
                    transfer: TransferID(trusted: try row.text(1)),
                    hash: try row.blob(2)
                )
            }
        ).first ?? .origin
    }

    /// Follows the chain through the whole file.
    borrowing func chain() throws -> Audit.Finding {
        var check = ChainCheck()
        _ = try query(
            SealQueries.chain,
            read: { row in
                let transfer = try row.sealedTransfer()
                check.take(transfer, number: try row.integer(1), hash: try row.blob(11))
            }
        )
        return check.finding()
    }
}
