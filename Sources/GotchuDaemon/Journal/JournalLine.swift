import FoundationEssentials
import GotchuAPI
import GotchuCore

/// The text of one record: a CRC-32 in eight hex digits, a space, the record as JSON, a line feed.
enum JournalLine {
    static func encode(_ record: JournalRecord) -> [UInt8] {
        let json = CanonicalJSON.bytes(of: record)
        let digits = String(crc32(json), radix: 16)
        let checksum = String(repeating: "0", count: 8 - digits.count) + digits
        return Array("\(checksum) ".utf8) + json + [UInt8(ascii: "\n")]
    }

    /// The result of decoding a line.
    enum Decoded {
        case record(JournalRecord)
        /// An intact line whose format this version does not know.
        case foreign
        /// A line whose checksum does not match.
        case damaged
    }

    /// - Parameter line: The line without its line feed.
    static func decode(_ line: some Collection<UInt8>) -> Decoded {
        let json = line.dropFirst(9)
        guard line.count > 9, line.dropFirst(8).first == UInt8(ascii: " "),
            let checksum = UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16),
            checksum == crc32(json)
        else { return .damaged }
        let record = try? JSONDecoder().decode(JournalRecord.self, from: Data(json))
        return record.map(Decoded.record) ?? .foreign
    }

    /// Returns true if a last line without a line feed contains a complete record. Then the write
    /// was complete, and the record's line feed is damaged.
    static func holdsRecord(_ tail: Data) -> Bool {
        // No record is longer than this limit.
        let line = tail.suffix(64 * 1024)
        if isRecord(line.dropLast()) { return true }
        // A record begins with its checksum, a space and a brace.
        var start = line.startIndex
        while let brace = line[start...].firstRange(of: Data(" {".utf8)) {
            start = brace.upperBound
            guard let first = line.index(brace.lowerBound, offsetBy: -8, limitedBy: line.startIndex)
            else { continue }
            if isRecord(line[..<first].dropLast()) || isRecord(line[first...].dropLast()) {
                return true
            }
            if first > line.startIndex, isRecord(line[first...]) { return true }
        }
        return false
    }

    private static func isRecord(_ line: Data) -> Bool {
        if case .damaged = decode(line) { false } else { true }
    }

    /// CRC-32 as in ISO 3309 (polynomial 0xEDB88320, reflected).
    private static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var remainder = UInt32.max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 {
                remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
            }
        }
        return ~remainder
    }
}
