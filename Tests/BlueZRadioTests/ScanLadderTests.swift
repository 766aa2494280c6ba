import BlueZ
import DBus
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import BlueZRadio

/// Tests that a dead scan is distinguished from a room without devices, and is revived.
@Suite struct ScanLadderTests {
    private static let timings = RecoveryTimings()
    /// The length of a scan cycle: the kernel's DISCOV_LE_TIMEOUT.
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

    @Test("Reports of other devices prove that the scan lives if no cycle was ever counted")
    mutating func strangers() {
        for _ in 0..<600 {
            pass(.seconds(14))
            planner.receivedOther(now: now)
            #expect(planner.next(now: now) == nil)
        }
    }

    @Test("A dead scan causes one recovery step after another, each with a reason and counted")
    mutating func allRungs() {
        begin(after: Self.cycle)
        pass(Self.timings.quietLimit)
        expect(.refreshScan, .refilter, .silent)
        #expect(planner.next(now: now) == nil, "the step has time to take effect")
        climbFromRefilter()
        powerCycle()
        #expect(planner.next(now: now).map(Self.isStart) == true)
        finish(.startScan(isRestart: false))
        pass(Self.timings.slowProofLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == RadioFailure(.scanSilent) && !planner.state.isScanning)
        pass(Self.timings.firstRest)
        // The reason is `ended`, because `Discovering` has stayed false since the power cycle.
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        #expect(planner.state.recovery.rungs.values.sorted() == [1, 1, 1, 2])
        planner.adaptersChanged([Self.adapter(true)], now: now)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
    }

    /// Expects all steps after the filter, which have no effect, up to the power cycle.
    private mutating func climbFromRefilter() {
        pass(Self.timings.proofLimit)
        expect(.startScan(isRestart: true), .restart, .silent)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .silent)
        reconnect()
        start()
        pass(Self.timings.slowProofLimit)
        expect(.powerCycle, .powerCycle, .silent)
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

    @Test("A report after the first step, or a new scan after the second step, ends the recovery")
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

    @Test("A refresh that no longer restarts the scan leads to one explicit restart")
    mutating func refresh() {
        readCounts()
        hear()
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        readCounts(commands: 4, after: .milliseconds(20))
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        pass(Self.timings.proofLimit)
        #expect(planner.isControllerInQuestion(now: now))
        readCounts()
        expect(.startScan(isRestart: true), .restart, .notRestarted)
        // Another program's filter may mask ours, so no further step follows.
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
        #expect(planner.next(now: now) == nil, "reports prevent a stronger step")
    }

    /// Ends a scan cycle, and loses the commands that start the next cycle.
    private mutating func loseStart() {
        begin(after: Self.cycle)
        readCounts(commands: 1, after: Self.cycle)
        readCounts(commands: 1, after: Self.timings.burstPollInterval)
        #expect(planner.pollInterval == Self.timings.burstPollInterval)
        #expect(planner.next(now: now) == nil, "the next cycle may be starting")
        readCounts(after: Self.timings.burstPollInterval)
        let givenUp = now + (Self.timings.commandLimit - Self.timings.burstPollInterval)
        #expect(planner.next(now: now) == nil && planner.nextDeadline(now: now) == givenUp)
        #expect(planner.pollInterval == Self.timings.fastPollInterval, "the kernel may repeat it")
        readCounts(after: givenUp - now)
    }

    @Test(
        "A scan whose next start is lost is restarted as soon as the kernel gives up the command"
    )
    mutating func lostStart() {
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
        finish(.refreshScan)
        readCounts(commands: 4, after: .milliseconds(100))
        readCounts(after: Self.timings.fastPollInterval)
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
    }

    @Test("After five restarts that are lost too, the scan is not restarted immediately")
    mutating func lostAgain() {
        loseStart()
        for _ in 0..<5 {
            expect(.refreshScan, .refilter, .startLost)
            finish(.refreshScan)
            readCounts(commands: 2, after: .milliseconds(100))
            readCounts(after: Self.timings.fastPollInterval)
            readCounts(after: Self.timings.commandLimit - Self.timings.fastPollInterval)
        }
        pass(Self.timings.proofLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("A restart without effect after a suspected loss leads to no further step or repeat")
    mutating func wrongLoss() {
        loseStart()
        expect(.refreshScan, .refilter, .startLost)
        finish(.refreshScan)
        pass(Self.timings.proofLimit)
        readCounts()
        #expect(planner.next(now: now) == nil)
        for _ in 0..<3 {
            planner.receivedOther(now: now)
            readCounts(commands: 1, after: Self.cycle)
            readCounts(after: Self.timings.fastPollInterval)
            #expect(planner.next(now: now) == nil && planner.state.isScanning)
        }
    }

    @Test("An answer that is counted in a later reading than its command causes no recovery")
    mutating func lateAnswer() {
        begin(after: Self.cycle)
        readCounts(commands: 4, events: 3, after: Self.cycle)
        readCounts(events: 1, after: Self.timings.fastPollInterval)
        readCounts(after: Self.timings.commandLimit)
        #expect(planner.next(now: now) == nil)
    }

    @Test("Commands in the middle of a cycle cause no recovery")
    mutating func otherCommands() {
        begin(after: Self.cycle)
        readCounts(commands: 2, after: .seconds(5))
        readCounts(after: Self.timings.fastPollInterval)
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

    @Test("A restart without effect leads to the next recovery step")
    mutating func startDoesNothing() {
        planner.adaptersChanged([Self.adapter(false)], now: now)
        pass(Self.timings.discoveringGrace)
        expect(.startScan(isRestart: true), .restart, .ended)
        finish(.startScan(isRestart: true))
        pass(Self.timings.proofLimit)
        expect(.reconnect, .reconnect, .ended)
    }

    @Test("A start that fails as busy is retried without a recovery step until it succeeds")
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

    @Test("Repeated timeouts lead to a new connection, and the problem ends with the next start")
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
        climbFromRefilter()
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
        #expect(planner.next(now: now) == nil, "the user has switched it off")
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

    /// Counts the four commands that end a scan and start the next one.
    private mutating func begin(after duration: Duration) {
        readCounts()
        readCounts(commands: 4, after: duration)
        readCounts()
    }

    /// - Parameter events: The number of events; by default the number of commands.
    private mutating func readCounts(
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
