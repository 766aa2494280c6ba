/// A signal sent by an object.
package struct Signal: Hashable, Sendable {
    /// The sender's unique name, which the bus guarantees; `nil` if it is unknown.
    package var sender: String?
    package var path: ObjectPath
    package var interface: String
    package var member: String
    package var arguments: [Value]

    package init(
        sender: String? = nil,
        path: ObjectPath,
        interface: String,
        member: String,
        arguments: [Value] = []
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}
