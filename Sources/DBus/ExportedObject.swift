/// An object of ours on the bus.
///
/// Calls to `org.freedesktop.DBus.Properties` and `Peer` are answered although `interfaces` does
/// not contain them.
package struct ExportedObject: Sendable {
    package var interfaces: [String: Interface]

    package init(interfaces: [String: Interface]) {
        self.interfaces = interfaces
    }

    package struct Interface: Sendable {
        package var methods: [String: Method]
        package var properties: [String: Property]

        package init(methods: [String: Method] = [:], properties: [String: Property] = [:]) {
            self.methods = methods
            self.properties = properties
        }
    }

    package struct Method: Sendable {
        package var input: Signature
        package var output: Signature
        /// The handler. It runs on the connection's thread until it first suspends; calls start in
        /// order of arrival. Cancelled when the connection ends.
        package var handle: Handler

        package typealias Handler =
            @Sendable (Invocation) async throws(MethodFailure) -> [Value]

        package init(
            input: Signature = .none,
            output: Signature = .none,
            handle: @escaping Handler
        ) {
            self.input = input
            self.output = output
            self.handle = handle
        }
    }

    package struct Property: Sendable {
        package var signature: Signature
        /// The getter; `nil` for a write-only property, which `GetAll` omits.
        package var get: (@Sendable () -> Value)?
        /// The setter; `nil` for a read-only property. The value was checked against `signature`.
        package var set: (@Sendable (Value) -> Void)?

        package init(
            _ signature: Signature,
            get: (@Sendable () -> Value)?,
            set: (@Sendable (Value) -> Void)? = nil
        ) {
            self.signature = signature
            self.get = get
            self.set = set
        }

        /// A property that never changes.
        package static func constant(_ value: Value) -> Property {
            Property(value.signature, get: { value })
        }

        /// A property that callers may set and whose value is ignored.
        package static func writeOnly(_ signature: Signature) -> Property {
            Property(signature, get: nil, set: { _ in })
        }
    }
}

/// A call to one of our methods.
package struct Invocation: Sendable {
    /// The caller's unique name, which the bus guarantees.
    package var sender: String?
    package var path: ObjectPath
    package var interface: String
    package var member: String
    /// Values of the types in the method's `input`.
    package var arguments: [Value]
}

/// The error reply to a call.
package struct MethodFailure: Error, Equatable, Sendable {
    /// The D-Bus error name; an invalid one is sent as `org.freedesktop.DBus.Error.Failed`.
    package var name: String
    package var text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    package static func failed(_ text: String) -> MethodFailure { standard("Failed", text) }

    static func standard(_ name: String, _ text: String) -> MethodFailure {
        MethodFailure(name: "org.freedesktop.DBus.Error.\(name)", text: text)
    }
}

extension Signature {
    package static let none = Signature(validated: "")
}
