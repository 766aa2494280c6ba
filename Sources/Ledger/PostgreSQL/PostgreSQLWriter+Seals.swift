internal import Postgres

extension PostgreSQLWriter {
    /// Continues the chain. Its numbers are unique: of two servers that continue it at once, the
    /// second is refused.
    func append(_ seals: [Seal]) throws {
        try write { connection in
            let heads = try connection.query(SealQueries.head) { try $0.seal() }
            guard (heads.first ?? .origin).number + 1 == seals.first?.number else {
                throw LedgerError(.rejected, "The chain has grown meanwhile.")
            }
            try connection.run([
                Query(
                    """
                    INSERT INTO seals (number, transfer_id, hash)
                    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[])
                    """,
                    [
                        .integers(seals.map(\.number)), .texts(seals.map(\.transfer.rawValue)),
                        .byteStrings(seals.map(\.hash)),
                    ]
                ),
                .commit,
            ])
        }
    }
}
