import CDBus

@testable package import DBus

/// Functions for a service on the bus, which the product does not need.
extension Connection {
    /// Emits a signal with valid names.
    package func emit(_ signal: Signal) throws(DBus.DBusError) {
        guard
            let raw = dbus_message_new_signal(signal.path.text, signal.interface, signal.member)
        else { throw .outOfMemory }
        let message = Message(adopting: raw)
        try message.append(signal.arguments)
        _ = try send(message)
    }

    /// Requests a name on the bus.
    ///
    /// - Throws: `remote` if another connection owns the name.
    package func requestName(_ name: String) async throws(DBus.DBusError) {
        let doNotQueue: UInt32 = 4
        let reply = try await call(
            .bus("RequestName", [.string(name), .uint32(doNotQueue)]),
            timeout: Self.busTimeout
        )
        // 1: primary owner; 4: already the owner.
        guard reply == [.uint32(1)] || reply == [.uint32(4)] else {
            throw DBus.DBusError(.remote, underlying: name)
        }
    }

    /// Releases a name on the bus.
    package func releaseName(_ name: String) async throws(DBus.DBusError) {
        _ = try await call(.bus("ReleaseName", [.string(name)]), timeout: Self.busTimeout)
    }
}
