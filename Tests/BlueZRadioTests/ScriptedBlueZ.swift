import BusTestSupport
import GotchuCore
import Synchronization

@testable import DBus

/// A simulated bluetoothd on a private bus, with objects, signals and scripted refusals. It uses a
/// real D-Bus connection. The tests in the virtual machine use the real bluetoothd.
final class ScriptedBlueZ: Sendable {
    /// The radio's requests, in order.
    enum Request: Hashable, Sendable {
        case setFilter(uuids: [String]?, rssi: Int16?)
        case startDiscovery
        case stopDiscovery
        /// A registration, with the data that bluetoothd would put on the air.
        case register(data: [UInt8], uuids: [String], type: String)
        case unregister
    }

    private struct State {
        /// The D-Bus errors that answer the next calls, by method.
        var refusals: [String: [String]] = [:]
        var isDiscovering = false
        /// The path of the adapter.
        var adapter = ScriptedBlueZ.adapter
        var registered: [ObjectPath: Request] = [:]
    }

    static let adapter = ObjectPath("/org/bluez/hci0") ?? .root
    static let serviceUUID = "0000feed-0000-1000-8000-00805f9b34fb"

    let requests: AsyncStream<Request>
    private let output: AsyncStream<Request>.Continuation
    private let state = Mutex(State())
    private let connection: Connection

    /// Requests bluetoothd's name and exports the adapter `hci0`.
    ///
    /// - Parameters:
    ///   - isDiscovering: True if the adapter already scans, so that a start is refused.
    ///   - refusals: The D-Bus errors that answer the first calls, by method.
    init(
        on bus: PrivateBus,
        isPowered: Bool = true,
        isDiscovering: Bool = false,
        refusals: [String: [String]] = [:],
        modalias: String = "usb:v1D6Bp0246d0542"
    ) async throws {
        connection = try await bus.connect()
        (requests, output) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
        state.withLock { state in
            state.refusals = refusals
            state.isDiscovering = isDiscovering
        }
        let adapters = ShownAdapter(Self.interfaces(isPowered, modalias, isDiscovering))
        shown = adapters
        try await connection.export(Self.root(adapters), at: .root)
        try await connection.export(adapterObject(), at: Self.adapter)
        try await connection.requestName("org.bluez")
    }

    private let shown: ShownAdapter

    /// Ends abruptly, like a killed bluetoothd.
    func stop() async {
        await connection.close()
        output.finish()
    }

    // MARK: Signals about devices and the adapter

    func hears(
        _ number: Int = 1,
        rssi: Int16?,
        data: [UInt8]?,
        more: [String: Value] = [:]
    ) async throws {
        var properties = more
        if let rssi { properties["RSSI"] = .int16(rssi) }
        if let data { properties["ServiceData"] = .properties([Self.serviceUUID: .bytes(data)]) }
        try await added(Self.device(number), ["org.bluez.Device1": properties])
    }

    func changes(_ properties: [String: Value]) async throws {
        try await changed(Self.device(1), "org.bluez.Device1", properties)
    }

    func powers(_ isOn: Bool) async throws {
        state.withLock { state in
            state.isDiscovering = false
            state.registered = [:]
        }
        shown.set(Self.interfaces(isOn, "usb:v1D6Bp0246d0542"))
        try await changed(
            Self.adapter,
            "org.bluez.Adapter1",
            ["Powered": .boolean(isOn), "Discovering": .boolean(false)]
        )
    }

    func removesAdapter() async throws {
        state.withLock { state in
            state.isDiscovering = false
            state.registered = [:]
        }
        shown.set(nil)
        try await emit(
            "InterfacesRemoved",
            [
                .objectPath(Self.adapter),
                .strings(["org.bluez.Adapter1", "org.bluez.LEAdvertisingManager1"]),
            ]
        )
    }

    func addsAdapter() async throws {
        let interfaces = Self.interfaces(true, "usb:v1D6Bp0246d0542")
        shown.set(interfaces)
        try await added(Self.adapter, interfaces)
    }

    /// Adds the adapter, with the same address, under another name.
    func addsAdapter(named name: String) async throws {
        let path = ObjectPath("/org/bluez/\(name)") ?? .root
        state.withLock { $0.adapter = path }
        try await connection.export(adapterObject(), at: path)
        try await added(path, Self.interfaces(true, "usb:v1D6Bp0246d0542"))
    }

    /// Ends the scan without a client's request.
    func losesDiscovery() async throws {
        state.withLock { $0.isDiscovering = false }
        try await changed(Self.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(false)])
    }

    /// Emits `PropertiesChanged`, even with content that a real bluetoothd never sends.
    func changed(
        _ path: ObjectPath,
        _ interface: String,
        _ properties: [String: Value]
    ) async throws {
        try await connection.emit(
            Signal(
                path: path,
                interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged",
                arguments: [.string(interface), .properties(properties), .strings([])]
            )
        )
    }

    func added(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) async throws {
        try await emit("InterfacesAdded", [.objectPath(path), Self.value(interfaces)])
    }

    static func device(_ number: Int) -> ObjectPath {
        ObjectPath("/org/bluez/hci0/dev_\(number)") ?? .root
    }

    // MARK: Objects

    private static func root(_ adapters: ShownAdapter) -> ExportedObject {
        let type = Signature("a{oa{sa{sv}}}") ?? .none
        let get = ExportedObject.Method(output: type) { _ throws(MethodFailure) in
            let entries = adapters.get().map { interfaces in
                [Value.Entry(key: .objectPath(Self.adapter), value: Self.value(interfaces))]
            }
            return [
                .dictionary(
                    entries ?? [],
                    key: .objectPath,
                    value: Signature("a{sa{sv}}") ?? .none
                )
            ]
        }
        return ExportedObject(interfaces: [
            "org.freedesktop.DBus.ObjectManager": .init(methods: ["GetManagedObjects": get])
        ])
    }

    private func adapterObject() -> ExportedObject {
        let properties = Signature("a{sv}") ?? .none
        let registration = Signature("oa{sv}") ?? .none
        return ExportedObject(interfaces: [
            "org.bluez.Adapter1": .init(methods: [
                "SetDiscoveryFilter": method(properties) { [self] call in setFilter(call) },
                "StartDiscovery": method(.none) { [self] _ in try await discovers(true) },
                "StopDiscovery": method(.none) { [self] _ in try await discovers(false) },
            ]),
            "org.bluez.LEAdvertisingManager1": .init(methods: [
                "RegisterAdvertisement": method(registration) { [self] call in
                    try await register(call)
                },
                "UnregisterAdvertisement": method(.objectPath) { [self] call in
                    try unregister(call)
                },
            ]),
        ])
    }

    /// Returns a method that fails with the next scripted error, or runs `work` if none is left.
    private func method(
        _ input: Signature,
        _ work: @escaping @Sendable (Invocation) async throws -> Void
    ) -> ExportedObject.Method {
        ExportedObject.Method(input: input) { [self] call throws(MethodFailure) in
            let refusal = state.withLock { state in
                state.refusals[call.member]?.isEmpty == false
                    ? state.refusals[call.member]?.removeFirst() : nil
            }
            if let refusal { throw MethodFailure(name: refusal, text: "scripted") }
            do {
                try await work(call)
            } catch let failure as MethodFailure {
                throw failure
            } catch {
                throw .failed("\(error)")
            }
            return []
        }
    }

    private func setFilter(_ call: Invocation) {
        let filter = call.arguments[0].asProperties ?? [:]
        output.yield(
            .setFilter(uuids: filter["UUIDs"]?.asStrings, rssi: filter["RSSI"]?.asInt16)
        )
    }

    private func discovers(_ isOn: Bool) async throws {
        let (was, adapter) = state.withLock { state in
            defer { state.isDiscovering = isOn }
            return (state.isDiscovering, state.adapter)
        }
        output.yield(isOn ? .startDiscovery : .stopDiscovery)
        if was == isOn {
            throw MethodFailure(
                name: isOn ? "org.bluez.Error.InProgress" : "org.bluez.Error.Failed",
                text: ""
            )
        }
        try await changed(adapter, "org.bluez.Adapter1", ["Discovering": .boolean(isOn)])
    }

    /// Registers an advertisement after reading its properties from the caller, as bluetoothd does.
    private func register(_ call: Invocation) async throws {
        guard let path = call.arguments[0].asObjectPath, let sender = call.sender else { return }
        let reply = try await connection.call(
            MethodCall(
                to: sender,
                path: path,
                interface: "org.freedesktop.DBus.Properties",
                member: "GetAll",
                arguments: [.string("org.bluez.LEAdvertisement1")]
            ),
            timeout: .seconds(10)
        )
        let properties = reply.first?.asProperties ?? [:]
        // Newer versions of bluetoothd write the transmit power back.
        _ = try await connection.call(
            MethodCall(
                to: sender,
                path: path,
                interface: "org.freedesktop.DBus.Properties",
                member: "Set",
                arguments: [
                    .string("org.bluez.LEAdvertisement1"), .string("TxPower"), .variant(.int16(7)),
                ]
            ),
            timeout: .seconds(10)
        )
        let request = Request.register(
            data: properties["ServiceData"]?.asProperties?[Self.serviceUUID]?.asBytes ?? [],
            uuids: properties["ServiceUUIDs"]?.asStrings ?? [],
            type: properties["Type"]?.asString ?? ""
        )
        let isNew = state.withLock { state in
            state.registered.updateValue(request, forKey: path) == nil
        }
        guard isNew else { throw MethodFailure(name: "org.bluez.Error.AlreadyExists", text: "") }
        output.yield(request)
    }

    private func unregister(_ call: Invocation) throws {
        guard let path = call.arguments[0].asObjectPath else { return }
        let known = state.withLock { $0.registered.removeValue(forKey: path) }
        guard known != nil else {
            throw MethodFailure(name: "org.bluez.Error.DoesNotExist", text: "")
        }
        output.yield(.unregister)
    }

    private func emit(_ member: String, _ arguments: [Value]) async throws {
        try await connection.emit(
            Signal(
                path: .root,
                interface: "org.freedesktop.DBus.ObjectManager",
                member: member,
                arguments: arguments
            )
        )
    }

    private static func interfaces(
        _ isPowered: Bool,
        _ modalias: String,
        _ isDiscovering: Bool = false
    ) -> [String: [String: Value]] {
        [
            "org.bluez.Adapter1": [
                "Address": .string("02:AA:00:00:00:00"), "Powered": .boolean(isPowered),
                "Discovering": .boolean(isDiscovering), "Modalias": .string(modalias),
            ],
            "org.bluez.LEAdvertisingManager1": [:],
        ]
    }

    private static func value(_ interfaces: [String: [String: Value]]) -> Value {
        .dictionary(
            interfaces.map { .init(key: .string($0.key), value: .properties($0.value)) },
            key: .string,
            value: Signature("a{sv}") ?? .none
        )
    }
}

/// The adapter's interfaces in `GetManagedObjects`; `nil` while it is unplugged.
final class ShownAdapter: Sendable {
    private let value: Mutex<[String: [String: Value]]?>

    init(_ value: [String: [String: Value]]?) {
        self.value = Mutex(value)
    }

    func get() -> [String: [String: Value]]? { value.withLock { $0 } }

    func set(_ new: [String: [String: Value]]?) { value.withLock { $0 = new } }
}
