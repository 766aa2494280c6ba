import CDBus

/// Owns one reference to a libdbus message.
struct Message: ~Copyable {
    let raw: OpaquePointer

    /// Adopts a reference that the caller holds.
    init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        dbus_message_unref(raw)
    }

    var kind: Int32 { dbus_message_get_type(raw) }
    var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    var sender: String? { Self.text(dbus_message_get_sender(raw)) }
    var interface: String? { Self.text(dbus_message_get_interface(raw)) }
    var member: String? { Self.text(dbus_message_get_member(raw)) }
    var errorName: String? { Self.text(dbus_message_get_error_name(raw)) }
    var wantsReply: Bool { dbus_message_get_no_reply(raw) == 0 }

    var path: ObjectPath? {
        Self.text(dbus_message_get_path(raw)).map(ObjectPath.init(validated:))
    }

    func values() throws(DBusError) -> [Value] {
        var decoder = Decoder()
        return try decoder.decode(raw)
    }

    /// Appends the body.
    func append(_ values: [Value]) throws(DBusError) {
        try Encoder.encode(values, into: raw)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}

extension Message {
    /// Creates a method call. libdbus reports a malformed name by a failed assertion, so names are
    /// checked first.
    static func call(_ call: MethodCall) throws(DBusError) -> Message {
        try NameValidator.check(
            bus: call.destination,
            interface: call.interface,
            member: call.member
        )
        let raw = dbus_message_new_method_call(
            call.destination,
            call.path.text,
            call.interface,
            call.member
        )
        guard let raw else { throw .outOfMemory }
        let message = Message(adopting: raw)
        dbus_message_set_auto_start(raw, 0)
        try message.append(call.arguments)
        return message
    }

    /// Creates the reply to `request`, which is a method call.
    static func reply(
        to request: borrowing Message,
        _ values: [Value]
    ) throws(DBusError)
        -> Message
    {
        guard let raw = dbus_message_new_method_return(request.raw) else { throw .outOfMemory }
        let message = Message(adopting: raw)
        try message.append(values)
        return message
    }

    /// Creates the error reply to `request`, which is a method call.
    static func errorReply(
        to request: borrowing Message,
        _ failure: MethodFailure
    ) throws(DBusError)
        -> Message
    {
        let name =
            NameValidator.isError(failure.name) ? failure.name : MethodFailure.failed("").name
        let text = failure.text.filter { $0 != "\0" }
        guard let raw = dbus_message_new_error(request.raw, name, text) else {
            throw .outOfMemory
        }
        return Message(adopting: raw)
    }
}

extension DBusError {
    static var outOfMemory: DBusError { DBusError(.overloaded, underlying: "out of memory") }
}
