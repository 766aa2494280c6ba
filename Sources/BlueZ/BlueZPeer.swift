package import DBus

/// A running bluetoothd, reached through one D-Bus connection.
///
/// Calls go to its unique name: if bluetoothd restarts during a call, the call must fail and not
/// reach the new process, which has none of the old state.
package struct BlueZPeer: Sendable {
    package let connection: Connection
    /// bluetoothd's unique name.
    package let owner: String
    /// The timeout of one call.
    package let callTimeout: Duration

    /// The default call timeout. A registration waits for the controller and for two calls back to
    /// us; a call that takes longer means that bluetoothd hangs.
    package static let defaultTimeout: Duration = .seconds(10)

    package init(
        on connection: Connection,
        owner: String,
        callTimeout: Duration = Self.defaultTimeout
    ) {
        self.connection = connection
        self.owner = owner
        self.callTimeout = callTimeout
    }

    /// Returns once bluetoothd has handled all earlier calls, except those it answers
    /// asynchronously.
    ///
    /// Calls `GetManagedObjects`, which bluetoothd answers in order with its other calls.
    package func waitForEarlierCalls() async throws(BlueZError) {
        try await call(.root, BlueZ.objectManagerInterface, "GetManagedObjects")
    }

    @discardableResult
    func call(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: [Value] = []
    ) async throws(BlueZError) -> [Value] {
        do {
            return try await connection.call(
                MethodCall(
                    to: owner,
                    path: path,
                    interface: interface,
                    member: member,
                    arguments: arguments
                ),
                timeout: callTimeout
            )
        } catch {
            throw BlueZError(error)
        }
    }
}
