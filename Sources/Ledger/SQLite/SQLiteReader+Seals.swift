internal import SQLite

/// What the sealer reads.
extension SQLiteReader {
    func sealHead() throws -> Seal { try connection.sealHead() }

    func unsealed(after start: TransferID?, upTo last: TransferID?, _ size: Bite) throws -> Unsealed
    {
        let start = Value.text(start?.rawValue ?? "")
        return try connection.snapshot {
            let found = try connection.query(
                SealQueries.stretch,
                [
                    start, .text(last?.rawValue ?? SealQueries.behindAll),
                    .integer(Int64(size.stretch)),
                ],
                read: { (end: try $0.optionalText(0), count: try $0.integer(1)) }
            ).first
            let transfers = try connection.query(
                SealQueries.unsealed,
                [start, .text(found?.end ?? ""), .integer(Int64(size.seals))],
                read: { try $0.sealedTransfer() }
            )
            return Unsealed(
                transfers,
                upTo: found?.end.map(TransferID.init(trusted:)),
                count: found?.count ?? 0,
                of: size,
                head: try connection.sealHead()
            )
        }
    }

    func transferCount(in stretch: Stretch) throws -> Int64 {
        try connection.query(
            SealQueries.count,
            [.text(stretch.start?.rawValue ?? ""), .text(stretch.end.rawValue)],
            read: { try $0.integer(0) }
        ).first ?? 0
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
