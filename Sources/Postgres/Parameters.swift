/// A statement's values as libpq takes them: C strings, one after the other in one buffer.
struct Parameters {
    private var bytes: [CChar] = []
    private var offsets: [Int?] = []

    /// - Throws: If a text has a NUL inside, which PostgreSQL cannot hold and would cut short.
    init(_ values: [Value], sql: String) throws(PostgresError) {
        for value in values {
            guard let text = value.encoded else {
                offsets.append(nil)
                continue
            }
            offsets.append(bytes.count)
            for byte in text.utf8 {
                guard byte != 0 else {
                    throw PostgresError(
                        .rejected,
                        state: .characterNotInRepertoire,
                        message: "a text with a NUL inside cannot be stored",
                        sql: sql
                    )
                }
                bytes.append(CChar(bitPattern: byte))
            }
            bytes.append(0)
        }
    }

    /// Lends the values to `body`, with their number.
    func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            let pointers = offsets.map { offset in
                offset.flatMap { bytes.baseAddress?.advanced(by: $0) }
            }
            return pointers.withUnsafeBufferPointer { body(Int32($0.count), $0.baseAddress) }
        }
    }
}
