import BusTestSupport
import Testing

@testable import DBus

@Suite struct ObjectTests {
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let elsewhere = ObjectPath("/elsewhere") ?? .root

    private static func strings(_ strings: String...) -> [Value] { strings.map(Value.string) }

    @Test("A call that cannot be served gets a standard error, and a refused call its own error")
    func errors() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object(), at: Echo.path)
        let to = server.uniqueName
        let set = Self.strings(Echo.interface)
        let cases: [(String, MethodCall)] = [
            ("UnknownObject", Echo.call("Refuse", at: to, path: Self.elsewhere)),
            ("UnknownInterface", Echo.call("Refuse", at: to, interface: "a.b")),
            ("UnknownMethod", Echo.call("Missing", at: to)),
            ("InvalidArgs", Echo.call("Refuse", at: to, [.byte(1)])),
            (
                "UnknownProperty",
                Echo.call("Get", at: to, set + Self.strings("No"), interface: Self.properties)
            ),
            (
                "AccessDenied",
                Echo.call("Get", at: to, set + Self.strings("Secret"), interface: Self.properties)
            ),
            (
                "PropertyReadOnly",
                Echo.call(
                    "Set",
                    at: to,
                    set + [.string("Colour"), .variant(.string("blue"))],
                    interface: Self.properties
                )
            ),
            (
                "InvalidArgs",
                Echo.call(
                    "Set",
                    at: to,
                    set + [.string("Depth"), .variant(.string("deep"))],
                    interface: Self.properties
                )
            ),
            (
                "UnknownInterface",
                Echo.call("GetAll", at: to, Self.strings("a.b"), interface: Self.properties)
            ),
        ]
        for (name, call) in cases {
            do {
                _ = try await client.call(call, timeout: .seconds(10))
                Issue.record("\(call.member) was not refused")
            } catch {
                #expect(error.name == "org.freedesktop.DBus.Error.\(name)", "\(call.member)")
            }
        }
        do {
            _ = try await client.call(Echo.call("Refuse", at: to), timeout: .seconds(10))
            Issue.record("not refused")
        } catch {
            #expect(error == DBusError(.remote, name: "sh.gotchu.Error.No", underlying: "no"))
        }
        await client.close()
        await server.close()
    }

    @Test("Readable properties are read, and writable properties are set")
    func properties() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object(), at: Echo.path)
        let to = server.uniqueName
        let all = try await client.call(
            Echo.call("GetAll", at: to, Self.strings(Echo.interface), interface: Self.properties),
            timeout: .seconds(10)
        )
        #expect(all == [.properties(["Colour": .string("red"), "Depth": .int16(3)])])
        for (name, value) in [("Depth", Value.int16(4)), ("Secret", .byte(1))] {
            let arguments = Self.strings(Echo.interface, name) + [.variant(value)]
            let set = Echo.call("Set", at: to, arguments, interface: Self.properties)
            #expect(try await client.call(set, timeout: .seconds(10)) == [])
        }
        await client.close()
        await server.close()
    }
}
