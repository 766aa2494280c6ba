internal import CPostgres
internal import Glibc

/// Asks the server to give up what a connection is doing: the statement then ends with 57014, or
/// was done already.
enum Canceller {
    private static let longestMessage = 256

    /// Returns at once. libpq waits for the server's end of it without a limit, and a server that
    /// hangs may never come to that: a thread of its own waits, until the machine knows better.
    static func ask(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { handle in
                let handle = handle.map { OpaquePointer($0) }
                var message = [CChar](repeating: 0, count: Canceller.longestMessage)
                PQcancel(handle, &message, Int32(message.count))
                PQfreeCancel(handle)
                return nil
            },
            UnsafeMutableRawPointer(handle)
        )
        guard code == 0 else { return PQfreeCancel(handle) }
        pthread_detach(thread)
    }
}
