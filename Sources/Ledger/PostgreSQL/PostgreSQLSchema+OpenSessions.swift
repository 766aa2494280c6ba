extension PostgreSQLSchema {
    /// Which sessions are not over, and when each is due, in a table of its own.
    ///
    /// Indexes of `sessions` that end where a session is over make each change of one write all its
    /// index entries anew, whatever has changed. Without them, and with room on its page, a lock or
    /// a payment writes none (heap-only tuples, PostgreSQL manual, 73.7).
    static let openSessions = """
        LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;
        CREATE TABLE open_sessions (
            payee_id text COLLATE "C" NOT NULL,
            session_id text COLLATE "C" NOT NULL,
            due_at bigint NOT NULL,
            PRIMARY KEY (payee_id, session_id)
        );
        INSERT INTO open_sessions (payee_id, session_id, due_at)
            SELECT payee_id, id, coalesce(lock_expires_at, expires_at) FROM sessions
            WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED');
        CREATE INDEX open_sessions_due ON open_sessions (due_at);
        DROP INDEX sessions_alive;
        DROP INDEX sessions_due;
        ALTER TABLE sessions SET (fillfactor = 50);
        """
}
