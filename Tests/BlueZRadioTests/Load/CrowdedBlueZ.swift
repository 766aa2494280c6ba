import BusTestSupport
import GotchuCore
import Synchronization

@testable import DBus

/// A simulated bluetoothd on a private bus, for thousands of devices. It accepts the calls for
/// discovery and reports each device that the test passes to `hears`.
final class CrowdedBlueZ: Sendable {
    private static let adapter = ObjectPath("/org/bluez/hci0") ?? .root
    private static let serviceUUID = "0000feed-0000-1000-8000-00805f9b34fb"
    /// The maximum number of known devices. The oldest device is dropped, as in bluetoothd.
    private static let memory = 2000

    private let connection: Connection
    private let known = Mutex<(set: Set<Int>, order: [Int])>(([], []))
    private let scans: AsyncStream<Void>

    init(on bus: PrivateBus) async throws {
        connection = try await bus.connect()
        let (scans, scan) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.scans = scans
        try await connection.export(Self.root(), at: .root)
        try await connection.export(Self.adapterObject { scan.yield() }, at: Self.adapter)
        try await connection.requestName("org.bluez")
    }

    /// Waits until a client starts discovery.
    func scanned() async {
        for await _ in scans { return }
    }

    /// Simulates an advertisement of the device with a number.
    func hears(_ device: Int, rssi: Int16, data: [UInt8]?) async throws {
        var properties: [String: Value] = ["RSSI": .int16(rssi)]
        if let data { properties["ServiceData"] = .properties([Self.serviceUUID: .bytes(data)]) }
        let (isNew, forgotten) = known.withLock { known in
            guard known.set.insert(device).inserted else { return (false, nil as Int?) }
            known.order.append(device)
            guard known.order.count > Self.memory else { return (true, nil) }
            let oldest = known.order.removeFirst()
            known.set.remove(oldest)
            return (true, oldest)
        }
        if let forgotten {
            let gone: [Value] = [
                .objectPath(Self.path(forgotten)), .strings(["org.bluez.Device1"]),
            ]
            try await emit(.root, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", gone)
        }
        if isNew {
            let added: [Value] = [
                .objectPath(Self.path(device)),
                Self.interfaces(["org.bluez.Device1": properties]),
            ]
            try await emit(.root, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", added)
        } else {
            let changed: [Value] = [
                .string("org.bluez.Device1"), .properties(properties), .strings([]),
            ]
            let path = Self.path(device)
            try await emit(path, "org.freedesktop.DBus.Properties", "PropertiesChanged", changed)
        }
    }

    private func emit(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: [Value]
    ) async throws {
        try await connection.emit(
            Signal(path: path, interface: interface, member: member, arguments: arguments)
        )
    }

    private static func path(_ device: Int) -> ObjectPath {
        let digits = String(device, radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: 10 - digits.count) + digits
        let pairs = stride(from: 0, to: 10, by: 2).map { start in
            let index = padded.index(padded.startIndex, offsetBy: start)
            return String(padded[index..<padded.index(index, offsetBy: 2)])
        }
        return ObjectPath("/org/bluez/hci0/dev_7A_" + pairs.joined(separator: "_")) ?? .root
    }

    private static func root() -> ExportedObject {
        let type = Signature("a{oa{sa{sv}}}") ?? .none
        let get = ExportedObject.Method(output: type) { _ throws(MethodFailure) in
            let adapter: [String: [String: Value]] = [
                "org.bluez.Adapter1": [
                    "Address": .string("02:AA:00:00:00:00"), "Powered": .boolean(true),
                    "Discovering": .boolean(true), "Modalias": .string("usb:v1D6Bp0246d0542"),
                ],
                "org.bluez.LEAdvertisingManager1": [:],
            ]
            return [
                .dictionary(
                    [.init(key: .objectPath(Self.adapter), value: interfaces(adapter))],
                    key: .objectPath,
                    value: Signature("a{sa{sv}}") ?? .none
                )
            ]
        }
        return ExportedObject(interfaces: [
            "org.freedesktop.DBus.ObjectManager": .init(methods: ["GetManagedObjects": get])
        ])
    }

    private static func adapterObject(_ scanned: @escaping @Sendable () -> Void) -> ExportedObject {
        let properties = Signature("a{sv}") ?? .none
        let agree: ExportedObject.Method.Handler = { _ throws(MethodFailure) in [] }
        let start: ExportedObject.Method.Handler = { _ throws(MethodFailure) in
            scanned()
            return []
        }
        return ExportedObject(interfaces: [
            "org.bluez.Adapter1": .init(methods: [
                "SetDiscoveryFilter": ExportedObject.Method(input: properties, handle: agree),
                "StartDiscovery": ExportedObject.Method(handle: start),
                "StopDiscovery": ExportedObject.Method(handle: agree),
            ])
        ])
    }

    private static func interfaces(_ interfaces: [String: [String: Value]]) -> Value {
        .dictionary(
            interfaces.map { .init(key: .string($0.key), value: .properties($0.value)) },
            key: .string,
            value: Signature("a{sv}") ?? .none
        )
    }
}
