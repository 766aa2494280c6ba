import GotchuCore
import Testing

@Suite("Money")
struct MoneyTests {
    @Test(
        "An amount that a person types is parsed exactly",
        arguments: [
            ("50", 5000), ("50.00", 5000), ("0.5", 50), ("$12.34", 1234), ("0.01", 1),
            ("1000000.00", 100_000_000),
        ] as [(String, Int64)]
    )
    func reads(text: String, cents: Int64) {
        #expect(Money(text)?.minorUnits == cents)
    }

    @Test(
        "An ambiguous amount is refused",
        arguments: [
            "", ".", "5.", ".5", "1.234", "-1", "+1", "1e3", "1,000", "5 0", "$", "٥",
            "99999999999999999999",
        ]
    )
    func refuses(text: String) {
        #expect(Money(text) == nil)
    }

    @Test("An amount in a currency without minor units has no decimals")
    func yen() {
        #expect(Money("500", currency: .jpy)?.minorUnits == 500)
        #expect(Money("500.0", currency: .jpy) == nil)
        #expect(Money(minorUnits: 500, currency: .jpy).description == "¥500")
    }

    @Test("An amount with a tip is formatted with its parts, and without a tip as a plain amount")
    func tips() {
        let five = Money(minorUnits: 500)
        #expect("\(TippedAmount(five, tip: 100))" == "$6.00 ($5.00 + $1.00 tip)")
        #expect("\(TippedAmount(five, tip: 100, isIncluded: true))" == "$5.00 ($4.00 + $1.00 tip)")
        #expect("\(TippedAmount(five, tip: nil))" == "$5.00")
        #expect("\(TippedAmount(five, tip: 0))" == "$5.00")
        #expect(TippedAmount(five, tip: 100).total == Money(minorUnits: 600))
    }

    @Test(
        "An impossible tip is replaced by a possible tip, and an amount that includes it stays",
        arguments: [true, false]
    )
    func impossibleTips(isIncluded: Bool) {
        for minorUnits in [.min, -1, 0, 500, .max] as [Int64] {
            for tip in [.min, -1, 0, 501, .max] as [Int64] {
                let amount = Money(minorUnits: minorUnits)
                let both = TippedAmount(amount, tip: tip, isIncluded: isIncluded)
                #expect(both.tip >= 0 && both.tip <= max(0, tip))
                #expect(!isIncluded || both.total == amount)
                #expect(!both.description.isEmpty)
            }
        }
    }

    @Test("Amounts are formatted for people, and the text of a small amount can be parsed again")
    func writes() {
        #expect(Money(minorUnits: 5000).description == "$50.00")
        #expect(Money(minorUnits: -5).description == "-$0.05")
        #expect(Money(minorUnits: 1230, currency: .chf).description == "CHF 12.30")
        #expect(Money(minorUnits: .min).description == "-$92,233,720,368,547,758.08")
        #expect(Money(minorUnits: 99_999).description == "$999.99")
        #expect(Money(minorUnits: 100_000).description == "$1,000.00")
        #expect(Money(minorUnits: 1_234_567, currency: .jpy).description == "¥1,234,567")
        for cents in [0, 1, 99, 100, 12_345] as [Int64] {
            #expect(Money(Money(minorUnits: cents).description)?.minorUnits == cents)
        }
    }
}
