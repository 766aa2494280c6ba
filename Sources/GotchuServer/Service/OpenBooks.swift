internal import Ledger
internal import Logging
internal import ServiceLifecycle

/// The opened books and the key that their server signs tokens with.
struct OpenBooks: Sendable {
    typealias Store = LedgerStore & DeviceStore & WebhookStore & OperationsStore & Service

    let store: any Store
    let secret: Secret

    /// Opens the books, bringing their tables up to date.
    ///
    /// The servers of one PostgreSQL share one secret, which is therefore kept there; that of an
    /// SQLite file lies beside it.
    static func open(
        _ location: DatabaseLocation,
        isDevelopment: Bool,
        logger: Logger
    ) async throws -> OpenBooks {
        switch location {
        case .sqlite(let path):
            try SQLiteStore.claim(path: path)
            let store = try SQLiteStore(path: path)
            try await store.renewLog()
            let secret = try Secret.keptBeside(database: path, isDevelopment: isDevelopment)
            return OpenBooks(store: store, secret: secret)
        case .postgres(let url):
            let store = try PostgreSQLStore(url: url, logger: logger)
            let name = isDevelopment ? "development" : "tokens"
            let kept = try await store.secret(name, proposal: Secret.random().bytes)
            return OpenBooks(store: store, secret: Secret(bytes: kept))
        }
    }

    /// Opens the books alone, as they are, for a command.
    static func existing(_ location: DatabaseLocation, logger: Logger) throws -> any Store {
        switch location {
        case .sqlite(let path): try SQLiteStore(path: path, .asTheyAre)
        case .postgres(let url): try PostgreSQLStore(url: url, .asTheyAre, logger: logger)
        }
    }
}
