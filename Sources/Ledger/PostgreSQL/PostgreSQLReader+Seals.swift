internal import Postgres

/// What the sealer reads.
extension PostgreSQLReader {
    func sealHead() throws -> Seal {
        try query(SealQueries.head, [], read: { try $0.seal() }).first ?? .origin
    }

    /// On one unchanging view.
    func unsealed(after start: TransferID?, upTo last: TransferID?, _ size: Bite) throws -> Unsealed
    {
        let start = Value.text(start?.rawValue ?? "")
        return try repeating { connection in
            var end: TransferID?
            var count: Int64 = 0
            try connection.run(
                [
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    Query(
                        SealQueries.stretch,
                        [
                            start, .text(last?.rawValue ?? SealQueries.behindAll),
                            .integer(Int64(size.stretch)),
                        ]
                    ) { row in
                        end = try row.optionalText(0).map(TransferID.init(trusted:))
                        count = try row.integer(1)
                    },
                ],
                within: Self.limit
            )
            var transfers: [SealedTransfer] = []
            var head = Seal.origin
            try connection.run(
                [
                    Query(
                        SealQueries.unsealed,
                        [start, .text(end?.rawValue ?? ""), .integer(Int64(size.seals))]
                    ) { transfers.append(try $0.sealedTransfer()) },
                    Query(SealQueries.head) { head = try $0.seal() },
                    Query("END"),
                ],
                within: Self.limit
            )
            return Unsealed(transfers, upTo: end, count: count, of: size, head: head)
        }
    }

    func transferCount(in stretch: Stretch) throws -> Int64 {
        try query(
            SealQueries.count,
            [.text(stretch.start?.rawValue ?? ""), .text(stretch.end.rawValue)],
            read: { try $0.integer(0) }
        ).first ?? 0
    }
}
