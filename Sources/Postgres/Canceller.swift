internal import CPostgres
internal import Glibc

/// Asks the server to cancel a connection's statement. The statement then fails with 57014, unless
/// it had already ended.
enum Canceller {
    private static let maximumMessageLength = 256

    /// Sends the request from a new thread and returns at once. libpq waits for the server without
    /// a timeout. If the server hangs, the thread waits until the system gives up.
    static func requestCancel(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { handle in
                let handle = handle.map { OpaquePointer($0) }
                var message = [CChar](repeating: 0, count: Canceller.maximumMessageLength)
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
