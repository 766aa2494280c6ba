internal import SQLite

/// What the sealer reads.
extension SQLiteReader {
    func sealHead() throws -> Seal { try connection.sealHead() }

    func unsealed(after start: TransferID?, _ size: Bite) throws -> Unsealed {
        let stretch: [Value] = [.text(start?.rawValue ?? ""), .integer(Int64(size.stretch))]
        return try connection.snapshot {
            let transfers = try connection.query(
                SealQueries.unsealed,
                stretch + [.integer(Int64(size.seals))],
                read: { try $0.sealedTransfer() }
            )
            let end = try connection.query(SealQueries.stretchEnd, stretch) {
                try $0.optionalText(0)
            }
            return Unsealed(
                transfers,
                in: (end.first ?? nil).map(TransferID.init(trusted:)),
                of: size,
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
