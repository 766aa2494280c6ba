internal import Crypto
internal import GotchuCore

/// The hash of one committed batch's transfers, chained to the same writer's previous batch. If a
/// transfer is changed by bypassing the database's own guards, its seal no longer fits. If that
/// seal is replaced too, the next one no longer fits.
///
/// Each run of a server has its own chain. It begins another when the last seal of its chain is
/// unknown. The first seal of a chain covers the newest seal at that time.
package struct Seal: Equatable, Sendable {
    /// The id of its chain. Ids of chains begun later (by the servers' clocks) sort later.
    package let chain: String
    /// The seal's number in its chain: 1, 2, 3 … without a gap.
    package let number: Int64
    /// The hash of the previous seal; for the first of a chain, that of a seal of another chain.
    package let previous: [UInt8]
    /// SHA-256, 32 bytes.
    package let hash: [UInt8]

    package init(chain: String, number: Int64, previous: [UInt8], hash: [UInt8]) {
        self.chain = chain
        self.number = number
        self.previous = previous
        self.hash = hash
    }

    /// The placeholder before the very first seal.
    package static let origin = Seal(
        chain: "",
        number: 0,
        previous: zeros,
        hash: zeros
    )

    private static let zeros = [UInt8](repeating: 0, count: SHA256.byteCount)

    /// The id of a new chain: 12 hexadecimal digits of the time in milliseconds and 8 random ones.
    static func newChain() -> String {
        let id = UserID.make().rawValue.filter { $0 != "-" }
        return String(id.prefix(12)) + String(id.suffix(8))
    }

    /// The placeholder before the first seal of a new chain.
    package static func beginning(of chain: String, after newest: Seal) -> Seal {
        Seal(chain: chain, number: 0, previous: newest.previous, hash: newest.hash)
    }

    /// Returns the next seal, over the transfers of a batch.
    package func next(over transfers: [Transfer]) -> Seal {
        let ordered = transfers.sorted {
            ($0.key.record.rawValue, $0.key.step) < ($1.key.record.rawValue, $1.key.step)
        }
        return next(overHashes: ordered.map(\.hash))
    }

    /// Returns the next seal, over the hashes of a batch's transfers in the order of their keys.
    package func next(overHashes hashes: [[UInt8]]) -> Seal {
        var digest = SHA256()
        digest.update(data: hash)
        digest.update(data: Array("\(chain)\n\(number + 1)\n".utf8))
        for hash in hashes { digest.update(data: hash) }
        return Seal(
            chain: chain,
            number: number + 1,
            previous: hash,
            hash: Array(digest.finalize())
        )
    }
}

extension Transfer {
    /// Returns the SHA-256 of all stored fields of a transfer. No field can contain a tab or a line
    /// end.
    static func hash(
        _ key: Key,
        _ kind: String,
        _ at: Timestamp,
        _ entries: [Entry]
    ) -> [UInt8] {
        let ordered = entries.sorted { $0.account < $1.account }
        var text = TextBuilder(capacity: 96 + 96 * entries.count)
        text.add(
            line: [key.record.rawValue, key.step, kind],
            [at.milliseconds, Int64(entries.count)]
        )
        for entry in ordered {
            text.add(
                line: [entry.account.owner.rawValue, entry.account.currency.rawValue],
                [entry.number, entry.at.milliseconds, entry.amount, entry.balance, entry.earned]
            )
        }
        return Array(SHA256.hash(data: text.bytes))
    }
}

extension TextBuilder {
    /// Adds texts and numbers, each followed by a tab, the last one by a line end.
    fileprivate mutating func add(line texts: [String], _ numbers: [Int64]) {
        for text in texts {
            add(text)
            add(UInt8(ascii: "\t"))
        }
        for (index, number) in numbers.enumerated() {
            add(Int(number))
            add(UInt8(ascii: index == numbers.count - 1 ? "\n" : "\t"))
        }
    }
}

/// A seal recorded outside the database, in the format that `verify` prints: `CHAIN:NUMBER:HASH`.
package struct SealPin: Equatable, Sendable, CustomStringConvertible {
    private static let digits = 64

    package let chain: String
    package let number: Int64
    /// In lower-case hexadecimal digits.
    package let hash: String

    package init(_ seal: Seal) {
        chain = seal.chain
        number = seal.number
        let digits = Array("0123456789abcdef")
        hash = String(seal.hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(\.isHexDigit),
            let number = Int64(parts[1]), number > 0,
            parts[2].count == Self.digits, parts[2].allSatisfy(\.isHexDigit)
        else { return nil }
        chain = String(parts[0])
        self.number = number
        hash = parts[2].lowercased()
    }

    package var description: String { "\(chain):\(number):\(hash)" }
}
