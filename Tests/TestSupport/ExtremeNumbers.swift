import Foundation

/// Documents in which one number was replaced by an extreme one.
package enum ExtremeNumbers {
    /// The ends of what is accepted, and of what an integer can hold.
    private static let integers = [
        "0", "-1", "1000000000000000", "-1000000000000000", "9223372036854775807",
        "-9223372036854775808",
    ]
    /// Others, which the reader of JSON treats alike in every place.
    private static let others = [
        "1000000000000001", "9223372036854775808", "1e308", "-1e308",
        "1e-320", "1e99999", "-0", String(repeating: "9", count: 400),
    ]

    /// Returns a copy of a document for each of its numbers and each extreme integer, and for each
    /// other extreme in place of its first number. Numbers of a new member are included as soon as
    /// the sample has one.
    package static func documents(from sample: some Encodable) throws -> [String] {
        let bytes = Array(try JSONEncoder().encode(sample))
        return numbers(in: bytes).enumerated().flatMap { index, number in
            (index == 0 ? integers + others : integers).map { extreme in
                String(
                    decoding: bytes[..<number.lowerBound] + Array(extreme.utf8)
                        + bytes[number.upperBound...],
                    as: UTF8.self
                )
            }
        }
    }

    private static func numbers(in json: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var (index, isString) = (0, false)
        while index < json.count {
            if isString {
                if json[index] == UInt8(ascii: "\\") { index += 1 }
                isString = json[index] != UInt8(ascii: "\"")
                index += 1
            } else if "-0123456789".utf8.contains(json[index]) {
                let end =
                    json[index...].firstIndex { !"+-.eE0123456789".utf8.contains($0) } ?? json.count
                found.append(index..<end)
                index = end
            } else {
                isString = json[index] == UInt8(ascii: "\"")
                index += 1
            }
        }
        return found
    }
}
