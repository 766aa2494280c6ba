import LedgerStore
import Synchronization

@testable import Ledger

/// A connection that runs statements and records their texts, in their order.
final class Recorder<Base: SQLConnection & ~Copyable>: SQLConnection {
    private let base: Base
    private(set) var texts: [String] = []

    init(_ base: consuming Base) {
        self.base = base
    }

    var dialect: Dialect { base.dialect }

    func rows<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue],
        as type: Row.Type
    ) throws -> [Row] {
        texts.append(sql)
        return try base.rows(sql, values, as: type)
    }

    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws -> Int {
        texts.append(sql)
        return try base.run(sql, values)
    }
}

/// A database that records every statement, without transactions.
actor RecordingDatabase<Base: SQLConnection & ~Copyable>: Database {
    private let recorder: Recorder<Base>

    init(_ base: consuming sending Base) {
        recorder = Recorder(base)
    }

    var texts: [String] { recorder.texts }

    func read<Query: StoreQuery>(_ query: Query) async throws(LedgerError) -> Query.Result {
        try run(query)
    }

    func change<Query: StoreQuery>(_ query: Query) async throws(LedgerError) -> Query.Result {
        try run(query)
    }

    private func run<Query: StoreQuery>(_ query: Query) throws(LedgerError) -> Query.Result {
        do {
            return try query.run(on: recorder)
        } catch let error as LedgerError {
            throw error
        } catch {
            throw LedgerError(.cannotOpen, "A statement failed.", underlying: error)
        }
    }
}
