/// A D-Bus value with its exact type.
///
/// Unix file descriptors are the only type left out: nothing here needs them, and a peer must not
/// be able to pass them to us.
package enum Value: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    /// The type `ay`, as one block.
    case bytes([UInt8])
    /// An array of anything but bytes; every element has the type `of`, exactly one complete type.
    indirect case array([Value], of: Signature)
    /// The type `a{…}`, in the order on the wire; `key` is a basic type.
    indirect case dictionary([Entry], key: Signature, value: Signature)
    /// A structure of at least one field.
    case structure([Value])
    indirect case variant(Value)

    /// One entry of a dictionary.
    package struct Entry: Hashable, Sendable {
        package var key: Value
        package var value: Value

        package init(key: Value, value: Value) {
            self.key = key
            self.value = value
        }
    }
}

extension Value {
    /// An array of strings: `as`
    package static func strings(_ strings: [String]) -> Value {
        .array(strings.map(Value.string), of: .string)
    }

    /// A dictionary `a{sv}`, sorted by key: the same properties always have the same bytes.
    package static func properties(_ properties: [String: Value]) -> Value {
        .dictionary(
            properties.sorted { $0.key < $1.key }
                .map { Entry(key: .string($0.key), value: .variant($0.value)) },
            key: .string,
            value: .variant
        )
    }

    /// The value's type, computed from its own shape.
    package var signature: Signature { Signature(validated: signatureText) }

    private var signatureText: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(_, let element): "a\(element.text)"
        case .dictionary(_, let key, let value): "a{\(key.text)\(value.text)}"
        case .structure(let fields): "(\(fields.map(\.signatureText).joined()))"
        case .variant: "v"
        }
    }
}
