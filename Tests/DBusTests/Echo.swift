import DBus

/// An exported object with methods that return their arguments, stall or refuse.
enum Echo {
    static let path = ObjectPath.root
    static let interface = "sh.gotchu.Echo"

    /// - Parameter types: The signatures of the methods `Echo0`, `Echo1` and so on.
    static func object(_ types: [Signature] = []) -> ExportedObject {
        var methods: [String: ExportedObject.Method] = [
            "Stall": ExportedObject.Method { _ throws(MethodFailure) in
                // SAFETY: simulates a peer that hangs; cancelled when its connection closes.
                try? await Task.sleep(for: .seconds(60))
                return []
            },
            "Refuse": ExportedObject.Method { _ throws(MethodFailure) in
                throw MethodFailure(name: "sh.gotchu.Error.No", text: "no")
            },
        ]
        for (index, type) in types.enumerated() {
            methods["Echo\(index)"] = ExportedObject.Method(input: type, output: type) {
                invocation throws(MethodFailure) in invocation.arguments
            }
        }
        return ExportedObject(interfaces: [
            interface: ExportedObject.Interface(
                methods: methods,
                properties: [
                    "Colour": .constant(.string("red")),
                    "Depth": ExportedObject.Property(.int16, get: { .int16(3) }, set: { _ in }),
                    "Secret": .writeOnly(.byte),
                ]
            )
        ])
    }

    static func call(
        _ member: String,
        at destination: String,
        _ arguments: [Value] = [],
        path: ObjectPath = path,
        interface: String = interface
    ) -> MethodCall {
        MethodCall(
            to: destination,
            path: path,
            interface: interface,
            member: member,
            arguments: arguments
        )
    }
}
