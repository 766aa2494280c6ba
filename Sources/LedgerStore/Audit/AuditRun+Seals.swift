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
        var violation: String?
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
                violation = violation ?? "seal \(expected.number) \(name) is missing"
            } else if expected != seal {
                let reason = "does not match its transfers or the seal before it"
                violation = violation ?? "seal \(seal.number) \(name) \(reason)"
            } else if hashes.isEmpty {
                violation = violation ?? "seal \(seal.number) \(name) covers no transfer"
            }
            hashes = []
            if ends.last?.chain == seal.chain { ends.removeLast() }
            ends.append(seal)
        }
        if !hashes.isEmpty { violation = violation ?? "a transfer has no seal" }
        let heads = ends.filter { !beginnings.contains($0.hash) }.map { SealPin($0) }
        if !beginnings.isEmpty {
            try source.each("SELECT chain, number, previous, hash FROM seals", as: Seal.self) {
                beginnings.remove($0.hash)
            }
        }
        if !beginnings.isEmpty {
            violation = violation ?? "a chain continues a seal that is missing"
        }
        let finding = Audit.Finding(
            rule: "every seal matches its transfers and the seal before it (seals)",
            count: count,
            violation: violation
        )
        return (finding, heads)
    }

    /// Checks that the given seals exist.
    func pinned<S: SQLConnection & ~Copyable>(in source: borrowing S) throws -> Audit.Finding {
        var violation: String?
        for pin in pins where violation == nil {
            let seal: Seal? = try source.first(
                """
                SELECT chain, number, previous, hash FROM seals WHERE chain = $1 AND number = $2
                """,
                [.text(pin.chain), .integer(pin.number)]
            )
            guard seal.map({ SealPin($0) }) != pin else { continue }
            let verdict = seal == nil ? "is missing" : "has another hash"
            violation = "seal \(pin.number) of chain \(pin.chain) \(verdict)"
        }
        return Audit.Finding(
            rule: "every seal given with --seal is in the database (seals)",
            count: Int64(pins.count),
            violation: violation,
            remedy: .compareSeals
        )
    }
}
