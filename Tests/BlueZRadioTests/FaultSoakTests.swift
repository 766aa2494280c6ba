import BusTestSupport
import GotchuCore
import Radio
import Synchronization
import TestSupport
import Testing

@testable import BlueZRadio

/// A test that the wanted advertisements and the scan become active again after random faults.
struct FaultSoakTests {
    private static let sequences = 50 * effort

    @Test("After each random sequence of faults, the real state becomes the wanted state again")
    func soak() async throws {
        let world = try await FaultyWorld(random: SeededGenerator("radio faults"))
        let radio = try BlueZRadio(
            adapter: nil,
            timings: FaultyWorld.timings,
            bus: world.bus.address,
            readTraffic: world.counts.reader,
            logger: quietLogger
        )
        await radio.setListening(true)
        let running = Task { try await radio.run { _ in } }  // SAFETY: cancelled below.
        var wanted: Set<EID> = []
        try await converge(world, radio, wanted, "at the start")
        for sequence in 0..<Self.sequences {
            var story: [String] = []
            for _ in 0..<world.number(in: 1...4) {
                let fault = world.pick(FaultyWorld.Fault.allCases)
                story.append("\(fault)")
                try await world.inject(fault)
                story.append(await Self.change(&wanted, world, radio))
            }
            try await world.heal()
            try await converge(world, radio, wanted, "\(sequence): \(story)")
        }
        running.cancel()
        _ = try? await running.value
        await world.end()
    }

    /// Starts an advertisement, stops one, waits or does nothing, at random. Returns the choice.
    private static func change(
        _ wanted: inout Set<EID>,
        _ world: FaultyWorld,
        _ radio: BlueZRadio
    ) async -> String {
        switch world.number(in: 0...5) {
        case 0 where wanted.count < 3:
            let eid = world.makeEID()
            guard (try? await radio.startAdvertising(eid)) != nil else { return "refused" }
            wanted.insert(eid)
            return "start"
        case 1:
            guard let eid = wanted.sorted(by: <).first else { return "" }
            wanted.remove(eid)
            await radio.stopAdvertising(eid)
            return "stop"
        case 2:
            // SAFETY: time for the radio to progress; nothing is expected by then.
            try? await Task.sleep(for: .milliseconds(world.number(in: 1...150)))
            return "later"
        default: return ""
        }
    }

    private func converge(
        _ world: FaultyWorld,
        _ radio: BlueZRadio,
        _ wanted: Set<EID>,
        _ story: String
    ) async throws {
        let wantedState = FaultyBlueZ.ActualState(
            onAir: wanted.map(\.serviceData).sorted { $0.lexicographicallyPrecedes($1) },
            isScanning: true
        )
        var last = world.bluez.actualState
        do {
            try await eventually("the actual state is the wanted state", within: .seconds(60)) {
                last = world.bluez.actualState
                return last == wantedState ? true : nil
            }
        } catch {
            let state = await radio.planner.state
            Issue.record("\(story): wanted \(wantedState), actual \(last), the radio says \(state)")
            throw error
        }
        #expect(world.bluez.state.withLock(\.crashes).isEmpty, "\(story)")
    }
}
