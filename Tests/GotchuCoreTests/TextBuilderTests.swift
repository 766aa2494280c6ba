import GotchuCore
import TestSupport
import Testing

@Suite struct TextBuilderTests {
    @Test("Numbers are formatted as the standard library formats them")
    func numbers() {
        var random = SeededGenerator("numbers of every length")
        let edges: [Int] = [0, 1, -1, 9, 10, -10, 99, 100, .max, .min]
        let others = (0..<1000).map { _ in
            Int.random(in: .min ... .max, using: &random) >> Int.random(in: 0..<64, using: &random)
        }
        for number in edges + others {
            #expect(text { $0.add(number) } == "\(number)")
            #expect(
                text { $0.add(hex: UInt64(number.magnitude), width: 1) }
                    == String(number.magnitude, radix: 16)
            )
        }
        #expect(text { $0.add(hex: .max, width: 1) } == "ffffffffffffffff")
        #expect(text { $0.add(digits: .max, width: 1) } == "18446744073709551615")
    }

    @Test("A number is padded with zeros to a width, and a longer number is not cut")
    func widths() {
        #expect(text { $0.add(digits: 7, width: 3) } == "007")
        #expect(text { $0.add(digits: 1234, width: 3) } == "1234")
        #expect(text { $0.add(hex: 0xAB, width: 4) } == "00ab")
        #expect(text { $0.add(hex: 0xABCDE, width: 4) } == "abcde")
    }

    @Test(
        "A number of tenths is formatted with one decimal",
        arguments: [(0, "0.0"), (5, "0.5"), (-5, "-0.5"), (-583, "-58.3"), (120, "12.0")]
    )
    func tenths(_ number: Int, _ expected: String) {
        #expect(text { $0.add(tenths: number) } == expected)
    }

    private func text(_ write: (inout TextBuilder) -> Void) -> String {
        var bytes = TextBuilder(capacity: 8)
        write(&bytes)
        return bytes.text
    }
}
