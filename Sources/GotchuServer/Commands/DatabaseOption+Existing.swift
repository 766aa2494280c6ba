internal import Glibc
internal import Ledger
internal import LedgerStore
internal import Logging
internal import ServiceProcess

/// Commands other than `serve` and `migrate` need an existing database. A mistyped name must not
/// create a second ledger, and the tables of running servers must not be migrated.
extension DatabaseOption {
    /// Opens the database.
    var store: any Store {
        get throws {
            try OpenedDatabase.existing(try existing(R_OK | W_OK), logger: Self.logger)
        }
    }

    /// Opens the database and the secret with which its servers sign tokens.
    var signing: OpenedDatabase {
        get async throws {
            let location = try existing(R_OK | W_OK)
            return try await OpenedDatabase.existing(signing: location, logger: Self.logger)
        }
    }

    private static var logger: Logger {
        Logger(label: "gotchu-server") { _ in StandardErrorLogHandler(level: .warning) }
    }

    /// Audits the database.
    ///
    /// - Parameter pins: Seals that the database must contain.
    func audit(pins: [SealPin]) throws -> Audit {
        switch try existing(R_OK) {
        case .sqlite(let path):
            try Audit.run(
                path: path,
                kinds: TransferKind.all,
                records: RecordRule.all,
                pins: pins
            )
        case .postgres(let url):
            try Audit.run(
                url: url,
                kinds: TransferKind.all,
                records: RecordRule.all,
                pins: pins
            )
        }
    }

    /// Returns the database's location. A SQLite file must exist and allow the access `rights`.
    func existing(_ rights: Int32) throws -> DatabaseLocation {
        let location = try database
        guard case .sqlite(let path) = location else { return location }
        guard access(path, rights) == 0 else { throw Self.failure(path, errno) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw Self.failure(path, EISDIR)
        }
        return location
    }

    private static func failure(_ path: String, _ code: Int32) -> ServerFailure {
        switch code {
        case ENOENT, ENOTDIR:
            ServerFailure(
                .inputOutput,
                "There is no database at \(path).",
                fix: "Name the database that the server was started with."
            )
        case EACCES, EPERM:
            ServerFailure(
                .inputOutput,
                "This user may not open the database at \(path).",
                fix: "Run it as the server's own user: sudo -u gotchu-server gotchu-server …"
            )
        case EROFS:
            ServerFailure(
                .inputOutput,
                "The database at \(path) is on a disk that cannot be written.",
                fix: "Make it writable, or work on a copy."
            )
        default:
            ServerFailure(
                .inputOutput,
                "The database at \(path) cannot be opened: \(String(cString: strerror(code))).",
                fix: "Check the path and the disk."
            )
        }
    }
}
