internal import ArgumentParser
internal import LedgerStore
internal import Logging
internal import ServiceProcess

/// `gotchu-server migrate`.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the tables of the books up to date, and ends.",
        discussion: """
            Examples:
              gotchu-server migrate --database postgres://owner@db.example/gotchu
              gotchu-server migrate --distributed \\
                --database postgres://owner@coordinator.example/gotchu

            The server does the same when it starts. Beforehand it is of use where the server's \
            own user may not make tables. Several at once are safe: one does it.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Flag(
        help: ArgumentHelp(
            "Also distributes them, with their rows, over the servers of a Citus cluster.",
            discussion: "All tables that are not distributed yet, or none. Stop the servers first."
        )
    )
    var distributed = false

    func run() async throws {
        switch try database.database {
        case .sqlite(let path):
            guard !distributed else {
                throw ServerFailure(
                    .usage,
                    "Only the tables of a PostgreSQL database can be distributed.",
                    fix: "Leave --distributed out."
                )
            }
            try SQLiteStore.claim(path: path)
            _ = try SQLiteStore(path: path)
            Console.output("The books are up to date.")
        case .postgres(let url):
            let logger = Logger(label: "gotchu-server") { _ in
                StandardErrorLogHandler(level: .notice)
            }
            let version = try PostgreSQLStore.migrate(url: url, logger: logger)
            Console.output("The books are up to date: version \(version).")
            guard distributed else { return }
            let servers = try PostgreSQLStore.distribute(url: url, logger: logger)
            Console.output("They are distributed. Servers that keep rows: \(servers).")
        }
    }
}
