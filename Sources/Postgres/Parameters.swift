internal import Glibc

/// A statement's values as libpq takes them: C strings, one after the other in one buffer.
struct Parameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []

    /// - Throws: If a text has a NUL inside, which PostgreSQL cannot hold and would cut short.
    init(_ values: [Value], sql: String) throws(PostgresError) {
        offsets.reserveCapacity(values.count)
        for value in values {
            guard !value.isNull else {
                offsets.append(nil)
                continue
            }
            let start = bytes.count
            value.append(to: &bytes)
            guard !Self.hasNUL(bytes, from: start) else {
                throw PostgresError(
                    .rejected,
                    state: .characterNotInRepertoire,
                    message: "a text with a NUL inside cannot be stored",
                    sql: sql
                )
            }
            offsets.append(start)
            bytes.append(0)
        }
    }

    private static func hasNUL(_ bytes: [UInt8], from start: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return memchr(base + start, 0, bytes.count - start) != nil
        }
    }

    /// Lends the values to `body`, with their number.
    func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return pointers.withUnsafeBufferPointer { body(Int32($0.count), $0.baseAddress) }
        }
    }
}
