internal import CPostgres

/// A statement's values in libpq's format, consecutive in one buffer.
struct Parameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    /// The lengths of the values. Used for binary ones; text is terminated by a NUL.
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// - Throws: `rejected` if a text contains a NUL, which PostgreSQL cannot store and would
    ///   truncate.
    init(_ values: [Value], sql: String) throws(PostgresError) {
        offsets.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        formats.reserveCapacity(values.count)
        for value in values {
            let start = bytes.count
            guard value.append(to: &bytes) else {
                throw PostgresError(
                    .rejected,
                    state: .characterNotInRepertoire,
                    message: "a text with a NUL inside cannot be stored",
                    sql: sql
                )
            }
            offsets.append(value.isNull ? nil : start)
            lengths.append(Int32(bytes.count - start))
            formats.append(value.isBinary ? 1 : 0)
            if !value.isBinary { bytes.append(0) }
        }
    }

    /// Sends the values to a prepared statement.
    ///
    /// - Returns: 1 if they were sent.
    func send(to statement: String, over handle: OpaquePointer) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return PQsendQueryPrepared(
                handle,
                statement,
                Int32(pointers.count),
                pointers,
                lengths,
                formats,
                0
            )
        }
    }
}
