import BusTestSupport
import DBus
import GotchuCore
import Radio
import Synchronization
import TestSupport

@testable import BlueZRadio

/// A private bus and a simulated bluetoothd, into which a test injects random faults.
final class FaultyWorld {
    /// A fault of the bus, of bluetoothd, of the adapter or of its scan.
    enum Fault: CaseIterable {
        case killed
        case hung
        case powered
        case blinked
        case unplugged
        case busRestarted
        case scanDead
        case scanEnded
        case refused
        case slow
        case managerGone
        case released
        case invalidated
        case malformed
        case storm
    }

    let bus: PrivateBus
    let counts = KernelCounts()
    private(set) var bluez: FaultyBlueZ
    private var random: SeededGenerator

    static var timings: RecoveryTimings {
        var timings = RecoveryTimings()
        timings.discoveringGrace = .milliseconds(60)
        timings.quietLimit = .milliseconds(250)
        timings.longQuietLimit = .milliseconds(400)
        timings.cycleLimit = .milliseconds(600)
        timings.proofLimit = .milliseconds(120)
        timings.slowProofLimit = .milliseconds(300)
        timings.busyLimit = .milliseconds(200)
        timings.firstRest = .milliseconds(100)
        timings.maximumRest = .milliseconds(400)
        timings.firstPause = .milliseconds(10)
        timings.maximumPause = .milliseconds(80)
        timings.busyPause = .milliseconds(20)
        timings.pollInterval = .milliseconds(20)
        timings.fastPollInterval = .milliseconds(10)
        timings.scanCycle = .milliseconds(70)
        timings.nextCycle = .milliseconds(100)
        timings.commandLimit = .milliseconds(50)
        timings.answerLimit = .milliseconds(120)
        timings.callTimeout = .milliseconds(200 * patience)
        timings.advertisingLimit = .milliseconds(300 * patience)
        return timings
    }

    init(random: SeededGenerator) async throws {
        self.random = random
        bus = try PrivateBus()
        bluez = try await FaultyBlueZ(on: bus, counts: counts)
    }

    func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }

    func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func makeEID() -> EID { EID.random(using: &random) }

    /// Injects a fault. `heal()` ends the faults that last.
    func inject(_ fault: Fault) async throws {
        switch fault {
        case .killed: try await restart()
        case .hung: bluez.callQueue.hang()
        case .powered: try await power(false)
        case .blinked: try await bluez.blinksPower()
        case .unplugged:
            bluez.state.withLock { state in
                state.hasAdapter = false
                state.forgetAll()
            }
            try await bluez.hides(["org.bluez.Adapter1", "org.bluez.LEAdvertisingManager1"])
        case .busRestarted: try await restartBus()
        case .scanDead:
            let revival = pick(FaultyBlueZ.Revival.allCases)
            bluez.state.withLock { $0.revivedBy = $0.sessions.isEmpty ? nil : revival }
        case .scanEnded:
            bluez.state.withLock { $0.isDiscovering = false }
            try await bluez.says(isDiscovering: false)
        case .refused: refuse()
        case .slow:
            let delay = Duration.milliseconds(number(in: 1...300))
            bluez.state.withLock { $0.delay = delay }
        case .managerGone:
            bluez.state.withLock { state in
                state.canAdvertise = false
                state.advertisements = [:]
            }
            try await bluez.hides(["org.bluez.LEAdvertisingManager1"])
        case .released: await release()
        case .invalidated: try await invalidate()
        case .malformed: try await sayNonsense()
        case .storm: try await storm()
        }
    }

    /// Ends all lasting faults except a dead scan, which the radio itself must revive.
    func heal() async throws {
        bluez.callQueue.resume()
        bluez.state.withLock { state in
            state.delay = .zero
            state.refusals = [:]
            state.hasAdapter = true
            state.canAdvertise = true
        }
        try await bluez.showsAdapter()
        try await power(true)
    }

    func end() async {
        await bluez.stop()
    }

    private func restart() async throws {
        await bluez.stop()
        bluez = try await FaultyBlueZ(on: bus, counts: counts)
    }

    private func restartBus() async throws {
        bus.stop()
        await bluez.stop()
        try bus.start()
        bluez = try await FaultyBlueZ(on: bus, counts: counts)
    }

    private func power(_ isOn: Bool) async throws {
        let isChange = bluez.state.withLock { state in
            guard state.isPowered != isOn else { return false }
            state.isPowered = isOn
            state.isDiscovering = false
            state.sessions = []
            state.revivedBy = nil
            return true
        }
        guard isChange else { return }
        try await bluez.changed(["Powered": .boolean(isOn), "Discovering": .boolean(false)])
    }

    private func refuse() {
        let members = [
            "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery", "RegisterAdvertisement",
            "UnregisterAdvertisement",
        ]
        let errors = ["InProgress", "Failed", "NotReady", "NotPermitted", "NotSupported"]
        let (member, error, count) = (pick(members), pick(errors), number(in: 1...6))
        bluez.state.withLock { state in
            state.refusals[member, default: []] += Array(repeating: error, count: count)
        }
    }

    /// Makes bluetoothd drop an advertisement and notify its owner.
    private func release() async {
        let found = bluez.state.withLock { state -> (ObjectPath, String)? in
            guard let (path, one) = state.advertisements.first(where: { $0.value.data != nil })
            else { return nil }
            state.advertisements[path] = nil
            return (path, one.owner)
        }
        guard let (path, owner) = found else { return }
        _ = try? await bluez.connection.call(
            MethodCall(
                to: owner,
                path: path,
                interface: "org.bluez.LEAdvertisement1",
                member: "Release"
            ),
            timeout: .seconds(5)
        )
    }

    private func invalidate() async throws {
        let (isPowered, isDiscovering) = bluez.state.withLock { ($0.isPowered, $0.isDiscovering) }
        try await bluez.changed([:], invalidated: ["Powered", "Discovering"])
        try await bluez.changed([
            "Powered": .boolean(isPowered), "Discovering": .boolean(isDiscovering),
        ])
        let device = "org.bluez.Device1"
        try await bluez.changed(
            [:],
            invalidated: ["RSSI", "ServiceData"],
            of: ScriptedBlueZ.device(1),
            device
        )
    }

    private func sayNonsense() async throws {
        try await bluez.changed(["Powered": .string("yes"), "Discovering": .int16(1)])
        try await bluez.changed(["Address": .boolean(true), "Modalias": .bytes([0xFF])])
        try await bluez.hides([])
        try await bluez.changed(
            ["RSSI": .string("near"), "ServiceData": .boolean(true), "UUIDs": .int16(0)],
            of: ScriptedBlueZ.device(number(in: 1...9)),
            "org.bluez.Device1"
        )
    }

    /// Sends 400 signals in a row, with random service data.
    private func storm() async throws {
        for count in 0..<400 {
            let noise = (0..<10).map { _ in UInt8.random(in: 0...255, using: &random) }
            try await bluez.hears(count, rssi: -70, data: noise)
        }
    }
}

extension FaultyBlueZ.State {
    mutating func forgetAll() {
        isDiscovering = false
        sessions = []
        advertisements = [:]
        revivedBy = nil
    }
}
