import CDBus

/// Writes values into a message.
///
/// libdbus reports misuse by a failed assertion, not by an error; so every value is checked against
/// its container's type before it is passed on.
enum Encoder {
    /// The most levels of containers, including variants. One signature alone has at most 255
    /// bytes, 32 levels of arrays and 32 of structures (D-Bus specification, "Valid Signatures").
    static let depthLimit = 64

    static func encode(_ values: [Value], into message: OpaquePointer) throws(DBusError) {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for value in values {
            try checkSignature(of: value)
            try append(value, to: &iterator, depth: 0)
        }
        // The body's whole signature is limited too; each part alone may be short enough.
        guard Signature(values.map(\.signature.text).joined()) != nil else {
            throw invalid("a signature longer than 255 bytes")
        }
    }

    private static func append(
        _ value: Value,
        to iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) {
        switch value {
        case .byte(let number): try basic(number, CDBUS_TYPE_BYTE, &iterator)
        case .boolean(let boolean):
            try basic(dbus_bool_t(boolean ? 1 : 0), CDBUS_TYPE_BOOLEAN, &iterator)
        case .int16(let number): try basic(number, CDBUS_TYPE_INT16, &iterator)
        case .uint16(let number): try basic(number, CDBUS_TYPE_UINT16, &iterator)
        case .int32(let number): try basic(number, CDBUS_TYPE_INT32, &iterator)
        case .uint32(let number): try basic(number, CDBUS_TYPE_UINT32, &iterator)
        case .int64(let number): try basic(number, CDBUS_TYPE_INT64, &iterator)
        case .uint64(let number): try basic(number, CDBUS_TYPE_UINT64, &iterator)
        case .double(let number): try basic(number, CDBUS_TYPE_DOUBLE, &iterator)
        case .string(let string): try text(string, CDBUS_TYPE_STRING, &iterator)
        case .objectPath(let path): try text(path.text, CDBUS_TYPE_OBJECT_PATH, &iterator)
        case .signature(let type): try text(type.text, CDBUS_TYPE_SIGNATURE, &iterator)
        case .bytes(let bytes): try append(bytes, to: &iterator)
        case .array(let elements, let type):
            try container(CDBUS_TYPE_ARRAY, type.text, &iterator, depth) {
                inner,
                depth throws(DBusError) in
                for element in elements { try append(element, to: &inner, depth: depth) }
            }
        case .dictionary(let entries, let key, let type):
            try container(CDBUS_TYPE_ARRAY, "{\(key)\(type)}", &iterator, depth) {
                inner,
                depth throws(DBusError) in
                for entry in entries { try append(entry, to: &inner, depth: depth) }
            }
        case .structure(let fields):
            try container(CDBUS_TYPE_STRUCT, nil, &iterator, depth) {
                inner,
                depth throws(DBusError) in
                for field in fields { try append(field, to: &inner, depth: depth) }
            }
        case .variant(let inside):
            try checkSignature(of: inside)
            try container(CDBUS_TYPE_VARIANT, inside.signature.text, &iterator, depth) {
                inner,
                depth throws(DBusError) in
                try append(inside, to: &inner, depth: depth)
            }
        }
    }

    private static func append(
        _ entry: Value.Entry,
        to iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) {
        try container(CDBUS_TYPE_DICT_ENTRY, nil, &iterator, depth) {
            inner,
            depth throws(DBusError) in
            try append(entry.key, to: &inner, depth: depth)
            try append(entry.value, to: &inner, depth: depth)
        }
    }

    /// Appends all bytes as one block.
    private static func append(
        _ bytes: [UInt8],
        to iterator: inout DBusMessageIter
    ) throws(DBusError) {
        guard bytes.count <= DBUS_MAXIMUM_ARRAY_LENGTH else { throw invalid("too many bytes") }
        try container(CDBUS_TYPE_ARRAY, "y", &iterator, 0) { inner, _ throws(DBusError) in
            let isAppended = bytes.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return buffer.isEmpty
                    || dbus_message_iter_append_fixed_array(
                        &inner,
                        Int32(CDBUS_TYPE_BYTE),
                        &start,
                        Int32(buffer.count)
                    ) != 0
            }
            guard isAppended else { throw .outOfMemory }
        }
    }

    private static func basic<T: BitwiseCopyable>(
        _ value: T,
        _ type: Int,
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        var value = value
        guard dbus_message_iter_append_basic(&iterator, Int32(type), &value) != 0 else {
            throw .outOfMemory
        }
    }

    private static func text(
        _ text: String,
        _ type: Int,
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        guard !text.utf8.contains(0) else { throw invalid("a text with a zero byte") }
        let isAppended = text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, Int32(type), &pointer) != 0
        }
        guard isAppended else { throw .outOfMemory }
    }

    private static func container(
        _ type: Int,
        _ signature: String?,
        _ iterator: inout DBusMessageIter,
        _ depth: Int,
        _ fill: (inout DBusMessageIter, Int) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard depth < depthLimit else { throw invalid("nesting deeper than \(depthLimit)") }
        var inner = DBusMessageIter()
        let isOpen = dbus_message_iter_open_container(&iterator, Int32(type), signature, &inner)
        guard isOpen != 0 else { throw .outOfMemory }
        do {
            try fill(&inner, depth + 1)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .outOfMemory }
    }

    static func invalid(_ what: String) -> DBusError {
        DBusError(.invalidValue, underlying: what)
    }
}

extension Encoder {
    /// Checks that a value matches its signature, down to the next variant.
    private static func checkSignature(of value: Value) throws(DBusError) {
        guard value.signature.isSingle else {
            throw invalid("the signature '\(value.signature.text.prefix(64))'")
        }
        try checkShape(of: value, depth: 0)
    }

    private static func checkShape(of value: Value, depth: Int) throws(DBusError) {
        guard depth <= depthLimit else { throw invalid("nesting deeper than \(depthLimit)") }
        switch value {
        case .array(let elements, let type):
            guard type != .byte, type.isSingle else { throw invalid("an array of '\(type)'") }
            for element in elements { try check(element, is: type, depth: depth) }
        case .dictionary(let entries, let key, let type):
            for entry in entries {
                try check(entry.key, is: key, depth: depth)
                try check(entry.value, is: type, depth: depth)
            }
        case .structure(let fields):
            for field in fields { try checkShape(of: field, depth: depth + 1) }
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
            .objectPath, .signature, .bytes, .variant:
            break
        }
    }

    private static func check(
        _ value: Value,
        is type: Signature,
        depth: Int
    ) throws(DBusError) {
        guard value.signature == type else {
            throw invalid("'\(value.signature)' where '\(type)' belongs")
        }
        try checkShape(of: value, depth: depth + 1)
    }
}
