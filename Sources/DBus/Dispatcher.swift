/// The outcome of a call to our objects.
enum Answer {
    /// The reply, known at once.
    case values([Value])
    /// A handler must be run.
    case method(ExportedObject.Method, Invocation)
}

/// Finds the method or property that a call addresses, including the standard interfaces.
struct Dispatcher {
    let objects: [ObjectPath: ExportedObject]

    func answer(_ call: Invocation) throws(MethodFailure) -> Answer {
        switch call.interface {
        case "org.freedesktop.DBus.Peer": try peer(call)
        case "org.freedesktop.DBus.Properties": try properties(call)
        default: try method(call)
        }
    }

    private func peer(_ call: Invocation) throws(MethodFailure) -> Answer {
        guard call.member == "Ping" else { throw unknownMethod }
        try check(call, .none)
        return .values([])
    }

    private func method(_ call: Invocation) throws(MethodFailure) -> Answer {
        let object = try object(call)
        // A call may leave the interface out (D-Bus specification, "Method Calls").
        let interface =
            call.interface.isEmpty
            ? object.interfaces.sorted { $0.key < $1.key }.map(\.value)
                .first { $0.methods[call.member] != nil }
            : object.interfaces[call.interface]
        guard let interface else {
            throw call.interface.isEmpty
                ? unknownMethod
                : .standard("UnknownInterface", "There is no such interface here.")
        }
        guard let method = interface.methods[call.member] else { throw unknownMethod }
        try check(call, method.input)
        return .method(method, call)
    }

    private func properties(_ call: Invocation) throws(MethodFailure) -> Answer {
        let object = try object(call)
        switch call.member {
        case "GetAll":
            try check(call, .string)
            let interface = try interface(object, call)
            return .values([.properties(interface.properties.compactMapValues { $0.get?() })])
        case "Get":
            try check(call, Signature(validated: "ss"))
            guard let get = try property(object, call).get else {
                throw .standard("AccessDenied", "The property can only be set.")
            }
            return .values([.variant(get())])
        case "Set":
            try check(call, Signature(validated: "ssv"))
            let property = try property(object, call)
            guard let set = property.set else {
                throw .standard("PropertyReadOnly", "The property cannot be set.")
            }
            guard case .variant(let value) = call.arguments[2],
                value.signature == property.signature
            else { throw invalidArguments }
            set(value)
            return .values([])
        default: throw unknownMethod
        }
    }

    private func property(
        _ object: ExportedObject,
        _ call: Invocation
    ) throws(MethodFailure) -> ExportedObject.Property {
        let interface = try interface(object, call)
        guard let property = call.arguments[1].asString.flatMap({ interface.properties[$0] }) else {
            throw .standard("UnknownProperty", "There is no such property.")
        }
        return property
    }

    private func interface(
        _ object: ExportedObject,
        _ call: Invocation
    ) throws(MethodFailure) -> ExportedObject.Interface {
        guard let interface = call.arguments[0].asString.flatMap({ object.interfaces[$0] }) else {
            throw .standard("UnknownInterface", "There is no such interface here.")
        }
        return interface
    }

    private func object(_ call: Invocation) throws(MethodFailure) -> ExportedObject {
        guard let object = objects[call.path] else {
            throw .standard("UnknownObject", "There is no such object.")
        }
        return object
    }

    /// Checks the types of the arguments; later code relies on them.
    private func check(_ call: Invocation, _ types: Signature) throws(MethodFailure) {
        guard call.arguments.map(\.signature.text).joined() == types.text else {
            throw invalidArguments
        }
    }

    private var invalidArguments: MethodFailure {
        .standard("InvalidArgs", "The arguments are of other types.")
    }

    private var unknownMethod: MethodFailure {
        .standard("UnknownMethod", "There is no such method.")
    }
}
