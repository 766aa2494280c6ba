import BusTestSupport
import Foundation
import Testing

@testable import DBus

@Suite struct ValueTests {
    static let path = ObjectPath("/org/bluez/hci0") ?? .root

    /// Values of every type, including their limits.
    static let values: [Value] = [
        .byte(0), .byte(255), .boolean(true), .boolean(false), .int16(.min), .int16(.max),
        .uint16(.max), .int32(.min), .uint32(.max), .int64(.min), .uint64(.max),
        .double(-0.0), .double(.greatestFiniteMagnitude), .double(.infinity),
        .string(""), .string("Grüße, 你好 👋"), .objectPath(path), .signature(.none),
        .signature(Signature("as") ?? .none), .bytes([]), .bytes(Array(0...255)),
        .strings([]), .strings(["a", ""]),
        .array([.bytes([1]), .bytes([])], of: Signature("ay") ?? .none),
        .array([.structure([.byte(1), .string("x")])], of: Signature("(ys)") ?? .none),
        .properties([:]), .properties(["a": .int16(-85), "b": .bytes([1, 2])]),
        .dictionary(
            [.init(key: .uint16(76), value: .variant(.bytes([2, 21])))],
            key: Signature("q") ?? .none,
            value: .variant
        ),
        .structure([.byte(1), .structure([.boolean(true)]), .strings(["x"])]),
        .variant(.variant(.variant(.string("deep")))),
        .variant(.structure([.double(1.5), .objectPath(path)])),
    ]

    @Test("A value of each type is echoed unchanged")
    func roundTrip() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let client = try await bus.connect()
        try await server.export(Echo.object(Self.values.map(\.signature)), at: Echo.path)
        for (index, value) in Self.values.enumerated() {
            let call = Echo.call("Echo\(index)", at: server.uniqueName, [value])
            #expect(try await client.call(call, timeout: .seconds(10)) == [value])
        }
        await client.close()
        await server.close()
    }

    @Test("Values of each type that python3-dbus sends come back to it unchanged")
    func thirdParty() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let types =
            ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "ay", "as", "a{sv}"]
            + ["a{qv}", "(ys)", "a(ys)", "v", "aay", "a{oa{sa{sv}}}"]
        let echo = Echo.object(types.map { Signature($0) ?? .none })
        try await server.export(echo, at: Echo.path)
        let script = """
            import dbus, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            echo = dbus.Interface(bus.get_object(sys.argv[2], "/", False), "sh.gotchu.Echo")
            D, S, A = dbus.Dictionary, dbus.String, dbus.Array
            dev = D({S("RSSI"): dbus.Int16(-85)}, signature="sv")
            values = [dbus.Byte(255), True, dbus.Int16(-32768), dbus.UInt16(65535), dbus.Int32(-1),
              dbus.UInt32(4294967295), dbus.Int64(-2**63), dbus.UInt64(2**64-1), 1.5, "Gr\\u00fc",
              dbus.ObjectPath("/a/b"), dbus.Signature("a{sv}"), dbus.ByteArray(b"\\x00\\xff"),
              A(["a", ""], "s"), dev, D({dbus.UInt16(76): dbus.Byte(1)}, signature="qv"),
              dbus.Struct((dbus.Byte(1), "x")), A([(dbus.Byte(2), "y")], "(ys)"),
              dbus.Int16(7, variant_level=1), A([[dbus.Byte(97)]], "ay"),
              D({dbus.ObjectPath("/d"): D({S("org.bluez.Device1"): dev}, signature="sa{sv}")},
                signature="oa{sa{sv}}")]
            for index, value in enumerate(values):
                back = getattr(echo, "Echo%d" % index)(value)
                same = bytes(back) == bytes(value) if isinstance(value, bytes) else back == value
                if not same: sys.exit("%d: sent %r, got %r" % (index, value, back))
            print("same", len(values))
            """
        let output = try await run(
            "/usr/bin/python3",
            "-c",
            script,
            bus.address.text,
            server.uniqueName
        )
        #expect(output == "same \(types.count)\n")
        await server.close()
    }

    @Test(
        "A value that does not match its declared type is refused, and the connection stays open",
        arguments: [
            Value.array([.byte(1)], of: .byte), .array([.int16(1)], of: .string),
            .array([], of: .none), .array([], of: Signature("ss") ?? .none), .structure([]),
            .string("a\0b"), .array([.string("a\0b")], of: .string),
            .dictionary([.init(key: .int16(1), value: .byte(1))], key: .string, value: .byte),
            .dictionary([], key: .variant, value: .byte),
            .variant(.array([.string("")], of: .byte)), nested(70),
        ]
    )
    func refused(_ value: Value) async throws {
        let bus = try PrivateBus()
        let client = try await bus.connect()
        let call = Echo.call("Echo0", at: client.uniqueName, [value])
        await #expect(throws: DBusError.self) { try await client.call(call, timeout: .seconds(10)) }
        do {
            _ = try await client.call(call, timeout: .seconds(10))
        } catch {
            #expect(error.code == .invalidValue)
        }
        #expect(await !client.isClosed)
        await client.close()
    }

    static func nested(_ depth: Int) -> Value {
        (0..<depth).reduce(Value.byte(1)) { value, _ in .variant(value) }
    }
}

/// Runs a program, and returns its standard output and standard error in one text.
func run(_ program: String, _ arguments: String...) async throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = output
    process.standardError = output
    return try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { _ in
            let data = output.fileHandleForReading.readDataToEndOfFile()
            continuation.resume(returning: String(decoding: data, as: UTF8.self))
        }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
}
