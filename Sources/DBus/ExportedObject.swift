/// An object of ours on the bus.
///
/// `org.freedesktop.DBus.Properties` and `Peer` are answered without being listed.
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
        /// Runs on the connection's thread until it first awaits something; calls start in their
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
        /// `nil` for one that may only be set; `GetAll` leaves it out.
        package var get: (@Sendable () -> Value)?
        /// `nil` for one that may only be read. A caller's value has been checked against
        /// `signature`.
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

        /// A property that a caller may set and that is of no interest to us.
        package static func writeOnly(_ signature: Signature) -> Property {
            Property(signature, get: nil, set: { _ in })
        }
    }
}

/// One call of a method of ours.
package struct Invocation: Sendable {
    /// The caller's unique name, which the bus vouches for.
    package var sender: String?
    package var path: ObjectPath
    package var interface: String
    package var member: String
    /// Values of the types that the method's `input` promises.
    package var arguments: [Value]
}

/// The refusal of a call, as it goes over the bus.
package struct MethodFailure: Error, Equatable, Sendable {
    /// A D-Bus error name; one that is not valid goes out as `org.freedesktop.DBus.Error.Failed`.
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
    /// The empty signature.
    package static let none = Signature(validated: "")
}
