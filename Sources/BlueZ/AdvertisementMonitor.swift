package import DBus

/// A monitor for advertisements of our service, which bluetoothd matches beside discovery.
///
/// It has two uses. While one is there the kernel does not ask the controller to drop repeated
/// advertisements, so samples of a candidate keep coming. And it hears where discovery cannot:
/// after bluetoothd has died, the kernel refuses a scan for as long as the old one lasts.
///
/// No threshold is set: with any, bluetoothd takes the others from its own defaults, reports each
/// device once, and judges by the wall clock in whole seconds (src/adv_monitor.c). `DeviceFound`
/// then comes for every advertisement that matches, which is what we ask for; and where the
/// controller matches, it is told to report every advertisement (a sampling period of 0).
package struct AdvertisementMonitor: Sendable {
    /// What bluetoothd says of a monitor.
    package enum Notice: Equatable, Sendable {
        /// The kernel has accepted it.
        case activated
        /// bluetoothd or the kernel has dropped it.
        case released
        /// An advertisement of the device at this path has matched.
        case found(ObjectPath)
    }

    /// The object that bluetoothd asks for all monitors.
    package let root: ObjectPath
    package let path: ObjectPath
    private let serviceUUID: UUID16

    /// - Parameter number: tells these objects from all others of this process.
    package init?(serviceUUID: UUID16, number: UInt64) {
        guard let root = ObjectPath("/gotchu/monitors\(number)"),
            let path = ObjectPath("\(root)/service")
        else { return nil }
        self.root = root
        self.path = path
        self.serviceUUID = serviceUUID
    }

    /// The advertising data that begins with our UUID: lists of 16-bit UUIDs, which is all that a
    /// phone has beside its name, and service data (Supplement to the Core Specification, Part A
    /// 1.1 and 1.11).
    private static let types: [UInt8] = [0x02, 0x03, 0x16]

    private var properties: [String: Value] {
        let number = serviceUUID.number
        let uuid: Value = .bytes([UInt8(number & 0xFF), UInt8(number >> 8)])
        let patterns = Self.types.map { Value.structure([.byte(0), .byte($0), uuid]) }
        return [
            "Type": .string("or_patterns"),
            "Patterns": .array(patterns, of: Signature("(yyay)") ?? .none),
        ]
    }

    /// The two objects to export.
    ///
    /// - Parameter notify: told what a caller says, and the caller's name, which must be checked.
    package func objects(notify: @escaping @Sendable (Notice, _ sender: String?) async -> Void)
        -> [ObjectPath: ExportedObject]
    {
        func told(_ notice: Notice) -> ExportedObject.Method {
            ExportedObject.Method { invocation throws(MethodFailure) in
                await notify(notice, invocation.sender)
                return []
            }
        }
        let found = ExportedObject.Method(input: .objectPath) { call throws(MethodFailure) in
            guard let device = call.arguments.first?.asObjectPath else { return [] }
            await notify(.found(device), call.sender)
            return []
        }
        // Presence is timed by us, never by BlueZ.
        let lost = ExportedObject.Method(input: .objectPath) { _ throws(MethodFailure) in [] }
        let monitor = ExportedObject.Interface(
            methods: [
                "Activate": told(.activated), "Release": told(.released), "DeviceFound": found,
                "DeviceLost": lost,
            ],
            properties: properties.mapValues { .constant($0) }
        )
        let list = managedObjects
        let getAll = ExportedObject.Method(output: list.signature) { _ throws(MethodFailure) in
            [list]
        }
        return [
            root: ExportedObject(interfaces: [
                BlueZ.objectManagerInterface: .init(methods: ["GetManagedObjects": getAll])
            ]),
            path: ExportedObject(interfaces: [BlueZ.monitorInterface: monitor]),
        ]
    }

    private var managedObjects: Value {
        let all = Value.properties(properties)
        let interfaces = Value.dictionary(
            [.init(key: .string(BlueZ.monitorInterface), value: all)],
            key: .string,
            value: all.signature
        )
        return .dictionary(
            [.init(key: .objectPath(path), value: interfaces)],
            key: .objectPath,
            value: interfaces.signature
        )
    }
}

/// `org.bluez.AdvertisementMonitorManager1` of one adapter; only an experimental bluetoothd has it.
package struct AdvertisementMonitorManager: Sendable {
    package let adapter: ObjectPath
    private let peer: BlueZPeer

    package init(_ adapter: ObjectPath, of peer: BlueZPeer) {
        self.adapter = adapter
        self.peer = peer
    }

    /// Has bluetoothd read the monitors below `root`.
    package func register(_ root: ObjectPath) async throws(BlueZError) {
        try await peer.call(
            adapter,
            BlueZ.monitorManagerInterface,
            "RegisterMonitor",
            [.objectPath(root)]
        )
    }

    /// Whether the controller matches, and not bluetoothd. To be asked when a monitor has been
    /// registered: bluetoothd does not know it before it has heard from the kernel, and tells
    /// nobody when it does.
    package func isOffloaded() async throws(BlueZError) -> Bool {
        let features = try await peer.call(
            adapter,
            BlueZ.propertiesInterface,
            "Get",
            [.string(BlueZ.monitorManagerInterface), .string("SupportedFeatures")]
        )
        return features.first?.asStrings?.contains("controller-patterns") ?? false
    }

    /// Has bluetoothd forget them. What it does not know is forgotten already.
    package func unregister(_ root: ObjectPath) async throws(BlueZError) {
        do {
            try await peer.call(
                adapter,
                BlueZ.monitorManagerInterface,
                "UnregisterMonitor",
                [.objectPath(root)]
            )
        } catch .doesNotExist {
        } catch .gone {
            // The interface is gone, and all that it had.
        }
    }
}
