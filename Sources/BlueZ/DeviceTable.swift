import DBus
import GotchuCore

/// The data of each device about our service, and the recognition of that data.
///
/// A device without such data is not stored: random addresses of other devices use no memory. If
/// there are too many devices, those not heard for longest are evicted.
struct DeviceTable {
    struct Device {
        var serviceData: [UInt8]?
        /// A Boolean that is true if our UUID was listed in this session. BlueZ never removes a
        /// UUID, so one from an earlier session may be stale.
        var listsService = false
        /// The name heard in this session. Names that BlueZ remembers from earlier are ignored.
        var localName: String?
        /// The recognition of all of that.
        private(set) var recognition = HeardAdvertisement.Recognition.ignored(.noService)
        /// The value of `clock` at the last update; `clock` counts all updates.
        var lastHeard: UInt64 = 0

        /// A Boolean that is true if the entry holds no data.
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

    /// The most devices stored. A quarter is evicted at once: the search for the oldest ones is
    /// rare then.
    static let limit = 1024
    /// The longest service data or name in a legacy advertisement (Core Specification, Vol 6 Part B
    /// 2.3.1.3); extended advertisements may have longer ones, and are not ours.
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
    /// - Parameter isFresh: False for a snapshot. Service data in it counts, since BlueZ replaces
    ///   it with each change; a name or UUID list in it may be old.
    /// - Returns: The updated device, and true if its recognition has changed.
    mutating func update(
        _ path: ObjectPath,
        _ properties: Value,
        isFresh: Bool
    ) -> (device: Device, isNew: Bool) {
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
                // Longer names are never ours, and need not be stored.
                device.localName = name.utf8.count <= Self.textLimit ? name : nil
                isOther = true
            }
        }
        if isOther { device.recognise() }
        let isNew = known?.recognition != device.recognition
        clock += 1
        device.lastHeard = clock
        if keeps(device) {
            if known == nil, devices.count >= Self.limit { forgetOldest() }
            devices[path] = device
        } else {
            devices[path] = nil
        }
        return (device, isNew)
    }

    /// Removes data that is no longer valid.
    ///
    /// - Parameter names: The properties that have lost their value.
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

    /// Returns true if a device must be stored. A device with only a name is stored if the name is
    /// an EID: the UUID may follow in a scan response.
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
