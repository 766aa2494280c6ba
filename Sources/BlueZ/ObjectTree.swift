package import DBus
package import GotchuCore

/// The state of bluetoothd's objects, derived from its snapshots and signals. Performs no I/O.
struct ObjectTree {
    private(set) var adapters: [ObjectPath: AdapterState] = [:]
    private var devices: DeviceTable

    /// The most adapters that are stored; no known machine has more.
    private static let adapterLimit = 32

    init(serviceUUID: UUID16) {
        devices = DeviceTable(serviceUUID: serviceUUID)
    }

    /// The number of stored devices, to check the memory limit.
    var deviceCount: Int { devices.count }

    /// The current state of all adapters, ordered by path.
    var adaptersEvent: BlueZSession.Event {
        .adapters(adapters.values.sorted { $0.path.text < $1.path.text })
    }

    /// Removes all objects: bluetoothd is gone.
    mutating func clear() {
        adapters = [:]
        devices.removeAll()
    }

    /// Applies the reply of `GetManagedObjects`. It is not known when its devices were heard: they
    /// are stored but not reported. Devices from earlier signals are kept.
    mutating func load(_ snapshot: [Value]) {
        let toggleCounts = adapters.mapValues(\.powerToggleCount)
        adapters = [:]
        // The counts continue across snapshots.
        defer { for (path, count) in toggleCounts { adapters[path]?.powerToggleCount += count } }
        guard case .dictionary(let entries, key: .objectPath, value: _)? = snapshot.first else {
            return
        }
        for entry in entries {
            guard let path = entry.key.asObjectPath, entry.value.hasProperties else { continue }
            _ = add(path, entry.value, isFresh: false)
        }
    }

    /// Applies a signal from bluetoothd, and returns the change that it made.
    mutating func apply(_ signal: Signal) -> BlueZSession.Event? {
        switch (signal.interface, signal.member) {
        case (BlueZ.objectManagerInterface, "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].asObjectPath,
                signal.arguments[1].hasProperties
            else { return nil }
            return add(path, signal.arguments[1], isFresh: true)
        case (BlueZ.objectManagerInterface, "InterfacesRemoved"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].asObjectPath,
                let interfaces = signal.arguments[1].asStrings
            else { return nil }
            return remove(path, interfaces)
        case (BlueZ.propertiesInterface, "PropertiesChanged"):
            guard signal.arguments.count == 3, let interface = signal.arguments[0].asString,
                signal.arguments[1].hasProperties,
                let invalidated = signal.arguments[2].asStrings
            else { return nil }
            return change(signal.path, interface, signal.arguments[1], invalidated)
        default: return nil
        }
    }

    private mutating func add(
        _ path: ObjectPath,
        _ interfaces: Value,
        isFresh: Bool
    ) -> BlueZSession.Event? {
        var change: BlueZSession.Event?
        if let properties = interfaces[BlueZ.adapterInterface], properties.hasProperties,
            adapters[path] != nil || adapters.count < Self.adapterLimit
        {
            var adapter = adapters[path] ?? AdapterState(path: path)
            adapter.update(properties, invalidated: [])
            adapters[path] = adapter
            change = adaptersEvent
        }
        if let manager = interfaces[BlueZ.advertisingManagerInterface], adapters[path] != nil {
            adapters[path]?.canAdvertise = true
            adapters[path]?.advertisingInstances = Self.instances(manager)
            change = adaptersEvent
        }
        if let properties = interfaces[BlueZ.deviceInterface], properties.hasProperties {
            let (device, isNew) = devices.update(path, properties, isFresh: isFresh)
            guard isFresh else { return change }
            // Reported even without a level, because a second advertisement may never come.
            change = .heard(report(path, device, properties, isNew: isNew))
        }
        return change
    }

    private mutating func change(
        _ path: ObjectPath,
        _ interface: String,
        _ changed: Value,
        _ invalidated: [String]
    ) -> BlueZSession.Event? {
        if interface == BlueZ.adapterInterface {
            if let isPowered = changed["Powered"]?.asBool, isPowered == adapters[path]?.isPowered {
                adapters[path]?.powerToggleCount += 1
            }
            adapters[path]?.update(changed, invalidated: invalidated)
            return adapters[path] == nil ? nil : adaptersEvent
        }
        guard interface == BlueZ.deviceInterface else { return nil }
        devices.invalidate(path, invalidated)
        let (device, isNew) = devices.update(path, changed, isFresh: true)
        // A level or service data arrive with an advertisement; other properties may change without
        // one.
        guard changed["RSSI"] != nil || changed["ServiceData"] != nil else { return nil }
        guard !device.isEmpty else {
            return adapter(of: path).map(BlueZSession.Event.otherAdvertisement(adapter:))
        }
        return .heard(report(path, device, changed, isNew: isNew))
    }

    private static func instances(_ properties: Value) -> Int? {
        guard let left = properties["SupportedInstances"]?.asByte,
            let taken = properties["ActiveInstances"]?.asByte
        else { return nil }
        return Int(left) + Int(taken)
    }

    private mutating func remove(_ path: ObjectPath, _ interfaces: [String]) -> BlueZSession.Event?
    {
        if interfaces.contains(BlueZ.deviceInterface) { devices.remove(path) }
        if interfaces.contains(BlueZ.adapterInterface) {
            return adapters.removeValue(forKey: path) == nil ? nil : adaptersEvent
        }
        guard adapters[path] != nil, interfaces.contains(BlueZ.advertisingManagerInterface) else {
            return nil
        }
        adapters[path]?.canAdvertise = false
        return adaptersEvent
    }

    private func adapter(of device: ObjectPath) -> ObjectPath? {
        adapters.keys.first { $0.contains(device) }
    }

    private func report(
        _ path: ObjectPath,
        _ device: DeviceTable.Device,
        _ properties: Value,
        isNew: Bool
    ) -> DeviceReport {
        DeviceReport(
            adapter: adapter(of: path),
            recognition: device.recognition,
            rssi: properties["RSSI"]?.asInt16.flatMap { RSSI(dBm: Int($0)) },
            isNew: isNew
        )
    }
}

/// An advertisement, as far as BlueZ reports it.
package struct DeviceReport: Equatable, Sendable {
    package var adapter: ObjectPath?
    package var recognition: HeardAdvertisement.Recognition
    /// The level; `nil` if the report has none: it was not measured, or has not changed.
    package var rssi: RSSI?
    /// A Boolean that is true if the device's recognition differs from the last one.
    package var isNew: Bool
}

extension AdapterState {
    fileprivate mutating func update(_ properties: Value, invalidated: [String]) {
        if let address = properties["Address"]?.asString { self.address = address }
        if let isPowered = properties["Powered"]?.asBool { self.isPowered = isPowered }
        if let isDiscovering = properties["Discovering"]?.asBool {
            self.isDiscovering = isDiscovering
        }
        if let modalias = properties["Modalias"]?.asString {
            version = BlueZVersion(modalias: modalias)
        }
        // A property without a value counts as false.
        if invalidated.contains("Powered") { isPowered = false }
        if invalidated.contains("Discovering") { isDiscovering = false }
    }
}
