import BlueZ
import DBus
import GotchuCore
import TestSupport

extension ObjectTreeTests {
    static func path(_ text: String) -> ObjectPath { ObjectPath(text) ?? .root }

    static func added(
        _ path: ObjectPath,
        _ properties: [String: Value],
        interface: String = "org.bluez.Device1"
    ) -> Signal {
        Signal(
            path: .root,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "InterfacesAdded",
            arguments: [.objectPath(path), interfaces([interface: properties])]
        )
    }

    static func removed(_ path: ObjectPath, _ interface: String) -> Signal {
        Signal(
            path: .root,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "InterfacesRemoved",
            arguments: [.objectPath(path), .strings([interface])]
        )
    }

    static func changed(
        _ path: ObjectPath,
        _ properties: [String: Value],
        invalidated: [String] = [],
        interface: String = "org.bluez.Device1"
    ) -> Signal {
        Signal(
            path: path,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            arguments: [.string(interface), .properties(properties), .strings(invalidated)]
        )
    }

    static func objects(_ objects: [ObjectPath: [String: [String: Value]]]) -> Value {
        .dictionary(
            objects.map { .init(key: .objectPath($0.key), value: interfaces($0.value)) },
            key: .objectPath,
            value: Signature("a{sa{sv}}") ?? .none
        )
    }

    /// Returns a value of a random type, sometimes of the type that the property has.
    static func anything(_ random: inout SeededGenerator) -> Value {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .int16(.random(in: .min ... .max, using: &random))
        case 1: .boolean(.random(using: &random))
        case 2: .string("a1b2c3d4e5")
        case 3: .strings([uuid.description, ""])
        case 4: carried
        case 5: .properties([uuid.description: .string("a1b2c3d4e5")])
        case 6: .dictionary([], key: Signature("q") ?? .none, value: .variant)
        case 7: .variant(.variant(.int16(-5)))
        case 8:
            .properties([
                uuid.description: .bytes(
                    (0..<Int.random(in: 0...40, using: &random)).map { _ in
                        .random(in: 0...47, using: &random)
                    }
                )
            ])
        default: .array([], of: .byte)
        }
    }

    private static func interfaces(_ interfaces: [String: [String: Value]]) -> Value {
        .dictionary(
            interfaces.map { .init(key: .string($0.key), value: .properties($0.value)) },
            key: .string,
            value: Signature("a{sv}") ?? .none
        )
    }
}
