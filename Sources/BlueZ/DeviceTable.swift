import DBus
import GotchuCore

/// The words of each device about our service, and nothing else, recognised once.
///
/// A device that says nothing about it is not kept at all, so random addresses of strangers cost no
/// memory; of those that do, the ones not heard for longest go first when there are too many.
struct DeviceTable {
    struct Device {
        var serviceData: [UInt8]?
        /// Our UUID was listed in this session. BlueZ never takes a UUID back, so one from before
        /// may be stale.
        var listsService = false
        /// Heard in this session; BlueZ remembers names.
        var localName: String?
        /// All of that, judged.
        private(set) var recognition = HeardAdvertisement.Recognition.stranger(.noService)
        /// Grows with every sighting of any device.
        var lastHeard: UInt64 = 0

        /// A Boolean that is true if forgetting it would lose nothing.
        var isEmpty: Bool { serviceData == nil && !listsService && localName == nil }

        mutating func recognise() {
            recognition =
                HeardAdvertisement(
                    serviceData: serviceData,
                    listsService: listsService,
                    localName: localName
                ).recognise()
        }
    }

    /// Devices kept. A quarter goes at once, so that a flood pays for the search rarely.
    static let limit = 1024
    /// Longer service data or names than any advertisement can hold (Core Specification, Vol 6 Part
    /// B 2.3.1.3; extended advertisements have more, and are not ours).
    private static let textLimit = 31

    private var devices: [ObjectPath: Device] = [:]
    private var clock: UInt64 = 0
    let serviceUUID: String

    init(serviceUUID: UUID16) {
        self.serviceUUID = serviceUUID.description
    }

    var count: Int { devices.count }

    /// Applies properties of `Device1`. A property of another type than BlueZ documents is
    /// ignored.
    ///
    /// - Parameter isFresh: `false` for a snapshot. Service data in it counts, since BlueZ replaces
    ///   it with each change; a name or UUID list in it may be from another day.
    /// - Returns: The device now, and whether what it says has changed.
    mutating func update(
        _ path: ObjectPath,
        _ properties: Value,
        isFresh: Bool
    ) -> (device: Device, isNews: Bool) {
        let known = devices[path]
        var device = known ?? Device()
        var isOther = false
        if let services = properties["ServiceData"], services.hasProperties {
            device.serviceData = services[serviceUUID]?.asBytes.map {
                Array($0.prefix(Self.textLimit))
            }
            isOther = true
        }
        if isFresh {
            if let uuids = properties["UUIDs"]?.asStrings {
                device.listsService = uuids.contains(serviceUUID)
                isOther = true
            }
            if let name = properties["Name"]?.asString {
                // Any other length is as good as none, and need not be kept.
                device.localName = name.utf8.count <= Self.textLimit ? name : nil
                isOther = true
            }
        }
        if isOther { device.recognise() }
        let isNews = known?.recognition != device.recognition
        clock += 1
        device.lastHeard = clock
        if keeps(device) {
            if known == nil, devices.count >= Self.limit { forgetOldest() }
            devices[path] = device
        } else {
            devices[path] = nil
        }
        return (device, isNews)
    }

    /// Forgets what no longer holds.
    ///
    /// - Parameter names: The properties without a value.
    mutating func invalidate(_ path: ObjectPath, _ names: [String]) {
        guard !names.isEmpty, var device = devices[path] else { return }
        if names.contains("ServiceData") { device.serviceData = nil }
        if names.contains("UUIDs") { device.listsService = false }
        if names.contains("Name") { device.localName = nil }
        device.recognise()
        devices[path] = keeps(device) ? device : nil
    }

    mutating func remove(_ path: ObjectPath) {
        devices[path] = nil
    }

    mutating func removeAll() {
        devices = [:]
    }

    /// A name alone is kept only if it could become ours when the UUID follows in a scan response.
    private func keeps(_ device: Device) -> Bool {
        device.serviceData != nil || device.listsService
            || device.localName.flatMap { EID($0) } != nil
    }

    private mutating func forgetOldest() {
        let order = devices.values.map(\.lastHeard).sorted()
        let threshold = order[order.count / 4]
        devices = devices.filter { $0.value.lastHeard >= threshold }
    }
}
