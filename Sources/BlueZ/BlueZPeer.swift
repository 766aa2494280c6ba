package import DBus

/// One running bluetoothd, as one connection sees it.
///
/// It is addressed by its unique name: a call that is on its way when bluetoothd is restarted must
/// fail, and never reach the next one, which knows nothing of what went before.
package struct BlueZPeer: Sendable {
    package let connection: Connection
    /// bluetoothd's unique name.
    package let owner: String
    /// The time that it may take to answer.
    package let callTimeout: Duration

    /// The default limit of a call. A registration waits for the controller and for two calls back
    /// to us; longer means that bluetoothd hangs.
    package static let usualTimeout: Duration = .seconds(10)

    package init(
        on connection: Connection,
        owner: String,
        callTimeout: Duration = Self.usualTimeout
    ) {
        self.connection = connection
        self.owner = owner
        self.callTimeout = callTimeout
    }

    /// Returns when bluetoothd has processed all earlier calls, except those that wait for others.
    ///
    /// No cheaper call reaches its main loop: libdbus answers `Ping` itself.
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
