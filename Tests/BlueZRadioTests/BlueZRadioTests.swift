import BlueZRadio
import BusTestSupport
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import DBus

struct BlueZRadioTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let other = EID(literal: "0123456789")
    private static let inProgress = "org.bluez.Error.InProgress"

    @Test("The radio scans with a filter, and reports its sightings and ignored advertisements")
    func hears() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus) { running in
            let state = try await running.state { $0.isScanning }
            #expect(state.adapter == "hci0" && state.bluezVersion == "5.66")
            var requests = bluez.requests.makeAsyncIterator()
            guard case .setFilter(let uuids, let rssi) = await requests.next() else {
                Issue.record("no filter before the scan")
                return
            }
            #expect(uuids == [ScriptedBlueZ.serviceUUID] && (rssi ?? 0) < -120)
            #expect(await requests.next() == .startDiscovery)
            try await bluez.hears(rssi: -60, data: Self.eid.serviceData)
            let first = try await running.sighting()
            #expect(first.eid == Self.eid && first.rssi?.dBm == -60 && first.adapter == "hci0")
            try await bluez.changes(["RSSI": .int16(-41)])
            #expect(try await running.sighting().rssi?.dBm == -41)
            try await bluez.hears(2, rssi: -50, data: [2, 0, 1, 2, 3, 4, 5, 6, 7, 8])
            let reason = try await running.next { event -> IgnoredReason? in
                if case .ignored(let reason) = event { reason } else { nil }
            }
            #expect(reason == .tile)
        }
        await bluez.stop()
    }

    @Test("An advertisement carries the UUID and the EID, and is unregistered when it is stopped")
    func advertises() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus) { running in
            try await running.radio.startAdvertising(Self.eid)
            let request = await Self.first(bluez) { $0.isRegister }
            #expect(request == Self.registration(Self.eid))
            _ = try await running.state { $0.advertising == [Self.eid] }
            await running.radio.stopAdvertising(Self.eid)
            _ = await Self.first(bluez) { $0 == .unregister }
            _ = try await running.state { $0.advertising.isEmpty }
        }
        await bluez.stop()
    }

    @Test("An adapter that was named by its address is used again when it has another number")
    func readded() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus, adapter: "02:AA:00:00:00:00") { running in
            // Not within #expect: its closure would take the place of the next one (Swift 6.3).
            let first = try await running.state { $0.isScanning }
            #expect(first.adapter == "hci0")
            try await running.radio.startAdvertising(Self.eid)
            try await bluez.removesAdapter()
            let gone = try await running.state { $0.problem?.code == .noAdapter }
            #expect(gone.adapter == nil)
            let sentence = "The Bluetooth adapter 02:AA:00:00:00:00 is not there."
            #expect(gone.problem?.sentence == sentence)
            try await bluez.addsAdapter(named: "hci1")
            let state = try await running.state { $0.isScanning && $0.advertising == [Self.eid] }
            #expect(state.adapter == "hci1" && state.problem == nil)
        }
        await bluez.stop()
    }

    @Test("An adapter with the wanted number but another address is not used")
    func otherAddress() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus, adapter: "02:AA:00:00:00:01") { running in
            let state = try await running.state { $0.problem?.code == .noAdapter }
            #expect(state.adapter == nil)
        }
        await bluez.stop()
    }

    @Test("The radio advertises and scans again after a restart of bluetoothd")
    func restart() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus) { running in
            try await running.radio.startAdvertising(Self.eid)
            await bluez.stop()
            _ = try await running.state { $0.problem?.code == .noBlueZ && $0.advertising.isEmpty }
            await #expect(throws: RadioFailure(.noBlueZ)) {
                try await running.radio.startAdvertising(Self.other)
            }
            let again = try await ScriptedBlueZ(on: bus)
            #expect(await Self.first(again) { $0.isRegister } == Self.registration(Self.eid))
            _ = try await running.state { $0.isScanning && $0.advertising == [Self.eid] }
            await again.stop()
        }
    }

    @Test("The radio advertises and scans again after a restart of the bus")
    func busRestart() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus) { running in
            try await running.radio.startAdvertising(Self.eid)
            bus.stop()
            _ = try await running.state { $0.problem?.code == .noBus }
            try bus.start()
            let again = try await ScriptedBlueZ(on: bus)
            _ = try await running.state { $0.isScanning && $0.advertising == [Self.eid] }
            await again.stop()
        }
        await bluez.stop()
    }

    @Test("An adapter that is off is a problem, and the radio works again when it is on")
    func power() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus, isPowered: false)
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.problem?.code == .adapterOff }
            await #expect(throws: RadioFailure(.adapterOff)) {
                try await running.radio.startAdvertising(Self.eid)
            }
            try await bluez.powers(true)
            _ = try await running.state { $0.isScanning && $0.problem == nil }
            try await running.radio.startAdvertising(Self.eid)
            try await bluez.powers(false)
            _ = try await running.state { !$0.isScanning && $0.advertising.isEmpty }
            try await bluez.powers(true)
            _ = try await running.state { $0.isScanning && $0.advertising == [Self.eid] }
        }
        await bluez.stop()
    }

    @Test("The radio scans and advertises again after its adapter was unplugged and plugged in")
    func unplugged() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus) { running in
            try await running.radio.startAdvertising(Self.eid)
            try await bluez.removesAdapter()
            _ = try await running.state { $0.problem?.code == .noAdapter && $0.adapter == nil }
            try await bluez.addsAdapter()
            _ = try await running.state { $0.isScanning && $0.advertising == [Self.eid] }
        }
        await bluez.stop()
    }

    @Test("A scan that ends by itself is restarted, even if its stop fails with InProgress")
    func lostDiscovery() async throws {
        let bus = try PrivateBus()
        let refusals = ["StopDiscovery": [Self.inProgress]]
        let bluez = try await ScriptedBlueZ(on: bus, refusals: refusals)
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.isScanning }
            _ = await Self.first(bluez) { $0 == .startDiscovery }
            try await bluez.losesDiscovery()
            _ = await Self.first(bluez) { $0 == .startDiscovery }
        }
        await bluez.stop()
    }

    @Test("A start that fails with InProgress counts as started if the adapter discovers")
    func startedAnyway() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus, isDiscovering: true)
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.isScanning && $0.problem == nil }
        }
        await bluez.stop()
        var starts = 0
        for await request in bluez.requests where request == .startDiscovery { starts += 1 }
        #expect(starts == 1)
    }

    @Test("A scan start that is refused is retried")
    func refusedStart() async throws {
        let bus = try PrivateBus()
        let refusals = ["StartDiscovery": ["org.bluez.Error.NotReady", Self.inProgress]]
        let bluez = try await ScriptedBlueZ(on: bus, refusals: refusals)
        try await RunningRadio.with(bus) { running in
            _ = await Self.first(bluez) { $0 == .startDiscovery }
            _ = try await running.state { $0.isScanning && $0.problem == nil }
        }
        await bluez.stop()
    }

    @Test("An advertisement for which the adapter has no room is refused with that reason")
    func exhausted() async throws {
        let bus = try PrivateBus()
        let refusals = ["RegisterAdvertisement": ["org.bluez.Error.NotPermitted"]]
        let bluez = try await ScriptedBlueZ(on: bus, refusals: refusals)
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.isScanning }
            do throws(RadioFailure) {
                try await running.radio.startAdvertising(Self.eid)
                Issue.record("not refused")
            } catch {
                #expect(error.code == .tooManyAdvertisements)
            }
            try await running.radio.startAdvertising(Self.other)
        }
        await bluez.stop()
    }

    @Test("BlueZ 5.87 gets a first filter without UUIDs, because a UUID filter crashes bluetoothd")
    func quirk() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus, modalias: "usb:v1D6Bp0246d0557")
        try await RunningRadio.with(bus) { _ in
            let filter = await Self.first(bluez) { _ in true }
            guard case .setFilter(nil, .some) = filter else {
                Issue.record("\(String(describing: filter))")
                return
            }
        }
        await bluez.stop()
    }

    @Test("Signals with wrong types, or from senders other than bluetoothd, cause no sighting")
    func malformed() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let liar = try await bus.connect()
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.isScanning }
            let device = "org.bluez.Device1"
            try await bluez.changes(["RSSI": .string("-40"), "ServiceData": .int16(1)])
            try await bluez.changed(.root, device, ["UUIDs": .bytes([1]), "Name": .boolean(true)])
            try await bluez.hears(rssi: nil, data: nil, more: ["RSSI": .uint32(5)])
            try await liar.emit(
                Signal(
                    path: ScriptedBlueZ.device(9),
                    interface: "org.freedesktop.DBus.Properties",
                    member: "PropertiesChanged",
                    arguments: [
                        .string(device),
                        .properties([
                            "RSSI": .int16(-30),
                            "ServiceData": .properties([
                                ScriptedBlueZ.serviceUUID: .bytes(Self.other.serviceData)
                            ]),
                        ]), .strings([]),
                    ]
                )
            )
            try await bluez.hears(rssi: -50, data: Self.eid.serviceData)
            #expect(try await running.sighting().eid == Self.eid)
        }
        await liar.close()
        await bluez.stop()
    }

    private static func first(
        _ bluez: ScriptedBlueZ,
        where isRight: (ScriptedBlueZ.Request) -> Bool
    ) async -> ScriptedBlueZ.Request? {
        for await request in bluez.requests where isRight(request) { return request }
        return nil
    }

    private static func registration(_ eid: EID) -> ScriptedBlueZ.Request {
        .register(data: eid.serviceData, uuids: [ScriptedBlueZ.serviceUUID], type: "broadcast")
    }
}

extension ScriptedBlueZ.Request {
    var isRegister: Bool {
        if case .register = self { true } else { false }
    }
}
