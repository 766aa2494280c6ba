import Foundation
import GotchuCore
import Testing

@Suite("Documents of other programs")
struct ForeignDocumentTests {
    private func decode(_ json: String) -> JSONValue? {
        try? JSONReader.decode(JSONValue.self, Array(json.utf8))
    }

    @Test(
        "A document with a number beyond the limit is refused, wherever the number stands",
        arguments: [
            "1000000000000001", "-1000000000000001", "9223372036854775807",
            "-9223372036854775808", "1e308", "-1e308", "1e16", "1E+16", "1000000000000000.5e1",
            "1e999999", String(repeating: "9", count: 400),
            "0." + String(repeating: "1", count: 60),
        ]
    )
    func tooLarge(number: String) {
        for place in [
            #"{"a":N}"#, #"{"a":[1,N]}"#, #"{"a":[{"b":"\"","c":N }]}"#, #"{"a":["\\",N]}"#,
        ] {
            #expect(decode(place.replacing("N", with: "1")) != nil, "\(place)")
            #expect(decode(place.replacing("N", with: number)) == nil, "\(place)")
        }
    }

    @Test(
        "Numbers within the limit, and digits in strings, are accepted",
        arguments: [
            "0", "-0", "1000000000000000", "-1000000000000000", "1e15", "-12.345678901234567",
            "1e-300", #""9223372036854775808""#, #""\"1e308""#, #"{"9223372036854775808":true}"#,
            #"[{"b":[[[[[[[[1]]]]]]]]}]"#,
        ]
    )
    func allowed(json: String) {
        #expect(decode(#"{"a":\#(json)}"#) != nil)
    }

    @Test("A document in UTF-16 or UTF-32 is refused: its numbers would not be seen")
    func otherEncodings() {
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32, .utf32BigEndian] {
            let json = #"{"a":9223372036854775807}"#.data(using: encoding) ?? Data()
            #expect(throws: JSONReader.Malformed.self) {
                try JSONReader.decode(JSONValue.self, Array(json))
            }
        }
    }

    @Test("A document that must not be refused for its texts may have any, and no large number")
    func anyText() {
        let marks = String(repeating: "\u{301}", count: 31)
        let json = #"{"e\#(marks)":"e\#(marks)","a":N}"#
        func decode(_ number: String, checksText: Bool) -> JSONValue? {
            let bytes = Array(json.replacing("N", with: number).utf8)
            return try? JSONReader.decode(JSONValue.self, bytes, checksText: checksText)
        }
        #expect(decode("1", checksText: false) != nil && decode("1", checksText: true) == nil)
        #expect(decode("1e16", checksText: false) == nil)
    }
}
