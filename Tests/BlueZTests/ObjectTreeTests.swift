import DBus
import GotchuCore
import TestSupport
import Testing

@testable import BlueZ

@Suite struct ObjectTreeTests {
    static let uuid = UUID16(0xFEED)
    static let adapter = path("/org/bluez/hci0")
    static let device = path("/org/bluez/hci0/dev_00_11_22_33_44_55")
    static let eid = EID(literal: "a1b2c3d4e5")
    static let carried: Value = .properties([uuid.description: .bytes(eid.serviceData)])

    private var tree = ObjectTree(serviceUUID: uuid)

    init() {
        tree.load([
            Self.objects([Self.adapter: ["org.bluez.Adapter1": ["Powered": .boolean(true)]]])
        ])
    }

    @Test("An adapter's capacity for advertisements is the sum of free and used instances")
    mutating func places() {
        let manager: [String: Value] = [
            "SupportedInstances": .byte(3), "ActiveInstances": .byte(2),
        ]
        tree.load([
            Self.objects([
                Self.adapter: [
                    "org.bluez.Adapter1": [:], "org.bluez.LEAdvertisingManager1": manager,
                ]
            ])
        ])
        #expect(tree.adapters[Self.adapter]?.advertisingInstances == 5)
    }

    @Test("A new device is reported with its EID, level and adapter")
    mutating func added() throws {
        let heard = try #require(
            hear(added: ["RSSI": .int16(-60), "ServiceData": Self.carried])
        )
        #expect(heard.recognition == .ours(Self.eid, .serviceData))
        #expect(heard.rssi?.dBm == -60 && heard.adapter == Self.adapter && heard.isNew)
    }

    @Test("A signal with only a level belongs to the device's last service data")
    mutating func levelAlone() throws {
        _ = hear(added: ["RSSI": .int16(-60), "ServiceData": Self.carried])
        let heard = try #require(hear(changed: ["RSSI": .int16(-42)]))
        #expect(heard.recognition == .ours(Self.eid, .serviceData))
        #expect(heard.rssi?.dBm == -42 && !heard.isNew)
    }

    @Test("A device from a snapshot is recognised when a signal brings its level")
    mutating func snapshot() throws {
        let properties: [String: Value] = ["RSSI": .int16(-30), "ServiceData": Self.carried]
        tree.load([
            Self.objects([
                Self.adapter: ["org.bluez.Adapter1": [:]],
                Self.device: ["org.bluez.Device1": properties],
            ])
        ])
        let heard = try #require(hear(changed: ["RSSI": .int16(-42)]))
        #expect(heard.recognition == .ours(Self.eid, .serviceData))
    }

    @Test("A name and a UUID from a snapshot identify no iPhone; both must arrive by signals")
    mutating func localName() throws {
        let properties: [String: Value] = [
            "UUIDs": .strings([Self.uuid.description]), "Name": .string("a1b2c3d4e5"),
        ]
        tree.load([
            Self.objects([
                Self.adapter: ["org.bluez.Adapter1": [:]],
                Self.device: ["org.bluez.Device1": properties],
            ])
        ])
        #expect(hear(changed: ["RSSI": .int16(-42)]) == nil)
        let renamed = hear(changed: ["RSSI": .int16(-42), "Name": .string("b1b2c3d4e5")])
        #expect(renamed?.recognition == .ignored(.noService))
        let fresh = try #require(hear(added: properties.merging(["RSSI": .int16(-50)]) { $1 }))
        #expect(fresh.recognition == .ours(Self.eid, .localName))
        let again = try #require(hear(changed: ["RSSI": .int16(-51)]))
        #expect(again.recognition == .ours(Self.eid, .localName))
    }

    @Test("A device that a signal announced before a snapshot stays known until `clear()`")
    mutating func signalBeforeSnapshot() throws {
        let properties: [String: Value] = [
            "UUIDs": .strings([Self.uuid.description]), "Name": .string("a1b2c3d4e5"),
        ]
        _ = hear(added: properties)
        tree.load([
            Self.objects([
                Self.adapter: ["org.bluez.Adapter1": [:]],
                Self.device: ["org.bluez.Device1": properties],
            ])
        ])
        let heard = try #require(hear(changed: ["RSSI": .int16(-42)]))
        #expect(heard.recognition == .ours(Self.eid, .localName) && !heard.isNew)
        tree.clear()
        #expect(hear(changed: ["RSSI": .int16(-42)]) == nil)
    }

    @Test("A Tile is recognised, and is new only in its first report")
    mutating func tile() throws {
        let data: Value = .properties([
            Self.uuid.description: .bytes([2, 0, 0xF3, 0x8E, 0x91, 0xC7, 0xD2, 0xAA, 0xB0, 0x80])
        ])
        let heard = try #require(hear(added: ["RSSI": .int16(-60), "ServiceData": data]))
        #expect(heard.recognition == .ignored(.tile) && heard.isNew)
        #expect(hear(changed: ["RSSI": .int16(-61)])?.isNew == false)
    }

    @Test("Properties that are invalidated or removed are forgotten")
    mutating func forgotten() throws {
        _ = hear(added: ["ServiceData": Self.carried])
        _ = tree.apply(Self.changed(Self.device, [:], invalidated: ["ServiceData", "RSSI"]))
        #expect(hear(changed: ["RSSI": .int16(-42)]) == nil)
        _ = hear(added: ["ServiceData": Self.carried])
        _ = tree.apply(Self.removed(Self.device, "org.bluez.Device1"))
        #expect(hear(changed: ["RSSI": .int16(-42)]) == nil && tree.deviceCount == 0)
    }

    @Test("An unmeasured level is dropped")
    mutating func unmeasured() throws {
        let heard = try #require(hear(added: ["RSSI": .int16(127), "ServiceData": Self.carried]))
        #expect(heard.rssi == nil)
    }

    @Test("Changes and the removal of an adapter are reported")
    mutating func adapters() {
        let changed = Self.changed(
            Self.adapter,
            ["Powered": .boolean(false), "Modalias": .string("usb:v1D6Bp0246d0542")],
            interface: "org.bluez.Adapter1"
        )
        let event = tree.apply(changed)
        #expect(event == .adapters(Array(tree.adapters.values)))
        #expect(tree.adapters[Self.adapter]?.isPowered == false)
        #expect(tree.adapters[Self.adapter]?.version == BlueZVersion(5, 66))
        #expect(tree.apply(Self.removed(Self.adapter, "org.bluez.Adapter1")) == .adapters([]))
        #expect(tree.adapters.isEmpty)
    }

    @Test("Adapters are listed in the order of their paths")
    mutating func order() {
        tree.clear()
        var event: BlueZSession.Event?
        for number in [2, 0, 3] {
            let path = Self.path("/org/bluez/hci\(number)")
            event = tree.apply(Self.added(path, [:], interface: "org.bluez.Adapter1"))
        }
        let ordered = [0, 2, 3].map { AdapterState(path: Self.path("/org/bluez/hci\($0)")) }
        #expect(event == .adapters(ordered))
    }

    @Test("Only a second `Powered` true in a row counts as a power toggle, and a snapshot does not")
    mutating func powerBlink() {
        // bluetoothd reports off and on in one signal, which contains only the last value.
        for (isPowered, toggleCount) in [(true, 1), (false, 1), (true, 1), (true, 2)] {
            let said = ["Powered": Value.boolean(isPowered)]
            _ = tree.apply(Self.changed(Self.adapter, said, interface: "org.bluez.Adapter1"))
            #expect(tree.adapters[Self.adapter]?.powerToggleCount == toggleCount)
        }
        let other = ["Discovering": Value.boolean(true)]
        _ = tree.apply(Self.changed(Self.adapter, other, interface: "org.bluez.Adapter1"))
        #expect(tree.adapters[Self.adapter]?.powerToggleCount == 2)
        let isOn = ["Powered": Value.boolean(true)]
        tree.load([Self.objects([Self.adapter: ["org.bluez.Adapter1": isOn]])])
        #expect(tree.adapters[Self.adapter]?.powerToggleCount == 2)
    }

    @Test("Devices without our UUID are not stored, and the number of stored devices is limited")
    mutating func bounded() {
        for number in 0..<20_000 {
            let device = Self.path("/org/bluez/hci0/dev_\(number)")
            _ = tree.apply(Self.added(device, ["RSSI": .int16(-60), "Name": .string("Band")]))
        }
        #expect(tree.deviceCount == 0)
        for number in 0..<20_000 {
            let device = Self.path("/org/bluez/hci0/dev_\(number)")
            _ = tree.apply(Self.added(device, ["ServiceData": Self.carried]))
            #expect(tree.deviceCount <= DeviceTable.limit)
        }
    }

    @Test("Random properties do not crash the tree, and no wrong EID is recognised")
    mutating func fuzz() {
        var random = SeededGenerator("random Device1 properties")
        let names = ["RSSI", "ServiceData", "UUIDs", "Name", "Powered", "Modalias", "Address"]
        for _ in 0..<100_000 {
            var properties: [String: Value] = [:]
            for name in names where Bool.random(using: &random) {
                properties[name] = Self.anything(&random)
            }
            let interface = Bool.random(using: &random) ? "org.bluez.Device1" : "org.bluez.Adapter1"
            let path = Bool.random(using: &random) ? Self.device : Self.adapter
            let signal =
                Bool.random(using: &random)
                ? Self.changed(
                    path,
                    properties,
                    invalidated: names.filter { _ in .random(using: &random) },
                    interface: interface
                )
                : Self.added(path, properties, interface: interface)
            guard case .heard(let report) = tree.apply(signal) else { continue }
            if case .ours(let eid, _) = report.recognition {
                #expect(eid == Self.eid, "seed \(random.seed)")
            }
        }
    }

    // MARK: bluetoothd's signals

    private mutating func hear(added properties: [String: Value]) -> DeviceReport? {
        guard case .heard(let report) = tree.apply(Self.added(Self.device, properties)) else {
            return nil
        }
        return report
    }

    private mutating func hear(changed properties: [String: Value]) -> DeviceReport? {
        guard case .heard(let report) = tree.apply(Self.changed(Self.device, properties)) else {
            return nil
        }
        return report
    }
}
