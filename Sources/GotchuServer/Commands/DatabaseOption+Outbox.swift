internal import Glibc
internal import Ledger
internal import Logging
internal import ServiceProcess

extension DatabaseOption {
    /// The outbox of books that are there already.
    func outbox() throws -> any WebhookStore {
        let location = try database
        if case .sqlite(let path) = location, access(path, F_OK) != 0 {
            throw ServerFailure(
                .inputOutput,
                "There are no books at \(path).",
                fix: "Name the database that the server was started with."
            )
        }
        let logger = Logger(label: "gotchu-server") { _ in
            StandardErrorLogHandler(level: .warning)
        }
        return try OpenBooks.store(location, logger: logger)
    }
}
