internal import Ledger

/// Checks every chain of seals against the hashes of the transfers.
extension AuditRun {
    /// A seal, or the hash of a transfer that it covers.
    private struct SealLine: RowValue {
        let chain: String
        let number: Int64
        let seal: Seal?
        let hash: [UInt8]

        /// The query: each seal comes after the transfers that it covers.
        static let query = """
            SELECT chain, seal, 1, record, step, hash, CAST(NULL AS bytea) FROM transfers
            UNION ALL
            SELECT chain, number, 2, '', '', hash, previous FROM seals
            ORDER BY 1, 2, 3, 4, 5
            """

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            chain = try row.text(0)
            number = try row.integer(1)
            hash = try row.blob(5)
            seal =
                try row.integer(2) == 2
                ? Seal(chain: chain, number: number, previous: try row.blob(6), hash: hash) : nil
        }
    }

    /// - Returns: The finding, and the heads: the last seals of chains that no other chain
    ///   continues. From the heads, the previous seals lead to all seals. The order of the chains'
    ///   ids does not matter.
    func seals<S: Source & ~Copyable>(
        in source: borrowing S
    ) throws -> (finding: Audit.Finding, heads: [SealPin]) {
        var count: Int64 = 0
        var broken: String?
        var hashes: [[UInt8]] = []
        // The last seal of each chain so far.
        var ends: [Seal] = []
        // The seals that new chains continue; they are few.
        var beginnings: Set<[UInt8]> = []
        try source.each(SealLine.query, as: SealLine.self) { line in
            guard let seal = line.seal else { return hashes.append(line.hash) }
            count += 1
            if seal.number == 1, seal.previous != Seal.origin.hash {
                beginnings.insert(seal.previous)
            }
            let before =
                ends.last.flatMap { $0.chain == seal.chain ? $0 : nil }
                ?? Seal(chain: seal.chain, number: 0, previous: [], hash: seal.previous)
            let expected = before.next(overHashes: hashes)
            let name = "of chain \(seal.chain)"
            if expected.number != seal.number {
                broken = broken ?? "seal \(expected.number) \(name) is missing"
            } else if expected != seal {
                broken = broken ?? "seal \(seal.number) \(name) does not fit its transfers"
            } else if hashes.isEmpty {
                broken = broken ?? "seal \(seal.number) \(name) covers nothing"
            }
            hashes = []
            if ends.last?.chain == seal.chain { ends.removeLast() }
            ends.append(seal)
        }
        if !hashes.isEmpty { broken = broken ?? "a transfer has no seal" }
        let heads = ends.filter { !beginnings.contains($0.hash) }.map { SealPin($0) }
        if !beginnings.isEmpty {
            try source.each("SELECT chain, number, previous, hash FROM seals", as: Seal.self) {
                beginnings.remove($0.hash)
            }
        }
        if !beginnings.isEmpty {
            broken = broken ?? "a chain begins behind a seal that is missing"
        }
        let finding = Audit.Finding(
            rule: "every seal fits its transfers and the seal before it (seals)",
            count: count,
            broken: broken
        )
        return (finding, heads)
    }

    /// Checks that the seals that were written down exist.
    func pinned<S: SQLConnection & ~Copyable>(in source: borrowing S) throws -> Audit.Finding {
        var broken: String?
        for pin in pins where broken == nil {
            let seal: Seal? = try source.first(
                """
                SELECT chain, number, previous, hash FROM seals WHERE chain = $1 AND number = $2
                """,
                [.text(pin.chain), .integer(pin.number)]
            )
            guard seal.map({ SealPin($0) }) != pin else { continue }
            let verdict = seal == nil ? "missing" : "another one"
            broken = "seal \(pin.number) of chain \(pin.chain) is \(verdict)"
        }
        return Audit.Finding(
            rule: "every seal that was written down is there (seals)",
            count: Int64(pins.count),
            broken: broken,
            remedy: .compareSeals
        )
    }
}
