internal import CPostgres

/// Asks the server to give up what a connection is doing.
struct Canceller: ~Copyable {
    private static let longestMessage = 256
    private let handle: OpaquePointer

    /// - Returns: `nil` if the connection is not open.
    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit {
        PQfreeCancel(handle)
    }

    /// Whether it was heard; the statement itself then ends with 57014, or was done already.
    @discardableResult
    borrowing func cancel() -> Bool {
        var message = [CChar](repeating: 0, count: Self.longestMessage)
        return PQcancel(handle, &message, Int32(message.count)) == 1
    }
}
