internal import Crypto
internal import FoundationEssentials
internal import Ledger

/// The position in a history after which the next page starts. Its text is for this server only.
///
/// It points at an entry, so new entries do not shift the pages. Its text has a checksum over the
/// wallet's id: a changed cursor, or the cursor of another wallet, is refused.
struct HistoryCursor: Equatable, Sendable {
    private static let checkLength = 8
    /// The longest text that is parsed, in bytes.
    static let lengthLimit = 64

    /// The number of the last entry that was returned.
    let number: Int64

    init(after number: Int64) {
        self.number = number
    }

    /// Parses a cursor; `nil` if it is no cursor of this wallet.
    init?(_ text: String, of account: Account) {
        guard text.utf8.count <= Self.lengthLimit,
            let bytes = Data(
                base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/")
            ),
            bytes.count == 8 + Self.checkLength
        else { return nil }
        let number = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        self.init(after: number)
        guard (1...account.entryCount + 1).contains(number), self.text(for: account) == text else {
            return nil
        }
    }

    func text(for account: Account) -> String {
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
        let named = Array("cursor 1\n\(account.id)\n".utf8) + digits
        let bytes = digits + SHA256.hash(data: named).prefix(Self.checkLength)
        return Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_")
    }
}
