/// A call to a method of an object on the bus.
package struct MethodCall: Sendable {
    package var destination: String
    package var path: ObjectPath
    package var interface: String
    package var member: String
    package var arguments: [Value]

    package init(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        arguments: [Value] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Creates a call to the bus itself.
    static func bus(_ member: String, _ arguments: [Value]) -> MethodCall {
        MethodCall(
            to: Bus.name,
            path: Bus.path,
            interface: Bus.name,
            member: member,
            arguments: arguments
        )
    }
}

/// The bus's own name and object.
package enum Bus {
    /// The bus itself, as a sender or destination.
    package static let name = "org.freedesktop.DBus"
    static let path = ObjectPath(validated: "/org/freedesktop/DBus")
}
