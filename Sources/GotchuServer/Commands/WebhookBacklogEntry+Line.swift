internal import GotchuCore
internal import Ledger

extension WebhookBacklogEntry {
    /// As the commands list it: event, what, session, endpoint, tries, when next, why not yet.
    var line: String {
        [
            name.event, kind, session, name.endpoint, "\(attempts) tries", nextTryAt.iso8601,
            error ?? "-",
        ].joined(separator: "\t")
    }
}
