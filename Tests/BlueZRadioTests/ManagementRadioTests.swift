import BlueZ
import BlueZRadio
import BusTestSupport
import DBus
import Glibc
import GotchuCore
import Logging
import Radio
import TestSupport
import Testing

@Suite("Listening over the management socket")
struct ManagementRadioTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let other = EID(literal: "0123456789")

    private static func kiosk(_ eid: EID, _ rssi: Int8, adapter: UInt16 = 0) -> [UInt8] {
        ManagementFrame.deviceFound(ManagementFrame.kiosk(eid), rssi: rssi, adapter: adapter)
    }

    @Test("A radio that listens over the management socket ignores bluetoothd's reports of devices")
    func listens() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            let state = try await running.state { $0.isScanning && $0.adapter == "hci0" }
            #expect(state.transport == .management && state.transportNote == nil)
            #expect(state.problem == nil && !state.isTransportDegraded)
            try await bluez.hears(rssi: -77, data: Self.other.serviceData)
            try await bluez.changes(["RSSI": .int16(-78)])
            kernel.send(Self.kiosk(Self.eid, -60))
            let first = try await running.sighting()
            #expect(first.eid == Self.eid && first.rssi?.dBm == -60 && first.adapter == "hci0")
            // Reports of another adapter and malformed frames are ignored.
            kernel.send(Self.kiosk(Self.other, -30, adapter: 1))
            kernel.send([1, 2, 3])
            kernel.send([UInt8](repeating: 0xFF, count: 5000))
            kernel.send(Self.kiosk(Self.eid, -41))
            #expect(try await running.sighting().rssi?.dBm == -41)
            try await running.radio.startAdvertising(Self.other)
        }
        await bluez.stop()
    }

    @Test("An ignored device is reported again only when its advertisement changes")
    func strangers() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            _ = try await running.state { $0.isScanning }
            let tile = ManagementFrame.field(0x16, [0xED, 0xFE, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8])
            let word = ManagementFrame.field(0x16, [0xED, 0xFE] + Array("not-an-eid".utf8))
            for data in [tile, tile, word, word, tile] {
                kernel.send(ManagementFrame.deviceFound(data, rssi: -50, device: 9))
            }
            kernel.send(Self.kiosk(Self.eid, -50))
            var reasons: [IgnoredReason] = []
            while true {
                let event = try await running.next { event -> RadioEvent? in
                    if case .stateChanged = event { nil } else { event }
                }
                guard case .ignored(let reason) = event else { break }
                reasons.append(reason)
            }
            #expect(reasons == [.tile, .charset, .tile])
        }
        await bluez.stop()
    }

    @Test("Without CAP_NET_ADMIN, the radio listens over D-Bus and reports the reason")
    func refused() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel(answer: 0x14)
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            let state = try await running.state { $0.isScanning }
            #expect(state.transport == .dbus)
            #expect(state.transportNote == "no CAP_NET_ADMIN: listening over D-Bus")
            #expect(state.problem == nil && !state.isTransportDegraded)
            try await bluez.hears(rssi: -60, data: Self.eid.serviceData)
            #expect(try await running.sighting().rssi?.dBm == -60)
            try await bluez.changes(["RSSI": .int16(-44)])
            #expect(try await running.sighting().rssi?.dBm == -44)
        }
        await bluez.stop()
    }

    @Test("A socket that cannot be opened is logged as info once, and then at level debug")
    func loggedOnce() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let failure = ManagementFailure.noSocket(EAFNOSUPPORT)
        let kernel = ScriptedKernel(failures: [failure, failure])
        let log = RecordedLog(level: .debug)
        try await RunningRadio.with(
            bus,
            transport: .best,
            kernel: kernel,
            logger: log.logger
        ) { running in
            _ = try await running.state { $0.transport == .management }
        }
        await bluez.stop()
        let told = log.lines.filter { $0.contains("listening over D-Bus") }
        #expect(told.map { $0.prefix(5) } == ["info:", "debug"], "\(told)")
    }

    @Test("A radio that must use the management socket reports a problem if it cannot open it")
    func required() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel(failures: [.noCapability])
        try await RunningRadio.with(bus, transport: .management, kernel: kernel) { running in
            let state = try await running.state { $0.isScanning }
            #expect(state.problem?.code == .noManagement)
            #expect(state.problem?.underlying == "no CAP_NET_ADMIN")
        }
        await bluez.stop()
    }

    @Test("The radio listens over D-Bus while the socket is broken, and its state gives the reason")
    func lost() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            _ = try await running.state { $0.isScanning && $0.transport == .management }
            try await running.radio.startAdvertising(Self.other)
            kernel.send(Self.kiosk(Self.eid, -60))
            _ = try await running.sighting()
            kernel.permit(false)
            kernel.hangUp()
            let degraded = try await running.state { $0.transport == .dbus }
            let note = try #require(degraded.transportNote)
            #expect(note.hasPrefix("the management socket ") && note.hasSuffix("over D-Bus"))
            // The radio subscribes to devices' signals again, and repeats its calls to bluetoothd.
            _ = try await running.state { $0.isScanning && $0.advertising == [Self.other] }
            try await bluez.hears(rssi: -60, data: Self.eid.serviceData)
            #expect(try await running.sighting().rssi?.dBm == -60)
            kernel.permit(true)
            let restored = try await running.state { $0.transport == .management }
            #expect(restored.transportNote == nil && !restored.isTransportDegraded)
            kernel.send(Self.kiosk(Self.eid, -33))
            #expect(try await running.sighting().rssi?.dBm == -33)
        }
        await bluez.stop()
    }

    @Test("If the kernel does not answer, the radio listens over D-Bus and reports the reason")
    func silent() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel(answer: nil)
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            let state = try await running.state { $0.isScanning }
            #expect(state.transport == .dbus)
            #expect(state.transportNote?.hasPrefix("the management socket does not") == true)
        }
        await bluez.stop()
    }

    @Test("The radio listens over D-Bus if the socket is silent while bluetoothd hears devices")
    func silentSocket() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus, transport: .best) { running in
            _ = try await running.state { $0.isScanning && $0.transport == .management }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1... {
                        try await bluez.hears(number, rssi: -60, data: nil)
                        // SAFETY: the interval between devices; no check depends on it.
                        try await Task.sleep(for: .milliseconds(200))
                    }
                }
                let state = try await running.state { $0.transport == .dbus }
                let note = "the management socket is silent while bluetoothd hears"
                #expect(state.transportNote == "\(note): listening over D-Bus")
                group.cancelAll()
            }
        }
        await bluez.stop()
    }

    @Test("Another filter is set through bluetoothd while a near EID brings no further samples")
    func refresh() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            _ = try await running.state { $0.isScanning }
            kernel.send(Self.kiosk(Self.eid, -50))
            // The filters must differ, because bluetoothd ignores a filter that is set already.
            var first: ScriptedBlueZ.Request?
            var hasStarted = false
            for await request in bluez.requests {
                if request == .startDiscovery { hasStarted = true }
                guard case .setFilter = request else { continue }
                if hasStarted {
                    #expect(first != nil && request != first)
                    break
                }
                first = request
            }
        }
        await bluez.stop()
    }
}
