/// The location of the database: `sqlite:PATH` or `postgres://…`.
///
/// A URL may contain a password, so the URL itself is never printed. Errors may name parts of it,
/// such as a host or a parameter.
enum DatabaseLocation: Equatable, Sendable {
    case sqlite(path: String)
    case postgres(url: String)

    init?(_ text: String) {
        let sqlite = "sqlite:"
        // SQLite would open a separate in-memory database for each connection.
        guard text != sqlite + ":memory:" else { return nil }
        if text.hasPrefix(sqlite), text.utf8.count > sqlite.utf8.count {
            self = .sqlite(path: String(text.dropFirst(sqlite.count)))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(url: text)
        } else {
            return nil
        }
    }
}
