import BlueZ
import BusTestSupport
import DBus
import GotchuCore
import Radio
import Synchronization
import TestSupport
import Testing

@testable import BlueZRadio

/// Tests with one fault each. The first test runs on each relevant release of BlueZ.
struct BlueZFaultTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let quiet = FaultyBlueZ.ActualState(onAir: [], isScanning: true)
    private static let advertising = FaultyBlueZ.ActualState(
        onAir: [eid.serviceData],
        isScanning: true
    )

    @Test(
        "The radio makes no call that crashes bluetoothd, on any release",
        arguments: BlueZRelease.allCases
    )
    func releases(_ release: BlueZRelease) async throws {
        try await with(release) { bluez, radio in
            try await radio.startAdvertising(Self.eid)
            try await Self.until(bluez, Self.advertising)
            // A registration times out while bluetoothd hangs. bluetoothd registers it later.
            bluez.callQueue.hang()
            do throws(RadioFailure) {
                try await radio.startAdvertising(EID(literal: "0123456789"))
                Issue.record("not refused")
            } catch {
                #expect(error.code == .timedOut)
            }
            await radio.stopAdvertising(Self.eid)
            bluez.callQueue.resume()
            try await Self.until(bluez, Self.quiet)
            try await bluez.hears(1, rssi: -50, data: Self.eid.serviceData)
            #expect(bluez.state.withLock(\.crashes).isEmpty)
            let filters = bluez.state.withLock { Array($0.filters.values) }
            #expect(filters.count == 1)
            for filter in filters {
                #expect(filter["RSSI"] != nil && filter["Transport"]?.asString == "le")
                #expect((filter["UUIDs"] == nil) == (release == .uuidCrash))
                #expect(filter["DuplicateData"] == nil && filter["Discoverable"] == nil)
            }
        }
    }

    @Test(
        "A dead scan whose `Discovering` stays true is revived by the recovery step that it needs",
        arguments: FaultyBlueZ.Revival.allCases
    )
    func stuck(_ revival: FaultyBlueZ.Revival) async throws {
        try await with(.bookworm) { bluez, radio in
            try await radio.startAdvertising(Self.eid)
            try await Self.until(bluez, Self.advertising)
            bluez.state.withLock { $0.revivedBy = revival }
            try await Self.until(bluez, Self.advertising)
            let rungs = await radio.planner.state.recovery.rungs
            let needed: RecoveryRung = [.refilter, .restart, .reconnect][revival.rawValue]
            #expect(rungs[needed, default: 0] >= 1, "\(rungs)")
        }
    }

    @Test(
        "A controller that stops answering is reported, and all work restarts when it answers again"
    )
    func unresponsive() async throws {
        let kernel = Mutex(ControllerTraffic(commands: 40, events: 40))
        try await with(.bookworm, traffic: { _ in kernel.withLock { $0 } }) { bluez, radio in
            try await radio.startAdvertising(Self.eid)
            try await Self.until(bluez, Self.advertising)
            func refilters() async -> Int {
                await radio.planner.state.recovery.rungs[.refilter, default: 0]
            }
            kernel.withLock { $0.commands += 1 }
            try await eventually("the problem is reported") {
                await radio.planner.state.problem?.code == .adapterUnresponsive ? true : nil
            }
            #expect(await !radio.planner.state.isScanning)
            // The scan is restarted repeatedly, without success.
            for count in 1...3 {
                try await eventually("attempt \(count)") {
                    await refilters() >= count ? true : nil
                }
                kernel.withLock { $0.commands += 1 }
            }
            let registrations = { bluez.state.withLock { $0.calls }.count { $0.hasPrefix("Reg") } }
            let before = registrations()
            kernel.withLock { $0.events += 1 }
            try await eventually("the EID is registered again") {
                registrations() > before ? true : nil
            }
            try await eventually("the scan runs and the problem has ended") {
                // Counts the four commands of a starting scan and their answers.
                kernel.withLock { traffic in
                    traffic.commands += 4
                    traffic.events += 4
                }
                let state = await radio.planner.state
                return state.isScanning && state.problem == nil ? true : nil
            }
            try await Self.until(bluez, Self.advertising)
        }
    }

    /// The kernel's counts. Each reading adds the next part to them.
    private struct Script {
        var traffic = ControllerTraffic(commands: 40, events: 40)
        var parts: [ControllerTraffic] = []
        var looks = 0

        mutating func look() -> ControllerTraffic {
            looks += 1
            if !parts.isEmpty { traffic = traffic.adding(parts.removeFirst()) }
            return traffic
        }
    }

    @Test("A scan whose next start is lost is restarted, and the counts are not read too often")
    func lostStart() async throws {
        let script = Mutex(Script())
        try await with(.bookworm, traffic: { _ in script.withLock { $0.look() } }) { _, radio in
            func restarts() async -> Int {
                await radio.planner.state.recovery.rungs.values.reduce(0, +)
            }
            let begun = ControllerTraffic(commands: 4, events: 4)
            let nothing = ControllerTraffic(commands: 0, events: 0)
            script.withLock { $0.parts = [begun] + Array(repeating: nothing, count: 5) }
            try await eventually("a cycle is over") {
                script.withLock { $0.parts.isEmpty } ? true : nil
            }
            // Two commands, which end a scan and start the next one, get only one late answer.
            let (before, looks) = (await restarts(), script.withLock(\.looks))
            let start = ContinuousClock.now
            script.withLock { script in
                script.parts = [
                    ControllerTraffic(commands: 2, events: 0),
                    ControllerTraffic(commands: 0, events: 1),
                ]
            }
            try await eventually("the scan is restarted") { await restarts() > before ? true : nil }
            script.withLock { $0.parts = [begun] }
            try await eventually("the restarted scan runs") {
                let state = await radio.planner.state
                let isKnown = script.withLock { $0.parts.isEmpty }
                return isKnown && state.isScanning && state.problem == nil ? true : nil
            }
            // The limit is one reading per 5 ms, and 20 further readings for the actions.
            let most = Int(start.duration(to: .now) / .milliseconds(5)) + 20
            #expect(script.withLock(\.looks) - looks <= most)
        }
    }

    private static func until(
        _ bluez: FaultyBlueZ,
        _ wanted: FaultyBlueZ.ActualState
    ) async throws {
        do {
            try await eventually("the actual state is \(wanted)", within: .seconds(60)) {
                bluez.actualState == wanted ? true : nil
            }
        } catch {
            Issue.record("the actual state is \(bluez.actualState)")
            throw error
        }
    }

    private func with(
        _ release: BlueZRelease,
        traffic: BlueZRadio.TrafficReader? = nil,
        _ body: (FaultyBlueZ, BlueZRadio) async throws -> Void
    ) async throws {
        let bus = try PrivateBus()
        let bluez = try await FaultyBlueZ(on: bus, version: release)
        let radio = try BlueZRadio(
            adapter: "hci0",
            timings: FaultyWorld.timings,
            bus: bus.address,
            readTraffic: traffic ?? bluez.counts.reader,
            logger: quietLogger
        )
        await radio.setListening(true)
        let running = Task { try await radio.run { _ in } }  // SAFETY: cancelled below.
        do {
            try await Self.until(bluez, Self.quiet)
            try await body(bluez, radio)
        } catch {
            Issue.record(error)
        }
        running.cancel()
        _ = try? await running.value
        await bluez.stop()
    }
}
