internal import CPostgres

/// One row of a result, valid only inside the closure that receives it.
///
/// A column that is not of the expected type is an error.
package struct Row: ~Copyable {
    private let result: OpaquePointer
    private let row: Int32

    init(_ result: OpaquePointer, row: Int32) {
        self.result = result
        self.row = row
    }

    /// The integer in the column.
    package func integer(_ column: Int) throws(PostgresError) -> Int64 {
        guard let digits = try value(column) else { throw mismatch(column, "is NULL") }
        guard let integer = Self.integer(digits) else {
            throw mismatch(column, "does not hold an integer")
        }
        return integer
    }

    /// The text in the column.
    package func text(_ column: Int) throws(PostgresError) -> String {
        guard let bytes = try value(column) else { throw mismatch(column, "is NULL") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes in the column.
    package func blob(_ column: Int) throws(PostgresError) -> [UInt8] {
        guard let text = try value(column), text.count >= 2, text.count.isMultiple(of: 2),
            text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x")
        else { throw mismatch(column, "does not hold bytes") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2 - 1)
        for index in stride(from: 2, to: text.count, by: 2) {
            guard let high = Self.digit(text[index]), let low = Self.digit(text[index + 1]) else {
                throw mismatch(column, "does not hold bytes")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The integer in the column, or `nil` for NULL.
    package func optionalInteger(_ column: Int) throws(PostgresError) -> Int64? {
        try value(column) == nil ? nil : try integer(column)
    }

    /// The text in the column, or `nil` for NULL.
    package func optionalText(_ column: Int) throws(PostgresError) -> String? {
        try value(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes in the column, or `nil` for NULL.
    package func optionalBlob(_ column: Int) throws(PostgresError) -> [UInt8]? {
        try value(column) == nil ? nil : try blob(column)
    }

    private func value(_ column: Int) throws(PostgresError) -> UnsafeBufferPointer<UInt8>? {
        guard column < PQnfields(result) else {
            throw PostgresError(.refused, message: "the row has no column \(column)")
        }
        guard PQgetisnull(result, row, Int32(column)) == 0 else { return nil }
        let count = Int(PQgetlength(result, row, Int32(column)))
        // libpq keeps the bytes until the result is freed, which is after this row's use.
        let bytes = UnsafeRawPointer(PQgetvalue(result, row, Int32(column)))
        return UnsafeBufferPointer(
            start: bytes?.assumingMemoryBound(to: UInt8.self),
            count: count
        )
    }

    private func mismatch(_ column: Int, _ what: String) -> PostgresError {
        PostgresError(.corrupt, message: "column \(column) \(what)")
    }

    private static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        guard text.count > (isNegative ? 1 : 0) else { return nil }
        var integer: Int64 = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            guard 0x30...0x39 ~= byte else { return nil }
            let digit = Int64(byte - 0x30)
            // Negative numbers are subtracted, because the smallest has no positive counterpart.
            let (shifted, isTooLong) = integer.multipliedReportingOverflow(by: 10)
            let (next, overflows) =
                isNegative
                ? shifted.subtractingReportingOverflow(digit)
                : shifted.addingReportingOverflow(digit)
            guard !isTooLong, !overflows else { return nil }
            integer = next
        }
        return integer
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
