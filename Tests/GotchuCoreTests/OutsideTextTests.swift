import Testing

@testable import GotchuCore

@Suite("Text from outside")
struct OutsideTextTests {
    private static let marks = String(repeating: "\u{301}", count: 31)

    @Test("A text has short runs of marks if no run is longer than 30, in any script")
    func runs() {
        for text in [
            "", "abc", "Zoë", "ภาษาไทย",
            "e" + Self.marks.unicodeScalars.dropFirst().map { "\($0)" }.joined(),
        ] {
            #expect(text.hasShortMarkRuns, "\(text)")
        }
        // The last three are decomposed to marks, or are marks of the second plane.
        for mark: Unicode.Scalar in [
            "\u{301}", "\u{334}", "\u{5B0}", "\u{F73}", "\u{F81}", "\u{1D165}",
        ] {
            let text = "e" + String(repeating: Character(mark), count: 31) + "f"
            #expect(!text.hasShortMarkRuns, "\(mark.value)")
        }
    }

    @Test(
        "A member's name that is not ASCII, or a text with 31 marks in a row, makes JSON malformed"
    )
    func json() {
        for text in [
            #"{"é":1}"#, #"{"\u00e9":1}"#, #"{"a":{"é":1}}"#, #"{"a":[{"é":1}]}"#,
            #"{"\#(String(repeating: "a", count: 256))":1}"#, #"{"a":"e\#(Self.marks)"}"#,
            #"{"a":["e\#(Self.marks)"]}"#,
            #"{"a":"\#(String(repeating: #"\u0301"#, count: 31))"}"#,
        ] {
            let error = #expect(throws: JSONReader.Malformed.self) {
                try JSONReader.object(Array(text.utf8))
            }
            #expect(error?.isText == true, "\(text)")
            #expect(throws: JSONReader.Malformed.self) {
                try JSONReader.check(Array(text.utf8), checksText: true)
            }
        }
        for text in [#"{"a":"é"}"#, #"{"a":"\u00e9\u0301"}"#, #"{"a\u0062":"😀"}"#] {
            #expect(throws: Never.self) { try JSONReader.object(Array(text.utf8)) }
        }
    }

    @Test("A target keeps its escapes, except those of a query that is slow to compare or no UTF-8")
    func targets() {
        let same = [
            "/a?b=c", "/a%20b?c=%0A%7F", "/web?amount=%D9%A1%D9%A2", "/v1/pairings/K%C3%BCche",
            "/",
        ]
        for target in same { #expect(target.maskedTarget == nil, "\(target)") }
        #expect("/ü?ü=ü".maskedTarget == "/%7F%7F?%7F%7F=%7F%7F")
        #expect("/%E9?a=%E9%0A%2b".maskedTarget == "/%E9?a=%7F%0A%2b")
        let marks = String(repeating: "%CC%81", count: 31)
        #expect(
            "/?a=\(marks)&b=%20".maskedTarget == "/?a=\(marks.replacing(/%../, with: "%7F"))&b=%20"
        )
        #expect(percentDecoded(marks) == nil)
    }

    @Test("Bytes of header values that are not ASCII are replaced, also at the ends of a value")
    func fields() {
        #expect(maskedFields([(name: "a", value: "b; c=d")]) == nil)
        let fields = maskedFields([
            (name: "Cookie", value: "a=é; b=c"), (name: "Host", value: "x"),
            (name: "Idempotency-Key", value: "0123456789abcdefü"),
        ])
        #expect(fields?.map(\.0) == ["Cookie", "Host", "Idempotency-Key"])
        #expect(fields?.map(\.1) == ["a=\u{FFFD}; b=c", "x", "0123456789abcdef\u{FFFD}"])
    }
}
