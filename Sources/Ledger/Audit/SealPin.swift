/// A seal as somebody wrote it down, to hold the chain against later: `4711:9f86d081…`.
///
/// Whoever can write past the database's guards can also forge the whole chain anew, from the
/// transfer that he changed to its end. He cannot change what was written down elsewhere.
package struct SealPin: Equatable, Sendable, CustomStringConvertible {
    /// How a finding about it begins.
    static let rule = "the chain holds the seal that was written down (seals)"
    private static let digits = 64

    let number: Int64
    /// In lower-case hexadecimal digits.
    let hash: String

    package init(_ seal: Seal) {
        number = seal.number
        hash = seal.hexadecimalHash
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), number > 0,
            parts[1].count == Self.digits, parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        self.number = number
        hash = parts[1].lowercased()
    }

    package var description: String { "\(number):\(hash)" }

    /// What is to be said of the seal of that number, whose hash was found.
    func finding(for found: [UInt8]?) -> Audit.Finding {
        var broken: String?
        if let found {
            let seal = Seal(number: number, transfer: Seal.origin.transfer, hash: found)
            if seal.hexadecimalHash != hash { broken = "seal \(number) is another one" }
        } else {
            broken = "seal \(number) is missing"
        }
        return Audit.Finding(rule: Self.rule, count: 1, broken: broken)
    }
}
