internal import GotchuCore
internal import Ledger

/// The writes of a batch's effects: one statement for each kind of row, in either engine.
struct Saving {
    let effects: Effects
    /// The rows that were loaded and locked before. Rows that are not among them are new.
    let loaded: Snapshot

    init(_ effects: Effects, loaded: Snapshot) {
        self.effects = effects
        self.loaded = loaded
    }

    /// Returns the statements that are the same for both engines, in order.
    func writes() throws -> [TableWrite] {
        let sealed = effects.seal.map { seal in
            effects.transfers.map { SealedTransfer(transfer: $0, seal: seal) }
        }
        // A transfer is never written without a seal.
        guard sealed != nil || effects.transfers.isEmpty else {
            throw LedgerError(.rejected, "A transfer has no seal.")
        }
        let names = split(effects.names) { loaded.names[$0.text] != nil }
        let accounts = split(effects.accounts) { loaded.accounts[$0.key] != nil }
        let records = split(effects.records) { loaded.records[$0.id] != nil }
        return [
            Columns.newUsers.on(effects.newUsers),
            Columns.changedUsers.on(effects.changedUsers),
            Columns.claimedNames.on(names.new),
            Columns.changedNames.on(names.changed),
            Columns.releasedNames.on(effects.releasedNames),
            Columns.newAccounts.on(accounts.new),
            Columns.changedAccounts.on(accounts.changed),
            Columns.newRecords.on(records.new),
            Columns.changedRecords.on(records.changed),
            Columns.newChildren.on(effects.children),
            Columns.newDue.on(due),
            Columns.newTransfers.on(sealed ?? []),
            Columns.newEntries.on(effects.transfers.flatMap(\.entries)),
            Columns.newAnswers.on(try effects.answers.map(StoredAnswer.init)),
            Columns.newSeals.on(effects.seal.map { [$0] } ?? []),
            Columns.enqueue.on(effects.events),
        ].compactMap(\.self)
    }

    /// The records with a due time that is new or has changed.
    private var due: [Record] {
        effects.records.filter { record in
            record.dueAt.map { $0 != loaded.records[record.id]?.dueAt } ?? false
        }
    }

    /// The written and loaded records without a due time. Their rows in the table `due` are always
    /// deleted, even if the loaded record had no due time: a stale row would stay due forever.
    var done: [Record] {
        let touched = effects.records.reduce(into: loaded.records) { $0[$1.id] = $1 }
        return touched.values.filter { $0.dueAt == nil }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// The statement that deletes the `due` row of one record. Parameters: owner, record.
    static let removal = "DELETE FROM due WHERE owner = $1 AND record = $2"

    /// The ids of changed records, which other servers may have read already.
    var changedRecords: [RecordID] {
        effects.records.map(\.id).filter { loaded.records[$0] != nil }
    }

    /// The keys of changed user accounts, which other servers may have read already.
    var changedWallets: [Account.Key] {
        effects.accounts.map(\.key).filter { key in
            guard case .user = key.owner else { return false }
            return loaded.accounts[key] != nil
        }
    }

    private func split<Row>(
        _ rows: [Row],
        _ isLoaded: (Row) -> Bool
    ) -> (new: [Row], changed: [Row]) {
        (rows.filter { !isLoaded($0) }, rows.filter(isLoaded))
    }
}

extension Effects {
    /// The statement of the `Probe` command, which writes the time to prove that the database
    /// accepts writes.
    static let probe = """
        INSERT INTO probe (id, written_at) VALUES (1, $1)
        ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at
        """
}
