import BusTestSupport
import GotchuCore
import Synchronization

@testable import DBus

/// The objects of the simulated bluetoothd on the bus, and the signals about them.
extension FaultyBlueZ {
    func rootObject() -> ExportedObject {
        let type = Signature("a{oa{sa{sv}}}") ?? .none
        let get = ExportedObject.Method(output: type) { [self] _ throws(MethodFailure) in
            await callQueue.waitForTurn()
            defer { callQueue.endTurn() }
            let entries = interfaces.map { interfaces in
                [Value.Entry(key: .objectPath(Self.adapter), value: Self.value(interfaces))]
            }
            let inner = Signature("a{sa{sv}}") ?? .none
            return [.dictionary(entries ?? [], key: .objectPath, value: inner)]
        }
        return ExportedObject(interfaces: [
            "org.freedesktop.DBus.ObjectManager": .init(methods: ["GetManagedObjects": get])
        ])
    }

    func adapterObject() -> ExportedObject {
        let properties = Signature("a{sv}") ?? .none
        let registration = Signature("oa{sv}") ?? .none
        return ExportedObject(interfaces: [
            "org.bluez.Adapter1": .init(methods: [
                "SetDiscoveryFilter": method(properties) { [self] call, _ in
                    try await setFilter(call)
                },
                "StartDiscovery": method(.none) { [self] call, _ in
                    try await startDiscovery(call)
                },
                "StopDiscovery": method(.none) { [self] call, _ in
                    try await stopDiscovery(call)
                },
            ]),
            "org.bluez.LEAdvertisingManager1": .init(methods: [
                "RegisterAdvertisement": method(registration) { [self] call, _ in
                    try await register(call)
                },
                "UnregisterAdvertisement": method(.objectPath) { [self] call, callNumber in
                    try await unregister(call, callNumber)
                },
            ]),
        ])
    }

    /// Returns a method that runs `work` in its turn, after the scripted delay and unless a
    /// refusal is scripted.
    private func method(
        _ input: Signature,
        _ work: @escaping @Sendable (Invocation, _ callNumber: Int) async throws -> Void
    ) -> ExportedObject.Method {
        ExportedObject.Method(input: input) { [self] call throws(MethodFailure) in
            let callNumber = await callQueue.waitForTurn()
            defer { callQueue.endTurn() }
            let (refusal, delay) = state.withLock { state in
                state.calls.append(call.member)
                let hasRefusal = state.refusals[call.member]?.isEmpty == false
                let refusal = hasRefusal ? state.refusals[call.member]?.removeFirst() : nil
                return (state.hasAdapter ? refusal : "UnknownObject", state.delay)
            }
            // SAFETY: the delay of a slow bluetoothd; only the radio waits for it.
            if delay > .zero { try? await Task.sleep(for: delay) }
            if let refusal { throw MethodFailure(bluez: refusal) }
            do {
                try await work(call, callNumber)
            } catch let failure as MethodFailure {
                throw failure
            } catch {
                throw .failed("\(error)")
            }
            return []
        }
    }

    private var interfaces: [String: [String: Value]]? {
        state.withLock { state in
            guard state.hasAdapter else { return nil }
            var all = [
                "org.bluez.Adapter1": [
                    "Address": Value.string("02:AA:00:00:00:00"),
                    "Powered": .boolean(state.isPowered),
                    "Discovering": .boolean(state.isDiscovering),
                    "Modalias": .string(version.modalias),
                ]
            ]
            if state.canAdvertise { all["org.bluez.LEAdvertisingManager1"] = [:] }
            return all
        }
    }

    // MARK: Signals

    func says(isDiscovering: Bool) async throws {
        try await changed(["Discovering": .boolean(isDiscovering)])
    }

    func changed(
        _ properties: [String: Value],
        invalidated: [String] = [],
        of path: ObjectPath = FaultyBlueZ.adapter,
        _ interface: String = "org.bluez.Adapter1"
    ) async throws {
        try await connection.emit(
            Signal(
                path: path,
                interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged",
                arguments: [
                    .string(interface), .properties(properties), .strings(invalidated),
                ]
            )
        )
    }

    /// Switches the adapter off and on again before bluetoothd reports that it was off. The
    /// advertisements are then off the air, although bluetoothd keeps their registrations.
    func blinksPower() async throws {
        let isOn = state.withLock { state in
            guard state.isPowered else { return false }
            state.isDiscovering = false
            state.sessions = []
            state.revivedBy = nil
            for path in state.advertisements.keys { state.advertisements[path]?.isLost = true }
            return true
        }
        guard isOn else { return }
        try await changed(["Powered": .boolean(true), "Discovering": .boolean(false)])
    }

    /// Announces the adapter with the interfaces that it has now.
    func showsAdapter() async throws {
        guard let interfaces else { return }
        try await emit("InterfacesAdded", [.objectPath(Self.adapter), Self.value(interfaces)])
    }

    func hides(_ interfaces: [String]) async throws {
        try await emit("InterfacesRemoved", [.objectPath(Self.adapter), .strings(interfaces)])
    }

    func hears(
        _ number: Int,
        rssi: Int16,
        data: [UInt8],
        service: String = FaultyBlueZ.serviceUUID
    ) async throws {
        let properties: [String: Value] = [
            "RSSI": .int16(rssi), "ServiceData": .properties([service: .bytes(data)]),
        ]
        let device = Self.value(["org.bluez.Device1": properties])
        try await emit(
            "InterfacesAdded",
            [.objectPath(ScriptedBlueZ.device(number)), device]
        )
    }

    func emit(_ member: String, _ arguments: [Value]) async throws {
        try await connection.emit(
            Signal(
                path: .root,
                interface: "org.freedesktop.DBus.ObjectManager",
                member: member,
                arguments: arguments
            )
        )
    }

    static func value(_ interfaces: [String: [String: Value]]) -> Value {
        .dictionary(
            interfaces.map { .init(key: .string($0.key), value: .properties($0.value)) },
            key: .string,
            value: Signature("a{sv}") ?? .none
        )
    }
}
