internal import Postgres

/// What the sealer reads.
extension PostgreSQLReader {
    func sealHead() throws -> Seal {
        try query(SealQueries.head, [], read: { try $0.seal() }).first ?? .origin
    }

    /// In one round trip and on one unchanging view.
    func unsealed(after start: TransferID?, _ size: Bite) throws -> Unsealed {
        let stretch: [Value] = [.text(start?.rawValue ?? ""), .integer(Int64(size.stretch))]
        return try repeating { connection in
            var transfers: [SealedTransfer] = []
            var end: TransferID?
            var head = Seal.origin
            try connection.run(
                [
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    Query(
                        SealQueries.unsealed,
                        stretch + [.integer(Int64(size.seals))]
                    ) { transfers.append(try $0.sealedTransfer()) },
                    Query(SealQueries.stretchEnd, stretch) {
                        end = try $0.optionalText(0).map(TransferID.init(trusted:))
                    },
                    Query(SealQueries.head) { head = try $0.seal() },
                    Query("END"),
                ],
                within: Self.limit
            )
            return Unsealed(transfers, in: end, of: size, head: head)
        }
    }
}
