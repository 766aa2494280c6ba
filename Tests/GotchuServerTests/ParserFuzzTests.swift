import Devices
import Foundation
import GotchuAPI
import GotchuCore
import Ledger
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of parsers with random texts. Most of them are valid texts with a few changed bytes.
@Suite("Parsers with random texts")
struct ParserFuzzTests {
    @Test("A text that is accepted as a JSON object has the same members when Foundation reads it")
    func json() throws {
        var random = SeededGenerator("json")
        var accepted = 0
        for _ in 0..<200_000 {
            var bytes = Array(Self.object(using: &random).utf8)
            let isWhole = Bool.random(using: &random)
            if !isWhole { Self.spoil(&bytes, using: &random) }
            guard let ours = try? JSONReader.object(bytes) else {
                try #require(
                    !isWhole,
                    "seed \(random.seed): \(String(decoding: bytes, as: UTF8.self))"
                )
                continue
            }
            // Texts with numbers that are not integers are not compared: Foundation refuses some
            // of them. Nested values are compared only in texts without changed bytes.
            guard !ours.values.contains(where: Self.isOtherNumber),
                isWhole || !ours.values.contains(where: Self.isNested)
            else { continue }
            let theirs = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            let isSame =
                theirs?.count == ours.count
                && ours.allSatisfy { name, value in Self.isSame(value, theirs?[name]) }
            try #require(isSame, "seed \(random.seed): \(String(decoding: bytes, as: UTF8.self))")
            accepted += 1
        }
        #expect(accepted > 50_000)
    }

    private static func isOtherNumber(_ value: JSONValue) -> Bool {
        if case .otherNumber = value { true } else { false }
    }

    private static func isNested(_ value: JSONValue) -> Bool {
        switch value {
        case .array, .object: true
        case .null, .boolean, .integer, .otherNumber, .string: false
        }
    }

    private static func isSame(_ ours: JSONValue, _ theirs: Any?) -> Bool {
        switch ours {
        case .null: theirs is NSNull
        case .boolean(let value): theirs as? Bool == value
        case .integer(let value): (theirs as? NSNumber)?.int64Value == value
        case .string(let text): (theirs as? String).map { Array($0.utf8) } == Array(text.utf8)
        case .array(let elements):
            (theirs as? [Any]).map { theirs in
                theirs.count == elements.count && zip(elements, theirs).allSatisfy(isSame)
            } ?? false
        case .object(let members):
            (theirs as? [String: Any]).map { theirs in
                theirs.count == members.count
                    && members.allSatisfy { isSame($0.value, theirs[$0.key]) }
            } ?? false
        case .otherNumber: theirs is NSNumber
        }
    }

    private static func object(using random: inout SeededGenerator) -> String {
        let members = (0..<Int.random(in: 0...4, using: &random)).map { number in
            "\"n\(number)\" : \(value(depth: 1, using: &random))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func value(depth: Int, using random: inout SeededGenerator) -> String {
        switch Int.random(in: 0...(depth < 6 ? 7 : 5), using: &random) {
        case 0: return "null"
        case 1: return Bool.random(using: &random) ? "true" : "false"
        case 2: return "\(Int64.random(in: .min ... .max, using: &random))"
        case 3: return "\(Int.random(in: -9...9, using: &random))"
        case 4: return "\(Int.random(in: -9...9, using: &random)).\(random.next() % 99)e-7"
        case 5:
            let pieces = [#"\u00e9"#, #"\ud83d\ude00"#, #"\""#, #"\\"#, "é", "😀", "a", " ", #"\n"#]
            let text = (0..<4).compactMap { _ in pieces.randomElement(using: &random) }
            return "\"\(text.joined())\""
        case 6: return "[\(value(depth: depth + 1, using: &random)) , 1]"
        default: return "{\"a\":\(value(depth: depth + 1, using: &random))}"
        }
    }

    /// Replaces, removes or inserts a few bytes.
    private static func spoil(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        let likely = Array("{}[]\",:.eE+-0123456789\\u%/ \t\0@".utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let byte = likely.randomElement(using: &random) ?? 0
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes[place] = byte
            case 1: bytes[place] = .random(in: 0...255, using: &random)
            case 2: bytes.remove(at: place)
            default: bytes.insert(byte, at: place)
            }
        }
    }

    @Test(
        "A key, URL or address is equal after it is written and parsed, and decoding adds no bytes"
    )
    func texts() throws {
        var random = SeededGenerator("texts")
        let key = "\"0123456789abcdef\""
        let url = "https://[2606:4700::1]:8443/hooks?a=b%20c"
        for _ in 0..<20_000 {
            func spoilt(_ text: String) -> String {
                var bytes = Array(text.utf8)
                Self.spoil(&bytes, using: &random)
                return String(decoding: bytes, as: UTF8.self)
            }
            if let key = IdempotencyKey(header: spoilt(key)) {
                #expect(IdempotencyKey(header: "\"\(key.rawValue)\"") == key)
            }
            if let url = WebhookURL(spoilt(url)) { #expect(WebhookURL(url.text) == url) }
            if let place = ListenAddress(spoilt("[::1]:8080")) {
                #expect(ListenAddress(place.text) == place)
            }
            let escaped = spoilt("a%20b%C3%A9")
            if let segment = percentDecoded(escaped) {
                #expect(segment.utf8.count <= escaped.utf8.count)
            }
        }
    }

    @Test("A history cursor or a signed token with a changed byte is refused")
    func sealed() throws {
        var random = SeededGenerator("sealed")
        let account = Account(
            Account.Key(.user(UserID(trusted: "u")), .usd),
            entryCount: 1_000,
            changedAt: Timestamp(milliseconds: 0)
        )
        let cursor = HistoryCursor(after: 500).text(for: account)
        let tokens = LocalTokenIssuer(Secret(bytes: Array(repeating: 7, count: 32)))
        let now = Timestamp(milliseconds: 1_000_000)
        let token = try tokens.sign(
            Login(user: UserID(trusted: "u")),
            scope: "payee",
            lifetime: .seconds(600),
            at: now
        )
        #expect(tokens.accepts(try #require(SignedToken(token)), at: now))
        for _ in 0..<20_000 {
            var bytes = Array(cursor.utf8)
            Self.spoil(&bytes, using: &random)
            let text = String(decoding: bytes, as: UTF8.self)
            if text != cursor { try #require(HistoryCursor(text, of: account) == nil, "\(text)") }
            bytes = Array(token.utf8)
            Self.spoil(&bytes, using: &random)
            let forged = String(decoding: bytes, as: UTF8.self)
            guard forged != token, let read = SignedToken(forged) else { continue }
            try #require(!tokens.accepts(read, at: now), "\(forged)")
        }
    }
}
