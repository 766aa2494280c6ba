internal import ArgumentParser
internal import LedgerStore
internal import Logging
internal import ServiceProcess

/// `gotchu-server migrate`.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the tables of the books up to date, and ends.",
        discussion: """
            Example:
              gotchu-server migrate --database postgres://owner@db.example/gotchu

            The server does the same when it starts. Beforehand it is of use where the server's \
            own user may not make tables. Several at once are safe: one does it.
            """
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        try await Failures.reported {
            switch try database.database {
            case .sqlite(let path):
                try SQLiteStore.claim(path: path)
                _ = try SQLiteStore(path: path)
                Console.output("The books are up to date.")
            case .postgres(let url):
                let logger = Logger(label: "gotchu-server") { _ in
                    StandardErrorLogHandler(level: .notice)
                }
                let version = try PostgreSQLStore.migrate(url: url, logger: logger)
                Console.output("The books are up to date: version \(version).")
            }
        }
    }
}
