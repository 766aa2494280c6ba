internal import ArgumentParser
internal import Glibc
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server backup`.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the books into a new file, even while the server runs.",
        discussion: """
            Example:
              gotchu-server backup shop-monday.db --database sqlite:shop.db

            The copy is verified before it gets its name. It does not hold the secret that tokens \
            are signed with. To restore, stop the server, move the old file away together with \
            its -wal and -shm, put the copy in its place, verify, and start: step by step in \
            /usr/share/doc/gotchu-server/operations.md.

            PostgreSQL makes its own: pg_dump copies the books while the servers run; see there.
            """
    )

    @Argument(help: "The file to make. It must not exist yet.")
    var file: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard case .sqlite(let path) = try database.existing(R_OK) else {
            throw ServerFailure(
                .usage,
                "PostgreSQL makes its own backups: use pg_dump, or pg_basebackup with its log.",
                fix: "See \"PostgreSQL\" in /usr/share/doc/gotchu-server/operations.md."
            )
        }
        try Audit.report(or: "The books are not right, so no backup was kept.") {
            try SQLiteStore.backup(
                from: path,
                to: file,
                kinds: TransferKind.all,
                records: RecordRule.all
            )
        }
        Console.output("Copied to \(file).")
    }
}
