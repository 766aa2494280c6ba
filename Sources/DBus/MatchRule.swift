/// A match rule for signals (D-Bus specification, "Match Rules"). `nil` matches everything.
package struct MatchRule: Hashable, Sendable {
    /// A name on the bus, which only the bus compares with the sender. Any program may send us a
    /// signal directly. A consumer that must be sure compares `Signal.sender` with the owner that
    /// it knows.
    package var sender: String?
    package var path: ObjectPath?
    package var interface: String?
    package var member: String?
    /// The first argument, if it is a string.
    package var firstArgument: String?

    package init(
        sender: String? = nil,
        path: ObjectPath? = nil,
        interface: String? = nil,
        member: String? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// Returns the rule in the bus's syntax.
    func text() throws(DBusError) -> String {
        try NameValidator.check(bus: sender, interface: interface, member: member)
        let parts: [(String, String?)] = [
            ("type", "signal"), ("sender", sender), ("path", path?.text),
            ("interface", interface), ("member", member), ("arg0", firstArgument),
        ]
        if let firstArgument, firstArgument.utf8.contains(where: { $0 == 0 || $0 == 0x27 }) {
            throw Encoder.invalid("a match on a text with a quote")
        }
        return parts.compactMap { key, value in value.map { "\(key)='\($0)'" } }
            .joined(separator: ",")
    }

    /// Returns true if the rule matches a signal; the sender is checked by the bus (see `sender`).
    func matches(_ signal: Signal) -> Bool {
        (path == nil || path == signal.path)
            && (interface == nil || interface == signal.interface)
            && (member == nil || member == signal.member)
            && (firstArgument == nil || firstArgument == signal.arguments.first?.asString)
    }
}
