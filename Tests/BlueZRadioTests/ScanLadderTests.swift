import BlueZ
import DBus
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import BlueZRadio

/// Tests that a dead scan is distinguished from an empty room, and is revived.
@Suite struct ScanLadderTests {
    private static let timings = RecoveryTimings()
    /// The kernel's DISCOV_LE_TIMEOUT.
    private static let cycle: Duration = .milliseconds(10_240)
    private var planner = BlueZPlanner(adapterName: nil, canPowerCycle: true)
    private var now = MonotonicTime(sinceStart: .seconds(100))
    private var traffic = ControllerTraffic(commands: 0, events: 0)

    init() {
        planner.wantScan(true)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([Self.adapter(false)], now: now)
        start()
    }

    @Test("An hour without reports causes no recovery while the scan's cycle continues")
    mutating func emptyRoom() {
        for _ in 0..<350 {
            begin(after: Self.cycle)
            #expect(planner.next(now: now) == nil)
        }
        #expect(planner.state.recovery == RecoveryCounts() && planner.state.isScanning)
    }

    @Test("Reports of other devices prove that the scan lives, even without a cycle")
    mutating func strangers() {
        for _ in 0..<600 {
            pass(.seconds(14))
            planner.receivedOther(now: now)
            #expect(planner.next(now: now) == nil)
        }
    }

    @Test("A dead scan is recovered rung by rung; each rung has a reason and is counted")
    mutating func allRungs() {
        begin(after: Self.cycle)
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
        // `Discovering` has stayed false since the power cycle, which is now the reason.
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        #expect(planner.state.recovery.rungs.values.sorted() == [1, 1, 1, 2])
        planner.adaptersChanged([Self.adapter(true)], now: now)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
    }

    @Test("The power is never cycled unless that is configured")
    mutating func noPower() {
        planner = BlueZPlanner(adapterName: nil)
        planner.wantScan(true)
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

    @Test("A report after the first rung, or a new cycle after the second, ends the recovery")
    mutating func proof() {
        pass(Self.timings.longQuietLimit)
        expect(.refreshScan, .refilter, .silent)
        planner.receivedOther(now: now)
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
        pass(Self.timings.longQuietLimit)
        expect(.refreshScan, .refilter, .silent)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .silent)
        // `Discovering` may change before the call is answered.
        planner.adaptersChanged([Self.adapter(false)], now: now)
        planner.adaptersChanged([Self.adapter(true)], now: now)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("A refresh that no longer restarts the scan leads to one restart")
    mutating func refresh() {
        look()
        hear()
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        look(commands: 4, after: .milliseconds(20))
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        pass(Self.timings.proofLimit)
        #expect(planner.isControllerInQuestion(now: now))
        look()
        expect(.startScan(isRestart: true), .restart, .notRestarted)
        // Another program's filter may mask ours, so no further rung follows.
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        let next = planner.next(now: now)
        #expect(next == nil || next == .refreshScan)
        #expect(planner.popStep() == nil)
    }

    @Test("Reports of another program's monitor do not hide that the cycle has stopped")
    mutating func cycleStopped() {
        begin(after: Self.cycle)
        for _ in 0..<50 {
            pass(Self.timings.cycleLimit / 50)
            planner.receivedOther(now: now)
        }
        expect(.refreshScan, .refilter, .cycleStopped)
        planner.receivedOther(now: now)
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .cycleStopped)
        planner.receivedOther(now: now)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil, "something is heard: others are not disturbed")
    }

    /// Ends the scan's cycle, and loses the start of the next cycle.
    private mutating func loseStart() {
        begin(after: Self.cycle)
        look(commands: 1, after: Self.cycle)
        look(commands: 1, after: Self.timings.burstPollInterval)
        #expect(planner.pollInterval == Self.timings.burstPollInterval)
        #expect(planner.next(now: now) == nil, "it may be about to begin")
        look(after: Self.timings.burstPollInterval)
        let givenUp = now + (Self.timings.commandLimit - Self.timings.burstPollInterval)
        #expect(planner.next(now: now) == nil && planner.nextDeadline(now: now) == givenUp)
        #expect(planner.pollInterval == Self.timings.fastPollInterval, "its end may be sent again")
        look(after: givenUp - now)
    }

    @Test(
        "A scan whose next cycle is lost is restarted as soon as the kernel gives up the command"
    )
    mutating func lostStart() {
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
        finish(.refreshScan)
        look(commands: 4, after: .milliseconds(100))
        look(after: Self.timings.fastPollInterval)
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
    }

    @Test("After five restarts that are lost too, the scan is not restarted again at once")
    mutating func lostAgain() {
        loseStart()
        for _ in 0..<5 {
            expect(.refreshScan, .refilter, .startLost)
            finish(.refreshScan)
            look(commands: 2, after: .milliseconds(100))
            look(after: Self.timings.fastPollInterval)
            look(after: Self.timings.commandLimit - Self.timings.fastPollInterval)
        }
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("A restart without effect after a suspected loss leads to no further rung and no repeat")
    mutating func wrongLoss() {
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
        finish(.refreshScan)
        pass(Self.timings.proofLimit)
        look()
        #expect(planner.next(now: now) == nil)
        for _ in 0..<3 {
            planner.receivedOther(now: now)
            look(commands: 1, after: Self.cycle)
            look(after: Self.timings.fastPollInterval)
            #expect(planner.next(now: now) == nil && planner.state.isScanning)
        }
    }

    @Test("An answer that is counted in a later reading than its command causes no recovery")
    mutating func lateAnswer() {
        begin(after: Self.cycle)
        look(commands: 4, events: 3, after: Self.cycle)
        look(events: 1, after: Self.timings.fastPollInterval)
        look(after: Self.timings.commandLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("Commands in the middle of a cycle cause no recovery")
    mutating func otherCommands() {
        begin(after: Self.cycle)
        look(commands: 2, after: .seconds(5))
        look(after: Self.timings.fastPollInterval)
        #expect(planner.next(now: now) == nil)
    }

    @Test("If the kernel's counts are unavailable, missing commands cause no recovery")
    mutating func hiddenCounts() {
        begin(after: Self.cycle)
        planner.controllerHidden()
        pass(Self.timings.quietLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.nextDeadline(now: now).map { $0 > now } == true)
    }

    @Test("A restart without effect leads to the next rung")
    mutating func startDoesNothing() {
        planner.adaptersChanged([Self.adapter(false)], now: now)
        pass(Self.timings.discoveringGrace)
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .ended)
    }

    @Test("A start that fails as busy is retried without a recovery step, and is then successful")
    mutating func busy() {
        planner.linkChanged(.asking(":1.2"))
        planner.adaptersChanged([Self.adapter(false)], now: now)
        let end = now + Self.cycle
        while now < end {
            #expect(planner.next(now: now).map(Self.isStart) == true)
            finish(.startScan(isRestart: true), .failure(RadioFailure(.scanBusy)))
            #expect(planner.next(now: now) == nil && planner.popStep() == nil)
            pass(Self.timings.busyPause)
        }
        #expect(planner.state.problem?.code == .scanBusy)
        start()
        #expect(planner.state.problem == nil && planner.state.recovery == RecoveryCounts())
    }

    @Test("A new connection follows repeated timeouts, and the problem ends with the next start")
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
        #expect(planner.popStep()?.reason == .notAnswering)
        planner.linkChanged(.connecting)
        planner.linkChanged(.asking(":1.1"))
        planner.notAnswering()
        #expect(planner.state.problem?.code == .timedOut)
        planner.adaptersChanged([Self.adapter(false)], now: now)
        start()
        #expect(planner.state.problem == nil)
    }

    @Test("An adapter that the radio switched off is switched on again, even after a failure")
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
        #expect(planner.next(now: now) == .startScan(isRestart: true))
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
        #expect(planner.popStep() == step, sourceLocation: sourceLocation)
    }

    private mutating func pass(_ duration: Duration) { now = now + duration }

    /// Counts the commands that end a scan and start the next one.
    private mutating func begin(after duration: Duration) {
        look()
        look(commands: 4, after: duration)
        look()
    }

    /// - Parameter events: The number of events; by default the number of commands.
    private mutating func look(
        commands: UInt32 = 0,
        events: UInt32? = nil,
        after duration: Duration = .zero
    ) {
        pass(duration)
        traffic = traffic.adding(
            ControllerTraffic(commands: commands, events: events ?? commands)
        )
        _ = planner.readCounts(traffic, now: now)
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
