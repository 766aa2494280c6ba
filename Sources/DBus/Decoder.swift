import CDBus

/// Reads the body of a message that libdbus has found well-formed.
///
/// Stricter than libdbus: the depth and the number of values are limited, and file descriptors are
/// refused.
struct Decoder {
    static let depthLimit = 64
    /// The most values in one message, counting every element; an array of bytes counts as one.
    static let countLimit = 1_000_000

    private var count = 0

    /// - Throws: `invalidValue` at a limit, or for a file descriptor.
    mutating func decode(_ message: OpaquePointer) throws(DBusError) -> [Value] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
        return try values(&iterator, depth: 0)
    }

    /// Returns all values from here to the end of the container.
    private mutating func values(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> [Value] {
        var values: [Value] = []
        var type = Int(dbus_message_iter_get_arg_type(&iterator))
        while type != CDBUS_TYPE_INVALID {
            values.append(try value(&iterator, type: type, depth: depth))
            dbus_message_iter_next(&iterator)
            type = Int(dbus_message_iter_get_arg_type(&iterator))
        }
        return values
    }

    private mutating func value(
        _ iterator: inout DBusMessageIter,
        type: Int,
        depth: Int
    ) throws(DBusError) -> Value {
        count += 1
        guard count <= Self.countLimit else { throw Encoder.invalid("too many values") }
        return switch type {
        case CDBUS_TYPE_BYTE: .byte(basic(&iterator, 0))
        case CDBUS_TYPE_BOOLEAN: .boolean(basic(&iterator, dbus_bool_t(0)) != 0)
        case CDBUS_TYPE_INT16: .int16(basic(&iterator, 0))
        case CDBUS_TYPE_UINT16: .uint16(basic(&iterator, 0))
        case CDBUS_TYPE_INT32: .int32(basic(&iterator, 0))
        case CDBUS_TYPE_UINT32: .uint32(basic(&iterator, 0))
        case CDBUS_TYPE_INT64: .int64(basic(&iterator, 0))
        case CDBUS_TYPE_UINT64: .uint64(basic(&iterator, 0))
        case CDBUS_TYPE_DOUBLE: .double(basic(&iterator, 0))
        case CDBUS_TYPE_STRING: .string(text(&iterator))
        case CDBUS_TYPE_OBJECT_PATH: .objectPath(ObjectPath(validated: text(&iterator)))
        case CDBUS_TYPE_SIGNATURE: .signature(Signature(validated: text(&iterator)))
        case CDBUS_TYPE_ARRAY: try array(&iterator, depth: depth)
        case CDBUS_TYPE_STRUCT: .structure(try inside(&iterator, depth: depth))
        case CDBUS_TYPE_VARIANT: .variant(try content(&iterator, depth: depth))
        default: throw Encoder.invalid("a value of type \(type)")
        }
    }

    private mutating func array(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> Value {
        let element = Int(dbus_message_iter_get_element_type(&iterator))
        if element == CDBUS_TYPE_BYTE { return .bytes(bytes(&iterator)) }
        // The two most frequent types of array need no signature, which libdbus would allocate.
        if element == CDBUS_TYPE_STRING {
            return .array(try inside(&iterator, depth: depth), of: .string)
        }
        if element == CDBUS_TYPE_DICT_ENTRY, isOfProperties(&iterator) {
            return .dictionary(try entries(&iterator, depth: depth), key: .string, value: .variant)
        }
        // `a…`: the element's type is all but the first character.
        let signature = signature(of: &iterator).dropFirst()
        if element == CDBUS_TYPE_DICT_ENTRY {
            // `{kv…}`: a key is a basic type, which is one character.
            let types = signature.dropFirst().dropLast()
            return .dictionary(
                try entries(&iterator, depth: depth),
                key: Signature(validated: String(types.prefix(1))),
                value: Signature(validated: String(types.dropFirst()))
            )
        }
        return .array(
            try inside(&iterator, depth: depth),
            of: Signature(validated: String(signature))
        )
    }

    /// Returns true if a dictionary is not empty and its entries are `{sv}`. All entries have the
    /// type of the first.
    private func isOfProperties(_ iterator: inout DBusMessageIter) -> Bool {
        var entry = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &entry)
        guard Int(dbus_message_iter_get_arg_type(&entry)) == CDBUS_TYPE_DICT_ENTRY else {
            return false
        }
        var part = DBusMessageIter()
        dbus_message_iter_recurse(&entry, &part)
        guard Int(dbus_message_iter_get_arg_type(&part)) == CDBUS_TYPE_STRING else { return false }
        dbus_message_iter_next(&part)
        return Int(dbus_message_iter_get_arg_type(&part)) == CDBUS_TYPE_VARIANT
    }

    private mutating func entries(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> [Value.Entry] {
        var entries: [Value.Entry] = []
        var inner = try recurse(&iterator, depth: depth)
        while Int(dbus_message_iter_get_arg_type(&inner)) == CDBUS_TYPE_DICT_ENTRY {
            var part = try recurse(&inner, depth: depth + 1)
            let key = try one(&part, depth: depth + 2)
            dbus_message_iter_next(&part)
            entries.append(Value.Entry(key: key, value: try one(&part, depth: depth + 2)))
            dbus_message_iter_next(&inner)
        }
        return entries
    }

    /// Returns the value that a variant holds.
    private mutating func content(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> Value {
        var inner = try recurse(&iterator, depth: depth)
        return try one(&inner, depth: depth + 1)
    }

    /// Returns the value at the iterator; a well-formed message has one there.
    private mutating func one(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> Value {
        let type = Int(dbus_message_iter_get_arg_type(&iterator))
        return try value(&iterator, type: type, depth: depth)
    }

    private mutating func inside(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> [Value] {
        var inner = try recurse(&iterator, depth: depth)
        return try values(&inner, depth: depth + 1)
    }

    private func recurse(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(DBusError) -> DBusMessageIter {
        guard depth < Self.depthLimit else {
            throw Encoder.invalid("nesting deeper than \(Self.depthLimit)")
        }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return inner
    }

    private func basic<T: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ zero: T) -> T {
        var value = zero
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private func text(_ iterator: inout DBusMessageIter) -> String {
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &pointer)
        return pointer.map { String(cString: $0) } ?? ""
    }

    private func bytes(_ iterator: inout DBusMessageIter) -> [UInt8] {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        dbus_message_iter_get_fixed_array(&inner, &start, &count)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private func signature(of iterator: inout DBusMessageIter) -> String {
        guard let pointer = dbus_message_iter_get_signature(&iterator) else { return "" }
        defer { dbus_free(pointer) }
        return String(cString: pointer)
    }
}
