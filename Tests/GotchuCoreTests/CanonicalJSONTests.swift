import Foundation
import GotchuCore
import TestSupport
import Testing

@Suite("Canonical JSON")
struct CanonicalJSONTests {
    private struct Inner: Codable, Equatable {
        var zeal: Int64?
        var able: [String]
    }

    private struct Sample: Codable, Equatable {
        var text: String
        var number: Int64
        var byte: UInt8
        var ratio: Double
        var isTrue: Bool
        var nothing: String?
        var inner: Inner
        var list: [Inner]
        var map: [String: [Int]]
        var status: SessionStatus?
        var choices: [Choice]
    }

    /// An enum whose cases are encoded as nested objects.
    private enum Choice: Codable, Equatable {
        case plain
        case pair(String, more: [Int])
    }

    /// A value that encodes its own members beside those of another value.
    private struct Flat: Encodable {
        let inner: Inner

        func encode(to encoder: any Encoder) throws {
            try inner.encode(to: encoder)
            var members = encoder.container(keyedBy: Names.self)
            try members.encode(1, forKey: .more)
            try members.encodeNil(forKey: .begin)
        }

        enum Names: String, CodingKey { case more, begin }
    }

    private static let foundation = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    @Test("Canonical JSON equals Foundation's output with sorted members")
    func foundation() throws {
        var random = SeededGenerator("Canonical JSON")
        for _ in 0..<2_000 {
            let sample = Self.sample(&random)
            let bytes = try CanonicalJSON.encode(sample)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text == String(decoding: try Self.foundation.encode(sample), as: UTF8.self))
            #expect(try JSONDecoder().decode(Sample.self, from: Data(bytes)) == sample)
        }
    }

    @Test("Canonical JSON escapes the required characters and no others")
    func escapes() throws {
        let text = String(String.UnicodeScalarView((0..<0x180).map { Unicode.Scalar($0)! }))
        let bytes = try CanonicalJSON.encode([text + "\u{2028}é/😀\"\\"])
        #expect(try JSONDecoder().decode([String].self, from: Data(bytes))[0].hasPrefix(text))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("\\/"))
        let escapes = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\\") }.count
        // The text has 32 control characters and two quotes, which get one backslash each, and two
        // backslashes, which are written as two each.
        #expect(escapes == 32 + 2 + 2 * 2)
    }

    @Test("Canonical JSON sorts all members of an object that two types encode together")
    func flat() throws {
        let flat = Flat(inner: Inner(zeal: 3, able: []))
        let text = String(decoding: try CanonicalJSON.encode(flat), as: UTF8.self)
        #expect(text == #"{"able":[],"begin":null,"more":1,"zeal":3}"#)
    }

    @Test(
        "Canonical JSON refuses numbers that are not finite",
        arguments: [Double.nan, .infinity, -.infinity]
    )
    func numbers(number: Double) {
        #expect(throws: EncodingError.self) { try CanonicalJSON.encode([number]) }
    }

    private static func sample(_ random: inout SeededGenerator) -> Sample {
        let texts = ["", "plain", "ünïcödé", "/a/b", #""quoted" \ "#, "日本語", "a\tb\n\u{1}"]
        func inner() -> Inner {
            Inner(
                zeal: Bool.random(using: &random)
                    ? .random(in: .min ... .max, using: &random) : nil,
                able: (0..<Int.random(in: 0..<3, using: &random)).map { texts[$0] }
            )
        }
        return Sample(
            text: texts.randomElement(using: &random) ?? "",
            number: .random(in: .min ... .max, using: &random),
            byte: .random(in: .min ... .max, using: &random),
            ratio: Double(Int.random(in: -9_999...9_999, using: &random)) / 100,
            isTrue: .random(using: &random),
            nothing: Bool.random(using: &random) ? "x" : nil,
            inner: inner(),
            list: [inner(), inner()],
            map: ["b": [1, -2], "a": [], "c": [Int.random(in: 0...9, using: &random)]],
            status: Bool.random(using: &random) ? .paid : nil,
            choices: [.plain, .pair("a", more: [1]), .pair("", more: [])]
        )
    }
}
