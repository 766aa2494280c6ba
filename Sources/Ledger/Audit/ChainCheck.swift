/// Follows the chain from its first seal and remembers the first that does not fit.
struct ChainCheck {
    static let rule = "every seal fits its transfer and the seal before it (seals)"

    /// How many links are read at once.
    static let stretch: Int64 = 10_000

    private var head = Seal.origin
    /// The number of the last link that was taken.
    private(set) var number: Int64 = 0
    private(set) var broken: String?

    /// Takes the next link: what the seal covers now, and what it says.
    mutating func take(_ transfer: SealedTransfer, number: Int64, hash: [UInt8]) {
        self.number = number
        guard broken == nil else { return }
        let expected = head.next(over: transfer)
        if number != expected.number {
            broken = "seal \(expected.number) is missing before \(number)"
        } else if hash != expected.hash {
            broken = "seal \(number) does not fit transfer \(transfer.id)"
        }
        head = expected
    }

    func finding() -> Audit.Finding {
        Audit.Finding(rule: Self.rule, count: head.number, broken: broken)
    }
}
