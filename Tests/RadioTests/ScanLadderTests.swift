import BlueZ
import DBus
import GotchuCore
import TestSupport
import Testing

@testable import Radio

/// How a scan that has died is told from an empty room, and what is done about it.
@Suite struct ScanLadderTests {
    private static let timings = RecoveryTimings()
    /// The kernel's DISCOV_LE_TIMEOUT.
    private static let cycle: Duration = .milliseconds(10_240)
    private var planner = BlueZPlanner(adapterName: nil, canPowerCycle: true)
    private var now = MonotonicTime(sinceStart: .seconds(100))

    init() {
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([Self.adapter(false)], now: now)
        start()
    }

    @Test("an empty room is left alone for an hour: the scan's own cycle is its pulse")
    mutating func emptyRoom() {
        for _ in 0..<350 {
            blink(after: Self.cycle)
            #expect(planner.next(now: now) == nil)
        }
        #expect(planner.state.recovery == RecoveryCounts() && planner.state.isScanning)
    }

    @Test("strangers are life, with a cycle or without")
    mutating func strangers() {
        for _ in 0..<600 {
            pass(.seconds(14))
            planner.noticed(now: now)
            #expect(planner.next(now: now) == nil)
        }
    }

    @Test("a dead scan is brought back rung by rung, each with its reason, each counted")
    mutating func allRungs() {
        blink(after: Self.cycle)
        pass(Self.timings.quietLimit)
        expect(.refreshScan, .refilter, .silent)
        #expect(planner.next(now: now) == nil, "the rung has its time")
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .silent)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .silent)
        reconnect()
        start()
        pass(Self.timings.slowProofLimit)
        expect(.powerCycle, .powerCycle, .silent)
        powerCycle()
        #expect(planner.next(now: now).map(Self.isStart) == true)
        finish(.startScan(isRestart: false))
        pass(Self.timings.slowProofLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == RadioFailure(.scanSilent) && !planner.state.isScanning)
        pass(Self.timings.firstRest)
        // `Discovering` has stayed false since: that is the reason now.
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        #expect(planner.state.recovery.rungs.values.sorted() == [1, 1, 1, 2])
        blink(after: .milliseconds(50))
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
    }

    @Test("the power is not touched unless that is configured")
    mutating func noPower() {
        planner = BlueZPlanner(adapterName: nil)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([Self.adapter(false)], now: now)
        start()
        for _ in 0..<10_000 {
            pass(.seconds(1))
            guard let action = planner.next(now: now) else { continue }
            #expect(action != .powerCycle && action != .powerOn)
            finish(action)
            if action == .reconnect { reconnect() }
        }
        #expect(planner.state.recovery.rungs[.reconnect, default: 0] > 5)
        #expect(planner.state.recovery.rungs[.powerCycle] == 0)
    }

    @Test("a life sign at any rung ends the climb")
    mutating func proof() {
        pass(Self.timings.longQuietLimit)
        expect(.refreshScan, .refilter, .silent)
        planner.noticed(now: now)
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
        pass(Self.timings.longQuietLimit)
        expect(.refreshScan, .refilter, .silent)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .silent)
        // `Discovering` may come before the answer does.
        planner.adaptersChanged([Self.adapter(false)], now: now)
        planner.adaptersChanged([Self.adapter(true)], now: now)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("a refresh that used to restart the scan and does not is noticed within seconds")
    mutating func refresh() {
        hear()
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        blink(after: .milliseconds(20))
        finish(.refreshScan)
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .notRestarted)
        // Another program's filter may keep ours from doing anything: no more is done for a guess.
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        let next = planner.next(now: now)
        #expect(next == nil || next == .refreshScan)
        #expect(planner.takeStep() == nil)
    }

    @Test("what only a monitor hears does not hide that the cycle has stopped")
    mutating func cycleStopped() {
        blink(after: Self.cycle)
        for _ in 0..<50 {
            pass(Self.timings.cycleLimit / 50)
            planner.noticed(now: now)
        }
        expect(.refreshScan, .refilter, .cycleStopped)
        planner.noticed(now: now)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .cycleStopped)
        planner.noticed(now: now)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil, "something is heard: others are not disturbed")
    }

    @Test("a start that does nothing leads up the ladder as well")
    mutating func startDoesNothing() {
        planner.adaptersChanged([Self.adapter(false)], now: now)
        pass(Self.timings.discoveringGrace)
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .ended)
    }

    @Test("a kernel that is busy with a dead bluetoothd's scan is waited for")
    mutating func busy() {
        planner.linkChanged(.asking(":1.2"))
        planner.adaptersChanged([Self.adapter(false)], now: now)
        let end = now + Self.cycle
        while now < end {
            #expect(planner.next(now: now).map(Self.isStart) == true)
            finish(.startScan(isRestart: true), .failure(RadioFailure(.scanBusy)))
            #expect(planner.next(now: now) == nil && planner.takeStep() == nil)
            pass(Self.timings.busyPause)
        }
        #expect(planner.state.problem?.code == .scanBusy)
        start()
        #expect(planner.state.problem == nil && planner.state.recovery == RecoveryCounts())
    }

    @Test("a bluetoothd that answers nothing gets a new connection")
    mutating func hung() {
        planner.adaptersChanged([Self.adapter(false)], now: now)
        pass(Self.timings.discoveringGrace)
        for _ in 0..<BlueZPlanner.timeoutLimit {
            #expect(planner.next(now: now) == .startScan(isRestart: true))
            pass(Self.timings.callTimeout)
            finish(.startScan(isRestart: true), .failure(RadioFailure(.timedOut)))
        }
        #expect(planner.state.problem?.code == .timedOut)
        #expect(planner.next(now: now) == .reconnect)
        #expect(planner.takeStep()?.reason == .notAnswering)
        planner.linkChanged(.connecting)
        planner.linkChanged(.asking(":1.1"))
        planner.notAnswering()
        #expect(planner.state.problem?.code == .timedOut)
        planner.adaptersChanged([Self.adapter(false)], now: now)
        start()
        #expect(planner.state.problem == nil)
    }

    @Test("an adapter that we have switched off is switched on again, even after a failure")
    mutating func owedPower() {
        pass(Self.timings.longQuietLimit)
        expect(.refreshScan, .refilter, .silent)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .silent)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .silent)
        reconnect()
        start()
        pass(Self.timings.slowProofLimit)
        expect(.powerCycle, .powerCycle, .silent)
        planner.adaptersChanged([Self.adapter(false, isPowered: false)], now: now)
        planner.finished(
            .powerCycle,
            .failure(RadioFailure(.rejected)),
            epoch: 0,
            now: now
        )
        #expect(planner.next(now: now) == .powerOn)
        finish(.powerOn, .failure(RadioFailure(.rejected)))
        #expect(planner.next(now: now) == nil)
        pass(Self.timings.firstPause)
        #expect(planner.next(now: now) == .powerOn)
        planner.adaptersChanged([Self.adapter(false)], now: now)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        planner.adaptersChanged([Self.adapter(false, isPowered: false)], now: now)
        #expect(planner.next(now: now) == nil, "whoever switches it off now means it")
    }
}

extension ScanLadderTests {
    private mutating func start() {
        #expect(planner.next(now: now).map(Self.isStart) == true)
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([Self.adapter(true)], now: now)
    }

    private static func isStart(_ action: BlueZPlanner.Action) -> Bool {
        if case .startScan = action { true } else { false }
    }

    private mutating func expect(
        _ action: BlueZPlanner.Action,
        _ rung: RecoveryRung,
        _ reason: RecoveryReason,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(planner.next(now: now) == action, sourceLocation: sourceLocation)
        let step = RecoveryStep(rung: rung, reason: reason)
        #expect(planner.takeStep() == step, sourceLocation: sourceLocation)
    }

    private mutating func pass(_ duration: Duration) { now = now + duration }

    /// The scan ends and starts again.
    private mutating func blink(after duration: Duration) {
        pass(duration)
        planner.adaptersChanged([Self.adapter(false)], now: now)
        planner.adaptersChanged([Self.adapter(true)], now: now)
    }

    private mutating func reconnect() {
        planner.linkChanged(.connecting)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([Self.adapter(true)], now: now)
    }

    private mutating func powerCycle() {
        planner.adaptersChanged([Self.adapter(false, isPowered: false)], now: now)
        planner.adaptersChanged([Self.adapter(false)], now: now)
        planner.finished(.powerCycle, .success(()), epoch: 0, now: now)
    }

    private mutating func finish(
        _ action: BlueZPlanner.Action,
        _ result: Result<Void, RadioFailure> = .success(())
    ) {
        planner.finished(action, result, epoch: planner.epoch, now: now)
    }

    private mutating func hear() {
        planner.heard(
            Sighting(
                time: now,
                eid: EID(literal: "a1b2c3d4e5"),
                carrier: .serviceData,
                rssi: RSSI(dBm: -40),
                adapter: "hci0"
            )
        )
    }

    private static func adapter(_ isDiscovering: Bool, isPowered: Bool = true) -> AdapterState {
        var adapter = AdapterState(path: ObjectPath("/org/bluez/hci0") ?? .root)
        adapter.isPowered = isPowered
        adapter.isDiscovering = isDiscovering
        adapter.canAdvertise = true
        return adapter
    }
}
