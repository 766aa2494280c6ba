internal import Crypto

/// A transfer's place in the chain: its hash covers it and, through the one before, all before it.
package struct Seal: Equatable, Sendable {
    /// 1, 2, 3 … without a gap.
    package let number: Int64
    package let transfer: TransferID
    package let hash: [UInt8]

    package init(number: Int64, transfer: TransferID, hash: [UInt8]) {
        self.number = number
        self.transfer = transfer
        self.hash = hash
    }

    /// What stands before the first.
    package static let origin = Seal(
        number: 0,
        transfer: TransferID(trusted: ""),
        hash: [UInt8](repeating: 0, count: SHA256.byteCount)
    )

    /// The seal that comes next, over one more transfer.
    func next(over transfer: SealedTransfer) -> Seal {
        var digest = SHA256()
        digest.update(data: hash)
        digest.update(data: Array("\(number + 1)\n\(transfer.text)".utf8))
        return Seal(number: number + 1, transfer: transfer.id, hash: Array(digest.finalize()))
    }

    package var hexadecimalHash: String {
        let digits = Array("0123456789abcdef")
        return String(hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

/// What a seal covers of a transfer: all that says who paid whom how much, on whose order.
///
/// Its entries are not among it: the audit's other rules leave them no other values.
package struct SealedTransfer: Equatable, Sendable {
    package let id: TransferID
    let fields: [String]

    /// One line a field. None of them can hold a line's end.
    var text: String { fields.joined(separator: "\n") }
}
