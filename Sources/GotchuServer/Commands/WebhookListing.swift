internal import ArgumentParser
internal import GotchuCore
internal import Ledger
internal import Outbox
internal import ServiceProcess

/// The arguments and output that `webhooks pending` and `webhooks dead` share: each lists a part of
/// the outbox.
struct WebhookListing: ParsableArguments {
    @Option(help: "The largest number of lines.")
    var limit = 100

    @OptionGroup var database: DatabaseOption

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 100000")
        }
    }

    func show(dead: Bool) async throws {
        let entries = try await Outbox(database.store).backlog(dead: dead, limit: limit)
        for entry in entries { Console.output(entry.line) }
    }
}

extension WebhookBacklogEntry {
    /// One line: event, kind, session, endpoint, attempts, next attempt, last error.
    fileprivate var line: String {
        [
            id.event, kind, record, id.endpoint, "\(attempts) tries", nextTryAt.iso8601,
            error ?? "-",
        ].joined(separator: "\t")
    }
}
