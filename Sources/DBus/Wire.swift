import CDBus

/// Owns libdbus's connection: opened and registered with the bus on creation, closed on deinit.
///
/// Every call may use the socket: all calls must be made on the connection's thread.
struct Wire: ~Copyable {
    private let raw: OpaquePointer
    /// The name that the bus gave us, `:1.42`.
    let uniqueName: String
    let descriptor: Int32

    /// Connects and registers (`Hello`). Blocks, for at most libdbus's 25 s if the bus accepts but
    /// does not answer.
    init(_ address: BusAddress, messageBytes: Int) throws(DBusError) {
        dbus_threads_init_default()
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let raw = dbus_connection_open_private(address.text, &error) else {
            throw Self.unreachable(error)
        }
        // Otherwise libdbus would call _exit when the bus goes away.
        dbus_connection_set_exit_on_disconnect(raw, 0)
        dbus_connection_set_max_message_size(raw, messageBytes)
        dbus_connection_set_max_message_unix_fds(raw, 0)
        var descriptor: Int32 = -1
        guard dbus_bus_register(raw, &error) != 0,
            dbus_connection_get_unix_fd(raw, &descriptor) != 0,
            let name = dbus_bus_get_unique_name(raw)
        else {
            dbus_connection_close(raw)
            dbus_connection_unref(raw)
            throw Self.unreachable(error)
        }
        self.raw = raw
        self.descriptor = descriptor
        uniqueName = String(cString: name)
    }

    deinit {
        dbus_connection_close(raw)
        dbus_connection_unref(raw)
    }

    var hasMessagesToSend: Bool { dbus_connection_has_messages_to_send(raw) != 0 }
    var outgoingBytes: Int { dbus_connection_get_outgoing_size(raw) }

    /// Reads and writes as much as the socket allows without waiting.
    func readAndWrite() {
        dbus_connection_read_write(raw, 0)
    }

    /// A Boolean that is true while a received message waits to be popped.
    var hasMessages: Bool { dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS }

    /// Returns the next complete message; `nil` if there is none.
    func nextMessage() -> Message? {
        dbus_connection_pop_message(raw).map { Message(adopting: $0) }
    }

    /// Queues a message and writes as much as the socket allows.
    ///
    /// - Returns: The serial, by which a reply refers to it.
    func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
        var serial: dbus_uint32_t = 0
        guard dbus_connection_send(raw, message.raw, &serial) != 0 else { throw .outOfMemory }
        return serial
    }

    private static func unreachable(_ error: CDBus.DBusError) -> DBusError {
        DBusError(
            .unreachable,
            name: error.name.map { String(cString: $0) },
            underlying: error.message.map { String(cString: $0) }
        )
    }
}
