import BusTestSupport
import DBus
import GotchuCore
import Synchronization

/// Advertisement monitors and what they match, as bluetoothd's software does it, or leaves it to a
/// controller (src/adv_monitor.c, src/adapter.c).
extension FaultyBlueZ {
    static let monitorInterface = "org.bluez.AdvertisementMonitor1"
    static let managerInterface = "org.bluez.AdvertisementMonitorManager1"

    /// Reads the monitor from its owner; the kernel's answer comes on its own.
    func registerMonitor(_ call: Invocation) async throws {
        guard let root = call.arguments[0].asObjectPath, let sender = call.sender else { return }
        guard state.withLock({ $0.monitors[root] == nil }) else {
            throw MethodFailure(bluez: "AlreadyExists")
        }
        let reply = try await connection.call(
            MethodCall(
                to: sender,
                path: root,
                interface: "org.freedesktop.DBus.ObjectManager",
                member: "GetManagedObjects"
            ),
            timeout: .seconds(10)
        )
        guard case .dictionary(let objects, key: _, value: _)? = reply.first,
            let path = objects.first?.key.asObjectPath,
            let properties = objects.first?.value.asProperties?[Self.monitorInterface]
        else { throw MethodFailure(bluez: "InvalidArguments") }
        let isAccepted = state.withLock { state in
            state.monitors[root] = Monitor(
                owner: sender,
                path: path,
                properties: properties.asProperties ?? [:],
                isActive: state.acceptsMonitors
            )
            if !state.acceptsMonitors { state.monitors[root] = nil }
            return state.acceptsMonitors
        }
        try await tell(sender, path, isAccepted ? "Activate" : "Release")
    }

    var monitorFeatures: ExportedObject.Property {
        ExportedObject.Property(Value.strings([]).signature) { [self] in
            .strings(state.withLock(\.offloadsMonitors) ? ["controller-patterns"] : [])
        }
    }

    func unregisterMonitor(_ call: Invocation) throws {
        guard let root = call.arguments[0].asObjectPath else { return }
        let known = state.withLock { $0.monitors.removeValue(forKey: root) }
        guard known != nil else { throw MethodFailure(bluez: "DoesNotExist") }
    }

    /// The kernel has dropped all monitors.
    func releasesMonitors() async throws {
        let monitors = state.withLock { state in
            defer { state.monitors = [:] }
            return state.monitors
        }
        for monitor in monitors.values { try await tell(monitor.owner, monitor.path, "Release") }
    }

    /// Hears an advertisement while nobody discovers: a level is told when it is new or has changed
    /// by 8 dB, a match each time. Where the controller matches, nothing after the first.
    ///
    /// - Returns: whether the level was told.
    @discardableResult
    func monitorHears(_ device: ObjectPath, _ properties: [String: Value]) async throws -> Bool {
        let level = properties["RSSI"]?.asInt16 ?? 0
        let told = state.withLock { state in
            let before = state.told[device]
            if before.map({ abs($0 - level) >= 8 }) ?? true { state.told[device] = level }
            return before
        }
        if told != nil, state.withLock(\.offloadsMonitors) { return false }
        let isTold = told.map { abs($0 - level) >= 8 } ?? true
        if told == nil {
            try await emit(
                "InterfacesAdded",
                [.objectPath(device), Self.value(["org.bluez.Device1": properties])]
            )
        } else if isTold {
            try await changed(["RSSI": .int16(level)], of: device, "org.bluez.Device1")
        }
        for monitor in state.withLock({ Array($0.monitors.values) }) where monitor.isActive {
            try await tell(monitor.owner, monitor.path, "DeviceFound", [.objectPath(device)])
        }
        return isTold
    }

    /// Takes a device off the bus. So the real one does with all that cannot be connected to, each
    /// time that a scan is refused (discovery_cleanup).
    func forgets(_ device: ObjectPath) async throws {
        let wasTold = state.withLock { $0.told.removeValue(forKey: device) != nil }
        guard wasTold else { return }
        try await emit(
            "InterfacesRemoved",
            [.objectPath(device), .strings(["org.bluez.Device1"])]
        )
    }

    /// Calls a monitor's owner, and waits for no answer, as bluetoothd does not.
    private func tell(
        _ owner: String,
        _ path: ObjectPath,
        _ member: String,
        _ arguments: [Value] = []
    ) async throws {
        _ = try await connection.call(
            MethodCall(
                to: owner,
                path: path,
                interface: Self.monitorInterface,
                member: member,
                arguments: arguments
            ),
            timeout: .seconds(10)
        )
    }
}
