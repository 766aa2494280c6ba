/// An object as `busctl introspect` and other tools want to see it (D-Bus specification,
/// "Introspection Data Format").
enum Introspection {
    static func document(
        _ object: ExportedObject?,
        path: ObjectPath,
        below: some Sequence<ObjectPath>
    ) -> String {
        var lines = [
            """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            """,
            "<node>",
        ]
        for (name, interface) in (object?.interfaces ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append("  <interface name=\"\(name)\">")
            for (name, method) in interface.methods.sorted(by: { $0.key < $1.key }) {
                lines.append("    <method name=\"\(name)\">")
                lines += arguments(method.input, "in") + arguments(method.output, "out")
                lines.append("    </method>")
            }
            for (name, property) in interface.properties.sorted(by: { $0.key < $1.key }) {
                let access =
                    (property.get == nil ? "" : "read") + (property.set == nil ? "" : "write")
                lines.append(
                    "    <property name=\"\(name)\" type=\"\(property.signature)\""
                        + " access=\"\(access)\"/>"
                )
            }
            lines.append("  </interface>")
        }
        for child in children(of: path, among: below) {
            lines.append("  <node name=\"\(child)\"/>")
        }
        return (lines + ["</node>", ""]).joined(separator: "\n")
    }

    private static func arguments(_ types: Signature, _ direction: String) -> [String] {
        types.singles.map { "      <arg type=\"\($0)\" direction=\"\(direction)\"/>" }
    }

    /// The next path element of each descendant, each once.
    private static func children(
        of path: ObjectPath,
        among below: some Sequence<ObjectPath>
    ) -> [String] {
        let prefix = path == .root ? 1 : path.text.utf8.count + 1
        let names = below.compactMap { descendant in
            descendant.text.dropFirst(prefix).split(separator: "/").first.map(String.init)
        }
        return Set(names).sorted()
    }
}

extension Signature {
    /// The complete types, one by one.
    var singles: [Signature] {
        var rest = text[...]
        var singles: [Signature] = []
        while !rest.isEmpty {
            let end = rest.indices.first {
                Signature(validated: String(rest[...$0])).isSingle
            }
            guard let end else { break }
            singles.append(Signature(validated: String(rest[...end])))
            rest = rest[rest.index(after: end)...]
        }
        return singles
    }
}
