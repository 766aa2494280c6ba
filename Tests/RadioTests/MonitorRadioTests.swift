import BusTestSupport
import DBus
import GotchuCore
import Radio
import Synchronization
import TestSupport
import Testing

/// The advertisement monitor against a bluetoothd that offers one, and goes wrong.
@Suite("The advertisement monitor", .timeLimit(.minutes(hangLimit)))
struct MonitorRadioTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let device = ScriptedBlueZ.device(1)

    @Test("it looks for our service, without any threshold", arguments: BlueZRelease.allCases)
    func registers(_ release: BlueZRelease) async throws {
        try await Self.with(release) { bluez, running in
            let state = try await running.state { $0.isScanning && $0.hasMonitor == true }
            #expect(state.transport == .dbus && state.transportNote == nil)
            let monitors = bluez.state.withLock { Array($0.monitors.values) }
            #expect(monitors.count == 1)
            let patterns = [0x02, 0x03, 0x16].map { type in
                Value.structure([.byte(0), .byte(type), .bytes([0xED, 0xFE])])
            }
            #expect(
                monitors.first?.properties == [
                    "Type": .string("or_patterns"),
                    "Patterns": .array(patterns, of: patterns[0].signature),
                ]
            )
        }
    }

    @Test("while the kernel refuses a scan the monitor is heard, and then discovery again")
    func standsIn() async throws {
        try await Self.with(.bookworm, { $0.isKernelBusy = true }) { bluez, running in
            let alone = try await running.state { $0.transport == .monitor }
            #expect(alone.isScanning && alone.problem == nil && !alone.isDemoted)
            let note = "the kernel is busy with another scan: listening through an advertisement "
            #expect(alone.transportNote == note + "monitor")
            try await Self.air(bluez, -50)
            #expect(try await running.sighting().rssi?.dBm == -50)
            // 7 dB are not told, but that it is there is.
            let match = try await Self.whileOnAir(bluez, -57) {
                try await running.next { event -> Sighting? in
                    guard case .heard(let sighting) = event, sighting.rssi == nil else {
                        return nil
                    }
                    return sighting
                }
            }
            #expect(match.eid == Self.eid && match.carrier == .localName)
            bluez.state.withLock { $0.isKernelBusy = false }
            let back = try await running.state { $0.transport == .dbus }
            #expect(back.isScanning && back.transportNote == nil && back.hasMonitor == true)
            try await bluez.hears(2, rssi: -70, data: Self.eid.serviceData)
            #expect(try await running.sighting().rssi?.dBm == -70)
        }
    }

    @Test(
        "one that the controller matches for is told of a device once: it is not listened to alone"
    )
    func offloaded() async throws {
        let prepare = { @Sendable (state: inout FaultyBlueZ.State) in
            state.offloadsMonitors = true
            state.isKernelBusy = true
        }
        try await Self.with(.bookworm, prepare) { bluez, running in
            let busy = try await running.state { $0.hasMonitor == true && $0.problem != nil }
            #expect(busy.problem?.code == .scanBusy && !busy.isScanning)
            #expect(busy.transport == .dbus && busy.transportNote == nil)
            bluez.state.withLock { $0.isKernelBusy = false }
            let back = try await running.state { $0.isScanning }
            #expect(back.problem == nil && back.hasMonitor == true)
            try await bluez.hears(2, rssi: -70, data: Self.eid.serviceData)
            #expect(try await running.sighting().rssi?.dBm == -70)
        }
    }

    @Test("one that bluetoothd refuses is done without, and that it is busy is a problem again")
    func refused() async throws {
        let prepare = { @Sendable (state: inout FaultyBlueZ.State) in
            state.refusals["RegisterMonitor"] = ["Failed", "Failed"]
            state.isKernelBusy = true
        }
        try await Self.with(.bookworm, prepare) { bluez, running in
            let busy = try await running.state { $0.problem != nil }
            #expect(busy.problem?.code == .scanBusy && !busy.isScanning)
            #expect(busy.hasMonitor == false && busy.transport == .dbus)
            bluez.state.withLock { $0.isKernelBusy = false }
            _ = try await running.state { $0.isScanning && $0.problem == nil }
            let tries = bluez.state.withLock { $0.calls.count { $0 == "RegisterMonitor" } }
            #expect(tries == 1)
        }
    }

    @Test("one that the kernel drops is not listened to, whoever else may say that it was dropped")
    func released() async throws {
        try await Self.with(.bookworm, { $0.isKernelBusy = true }) { bluez, running in
            _ = try await running.state { $0.transport == .monitor }
            let path = try #require(bluez.state.withLock { $0.monitors.values.first })
            let stranger = try await bluez.bus.connect()
            _ = try await stranger.call(
                MethodCall(
                    to: path.owner,
                    path: path.path,
                    interface: FaultyBlueZ.monitorInterface,
                    member: "Release"
                ),
                timeout: .seconds(10)
            )
            await stranger.close()
            try await Self.air(bluez, -50)
            #expect(try await running.sighting().rssi?.dBm == -50)
            try await bluez.releasesMonitors()
            let dropped = try await running.state { $0.transport == .dbus }
            #expect(dropped.hasMonitor == false && dropped.problem?.code == .scanBusy)
        }
    }

    @Test("one that the kernel does not take is not counted on")
    func notAccepted() async throws {
        let prepare = { @Sendable (state: inout FaultyBlueZ.State) in
            state.acceptsMonitors = false
            state.isKernelBusy = true
        }
        try await Self.with(.bookworm, prepare) { _, running in
            let busy = try await running.state { $0.problem != nil }
            #expect(busy.problem?.code == .scanBusy && busy.hasMonitor == false)
        }
    }

    @Test("each new bluetoothd gets one, and so does a manager that comes back")
    func comesBack() async throws {
        try await Self.with(.bookworm) { bluez, running in
            _ = try await running.state { $0.hasMonitor == true }
            bluez.state.withLock { state in
                state.canMonitor = false
                state.monitors = [:]
            }
            try await bluez.hides([FaultyBlueZ.managerInterface])
            _ = try await running.state { $0.hasMonitor == nil && $0.isScanning }
            bluez.state.withLock { $0.canMonitor = true }
            try await bluez.showsAdapter()
            _ = try await running.state { $0.hasMonitor == true }
            await bluez.stop()
            _ = try await running.state { $0.problem?.code == .noBlueZ }
            let next = try await FaultyBlueZ(on: bluez.bus) { $0.canMonitor = true }
            _ = try await running.state { $0.hasMonitor == true && $0.isScanning }
            #expect(next.state.withLock(\.monitors).count == 1)
            await next.stop()
        }
    }

    @Test("who wants discovery alone has no monitor, and bluetoothd is not asked for one")
    func notWanted() async throws {
        try await Self.with(.bookworm, transport: .discovery) { bluez, running in
            let state = try await running.state { $0.isScanning }
            #expect(state.hasMonitor == nil)
            #expect(!bluez.state.withLock { $0.calls.contains("RegisterMonitor") })
        }
    }

    @Test("where it is permitted the kernel is told to end the scan of a bluetoothd that died")
    func staleScan() async throws {
        let kernel = ScriptedKernel()
        let prepare = { @Sendable (state: inout FaultyBlueZ.State) in state.isKernelBusy = true }
        try await Self.with(.bookworm, prepare, transport: .best, kernel: kernel) {
            bluez,
            running in
            // At the start the scan may be anybody's.
            _ = try await running.state { $0.problem?.code == .scanBusy }
            #expect(kernel.commands() == [])
            await bluez.stop()
            _ = try await running.state { $0.problem?.code == .noBlueZ }
            let next = try await FaultyBlueZ(on: bluez.bus, prepare: prepare)
            let commands = try await eventually("a command") {
                let commands = kernel.commands()
                return commands.isEmpty ? nil : commands
            }
            #expect(commands == [[0x24, 0, 0, 0, 1, 0, 6], [0x24, 0, 0, 0, 1, 0, 7]])
            next.state.withLock { $0.isKernelBusy = false }
            _ = try await running.state { $0.isScanning && $0.problem == nil }
            #expect(kernel.commands() == [])
            await next.stop()
        }
    }

    /// An advertisement of ours at a level, as a bluetoothd hears it that does not discover.
    private static func air(_ bluez: FaultyBlueZ, _ level: Int16) async throws {
        try await bluez.monitorHears(
            device,
            [
                "RSSI": .int16(level), "UUIDs": .strings([ScriptedBlueZ.feed]),
                "Name": .string(eid.description),
            ]
        )
    }

    /// The same ever again, until something has come of it.
    private static func whileOnAir<T: Sendable>(
        _ bluez: FaultyBlueZ,
        _ level: Int16,
        _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try await air(bluez, level)
                    // SAFETY: the interval of a simulated advertiser, which no test waits for.
                    try? await Task.sleep(for: .milliseconds(70))
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw DeadlinePassed()
        }
    }

    private static func with(
        _ release: BlueZRelease,
        _ prepare: @Sendable (inout FaultyBlueZ.State) -> Void = { _ in },
        transport: TransportPolicy = .dbus,
        kernel: ScriptedKernel = ScriptedKernel(),
        _ body: @escaping @Sendable (FaultyBlueZ, RunningRadio) async throws -> Void
    ) async throws {
        let bus = try PrivateBus()
        let bluez = try await FaultyBlueZ(on: bus, version: release) { state in
            state.canMonitor = true
            prepare(&state)
        }
        try await RunningRadio.with(bus, transport: transport, kernel: kernel) { running in
            try await body(bluez, running)
        }
        await bluez.stop()
    }
}
