internal import Glibc
internal import Ledger
internal import LedgerStore
internal import Logging
internal import ServiceProcess

/// An opened database, and the secret with which its servers sign tokens.
struct OpenedDatabase: Sendable {
    let store: any Store
    let secret: Secret

    /// Opens the database for a server, and creates missing tables.
    ///
    /// All servers of a PostgreSQL database share one secret, so it is stored in the database. With
    /// SQLite it is stored in a file beside the database.
    static func open(
        _ location: DatabaseLocation,
        isDevelopment: Bool,
        logger: Logger
    ) async throws -> OpenedDatabase {
        switch location {
        case .sqlite(let path):
            warnOfReaders(of: path, logger)
            try SQLiteStore.claim(path: path)
            let store = try SQLiteStore(path: path)
            let use = try await requireUse(of: store, isDevelopment: isDevelopment)
            try await store.resyncLog()
            let secret = try Secret.loadOrCreate(forDatabase: path, isDevelopment: isDevelopment)
            return OpenedDatabase(store, secret, of: use, logger)
        case .postgres(let url):
            let store = try PostgreSQLStore(url: url, logger: logger)
            let use = try await requireUse(of: store, isDevelopment: isDevelopment)
            let secret = try await store.secret(isDevelopment: isDevelopment)
            return OpenedDatabase(store, secret, of: use, logger)
        }
    }

    /// Logs a warning if the secret was made anew although these books have users: the one before
    /// is lost.
    private init(_ store: any Store, _ secret: Secret, of use: LedgerUse, _ logger: Logger) {
        (self.store, self.secret) = (store, secret)
        guard secret.isNew, use != .neither else { return }
        logger.warning(
            """
            These books are in use, and the secret that signs their tokens was missing: a new one \
            was made. All have to log in again, and devices whose credential is newer than these \
            books look like stolen copies. Put the secret back from where it is kept and restart; \
            if it is lost: gotchu-server devices renew.
            """
        )
    }

    /// Logs a warning if users other than the owner and the group may read the database.
    private static func warnOfReaders(of path: String, _ logger: Logger) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IROTH != 0 else { return }
        logger.warning(
            "Every user of this machine may read the wallets: chmod 600.",
            metadata: ["path": "\(path)"]
        )
    }

    /// Opens an existing database, and loads or creates its secret, for a command that signs.
    static func existing(
        signing location: DatabaseLocation,
        logger: Logger
    ) async throws -> OpenedDatabase {
        switch location {
        case .sqlite(let path):
            let store = try SQLiteStore(path: path, .existingSchema)
            let use = try await store.use()
            let isDevelopment = use == .development
            let secret = try Secret.loadOrCreate(forDatabase: path, isDevelopment: isDevelopment)
            return OpenedDatabase(store, secret, of: use, logger)
        case .postgres(let url):
            let store = try PostgreSQLStore(url: url, .existingSchema, logger: logger)
            let use = try await store.use()
            let secret = try await store.secret(isDevelopment: use == .development)
            return OpenedDatabase(store, secret, of: use, logger)
        }
    }

    /// Throws if a development server opens a production database, or the reverse. On a development
    /// server anyone can log in as anyone, and money is free.
    private static func requireUse(
        of store: any Store,
        isDevelopment: Bool
    ) async throws -> LedgerUse {
        let use = try await store.use()
        switch use {
        case .production where isDevelopment:
            throw ServerFailure(
                .configuration,
                "With --dev anybody can log in as anybody, and these books have users who cannot.",
                fix: "Leave --dev out, or name other books with --database."
            )
        case .development where !isDevelopment:
            throw ServerFailure(
                .configuration,
                "These are the books of a development server: nobody has paid in their money.",
                fix: "Name other books with --database, or serve these with --dev."
            )
        case .development, .production, .neither: return use
        }
    }

    /// Opens an existing database for a command. Does not change its tables.
    static func existing(_ location: DatabaseLocation, logger: Logger) throws -> any Store {
        switch location {
        case .sqlite(let path): try SQLiteStore(path: path, .existingSchema)
        case .postgres(let url): try PostgreSQLStore(url: url, .existingSchema, logger: logger)
        }
    }
}

extension PostgreSQLStore {
    fileprivate func secret(isDevelopment: Bool) async throws -> Secret {
        let name = isDevelopment ? "development" : "tokens"
        let proposal = Secret.random().bytes
        let bytes = try await secret(name, proposal: proposal)
        return Secret(bytes: bytes, isNew: bytes == proposal)
    }
}
