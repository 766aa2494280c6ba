internal import Postgres

/// What the sealer reads.
extension PostgreSQLReader {
    func sealHead() throws -> Seal {
        try query(SealQueries.head, [], read: { try $0.seal() }).first ?? .origin
    }

    /// In one round trip and on one unchanging view.
    func unsealed(after start: TransferID?, limit: Int) throws -> Unsealed {
        try repeating { connection in
            var seen: [SealedTransfer] = []
            var head = Seal.origin
            try connection.run(
                [
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    Query(
                        SealQueries.unsealed,
                        [.text(start?.rawValue ?? ""), .integer(Int64(limit))]
                    ) { seen.append(try $0.sealedTransfer()) },
                    Query(SealQueries.head) { head = try $0.seal() },
                    Query("END"),
                ],
                within: Self.limit
            )
            return Unsealed(
                transfers: seen.filter { !$0.isSealed },
                lookedUpTo: seen.last?.id,
                head: head
            )
        }
    }
}
