extension Schema {
    /// Whether a session is not over. Queries must spell it like the indexes to be served by them.
    ///
    /// SQLite makes a little table of the values of each `IN` list, anew for every row that it
    /// writes to such an index; comparisons cost nothing.
    static let isLive = "(status = 'CREATED' OR status = 'ADVERTISING' OR status = 'LOCKED')"

    /// The indexes of live sessions without lists, which halves what writing a session costs.
    static let liveSessions = """
        DROP INDEX sessions_alive;
        DROP INDEX sessions_due;
        CREATE INDEX sessions_alive ON sessions (payee_id)
            WHERE (status = 'CREATED' OR status = 'ADVERTISING' OR status = 'LOCKED');
        CREATE INDEX sessions_due ON sessions (coalesce(lock_expires_at, expires_at))
            WHERE (status = 'CREATED' OR status = 'ADVERTISING' OR status = 'LOCKED');
        """
}
